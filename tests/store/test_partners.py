"""Partners of an account: names, rights, pairs of their own, and who they are to a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput, NotFound
from masthead.store import accounts, audit, credentials, partners
from masthead.store.account_removal import remove_account
from masthead.store.request_counts import (
    PartnerCount,
    PartnerTotal,
    RequestCounts,
    counts_of_day,
    totals_of,
)
from masthead.store.secret import Secret
from tests.store.catalogue import tables

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.store import Store as OpenStore
    from masthead.store.credentials import Caller
    from tests.store.conftest import Clock

HOUR_US = 3_600_000_000
MINUTE_US = 60_000_000
ADA = audit.Actor("ada", "partners add")
Pair = tuple[str, str]


def caller_of(store: OpenStore, pair: Pair) -> Caller | None:
    with store.reader() as database:
        return credentials.account_for_credentials(database, *pair, now=store.clock())


def opens(store: OpenStore, pair: Pair) -> bool:
    return caller_of(store, pair) is not None


def test_a_pair_says_which_partner_asks_and_what_it_may(opened: OpenStore) -> None:
    """decisions, "Partners of an account"."""
    pair = partners.add_partner(opened, 1, "Shop", operations=["get_order", "changes"], rate=5)
    for sent in (pair, pair[::-1]):
        found = caller_of(opened, sent)
        assert found
        assert (found.account_id, found.partner, found.partner_id, found.rate) == (1, "Shop", 1, 5)
        assert found.operations == "changes get_order", "in the order of the interface"
        assert found.credentials == pair
    own = caller_of(opened, ("key-1", "login-1"))
    assert own
    assert (own.partner, own.partner_id, own.operations, own.rate) == ("", 0, None, None)


def test_a_partner_of_a_master_account_sees_its_own_account_only(opened: OpenStore) -> None:
    """decisions, "Partners of an account": a master sees the credentials of others."""
    accounts.set_account(opened, 1, {"is_master": 1})
    found = caller_of(opened, partners.add_partner(opened, 1, "Shop"))
    own = caller_of(opened, ("key-1", "login-1"))
    assert found
    assert own
    assert (found.is_master, own.is_master) == (0, 1)


def test_pairs_of_partners_and_of_the_account_end_apart(opened: OpenStore, clock: Clock) -> None:
    one = partners.add_partner(opened, 1, "One")
    two = partners.add_partner(opened, 1, "Two")
    later = partners.rotate_partner(opened, 1, "one", overlap_us=HOUR_US)
    assert [opens(opened, pair) for pair in (one, later, two)] == [True, True, True]
    clock.now += HOUR_US
    assert [opens(opened, pair) for pair in (one, later, two)] == [False, True, True]
    accounts.rotate_credentials(opened, 1)
    assert [opens(opened, pair) for pair in (later, two)] == [True, True]
    assert not opens(opened, ("key-1", "login-1"))
    accounts.set_account(opened, 1, {"api_key": "again", "api_login": "login"})
    at_once = partners.rotate_partner(opened, 1, "Two")
    assert [opens(opened, pair) for pair in (later, two, at_once)] == [True, False, True]
    assert opens(opened, ("again", "login"))
    assert [each.ends_at for each in credentials.credentials_of(opened, 1)] == [None]


def test_access_of_the_account_is_that_of_its_partners(opened: OpenStore) -> None:
    pair = partners.add_partner(opened, 1, "Shop")
    accounts.set_account(opened, 1, {"api_active": 0})
    assert not opens(opened, pair)


def test_a_removed_partner_opens_nothing_and_its_name_is_free(opened: OpenStore) -> None:
    pair = partners.add_partner(opened, 1, "Shop")
    partners.rotate_partner(opened, 1, "Shop", overlap_us=HOUR_US)
    assert partners.remove_partner(opened, 1, "SHOP").name == "Shop"
    assert not opens(opened, pair)
    assert partners.partners_of(opened, 1) == []
    assert opens(opened, partners.add_partner(opened, 1, "shop"))


def test_what_a_partner_may_is_changed_for_its_next_request(opened: OpenStore) -> None:
    pair = partners.add_partner(opened, 1, "Shop", operations=["changes"], rate=5)
    changed = partners.set_partner(opened, 1, "shop", operations=None, rate=None)
    assert changed.rights == "all operations"
    found = caller_of(opened, pair)
    assert found
    assert (found.operations, found.rate) == (None, None)


def test_a_list_has_the_last_use_of_a_partner(opened: OpenStore, clock: Clock) -> None:
    pair = partners.add_partner(opened, 1, "b")
    partners.add_partner(opened, 1, "A", operations=["changes", "digest"], rate=7)
    found = caller_of(opened, pair)
    assert found
    uses = credentials.Uses()
    uses.note(found, clock.now)
    uses.write(opened, every_us=0)
    one, two = partners.partners_of(opened, 1)
    assert (one.partner.name, one.used_at) == ("A", None)
    assert one.partner.rights == "changes and digest; at most 7 a second"
    assert (two.partner.name, two.used_at) == ("b", clock.now)
    assert partners.partners_of(opened, 2) == []


def test_nothing_of_a_pair_is_stored_but_hashes(opened: OpenStore) -> None:
    pair = partners.add_partner(opened, 1, "Shop", by=ADA)
    with opened.writer() as database:
        dump = repr([database.rows(f"SELECT * FROM {table}") for table in tables(database)])
    assert "Shop" in dump
    assert not any(secret in dump for secret in pair)


def test_the_audit_log_has_what_is_done_to_partners(opened: OpenStore) -> None:
    partners.add_partner(opened, 1, "Shop", operations=["changes"], by=ADA)
    partners.set_partner(opened, 1, "Shop", operations=None, rate=9, by=ADA)
    partners.rotate_partner(opened, 1, "Shop", overlap_us=HOUR_US, by=ADA)
    partners.remove_partner(opened, 1, "Shop", by=ADA)
    with opened.reader() as database:
        assert [each.summary for each in audit.entries(database, account_id=1)][-4:] == [
            "partner 'Shop' was added: changes",
            "partner 'Shop' may do this: all operations; at most 9 a second",
            "new credentials for partner 'Shop'; those before work for 3600 seconds more",
            "partner 'Shop' was removed",
        ]


@pytest.mark.parametrize("name", ["", " a", "a\n", "x" * 51, "a\u202eb"])
def test_a_name_that_a_log_cannot_show_is_refused(opened: OpenStore, name: str) -> None:
    with pytest.raises(BadInput, match="is no name of a partner"):
        partners.add_partner(opened, 1, name)


def test_what_cannot_be_is_refused(opened: OpenStore) -> None:
    partners.add_partner(opened, 1, "Shop")
    with pytest.raises(BadInput, match="there is a partner 'SHOP' already"):
        partners.add_partner(opened, 1, "SHOP")
    with pytest.raises(BadInput, match="'orders' is no operation: the operations are list_acc"):
        partners.add_partner(opened, 1, "Other", operations=["orders"])
    with pytest.raises(BadInput, match="a partner needs an operation"):
        partners.set_partner(opened, 1, "Shop", operations=[], rate=None)
    with pytest.raises(BadInput, match="0 is no rate"):
        partners.set_partner(opened, 1, "Shop", operations=None, rate=0)
    with pytest.raises(NotFound, match="account 2 has no partner 'Shop'"):
        partners.rotate_partner(opened, 2, "Shop")
    for act in (
        lambda: partners.add_partner(opened, 9, "Shop"),
        lambda: partners.partners_of(opened, 9),
        lambda: partners.remove_partner(opened, 9, "Shop"),
    ):
        with pytest.raises(NotFound, match="there is no account 9"):
            act()


def test_an_account_goes_with_its_partners(opened: OpenStore) -> None:
    pair, other = partners.add_partner(opened, 1, "Shop"), partners.add_partner(opened, 2, "Shop")
    remove_account(opened, 1)
    assert not opens(opened, pair)
    assert opens(opened, other)


def test_another_secret_key_ends_the_pairs_of_partners(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Partners of an account": only the account's own pair can be sealed again."""
    pair = partners.add_partner(opened, 1, "Shop")
    old = opened.secret
    own = Secret(tmp_path / "new", variable=None)
    monkeypatch.setattr(opened, "secret", own)
    assert accounts.rekey(opened, old) == 2
    assert not opens(opened, pair)
    assert [each.pairs for each in partners.partners_of(opened, 1)] == [[]]
    assert opens(opened, partners.rotate_partner(opened, 1, "Shop"))


