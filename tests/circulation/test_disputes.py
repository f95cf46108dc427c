"""Payments of an earlier day, and orders in dispute.

decisions, "Payments of an earlier day", "Disputed orders".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import disputes, orders, payments, refunds, renewals
from masthead.books.payments import Payment
from masthead.errors import NotFound
from tests.circulation.two_readers import TODAY, fill, refused

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """Ada has paid for order 1; order 2 of Cora, of April 3, is not paid."""
    fill(shared)
    shared.put(
        "orders",
        order_id=2,
        subscriber_id=3,
        order_date="2026-03-30 10:00:00",
        sub_total="12",
        tax_total="0.84",
        grand_total="12.84",
    )
    shared.put(
        "order_items",
        order_item_id=3,
        order_id=2,
        bundle_id=1,
        sub_total="12",
        tax_total="0.84",
        grand_total="12.84",
    )
    shared.put(
        "subscriptions",
        subscription_id=3,
        subscriber_id=3,
        publication_id=1,
        mailing_address_id=3,
        copies=1,
        type="Print",
        begins_on="2026-04-01",
        renew_campaign_active=1,
    )
    shared.put(
        "terms",
        term_id=3,
        subscription_id=3,
        order_item_id=3,
        issues=12,
        issues_left=11,
        price=1200,
        kind="paid",
    )
    shared.put("subscription_issues", subscription_id=3, mailing_list_id=1, term_id=3, issue_id=4)
    shared.refresh()
    return shared


def booked(desk: Desk, term_id: int) -> list[tuple[object, ...]]:
    """Return what was booked for a term."""
    return desk.rows(
        "SELECT kind, cents, booked_on FROM revenue WHERE account_id = :account_id "
        "AND term_id = :term ORDER BY revenue_id",
        term=term_id,
    )


def test_a_payment_of_an_earlier_day_is_booked_to_that_day(desk: Desk) -> None:
    done = payments.pay(desk.books, 2, Payment("transfer", "2026-04-10", "T-17", 1284))
    assert done.sentence == (
        "order 2 was paid on 2026-04-10: received 12.00 USD without tax, earned 1.00 USD of it at "
        "once"
    )
    assert booked(desk, 3) == [("received", 1200, "2026-04-10"), ("earned", 100, "2026-04-10")]
    order = orders.show(desk.books, 2).fields
    assert (order["paid_on"], order["payment_reference"]) == ("2026-04-10", "T-17")
    assert order["payment_type"] == "transfer"
    assert desk.table("terms")[2]["paid_on"] == "2026-04-10"


def test_a_payment_of_a_month_that_has_ended_is_booked_to_today(desk: Desk) -> None:
    """decisions, "Months that have ended"."""
    done = payments.pay(desk.books, 2, Payment(paid_on="2026-03-31"))
    assert f"whose month has ended, so it is booked to {TODAY}" in done.sentence
    assert {day for _, _, day in booked(desk, 3)} == {TODAY}
    assert desk.table("orders")[1]["paid_on"] == "2026-03-31"
    assert desk.table("terms")[2]["paid_on"] == TODAY


def test_a_payment_is_not_to_come_not_before_its_order_and_not_a_part(desk: Desk) -> None:
    for payment, words in (
        (Payment(reference="x" * 201), "has 201 characters: 200 is the most"),
        (Payment(paid_on="2026-04-16"), "is still to come"),
        (Payment(paid_on="2026-03-29"), "the order is of 2026-03-30"),
        (
            Payment(cents=1200),
            "12.84 USD is due for the order, not 12.00 USD: a part cannot be booked",
        ),
    ):
        assert words in refused(desk, payments.pay, 2, payment)


def test_no_letter_goes_out_while_an_order_is_in_dispute(desk: Desk) -> None:
    """decisions, "Disputed orders"."""
    renewals.set_effort(desk.books, renewals.Effort(1, 1, 12))
    due = [each.letters for each in renewals.due(desk.books)]
    assert due == [3]
    done = disputes.dispute(desk.books, 1, " never  ordered ", "2026-04-14")
    assert done.sentence == "order 1 is disputed since 2026-04-14"
    assert [each.letters for each in renewals.due(desk.books)] == [1]
    (found,) = disputes.in_dispute(desk.books)
    assert (found.order_id, found.first_name, found.dispute) == (1, "Ada", "never ordered")
    before = desk.everything()
    assert (
        "rejected, and all is as before" in disputes.settle(desk.books, 1, is_upheld=False).sentence
    )
    after = desk.everything()
    assert {name for name in after if after[name] != before[name]} == {"orders"}
    assert disputes.in_dispute(desk.books) == []
    assert [each.letters for each in renewals.due(desk.books)] == due
    assert orders.show(desk.books, 1).fields["dispute_result"] == "rejected"


def test_an_upheld_dispute_gives_back_all_that_was_paid_and_ends_the_order(desk: Desk) -> None:
    disputes.dispute(desk.books, 1, "the bank took it back")
    done = disputes.settle(desk.books, 1, is_upheld=True)
    assert done.sentence == (
        "the dispute of order 1 is settled: it was upheld, 25.68 USD is refunded, and the order "
        "ends"
    )
    for term in (1, 2):
        sums = dict[object, int]()
        for kind, cents, _ in booked(desk, term):
            sums[kind] = sums.get(kind, 0) + int(str(cents))
        assert sums == {"received": 1200, "earned": 0, "refunded": 1200}
    assert {desk.subscription(n)["issues"] for n in (1, 2)} == {0}
    assert [each.most for each in refunds.refundable(desk.books, 1)] == [0, 0]


def test_an_upheld_dispute_ends_an_unpaid_order(desk: Desk) -> None:
    disputes.dispute(desk.books, 2, "never ordered")
    assert "the unpaid order ends" in disputes.settle(desk.books, 2, is_upheld=True).sentence
    assert booked(desk, 3) == []
    assert desk.subscription(3)["issues"] == 0


def test_what_cannot_be_disputed_or_settled_is_refused(desk: Desk) -> None:
    for arguments, words in (
        ((1, " "), "has 1 to 500 characters, not 0"),
        ((1, "x" * 501), "not 501"),
        ((1, "late", "2026-04-16"), "is still to come"),
        ((2, "late", "2026-03-29"), "the order is of 2026-03-30"),
    ):
        assert words in refused(desk, disputes.dispute, *arguments)
    with pytest.raises(NotFound):
        disputes.dispute(desk.books, 99, "what")
    assert "is not disputed" in refused(desk, disputes.settle, 1, is_upheld=True)
    disputes.dispute(desk.books, 1, "late")
    assert "is disputed since 2026-04-15 already" in refused(desk, disputes.dispute, 1, "again")
