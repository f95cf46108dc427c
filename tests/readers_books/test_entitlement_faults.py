"""Whom a site lets in, and that each planted mistake of it is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jwt
import pytest

from masthead.circulation.entitlements import Entitlement
from masthead.errors import MastheadError
from masthead.store import (
    accounts,
    entitlement_codes,
    entitlement_keys,
    entitlement_tokens,
    entitlements,
)
from tests.long import LONG_ON_SQLITE
from tests.readers_books.entitlement_faults import FAULTS, REFUSED
from tests.readers_books.household import ADA, BEN, CORA, DAN, EVE, fill, of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store.entitlement_keys import SigningKey
    from tests.circulation.desk import Desk

GONE, TODAY, ACCOUNT, OTHER = 9, "2026-04-15", 1, 2
_S = 1_000_000
_MINUTE = 60 * _S
_DAY_S = 86_400


@pytest.fixture(scope="module")
def site(shared: Desk) -> Desk:
    """The household: Ada has not paid, Dan pauses, Eve cancelled, and somebody was deleted."""
    fill(shared)
    accounts.add_account(shared.store, {"account_id": OTHER})
    ben, dan = of(shared).ben, of(shared).dan
    shared.put("suspensions", suspension_id=90, subscription_id=dan, from_date="2026-04-01")
    shared.put(
        "subscriptions",
        subscription_id=90,
        subscriber_id=EVE,
        publication_id=1,
        type="Digital",
        issues=-1,
        merged_into=ben,
    )
    shared.put("subscribers", subscriber_id=GONE, delete_date="2026-04-01 00:00:00")
    with shared.connection.transaction():
        shared.connection.change("UPDATE publications SET credit_issues = 0")
    return shared


@pytest.fixture
def paywall(site: Desk) -> Iterator[Desk]:
    """The household on its day; no key stays, also if a mistake kept it."""
    site.to(TODAY)
    yield site
    for account_id in (ACCOUNT, OTHER):
        entitlement_keys.stop(site.store, account_id)


def let_in(desk: Desk) -> dict[int, list[str] | None]:
    """Return the formats in which each reader may read Tide; None for who gets no token."""
    found: dict[int, list[str] | None] = {}
    with desk.store.reader() as connection:
        connection.set_tenant(ACCOUNT)
        for key in (ADA, BEN, CORA, DAN, EVE, GONE):
            held = entitlements.entitlements_of(connection, ACCOUNT, key, today=TODAY)
            found[key] = None if held is None else [each.format for each in held]
    return found


def signing(desk: Desk, account_id: int = ACCOUNT) -> SigningKey | None:
    with desk.store.reader() as connection:
        connection.set_tenant(account_id)
        return entitlement_keys.signing_key(connection, account_id)


def kept(desk: Desk) -> list[str]:
    """Return the ids of the published keys, the newest first."""
    with desk.store.reader() as connection:
        connection.set_tenant(ACCOUNT)
        return [each.key_id for each in entitlement_keys.keys_of(connection, ACCOUNT)]


def tell_of_codes(desk: Desk) -> None:
    """A code works once, for two minutes, and is stored as its hash."""
    store = desk.store
    code = entitlement_codes.make_code(store, ACCOUNT, BEN)
    with store.counters() as counters:
        counters.set_tenant(ACCOUNT)
        stored = counters.column_as(str, "SELECT code_hash FROM entitlement_codes")
    assert code not in stored
    assert entitlement_codes.use_code(store, OTHER, code) is None
    assert entitlement_codes.use_code(store, ACCOUNT, code) == BEN
    assert entitlement_codes.use_code(store, ACCOUNT, code) is None
    late = entitlement_codes.make_code(store, ACCOUNT, BEN)
    desk.now += 2 * _MINUTE
    assert entitlement_codes.use_code(store, ACCOUNT, late) is None


def tell_of_keys(desk: Desk) -> None:
    """A further key signs after ten minutes; the earlier one is published for a day more."""
    first = entitlement_keys.rotate(desk.store, ACCOUNT).key.key_id
    other = entitlement_keys.rotate(desk.store, OTHER).key.key_id
    assert [getattr(signing(desk, each), "key_id", "") for each in (ACCOUNT, OTHER)] == [
        first,
        other,
    ]
    second = entitlement_keys.rotate(desk.store, ACCOUNT).key.key_id
    tell_of_the_token(desk, first)
    desk.now += 10 * _MINUTE
    tell_of_the_token(desk, second)
    desk.now += _DAY_S * _S
    assert kept(desk) == [second, first]
    third = entitlement_keys.rotate(desk.store, ACCOUNT, at_once=True).key.key_id
    assert kept(desk) == [third]


def tell_of_the_token(desk: Desk, key_id: str) -> None:
    """The token of Ben, who may read until tomorrow: what its site sees."""
    key, now_s = signing(desk), desk.now // _S
    assert key
    held = [Entitlement(1, "Tide", "print", TODAY)]
    token = entitlement_tokens.sign(
        key,
        account_id=ACCOUNT,
        subscriber_id=BEN,
        claim=[],
        now_s=now_s,
        expires_in=entitlement_tokens.life_s(held, now_s, "UTC"),
    )
    assert jwt.get_unverified_header(token.text)["kid"] == key_id
    claims = jwt.decode(token.text, options={"verify_signature": False})
    assert claims["aud"] == f"account-{ACCOUNT}"
    assert len(claims["sub"]) == 32
    assert token.expires_in < _DAY_S


def tell(desk: Desk) -> None:
    """Tell the whole story."""
    tell_of_readers(desk)
    tell_of_codes(desk)
    tell_of_keys(desk)


def tell_of_readers(desk: Desk) -> None:
    """Only Ben may read: he has paid, and neither pauses nor has cancelled."""
    assert let_in(desk) == {ADA: [], BEN: ["print"], CORA: [], DAN: [], EVE: [], GONE: None}


@LONG_ON_SQLITE
def test_who_may_read_is_let_in(paywall: Desk) -> None:
    """rules, "What a reader may read"; decisions, "One-time codes", "Keys of entitlements"."""
    tell(paywall)


@LONG_ON_SQLITE
@pytest.mark.parametrize("fault", FAULTS)
def test_each_planted_mistake_is_found(
    paywall: Desk, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """CONTRIBUTING, "Habits": a test that cannot fail proves nothing."""
    with monkeypatch.context() as patch:
        times = FAULTS[fault](patch)
        with pytest.raises(MastheadError if fault in REFUSED else AssertionError):
            tell(paywall)
        assert times() > 0
