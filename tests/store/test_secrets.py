"""Credentials: sealed with a key that is not in the database, found by keyed hashes.

decisions, "Credentials at rest" and "The secret key".
"""

from __future__ import annotations

import os
import re
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput, BadUsage, MastheadError, StoreUnavailable
from masthead.store import accounts, credentials, find_store, open_store
from masthead.store.secret import Secret
from tests.later import knowing
from tests.servers import SECRET_KEY
from tests.store.catalogue import tables
from tests.store.conftest import ON_POSTGRESQL, START_US, opening
from tests.store.test_migrations import ADDS_A_COLUMN, migrate

if TYPE_CHECKING:
    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock

PAIRS = ("key-1", "login-1", "key-2", "login-2")
SECOND_US = 1_000_000
HOUR_US = 3_600 * SECOND_US


def owner(store: OpenStore, user: str, password: str) -> int | None:
    """Return the account that this pair opens now."""
    with store.reader() as database:
        found = credentials.account_for_credentials(database, user, password, now=store.clock())
    return found and found.account_id


def pair_of(store: OpenStore, account_id: int = 1) -> tuple[str, str]:
    with store.writer() as database:
        shown = accounts.settings_of(database, account_id)
    return str(shown["api_key"]), str(shown["api_login"])


# At rest


def test_a_dump_of_the_database_holds_no_secret(opened: OpenStore) -> None:
    """decisions, "Credentials at rest"."""
    accounts.rotate_credentials(opened, 2, overlap_us=HOUR_US)
    with opened.writer() as database:
        dump = [database.rows(f"SELECT * FROM {table}") for table in tables(database)]
    for secret in (*PAIRS, *pair_of(opened, 2)):
        assert secret not in repr(dump)


def test_a_file_of_the_database_holds_no_secret(tmp_path: Path) -> None:
    with opening(f"sqlite:///{tmp_path}/x.db") as opened:
        accounts.add_account(opened, {"account_id": 1, "api_key": "key-1", "api_login": "login-1"})
        for file in tmp_path.glob("x.db*"):
            assert b"key-1" not in file.read_bytes()
            assert b"login-1" not in file.read_bytes()


def test_a_sealed_secret_opens_in_its_place_alone(opened: OpenStore) -> None:
    """A writer of the database cannot present one account's secret as another's."""
    with opened.writer() as database:
        database.change(
            """
            UPDATE accounts SET api_key = (SELECT api_key FROM accounts WHERE account_id = 2)
            WHERE account_id = 1
            """
        )
        with pytest.raises(MastheadError, match=r"accounts 1 api_key cannot be opened"):
            accounts.settings_of(database, 1)
        assert accounts.settings_of(database, 2)["api_key"] == "key-2"


def test_the_same_secret_is_sealed_otherwise_each_time(opened: OpenStore) -> None:
    def sealed() -> object:
        with opened.writer() as database:
            return database.rows("SELECT api_key, api_login FROM accounts WHERE account_id = 1")

    before = sealed()
    accounts.rotate_credentials(opened, 1)
    accounts.set_account(opened, 1, {"api_key": "key-1", "api_login": "login-1"})
    assert sealed() != before
    assert pair_of(opened) == ("key-1", "login-1")


# Rotation


def test_both_pairs_work_until_the_overlap_is_over(opened: OpenStore, clock: Clock) -> None:
    """rules, "Rotation of credentials"; what is shown is the new one."""
    accounts.rotate_credentials(opened, 1, overlap_us=24 * HOUR_US)
    new = pair_of(opened)
    assert new != ("key-1", "login-1")
    assert owner(opened, *new) == owner(opened, "key-1", "login-1") == 1
    assert owner(opened, "login-1", "key-1") == 1
    # The pairs are not mixed.
    assert owner(opened, "key-1", new[1]) is owner(opened, new[0], "login-1") is None
    clock.now += 24 * HOUR_US - 1
    assert owner(opened, "key-1", "login-1") == 1
    clock.now += 1
    assert owner(opened, "key-1", "login-1") is None
    assert owner(opened, *new) == 1


