"""A story of automatic renewal, which finds each planted mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import cancelling, catalogue, orders, renewal_consents, renewals
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item, Order, Person
from tests.billing.bureau import fill, order, pay, shown
from tests.billing.faults_of_renewing import FAULTS_OF_RENEWING
from tests.billing.renewing import (
    ANNOUNCED,
    RENEWED,
    SHORT,
    WORDS,
    YEAR,
    night,
    orders_of,
    reader,
    sell_two_issues,
)
from tests.long import LONG_ON_SQLITE, ONLY_LONG

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

ALWAYS_FOUND = {
    "a term is renewed twice",
    "a renewal is ordered after it was stopped",
    "a renewal is ordered at the new price",
}
"""Faults that the short form plants too."""


def _given(desk: Desk) -> int:
    """Ada gives Ben two issues, and agrees that a year renews them; return the subscription."""
    item = Item(bundle_id=SHORT, recipient=Person(2), is_new=True)
    one = orders.place(desk.books, Order(Person(subscriber_id=1), (item,))).begun[0]
    pay(desk, orders_of(desk, one)[0], Incoming(214))
    renewal_consents.give(desk.books, one, YEAR, WORDS)
    return one


def _long(desk: Desk) -> int:
    """Cora has a year, which is not near its end."""
    taken = order(desk, 3, Item(bundle_id=YEAR, is_new=True))
    pay(desk, taken, Incoming(1284))
    ((one,),) = desk.rows(
        "SELECT max(subscription_id) FROM subscriptions WHERE account_id = :account_id"
    )
    renewal_consents.give(desk.books, one, YEAR, WORDS)
    return int(one)


def tell(desk: Desk) -> None:
    """Let readers renew, stop, cancel, order and pay; assert what each has in the end."""
    fill(desk)
    sell_two_issues(desk)
    renewals.set_effort(desk.books, renewals.Effort(1, 1, 3))
    renewed, stopped, ordered, cancelled = (reader(desk, n) for n in (1, 2, 3, 1))
    several, unpaid = reader(desk, 2, copies=3), reader(desk, 3, is_paid=False)
    gift, long = _given(desk), _long(desk)
    assert renewals.due(desk.books) == []
    announced, early = night(desk, ANNOUNCED)
    assert (announced.announced, early.renewed) == (6, 0)
    renewal_consents.stop(desk.books, stopped)
    taken = order(desk, 3, Item(bundle_id=SHORT, subscription_id=ordered))
    pay(desk, taken, Incoming(214))
    cancelling.cancel(desk.books, cancelled, refund=False, at_end=True)
    catalogue.set_bundle(desk.books, YEAR, {"price": 1500, "tax": 105})
    for day in (RENEWED, RENEWED, "2026-05-19"):
        night(desk, day)
    ends = {
        each: len(orders_of(desk, each))
        for each in (renewed, stopped, ordered, cancelled, several, unpaid, gift, long)
    }
    assert ends == {
        renewed: 2,
        stopped: 1,
        ordered: 2,
        cancelled: 1,
        several: 2,
        unpaid: 1,
        gift: 2,
        long: 1,
    }
    prices = [shown(desk, orders_of(desk, each)[1]).invoice for each in (renewed, several, gift)]
    assert [each.total for each in prices] == [1284, 3 * 1284, 1284]
    assert [each.subscriber_id for each in prices] == [1, 2, 1]
    found = {row["subscription_id"]: row["status"] for row in desk.table("announced_renewals")}
    assert found[renewed] == found[several] == found[gift] == "renewed"
    assert found[stopped] == found[cancelled] == "stopped"
    _refuse(desk)


def _refuse(desk: Desk) -> None:
    """Retire the bundle: its announced renewals are refused, and letters go out instead."""
    before = sum(each.letters for each in renewals.due(desk.books))
    one = reader(desk, 1)
    night(desk, "2026-05-20")
    assert sum(each.letters for each in renewals.due(desk.books)) == before
    catalogue.retire(desk.books, "bundle", YEAR)
    night(desk, "2026-06-19")
    assert len(orders_of(desk, one)) == 1
    assert sum(each.letters for each in renewals.due(desk.books)) > before


@LONG_ON_SQLITE
def test_the_story_holds(shared: Desk) -> None:
    tell(shared)


@LONG_ON_SQLITE
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=() if fault in ALWAYS_FOUND else ONLY_LONG)
        for fault in FAULTS_OF_RENEWING
    ],
)
def test_the_story_finds_each_fault(
    shared: Desk, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = FAULTS_OF_RENEWING[fault](monkeypatch)
    with pytest.raises(AssertionError):
        tell(shared)
    monkeypatch.undo()
    assert times(), "the mistake was never made"
