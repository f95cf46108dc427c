"""Whose credentials they are, which accounts there are, and what may be changed about them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput, NotFound
from masthead.store import accounts, commits, credentials

if TYPE_CHECKING:
    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock


def owner(store: OpenStore, user: str, password: str) -> int | None:
    """Return the account whose credentials these are."""
    with store.reader() as database:
        caller = credentials.account_for_credentials(database, user, password, now=store.clock())
    return caller and caller.account_id


def shown(store: OpenStore, account_id: int = 1) -> dict[str, int | str | None]:
    with store.writer() as database:
        return accounts.settings_of(database, account_id)


def test_credentials_lead_to_their_account_in_either_order(opened: OpenStore) -> None:
    assert owner(opened, "key-1", "login-1") == 1
    assert owner(opened, "login-2", "key-2") == 2


@pytest.mark.parametrize(
    ("user", "password"),
    [
        ("key-1", "login-2"),
        ("key-1", "key-1"),
        ("login-1", "login-1"),
        ("KEY-1", "login-1"),
        ("key-1", ""),
        ("", "login-1"),
        ("", ""),
        ("key-1", "login-1\x00"),
        ("key-1\x00", "login-1"),
        ("kéy", "🎈"),
    ],
)
def test_other_credentials_lead_nowhere(opened: OpenStore, user: str, password: str) -> None:
    assert owner(opened, user, password) is None


@pytest.mark.parametrize("setting", ["active", "api_active"])
def test_an_account_that_is_not_active_cannot_be_entered(opened: OpenStore, setting: str) -> None:
    accounts.set_account(opened, 1, {setting: 0})
    assert owner(opened, "key-1", "login-1") is None
    accounts.set_account(opened, 1, {setting: 1})
    assert owner(opened, "key-1", "login-1") == 1


@pytest.mark.parametrize("name", ["api_key", "api_login"])
def test_an_account_that_lacks_a_credential_cannot_be_entered(opened: OpenStore, name: str) -> None:
    accounts.set_account(opened, 1, {name: None})
    for user, password in (("key-1", ""), ("", "login-1"), ("", ""), ("key-1", "login-1")):
        assert owner(opened, user, password) is None


def test_an_account_gets_credentials_of_its_own_and_the_time_it_was_made(
    opened: OpenStore,
) -> None:
    for account_id in (3, 4):
        accounts.add_account(opened, {"account_id": account_id})
    three, four = shown(opened, 3), shown(opened, 4)
    credentials = {three["api_key"], three["api_login"], four["api_key"], four["api_login"]}
    assert len(credentials) == 4
    assert all(len(str(each)) >= 32 for each in credentials)
    assert three["created"] == "2027-01-15 08:00:00"
    assert (three["active"], three["api_active"], three["is_master"]) == (1, 1, 0)


def test_an_id_that_is_taken_is_refused(opened: OpenStore) -> None:
    with pytest.raises(BadInput, match="account 1 exists already"):
        accounts.add_account(opened, {"account_id": 1, "company_name": "Other"})
    assert shown(opened)["company_name"] is None


def test_an_api_key_that_another_account_has_is_refused(opened: OpenStore) -> None:
    for change in (
        lambda: accounts.set_account(opened, 2, {"api_key": "key-1"}),
        lambda: accounts.add_account(opened, {"account_id": 3, "api_key": "key-1"}),
        lambda: accounts.save_accounts(opened, [{"account_id": 2, "api_key": "key-1"}]),
    ):
        with pytest.raises(BadInput, match="another account has this key; choose another"):
            change()
    assert owner(opened, "key-1", "login-1") == 1
    assert shown(opened, 2)["api_key"] == "key-2"
    with pytest.raises(NotFound):
        shown(opened, 3)


def test_a_pair_that_works_the_other_way_round_is_refused(opened: OpenStore) -> None:
    """rules, "Credentials that are crosswise"; in each way in which they get into the database."""
    crosswise: accounts.Values = {"api_key": "login-1", "api_login": "key-1"}
    accounts.set_account(opened, 2, {"api_key": "login-1"})
    for account_id, change in (
        (2, lambda: accounts.set_account(opened, 2, crosswise)),
        (2, lambda: accounts.set_account(opened, 2, {"api_login": "key-1"})),
        (3, lambda: accounts.add_account(opened, {"account_id": 3, **crosswise})),
        (2, lambda: accounts.save_accounts(opened, [{"account_id": 2, **crosswise}])),
        (1, lambda: accounts.set_account(opened, 1, crosswise)),
    ):
        with pytest.raises(BadInput) as refusal:
            change()
        assert str(refusal.value) == (
            f"account {account_id}: api_key and api_login: account 1 has this pair the other way "
            "round, and a pair opens its account either way round; choose another key or login"
        )
    assert owner(opened, "key-1", "login-1") == owner(opened, "login-1", "key-1") == 1
    assert owner(opened, "login-1", "login-2") == 2


def test_an_account_cannot_turn_its_own_pair_round(opened: OpenStore) -> None:
    """rules, "Credentials that are crosswise": the earlier pair would go on working."""
    with pytest.raises(BadInput, match="account 1 has this pair the other way round"):
        accounts.set_account(opened, 1, {"api_key": "login-1", "api_login": "key-1"})
    accounts.rotate_credentials(opened, 1)
    accounts.set_account(opened, 1, {"api_key": "login-1", "api_login": "key-1"})
    assert owner(opened, "login-1", "key-1") == 1


def test_a_former_pair_counts_as_long_as_it_works(opened: OpenStore, clock: Clock) -> None:
    """rules, "Credentials that are crosswise"."""
    accounts.rotate_credentials(opened, 1, overlap_us=3_600_000_000)
    crosswise: accounts.Values = {"api_key": "login-1", "api_login": "key-1"}
    for account_id in (1, 2):
        with pytest.raises(BadInput, match="account 1 has this pair the other way round"):
            accounts.set_account(opened, account_id, crosswise)
    clock.now += 3_600_000_000
    accounts.set_account(opened, 2, crosswise)
    assert owner(opened, "login-1", "key-1") == owner(opened, "key-1", "login-1") == 2


def test_of_two_crosswise_pairs_at_once_one_is_refused(opened: OpenStore) -> None:
    """rules, "Credentials that are crosswise"."""
    start = threading.Barrier(2)

    def give(account_id: int, key: str, login: str) -> str:
        start.wait()
        try:
            accounts.set_account(opened, account_id, {"api_key": key, "api_login": login})
        except BadInput as refusal:
            return str(refusal)
        return ""

    with ThreadPoolExecutor(2) as pool:
        said = [
            pool.submit(give, 1, "a", "b"),
            pool.submit(give, 2, "b", "a"),
        ]
        refused = [each.result() for each in said if each.result()]
    assert len(refused) == 1
    assert "has this pair the other way round" in refused[0]


def test_a_key_that_is_its_own_login_is_a_pair_as_any(opened: OpenStore) -> None:
    """rules, "Credentials that are crosswise"."""
    accounts.set_account(opened, 1, {"api_key": "same", "api_login": "same"})
    assert owner(opened, "same", "same") == 1
    accounts.rotate_credentials(opened, 1, overlap_us=3_600_000_000)
    accounts.set_account(opened, 1, {"api_key": "same", "api_login": "same"})
    assert owner(opened, "same", "same") == 1
    with pytest.raises(BadInput, match="another account has this key"):
        accounts.set_account(opened, 2, {"api_key": "same", "api_login": "same"})


@pytest.mark.parametrize(("first_is_open", "second_is_open"), [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_of_crosswise_pairs_from_before_the_straight_one_counts(
    opened: OpenStore, first_is_open: int, second_is_open: int
) -> None:
    """rules, "Credentials that are crosswise": an earlier version let them happen."""
    accounts.set_account(opened, 1, {"active": first_is_open})
    accounts.set_account(opened, 2, {"api_active": second_is_open})
    with opened.writer() as database, database.transaction():
        key, login = (database.secret.fingerprint("api", text) for text in ("key-1", "login-1"))
        database.change(
            "UPDATE credentials SET key_hash = :login, login_hash = :key WHERE account_id = 2",
            key=key,
            login=login,
        )
    assert owner(opened, "key-1", "login-1") == (1 if first_is_open else None)
    assert owner(opened, "login-1", "key-1") == (2 if second_is_open else None)


SAME: list[accounts.Values] = [
    {"api_key": "key-1"},
    {"api_login": "login-1"},
    {"api_key": "key-1", "api_login": "login-1"},
    {"api_key": "key-1", "plan": None},
]


@pytest.mark.parametrize("same", SAME, ids="+".join)
def test_the_pair_that_is_there_already_changes_nothing(
    opened: OpenStore, same: accounts.Values
) -> None:
    """rules, "Rotation of credentials": and ends no other one."""
    accounts.rotate_credentials(opened, 1, overlap_us=3_600_000_000)
    now = shown(opened)
    values = {name: now[name] for name in same}
    accounts.set_account(opened, 1, values)
    assert accounts.save_accounts(opened, [{"account_id": 1, **values}]) == (0, 0, 1)
    assert shown(opened) == now
    assert owner(opened, "key-1", "login-1") == 1
    assert owner(opened, str(now["api_key"]), str(now["api_login"])) == 1


def test_a_pair_may_share_a_half_with_the_one_before(opened: OpenStore) -> None:
    accounts.set_account(opened, 1, {"api_key": "key-1", "api_login": "other"})
    assert owner(opened, "key-1", "other") == 1
    accounts.set_account(opened, 1, {"api_key": "another", "api_login": "other"})
    assert owner(opened, "another", "other") == 1
    accounts.rotate_credentials(opened, 1, overlap_us=3_600_000_000)
    accounts.set_account(opened, 1, {"api_key": "another"})
    assert owner(opened, "another", "other") is owner(opened, "key-1", "other") is None
    assert owner(opened, "another", str(shown(opened)["api_login"])) == 1
    accounts.set_account(opened, 1, {"api_key": None, "api_login": None})
    accounts.set_account(opened, 1, {"api_key": None})
    assert shown(opened)["api_key"] is None


def test_a_caller_carries_its_pair_in_the_right_order_and_never_shows_it(
    opened: OpenStore,
) -> None:
    """rules, "Rotation of credentials"."""
    with opened.reader() as database:
        for pair in (("key-1", "login-1"), ("login-1", "key-1")):
            caller = credentials.account_for_credentials(database, *pair, now=opened.clock())
            assert caller
            assert caller.credentials == ("key-1", "login-1")
            assert "key-1" not in repr(caller)
            assert "login-1" not in f"{caller}"


def test_accounts_of_a_file_are_saved_all_or_none(opened: OpenStore) -> None:
    with pytest.raises(BadInput):
        accounts.save_accounts(opened, [{"account_id": 5}, {"account_id": 2, "api_key": "key-1"}])
    with pytest.raises(NotFound):
        shown(opened, 5)


def test_accounts_of_a_file_are_counted(opened: OpenStore) -> None:
    rows: list[accounts.Values] = [
        {"account_id": 1, "company_name": "One"},
        {"account_id": 2, "company_name": None},
        {"account_id": 3, "company_name": "Three"},
    ]
    assert accounts.save_accounts(opened, rows) == (1, 1, 1)
    assert accounts.save_accounts(opened, rows) == (0, 0, 3)


def test_a_rotated_key_ends_the_old_one_at_once(opened: OpenStore) -> None:
    accounts.rotate_credentials(opened, 1)
    assert owner(opened, "key-1", "login-1") is None
    new = shown(opened)
    assert owner(opened, str(new["api_key"]), str(new["api_login"])) == 1
    assert owner(opened, "key-2", "login-2") == 2


def test_what_is_not_named_stays_as_it_is(opened: OpenStore) -> None:
    before = shown(opened)
    accounts.set_account(opened, 1, {"plan": "Premium"})
    assert shown(opened) == {**before, "plan": "Premium"}


def test_an_unknown_account_is_not_found(opened: OpenStore) -> None:
    for ask in (
        lambda: shown(opened, 9),
        lambda: accounts.set_account(opened, 9, {"plan": "x"}),
        lambda: accounts.rotate_credentials(opened, 9),
    ):
        with pytest.raises(NotFound, match="there is no account 9"):
            ask()
    with opened.writer() as database:
        assert accounts.get_account(database, 9) is None


def test_hiding_digests_is_a_change_of_every_subscriber(opened: OpenStore, clock: Clock) -> None:
    """decisions, "Passwords"; setting what is set already changes nothing."""
    clock.now += 1_000
    later = clock.now
    accounts.set_account(opened, 1, {"hide_password_md5": 0})
    with opened.writer() as database:
        assert commits.position_of(database, 1, later).first_commit is None
    accounts.set_account(opened, 1, {"hide_password_md5": 1})
    with opened.writer() as database:
        assert commits.position_of(database, 1, later).first_commit == 2
        assert commits.position_of(database, 2, later).first_commit is None
        assert accounts.hides_password_md5(database, 1)
        assert not accounts.hides_password_md5(database, 2)


def test_accounts_are_listed_by_ascending_id(opened: OpenStore) -> None:
    for account_id in (30, 4):
        accounts.add_account(opened, {"account_id": account_id})
    with opened.writer() as database:
        assert [row[0] for row in accounts.accounts(database)] == [1, 2, 4, 30]