def test_a_pair_keeps_its_end_when_the_next_one_is_replaced(
    opened: OpenStore, clock: Clock
) -> None:
    accounts.rotate_credentials(opened, 1, overlap_us=2 * HOUR_US)
    second = pair_of(opened)
    clock.now += HOUR_US
    accounts.rotate_credentials(opened, 1, overlap_us=2 * HOUR_US)
    assert [pair.ends_at for pair in credentials.credentials_of(opened, 1)] == [
        None,
        clock.now + 2 * HOUR_US,
        clock.now + HOUR_US,
    ]
    clock.now += HOUR_US
    assert owner(opened, "key-1", "login-1") is None
    assert owner(opened, *second) == 1
    # Without an overlap all that there were end at once.
    accounts.rotate_credentials(opened, 1)
    assert owner(opened, *second) is None
    assert [pair.ends_at for pair in credentials.credentials_of(opened, 1)] == [None]


def test_a_key_whose_time_is_not_over_is_taken(opened: OpenStore, clock: Clock) -> None:
    accounts.rotate_credentials(opened, 1, overlap_us=HOUR_US)
    with pytest.raises(BadInput, match="another account has this key"):
        accounts.set_account(opened, 2, {"api_key": "key-1"})
    clock.now += HOUR_US
    accounts.set_account(opened, 2, {"api_key": "key-1"})
    assert owner(opened, "key-1", "login-2") == 2


def test_an_account_may_go_back_to_its_old_pair(opened: OpenStore) -> None:
    accounts.rotate_credentials(opened, 1, overlap_us=HOUR_US)
    accounts.set_account(opened, 1, {"api_key": "key-1", "api_login": "login-1"})
    assert owner(opened, "key-1", "login-1") == 1
    assert [pair.ends_at for pair in credentials.credentials_of(opened, 1)] == [None]


def test_the_same_pair_again_ends_no_other_one(opened: OpenStore) -> None:
    """A file of accounts that was exported, changed elsewhere, and is loaded back."""
    accounts.rotate_credentials(opened, 1, overlap_us=HOUR_US)
    api_key, api_login = pair_of(opened)
    row: accounts.Values = {
        "account_id": 1,
        "plan": "Premium",
        "api_key": api_key,
        "api_login": api_login,
    }
    assert accounts.save_accounts(opened, [row]) == (0, 1, 0)
    assert owner(opened, "key-1", "login-1") == 1
    assert owner(opened, api_key, api_login) == 1


def test_half_a_pair_may_be_changed(opened: OpenStore) -> None:
    accounts.set_account(opened, 1, {"api_login": "other"})
    assert owner(opened, "key-1", "login-1") is None
    assert owner(opened, "key-1", "other") == 1


# Last use


def test_the_last_use_of_each_pair_is_written_once_a_minute(
    opened: OpenStore, clock: Clock
) -> None:
    """rules, "Last use of credentials"."""
    uses = credentials.Uses()

    def use(user: str, password: str) -> None:
        with opened.reader() as database:
            caller = credentials.account_for_credentials(database, user, password, now=clock.now)
        assert caller
        uses.note(caller, clock.now)
        uses.write(opened)

    def used() -> list[int | None]:
        return [pair.used_at for pair in credentials.credentials_of(opened, 1)]

    assert used() == [None]
    use("key-1", "login-1")
    assert used() == [START_US]
    clock.now += 59 * SECOND_US
    use("key-1", "login-1")
    assert used() == [START_US]
    clock.now += SECOND_US
    use("login-1", "key-1")
    assert used() == [clock.now]
    before = clock.now
    accounts.rotate_credentials(opened, 1, overlap_us=HOUR_US)
    clock.now += 60 * SECOND_US
    use(*pair_of(opened))
    assert used() == [clock.now, before]


