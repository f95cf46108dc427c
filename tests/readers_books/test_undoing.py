"""A clerk undoes what a reader did only while the record is as the reader left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.billing.reminding import Level
from masthead.books import (
    cancelling,
    invoices,
    reader_cancelling,
    reader_changes,
    reader_orders,
    refunds,
    reminder_levels,
    reminders,
)
from masthead.books.reader_orders import Wanted
from tests.readers_books.household import BEN, of, reader, refused, show_bundle

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

BUY = Wanted("buy", 1, "invoice")
_FAY = {"last_name": "Fay", "address": "4 Elm", "city": "Cork", "country_name": "Ireland"}
GIFT = Wanted("gift", 1, "invoice", recipient=_FAY)
CHANGED = "the cancelling was changed since: it cannot be undone any more"


def undo(desk: Desk, kind: str) -> None:
    """Undo the newest change of Ben's that has a kind, as a clerk does."""
    made = [each.made for each in reader_changes.of_reader(desk.books, BEN)]
    newest = next(each for each in made if each.kind == kind)
    reader_changes.undo(desk.books, newest.reader_change_id)


@pytest.fixture
def without_billing(household: Desk) -> Desk:
    """The household, in an account that does not bill, whose readers can cancel at once."""
    household.connection.change("DELETE FROM billing WHERE account_id = 1")
    household.put("page_settings", setting_id=1, name="cancel", value="at_once")
    return household


# Cancelling


def test_undoing_takes_no_refund_back_that_a_clerk_made_since(without_billing: Desk) -> None:
    desk, key = without_billing, of(without_billing).ben
    reader_cancelling.cancel(reader(desk, BEN), BEN, key, at_once=True)
    cancelling.uncancel(desk.books, key)
    cancelling.cancel(desk.books, key, refund=True)
    assert str(refused(desk, undo, desk, "cancel")) == CHANGED


def test_undoing_leaves_a_cancelling_that_a_clerk_made_on_a_later_day(
    without_billing: Desk,
) -> None:
    desk, key = without_billing, of(without_billing).ben
    reader_cancelling.cancel(reader(desk, BEN), BEN, key, at_once=True)
    cancelling.uncancel(desk.books, key)
    desk.to("2026-04-16")
    cancelling.cancel(desk.books, key, refund=False)
    assert str(refused(desk, undo, desk, "cancel")) == CHANGED


def test_undoing_begins_no_subscription_again_that_a_clerk_ended_since(household: Desk) -> None:
    key = of(household).ben
    reader_cancelling.cancel(reader(household, BEN), BEN, key)
    cancelling.cancel(household.books, key, refund=False)
    assert str(refused(household, undo, household, "cancel")) == CHANGED


def test_undoing_leaves_the_refund_that_a_clerk_added_to_an_unlimited_one(household: Desk) -> None:
    key = of(household).ben
    household.connection.change(
        "UPDATE terms SET issues = -1, issues_left = -1, months = 3, starts_on = '2026-04-10' "
        "WHERE account_id = 1 AND subscription_id = :key",
        key=key,
    )
    household.refresh()
    reader_cancelling.cancel(reader(household, BEN), BEN, key)
    (noted,) = [each for each in household.table("cancellations") if each["subscription_id"] == key]
    cancelling.cancel(household.books, key, refund=True, after_issue=noted["after_issue_id"])
    assert str(refused(household, undo, household, "cancel")) == CHANGED


# Orders


@pytest.mark.parametrize("use", ["buy", "gift"])
def test_undoing_an_order_leaves_nothing_of_its_invoice_open(household: Desk, use: str) -> None:
    """decisions, "When shipping is given back"."""
    show_bundle(household)
    household.put(
        "shipping_prices", shipping_price_id=1, type="Print", cents=500, begins_on="2020-01-01"
    )
    wanted = BUY if use == "buy" else GIFT
    placed = reader_orders.order(reader(household, BEN), BEN, wanted)
    assert placed.cents == 1784
    undo(household, "order")
    shown = invoices.show(household.books, str(placed.number))
    assert (shown.invoice.total, shown.invoice.open_cents) == (1784, 0)
    order = reader_orders.show(reader(household, BEN), BEN, placed.order_id)
    assert (order.open_cents, order.has_ended) == (0, True)
    reminder_levels.set_level(household.books, Level(1, 7, 0, "nothing", None))
    household.to("2026-06-15")
    assert str(placed.number) not in str(reminders.due(household.books))


def test_undoing_leaves_an_order_that_a_clerk_ended_since(household: Desk) -> None:
    show_bundle(household)
    placed = reader_orders.order(reader(household, BEN), BEN, BUY)
    refunds.refund(household.books, placed.order_id)
    assert "has ended since" in str(refused(household, undo, household, "order"))
