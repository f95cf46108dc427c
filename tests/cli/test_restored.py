"""What was ended after a backup stays ended when it is restored, and no copy keeps what is lost.

rules, "Restored backups: who may come in" and "Epochs after a time that is known".
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from masthead.contract.moments import parse_moment
from masthead.store import (
    accounts,
    commits,
    credentials,
    find_store,
    logins,
    open_store,
    operators,
    partners,
)
from masthead.store.access_ended import admitted_by
from masthead.store.account_removal import remove_account
from masthead.store.backups import Restored, back_up, restore_backup
from masthead.store.sqlite import SqliteStore
from tests.cli.running import spoil
from tests.servers import Store, masthead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Store as OpenStore

HOUR_US = 3_600 * 1_000_000
OLD, NEW = "correct horse", "battery staple"
PAIR = {"api_key": "key", "api_login": "login"}
ATTEMPT = logins.Attempt(1, "email", "a login", "a guess")
LIMITS = logins.Limits(per_login=1)


class Books:
    """An embedded database with two accounts and operators, and its backup."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder / 'masthead.db'}"
        self.backup = folder / "backup"
        self.store: OpenStore = open_store(self.url)
        for account_id in (1, 2):
            accounts.add_account(self.store, {"account_id": account_id, "company_name": "Before"})
        accounts.set_account(self.store, 1, PAIR)
        for name in ("ada", "bob"):
            operators.add_operator(self.store, 1, name, "manager", OLD)
        operators.add_operator(self.store, 2, "eve", "manager", OLD)
        self.gone, self.kept = (
            partners.add_partner(self.store, 1, name) for name in ("Gone", "Kept")
        )
        self.session = operators.sign_in(self.store, 1, "ada", OLD) or ""
        back_up(self.store, self.backup, advance=lambda _done, _all: None)

    def restore(self, *, even_if_unreadable: bool = False) -> Restored:
        """Restore the backup; have the restored database open."""
        self.store.close()
        found = find_store(self.url)
        restored = restore_backup(
            found,
            self.backup,
            replace=True,
            advance=lambda _done, _all: None,
            even_if_unreadable=even_if_unreadable,
        )
        self.store = open_store(self.url)
        return restored

    def opens(self, key: str, login: str) -> bool:
        """Return whether a pair opens an account."""
        with self.store.reader() as database:
            now = database.now()
            return credentials.account_for_credentials(database, key, login, now=now) is not None

    def comes_in(self, name: str, password: str, account_id: int = 1) -> bool:
        """Return whether an operator can sign in."""
        return operators.sign_in(self.store, account_id, name, password) is not None


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    found = Books(tmp_path)
    yield found
    found.store.close()


def test_what_was_ended_after_the_backup_stays_ended(books: Books) -> None:
    store = books.store
    accounts.rotate_credentials(store, 1, overlap_us=HOUR_US)
    accounts.set_account(
        store, 2, {"api_active": 0, "hide_password_md5": 1, "company_name": "After"}
    )
    operators.set_operator(store, 1, "ada", role="viewer", password=NEW)
    operators.remove_operator(store, 1, "bob")
    operators.add_operator(store, 1, "cy", "clerk", NEW)
    partners.remove_partner(store, 1, "Gone")
    kept = partners.rotate_partner(store, 1, "Kept")
    partners.set_partner(store, 1, "Kept", operations=["changes"], rate=None)
    with store.counters() as counters:
        logins.count_failure(counters, LIMITS, ATTEMPT, store.clock())
    with store.reader() as database:
        before, new = admitted_by(database), accounts.settings_of(database, 1)
    restored = books.restore()
    assert restored.carried.changed == {
        1: ["credentials", "partners", "operators"],
        2: [
            "switched on or off",
            "the settings of a master, of password_md5 and of renewal codes",
        ],
    }
    with books.store.reader() as database:
        assert admitted_by(database) == before
        assert accounts.settings_of(database, 1) == new
        assert accounts.settings_of(database, 2)["company_name"] == "Before"
    assert books.opens("key", "login"), "within its overlap, as before"
    assert [books.opens(*pair) for pair in (books.gone, books.kept, kept)] == [False, False, True]
    assert not books.comes_in("ada", OLD)
    assert books.comes_in("ada", NEW)
    assert not books.comes_in("bob", OLD)
    assert operators.find_session(books.store, books.session) is None
    with books.store.counters() as counters:
        assert logins.standing_of(counters, LIMITS, ATTEMPT, books.store.clock()).by_login_us > 0


def test_a_pair_that_ended_opens_nothing_after_a_restore(books: Books) -> None:
    accounts.rotate_credentials(books.store, 1)
    books.restore()
    assert not books.opens("key", "login")


def test_nothing_is_carried_over_where_nothing_has_changed(books: Books) -> None:
    assert books.restore().carried == ({}, [])
    assert books.opens("key", "login")
    assert operators.find_session(books.store, books.session)


def test_an_account_that_was_removed_comes_back_closed(books: Books) -> None:
    with books.store.reader() as database:
        pair = accounts.settings_of(database, 2)
    remove_account(books.store, 2)
    assert books.restore().carried == ({}, [2])
    assert not books.opens(str(pair["api_key"]), str(pair["api_login"]))
    assert not books.comes_in("eve", OLD, 2)
    with books.store.reader() as database:
        settings = accounts.settings_of(database, 2)
    assert [settings[name] for name in ("active", "api_active", "api_key")] == [0, 0, None]