def test_a_use_that_could_not_be_written_is_written_later(opened: OpenStore, clock: Clock) -> None:
    uses = credentials.Uses()
    with opened.reader() as database:
        caller = credentials.account_for_credentials(database, "key-1", "login-1", now=clock.now)
    assert caller
    uses.note(caller, clock.now)
    nowhere = find_store("sqlite:////no/such/folder/x.db")
    with pytest.raises(StoreUnavailable):
        uses.write(nowhere)
    uses.write(opened, every_us=0)
    assert [pair.used_at for pair in credentials.credentials_of(opened, 1)] == [START_US]


# The key


@pytest.fixture
def in_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The URL of a database whose key is beside it, as without any setting."""
    monkeypatch.delenv(SECRET_KEY)
    return f"sqlite:///{tmp_path}/x.db"


def make(url: str) -> Path:
    """Make a database with an account; return the file of its key."""
    with opening(url) as opened:
        accounts.add_account(opened, {"account_id": 1, "api_key": "key-1", "api_login": "login-1"})
    return Path(url.removeprefix("sqlite:///") + "-key")


def test_an_embedded_database_makes_a_key_that_its_owner_alone_can_read(in_file: str) -> None:
    """decisions, "The secret key"."""
    key = make(in_file)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert re.fullmatch(r"[0-9a-f]{64}\n", key.read_text())
    with opening(in_file) as opened:
        assert pair_of(opened) == ("key-1", "login-1")
        assert owner(opened, "key-1", "login-1") == 1


def test_several_that_begin_at_once_have_one_key(in_file: str) -> None:
    failures: list[BaseException] = []

    def begin(account_id: int) -> None:
        try:
            with opening(in_file) as opened:
                accounts.add_account(opened, {"account_id": account_id})
        except BaseException as failure:  # noqa: BLE001 - the test's own thread shows it
            failures.append(failure)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    folder = Path(in_file.removeprefix("sqlite:///")).parent
    assert [file.name for file in folder.glob("*-key*")] == ["x.db-key"]
    with opening(in_file) as opened, opened.writer() as database:
        assert len({row[6] for row in accounts.accounts(database)}) == 6


def test_a_key_that_others_can_read_is_refused(in_file: str) -> None:
    """decisions, "The secret key"."""
    key = make(in_file)
    key.chmod(0o640)
    with pytest.raises(MastheadError, match=r"open to other users .*`chmod 600 .*x\.db-key`"):
        open_store(in_file)


def test_a_key_that_is_lost_is_said_to_be_and_no_other_one_is_made(in_file: str) -> None:
    """decisions, "The secret key"."""
    key = make(in_file)
    key.unlink()
    with pytest.raises(MastheadError, match=r"is missing: put .*x\.db-key back, or give the key"):
        open_store(in_file)
    assert not key.exists()


def test_a_key_of_another_database_is_refused(
    in_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "The secret key"; the environment's comes first."""
    key = make(in_file)
    right = key.read_text()
    monkeypatch.setenv(SECRET_KEY, "0" * 64)
    with pytest.raises(MastheadError, match=f"key in {SECRET_KEY} is not the one of this database"):
        open_store(in_file)
    monkeypatch.setenv(SECRET_KEY, right.strip())
    key.write_text("0" * 64)
    open_store(in_file).close()
    monkeypatch.delenv(SECRET_KEY)
    with pytest.raises(MastheadError, match=r"key in .*x\.db-key is not the one of this database"):
        open_store(in_file)


@pytest.mark.parametrize("text", ["", "secret", "0" * 63, "0" * 65, "g" * 64, "\udcff"])
def test_an_invalid_key_is_refused_with_the_command_that_makes_one(in_file: str, text: str) -> None:
    key = make(in_file)
    key.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(MastheadError, match=r"secrets\.token_hex\(32\)|is no text") as refusal:
        open_store(in_file)
    assert "secret" in str(refusal.value)
    assert "g" * 64 not in str(refusal.value)


