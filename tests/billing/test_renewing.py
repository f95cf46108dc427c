"""Automatic renewal: who is announced and ordered, when, and at which price (billing)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    automatic_renewals,
    cancelling,
    catalogue,
    orders,
    payer_payments,
    payment_reversals,
    refunds,
    renewal_consents,
    renewals,
    subscribers,
    subscriptions,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item, Order, Person
from tests.billing.bureau import order, pay, shown
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
    statuses,
)

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture(autouse=True)
def _sold(bureau: Desk) -> None:
    sell_two_issues(bureau)


def test_a_renewal_is_announced_and_then_ordered_with_its_invoice(bureau: Desk) -> None:
    one = reader(bureau)
    announced, renewed = night(bureau, "2026-04-17")
    assert (announced.announced, renewed.renewed) == (0, 0)
    announced, renewed = night(bureau, ANNOUNCED)
    assert announced.sentence == "1 renewal was announced, of 12.84 USD in all"
    assert renewed.sentence == "no subscription was renewed"
    (row,) = bureau.table("announced_renewals")
    assert (row["announced_on"], row["renews_on"]) == (ANNOUNCED, RENEWED)
    assert (row["price"], row["tax"], row["bundle_id"]) == (1200, 84, YEAR)
    assert night(bureau, "2026-05-17")[1].renewed == 0
    assert night(bureau, RENEWED)[1].sentence == "1 subscription was renewed, for 12.84 USD in all"
    (_, made) = orders_of(bureau, one)
    (row,) = bureau.table("announced_renewals")
    assert (row["status"], row["order_id"]) == ("renewed", made)
    invoice = shown(bureau, made).invoice
    assert (invoice.kind, invoice.total, invoice.open_cents) == ("invoice", 1284, 1284)
    assert (invoice.issued_on, invoice.due_on) == (RENEWED, "2026-06-01")
    assert bureau.subscription(one)["issues"] == 14


def test_nobody_is_renewed_twice_for_a_term(bureau: Desk) -> None:
    one = reader(bureau)
    for day in (ANNOUNCED, ANNOUNCED, RENEWED, RENEWED, "2026-05-19"):
        night(bureau, day)
    assert len(orders_of(bureau, one)) == 2
    assert statuses(bureau) == ["renewed"]


def test_the_next_term_is_renewed_again(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    night(bureau, RENEWED)
    bureau.to("2026-05-20")
    pay(bureau, orders_of(bureau, one)[1], Incoming(1284))
    night(bureau, "2027-04-19")
    assert night(bureau, "2027-05-19")[1].renewed == 1
    assert statuses(bureau) == ["renewed", "renewed"]


def test_nobody_is_renewed_after_stopping(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    done = renewal_consents.stop(bureau.books, one, reason="wants no more")
    assert done.sentence == (
        f"subscription {one} does not renew automatically any more; the renewal announced for "
        f"{RENEWED} does not come"
    )
    assert night(bureau, RENEWED)[1].renewed == 0
    assert statuses(bureau) == ["stopped"]
    assert len(orders_of(bureau, one)) == 1


def test_what_was_stopped_before_its_announcement_is_never_announced(bureau: Desk) -> None:
    renewal_consents.stop(bureau.books, reader(bureau))
    assert night(bureau, ANNOUNCED)[0].announced == 0


def test_a_new_consent_announces_the_same_term_again(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    renewal_consents.stop(bureau.books, one)
    renewal_consents.give(bureau.books, one, SHORT, WORDS)
    assert night(bureau, "2026-04-20")[0].announced == 1
    (row,) = bureau.table("announced_renewals")
    assert (row["bundle_id"], row["renews_on"]) == (SHORT, "2026-05-20")


def test_an_order_that_stays_is_named_when_the_consent_is_stopped(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    night(bureau, RENEWED)
    done = renewal_consents.stop(bureau.books, one)
    made = orders_of(bureau, one)[1]
    assert f"order {made}, which renewed it for {RENEWED}, stays" in done.sentence


def test_the_price_is_the_announced_one(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    catalogue.set_bundle(bureau.books, YEAR, {"price": 1500, "tax": 105})
    night(bureau, RENEWED)
    invoice = shown(bureau, orders_of(bureau, one)[1]).invoice
    assert (invoice.net, invoice.tax) == (1200, 84)


def test_the_announced_price_has_the_tax_and_the_shipping_of_its_day(bureau: Desk) -> None:
    _rate(bureau, 900, "2026-01-01")
    _shipping(bureau, 300, "2026-01-01")
    one = reader(bureau, is_paid=False)
    taken = shown(bureau, orders_of(bureau, one)[0]).invoice
    pay(bureau, orders_of(bureau, one)[0], Incoming(taken.total))
    night(bureau, ANNOUNCED)
    (row,) = bureau.table("announced_renewals")
    assert (row["price"], row["tax"]) == (1178 + 275, 106 + 25)
    _shipping(bureau, 400, RENEWED)
    night(bureau, RENEWED)
    invoice = shown(bureau, orders_of(bureau, one)[1]).invoice
    assert (invoice.net, invoice.tax) == (row["price"], row["tax"])


def _shipping(desk: Desk, cents: int, day: str) -> None:
    desk.put("shipping_prices", shipping_price_id=cents, type="Print", cents=cents, begins_on=day)


def _rate(desk: Desk, percent: int, day: str) -> None:
    desk.put("tax_rates", rate_id=1, country="IE", goods="print", percent=percent, begins_on=day)


def test_a_renewal_has_the_copies_of_the_term_that_runs_out(bureau: Desk) -> None:
    one = reader(bureau, copies=3)
    night(bureau, ANNOUNCED)
    night(bureau, RENEWED)
    assert shown(bureau, orders_of(bureau, one)[1]).invoice.total == 3 * 1284
    assert [row["copies"] for row in bureau.table("terms")] == [3, 3]


def test_several_copies_cost_no_more_than_was_announced(bureau: Desk) -> None:
    """decisions, "The price of an automatic renewal"."""
    one = reader(bureau, copies=3)
    night(bureau, ANNOUNCED)
    bureau.connection.change("UPDATE announced_renewals SET price = 3601 WHERE account_id = 1")
    night(bureau, RENEWED)
    assert shown(bureau, orders_of(bureau, one)[1]).invoice.net == 3600


def test_a_payer_with_credit_pays_by_it(bureau: Desk) -> None:
    one = reader(bureau)
    payer_payments.add(bureau.books, Incoming(2000), subscriber_id=1)
    night(bureau, ANNOUNCED)
    night(bureau, RENEWED)
    assert shown(bureau, orders_of(bureau, one)[1]).invoice.open_cents == 0


def test_a_gift_is_renewed_by_the_giver(bureau: Desk) -> None:
    given = Order(Person(subscriber_id=1), (Item(bundle_id=SHORT, recipient=Person(2)),))
    one = orders.place(bureau.books, given).begun[0]
    pay(bureau, orders_of(bureau, one)[0], Incoming(214))
    renewal_consents.give(bureau.books, one, YEAR, WORDS)
    night(bureau, ANNOUNCED)
    night(bureau, RENEWED)
    assert [row["subscriber_id"] for row in bureau.table("orders")] == [1, 1]
    assert [row["billing_address_id"] for row in bureau.table("orders")] == [1, 1]
    assert bureau.subscription(one)["subscriber_id"] == 2
    assert bureau.subscription(one)["mailing_address_id"] == 2
    assert bureau.subscription(one)["issues"] == 14


def test_a_reader_who_ordered_already_is_not_renewed(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    order(bureau, 1, Item(bundle_id=SHORT, subscription_id=one))
    assert night(bureau, RENEWED)[1].renewed == 0
    assert statuses(bureau) == ["stopped"]
    assert len(orders_of(bureau, one)) == 2


def test_free_copies_are_no_later_term(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    subscriptions.extend(bureau.books, one, 1)
    assert night(bureau, RENEWED)[1].renewed == 1


def test_a_cancelled_subscription_is_not_renewed_and_its_consent_ends(bureau: Desk) -> None:
    """decisions, "When a consent to renewal ends"."""
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    cancelling.cancel(bureau.books, one, refund=False, at_end=True)
    assert night(bureau, RENEWED)[1].renewed == 0
    (consent,) = bureau.table("renewal_consents")
    assert consent["stop_reason"] == "the subscription was cancelled"
    assert statuses(bureau) == ["stopped"]


def test_a_refunded_subscription_is_not_renewed(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    refunds.refund(bureau.books, orders_of(bureau, one)[0])
    assert night(bureau, RENEWED)[1].renewed == 0
    assert bureau.table("renewal_consents")[0]["stopped_on"] == RENEWED


def test_a_reader_who_was_erased_is_not_renewed(bureau: Desk) -> None:
    reader(bureau)
    night(bureau, ANNOUNCED)
    bureau.connection.change(
        "UPDATE subscribers SET delete_date = '2026-04-20' "
        "WHERE account_id = 1 AND subscriber_id = 1"
    )
    assert night(bureau, RENEWED)[1].renewed == 0
    assert bureau.table("renewal_consents")[0]["stop_reason"] == "the reader was deleted"


def test_a_consent_moves_with_a_merged_reader(bureau: Desk) -> None:
    one = reader(bureau, 2)
    night(bureau, ANNOUNCED)
    subscribers.merge(bureau.books, 1, 2, keep_both=True)
    night(bureau, RENEWED)
    assert bureau.table("renewal_consents")[0]["subscriber_id"] == 1
    assert [row["subscriber_id"] for row in bureau.table("orders")] == [1, 1]
    assert len(orders_of(bureau, one)) == 2


def test_a_consent_moves_with_a_merged_subscription(bureau: Desk) -> None:
    kept, gone = reader(bureau, 1), reader(bureau, 2)
    renewal_consents.stop(bureau.books, kept)
    subscribers.merge(bureau.books, 1, 2, keep_both=False)
    assert renewal_consents.show(bureau.books, kept).running is not None
    night(bureau, "2026-06-20")
    night(bureau, "2026-07-20")
    assert statuses(bureau) == ["renewed"]
    assert len(orders_of(bureau, kept)) == 3
    assert orders_of(bureau, gone) == []


def test_a_term_that_is_not_paid_is_not_renewed_until_it_is(bureau: Desk) -> None:
    """decisions, "What an automatic renewal waits for"."""
    one = reader(bureau, is_paid=False)
    assert night(bureau, ANNOUNCED)[0].announced == 0
    paid = pay(bureau, orders_of(bureau, one)[0], Incoming(214))
    night(bureau, ANNOUNCED)
    payment_reversals.reverse(bureau.books, paid.payment_id)
    done = night(bureau, RENEWED)[1]
    assert done.sentence == "no subscription was renewed; 1 cannot be renewed yet"
    pay(bureau, orders_of(bureau, one)[0], Incoming(214))
    assert night(bureau, "2026-05-20")[1].renewed == 1


def test_a_renewal_that_waits_too_long_is_refused(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    payment_reversals.reverse(bureau.books, 1)
    assert night(bureau, "2026-06-17")[1].waiting == 1
    done = night(bureau, "2026-06-18")[1]
    assert [each.sentence for each in done.refused] == [
        "Tide (print) of Ada Ames is not renewed: it could not be ordered in time"
    ]
    pay(bureau, orders_of(bureau, one)[0], Incoming(214))
    assert night(bureau, "2026-06-19")[1].renewed == 0


def test_a_subscription_that_is_suspended_without_an_end_waits(bureau: Desk) -> None:
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    subscriptions.suspend(bureau.books, one, "2026-05-01", None)
    assert night(bureau, RENEWED)[1].waiting == 1
    subscriptions.resume(bureau.books, one, "2026-05-20")
    assert night(bureau, "2026-05-20")[1].renewed == 1


def test_a_bundle_that_is_retired_is_refused_and_letters_go_out(bureau: Desk) -> None:
    """decisions, "Letters beside automatic renewal"."""
    reader(bureau)
    night(bureau, ANNOUNCED)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 3))
    assert renewals.due(bureau.books) == []
    catalogue.retire(bureau.books, "bundle", YEAR)
    done = night(bureau, RENEWED)[1]
    assert [each.sentence for each in done.refused] == [
        (
            "Tide (print) of Ada Ames is not renewed: Tide for a year is retired: order one that "
            "is for sale"
        )
    ]
    assert statuses(bureau) == ["refused"]
    assert [each.letters for each in renewals.due(bureau.books)] == [1]
    assert night(bureau, "2026-05-19")[1].refused == ()


def test_a_bundle_that_is_retired_before_is_not_announced(bureau: Desk) -> None:
    reader(bureau)
    catalogue.retire(bureau.books, "bundle", YEAR)
    announced, _ = night(bureau, ANNOUNCED)
    assert (announced.announced, len(announced.refused)) == (0, 1)
    assert statuses(bureau) == ["refused"]


def test_letters_go_to_readers_whose_consent_was_stopped(bureau: Desk) -> None:
    one = reader(bureau)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 3))
    assert renewals.due(bureau.books) == []
    renewal_consents.stop(bureau.books, one)
    assert [each.letters for each in renewals.due(bureau.books)] == [1]


def test_a_dry_run_changes_nothing_and_says_what_would_happen(bureau: Desk) -> None:
    reader(bureau)
    bureau.to(ANNOUNCED)
    before = bureau.everything()
    assert automatic_renewals.announce(bureau.books, dry_run=True).announced == 1
    assert bureau.everything() == before
    night(bureau, ANNOUNCED)
    bureau.to(RENEWED)
    before = bureau.everything()
    done = automatic_renewals.renew(bureau.books, dry_run=True)
    assert (done.renewed, done.waiting) == (1, 0)
    assert bureau.everything() == before


def test_many_are_renewed_in_parts(bureau: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic_renewals, "_TOGETHER", 2)
    for payer in (1, 2, 3, 1, 2):
        reader(bureau, payer)
    assert night(bureau, ANNOUNCED)[0].announced == 5
    assert night(bureau, RENEWED)[1].renewed == 5
    assert statuses(bureau) == ["renewed"] * 5