def test_of_a_damaged_database_nothing_is_known_and_all_sessions_end(books: Books) -> None:
    accounts.rotate_credentials(books.store, 1)
    books.store.close()
    spoil(Store("sqlite", books.backup.parent), books.url)
    restored = books.restore(even_if_unreadable=True)
    assert all(restored.unread)
    assert operators.find_session(books.store, books.session) is None
    with books.store.reader() as database:
        ((sessions_from,),) = database.rows("SELECT min(sessions_from) FROM operators")
    assert sessions_from > books.backup.stat().st_mtime_ns // 1_000


def test_an_older_database_does_not_say_who_may_come_in(books: Books, tmp_path: Path) -> None:
    """As after the restore of an old backup, when a newer one is found."""
    newer = tmp_path / "newer"
    masthead("accounts", "rotate-credentials", 1, database=books.url)
    masthead("backup", newer, database=books.url)
    books.store.close()
    Path(books.url.removeprefix("sqlite:///")).unlink()
    masthead("restore", books.backup, database=books.url)
    books.backup = newer
    restored = books.restore()
    assert not books.opens("key", "login")
    assert "no later state of the backup" in str(restored.unread.admitted)


def test_the_command_says_what_came_from_the_replaced_database(books: Books) -> None:
    accounts.rotate_credentials(books.store, 1)
    remove_account(books.store, 2)
    books.store.close()
    done = masthead("restore", books.backup, "--replace", database=books.url)
    assert (
        "account 1: as in the database that was replaced: credentials\n"
        "account 2: removed after the backup, so it is switched off now, without credentials "
        "and operators: `masthead accounts remove 2` removes it\n"
    ) in done.stdout
    assert done.stderr == ""
    Path(books.url.removeprefix("sqlite:///")).unlink()
    done = masthead("restore", books.backup, database=books.url)
    for said in ("All sessions of the console have ended", "masthead feed new-epoch --after TIME"):
        assert said in done.stderr


def test_a_file_of_accounts_closes_what_a_dump_has_opened_again(
    store: Store, account: str, tmp_path: Path
) -> None:
    """The manual of PostgreSQL: written before a restore with other tools, and imported after."""
    masthead("accounts", "add", 2, "--api-key=two", "--api-login=two", database=account)
    restored = store.copy_database(account, "dump")
    try:
        masthead("accounts", "rotate-credentials", 1, database=account)
        masthead("accounts", "set", 2, "--no-api-active", database=account)
        file = tmp_path / "accounts.csv"
        file.write_text(masthead("accounts", "export", database=account).stdout)
        masthead("import", file, database=restored)
        with closing(open_store(restored)) as found, found.writer() as database:
            for pair in (("key", "login"), ("two", "two")):
                now = database.now()
                assert credentials.account_for_credentials(database, *pair, now=now) is None
    finally:
        store.drop_database(restored)


# Times


def epoch_of(store: OpenStore, account_id: int) -> int:
    with store.reader() as database:
        return commits.position_of(database, account_id).epoch_at or 0


@pytest.mark.parametrize("ahead_us", [200_000_000, 2 * HOUR_US])
def test_the_epoch_begins_after_the_newest_stamp_of_the_replaced_database(
    books: Books, ahead_us: int
) -> None:
    """Copies have its time, for any time of the clock when it was given."""
    assert isinstance(books.store, SqliteStore)
    clock = books.store.clock
    ahead = SqliteStore(books.store.path, lambda: clock() + ahead_us, books.store.secret)
    with closing(ahead), ahead.writer() as database:
        for account_id in (1, 2):
            with database.transaction():
                commits.begin_commit(database, account_id)
            commits.stamp_commits(ahead, account_id)
        held = [commits.position_of(database, one).newest_stamp + 1 for one in (1, 2)]
    accounts.add_account(ahead, {"account_id": 3})
    with ahead.writer() as database:
        held.append(commits.position_of(database, 3).newest_stamp + 1)
    remove_account(ahead, 2)
    books.restore()
    accounts.add_account(books.store, {"account_id": 3})
    assert all(epoch_of(books.store, one) > time for one, time in zip((1, 2, 3), held, strict=True))


def test_an_epoch_is_after_the_time_of_a_client_even_at_the_turn_of_a_second(books: Books) -> None:
    """The newest stamp and a microsecond is what clients have."""
    newest = books.store.clock() // 1_000_000 * 1_000_000 + HOUR_US - 1
    with books.store.writer() as database, database.transaction():
        commits.stamp(database, 1, commits.begin_commit(database, 1), newest)
    books.restore()
    assert epoch_of(books.store, 1) > newest + 1


def test_an_epoch_can_begin_after_a_time_that_clients_have(account: str) -> None:
    """rules, "Epochs after a time that is known": where the database that gave it is lost."""
    time = "2099-12-31T23:59:59.5Z"
    masthead("feed", "new-epoch", "--after", time, database=account)
    with closing(open_store(account)) as store, store.writer() as database:
        epoch = commits.position_of(database, 1).epoch_at
    assert epoch == parse_moment("2100-01-01T00:00:00Z")
    refused = masthead("feed", "new-epoch", "--after", "soon", database=account, exit_status=2)
    assert "'soon' is not a time such as 2026-11-20T08:30:00Z" in refused.stderr