@ON_POSTGRESQL
def test_a_database_on_a_server_needs_a_key_and_says_how_to_make_one(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "The secret key"."""
    monkeypatch.delenv(SECRET_KEY)
    for use in (open_store, migrate):
        with pytest.raises(BadUsage, match=rf"{SECRET_KEY}.*secrets\.token_hex\(32\)"):
            use(url)


@ON_POSTGRESQL
def test_without_a_key_no_database_is_made_on_a_server(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.delenv(SECRET_KEY)
        with pytest.raises(BadUsage, match=rf"needs a secret key in {SECRET_KEY}"):
            migrate(empty_url)
    with find_store(empty_url).writer() as database:
        assert tables(database) == set()
    assert migrate(empty_url) == ["0001 start"]


@ON_POSTGRESQL
def test_a_database_on_a_server_is_not_migrated_with_the_key_of_another(
    opened: OpenStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "The secret key"."""
    monkeypatch.setenv(SECRET_KEY, "0" * 64)
    with pytest.raises(MastheadError, match=f"key in {SECRET_KEY} is not the one of this database"):
        migrate(url)


def test_fingerprints_of_other_parts_differ() -> None:
    secret = Secret(None)
    found = {secret.fingerprint(*parts) for parts in (("a", "b"), ("ab",), ("b", "a"), (1, "b"))}
    assert len(found) == 4


# Another key


def test_all_pairs_can_be_sealed_with_another_key(
    opened: OpenStore, url: str, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "The secret key": the same credentials."""
    accounts.rotate_credentials(opened, 2, overlap_us=HOUR_US)
    second = pair_of(opened, 2)
    opened.close()
    old = tmp_path / "old-key"
    old.write_text(os.environ[SECRET_KEY])
    old.chmod(0o600)
    monkeypatch.setenv(SECRET_KEY, "1" * 64)
    with pytest.raises(MastheadError, match="is not the one of this database"):
        open_store(url)
    wrong = Secret(None)
    with pytest.raises(MastheadError, match="accounts 1 api_key cannot be opened"):
        accounts.rekey(find_store(url), wrong)
    assert accounts.rekey(find_store(url), Secret(old, variable=None)) == 2
    with opening(url, clock) as again:
        assert pair_of(again) == ("key-1", "login-1")
        assert owner(again, "key-1", "login-1") == 1
        assert owner(again, *second) == 2
        assert owner(again, "key-2", "login-2") is None


def test_a_key_that_was_changed_is_not_changed_again(
    opened: OpenStore, url: str, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "The secret key is changed a second time"."""
    accounts.set_account(opened, 2, {"api_key": None, "api_login": None})
    opened.close()
    old = tmp_path / "old-key"
    old.write_text(os.environ[SECRET_KEY])
    old.chmod(0o600)
    monkeypatch.setenv(SECRET_KEY, "1" * 64)
    assert accounts.rekey(find_store(url), Secret(old, variable=None)) == 2
    assert accounts.rekey(find_store(url), Secret(old, variable=None)) is None
    assert accounts.rekey(find_store(url), None) is None
    old.unlink()
    assert accounts.rekey(find_store(url), Secret(old, variable=None)) is None
    with opening(url, clock) as again:
        assert owner(again, "key-1", "login-1") == 1
    monkeypatch.setenv(SECRET_KEY, "2" * 64)
    assert accounts.rekey(find_store(url), None) == 2
    with opening(url, clock) as again:
        new = pair_of(again)
    assert accounts.rekey(find_store(url), None) is None
    with opening(url, clock) as again:
        assert pair_of(again) == new
        assert owner(again, *new) == 1


def test_credentials_of_an_outdated_database_are_not_encrypted_again(
    opened: OpenStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_KEY, "1" * 64)
    with (
        knowing(ADDS_A_COLUMN),
        pytest.raises(BadInput, match="not up to date: migrate it first"),
    ):
        accounts.rekey(find_store(url), None)


def test_a_lost_key_costs_all_accounts_their_credentials(
    opened: OpenStore, url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "The secret key"."""
    opened.close()
    monkeypatch.setenv(SECRET_KEY, "1" * 64)
    assert accounts.rekey(find_store(url), None) == 2
    with opening(url, clock) as again:
        assert owner(again, "key-1", "login-1") is None
        new = pair_of(again)
        assert new != ("key-1", "login-1")
        assert owner(again, *new) == 1