# Counts


def test_requests_are_counted_by_partner_and_the_worst_comes_first(
    opened: OpenStore, clock: Clock
) -> None:
    """decisions, "Partners of an account": who failed most is one command."""
    counts = RequestCounts()
    for partner, operation, status, times in (
        ("", "changes", 200, 3),
        ("Shop", "get_order", 200, 9),
        ("Shop", "get_order", 404, 1),
        ("Shop", "changes", 200, 1),
        ("Lists", "changes", 500, 1),
        ("Lists", "changes", 403, 1),
    ):
        for _ in range(times):
            counts.note(1, operation, status, clock.now, partner)
    counts.note(2, "changes", 200, clock.now, "Shop")
    counts.write(opened, every_us=0)
    counts.note(1, "changes", 503, clock.now, "Lists")
    counts.write(opened, every_us=0)
    assert counts_of_day(opened, 1, "2027-01-15") == [
        PartnerCount("Lists", "changes", 3, 3, 2),
        PartnerCount("Shop", "get_order", 10, 1, 0),
        PartnerCount("Shop", "changes", 1, 0, 0),
        PartnerCount("", "changes", 3, 0, 0),
    ]
    assert counts_of_day(opened, 1, "2027-01-14") == []
    assert totals_of(opened, 1) == [
        PartnerTotal("Shop", 11, 1, 0, clock.now),
        PartnerTotal("", 3, 0, 0, clock.now),
        PartnerTotal("Lists", 3, 3, 2, clock.now),
    ]
