"""What the model of billing has found: each sequence, with the values that are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import (
    cancelling,
    closed_months,
    disputes,
    erasure,
    invoices,
    issues,
    payer_payments,
    payment_reversals,
    refunds,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item
from tests.billing.bureau import accounts, money, number_of, order, pay, refused, shown
from tests.billing.sums import check_sums

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


def test_what_was_written_off_without_a_payment_is_not_credited(bureau: Desk) -> None:
    one = order(bureau, 1, Item(product_id=1))
    invoices.write_off(bureau.books, number_of(bureau, one))
    assert accounts(bureau) == {}
    assert "is left to take back" in refused(bureau, invoices.cancel, number_of(bureau, one))
    disputes.dispute(bureau.books, one, "never ordered")
    disputes.settle(bureau.books, one, is_upheld=True)
    assert accounts(bureau) == {}
    assert len(bureau.table("invoices")) == 1
    check_sums(bureau)


def test_a_product_that_was_paid_in_part_is_sold_and_the_rest_is_lost(bureau: Desk) -> None:
    one = order(bureau, 1, Item(product_id=1))
    pay(bureau, one, Incoming(500))
    invoices.write_off(bureau.books, number_of(bureau, one))
    assert accounts(bureau) == {
        "bank": 500,
        "product_revenue": -900,
        "losses": 433,
        "tax": -33,
    }
    assert invoices.cancel(bureau.books, number_of(bureau, one)).credit == 500
    assert accounts(bureau) == {"bank": 500, "prepayments": -500}
    check_sums(bureau)


def test_no_cent_of_a_write_off_is_shipping_where_none_was_billed(bureau: Desk) -> None:
    one = order(bureau, 1, Item(bundle_id=1), Item(product_id=1))
    pay(bureau, one, Incoming(700))
    invoices.write_off(bureau.books, number_of(bureau, one), keep=True)
    assert "shipping_revenue" not in accounts(bureau)
    assert money(bureau, one) == {"received": 373}
    check_sums(bureau)


def test_a_payment_that_came_before_its_invoice_is_allocated_on_the_day_of_the_invoice(
    bureau: Desk,
) -> None:
    bureau.to("2026-05-02")
    one = order(bureau)
    pay(bureau, one, Incoming(1284, "2026-04-28"))
    assert [each["booked_on"] for each in bureau.table("payments")] == ["2026-04-28"]
    assert [each["booked_on"] for each in bureau.table("allocations")] == ["2026-05-02"]
    assert [each["booked_on"] for each in bureau.table("revenue")] == ["2026-05-02"]
    assert bureau.rows(
        "SELECT account, CAST(sum(cents) AS BIGINT) FROM journal_lines "
        "WHERE account_id = :account_id AND booked_on < '2026-05-01' GROUP BY account "
        "ORDER BY account"
    ) == [("bank", 1284), ("prepayments", -1284)]


def test_a_deposit_pays_the_rest_on_the_day_of_the_credit_note(bureau: Desk) -> None:
    one = order(bureau, 1, Item(bundle_id=1), Item(product_id=1))
    pay(bureau, one, Incoming(1284))
    bureau.to("2026-05-02")
    mug = bureau.table("order_items")[1]["order_item_id"]
    refunds.refund(bureau.books, one, mug, 0)
    assert shown(bureau, one).invoice.open_cents == 0
    assert [(each["kind"], each["booked_on"]) for each in bureau.table("revenue")] == [
        ("received", "2026-05-02")
    ]
    assert accounts(bureau) == {"bank": 1284, "deferred": -1200, "tax": -84}
    check_sums(bureau)


def test_what_was_earned_after_a_payment_came_back_is_taken_back_on_its_day(bureau: Desk) -> None:
    one = order(bureau)
    paid = pay(bureau, one, Incoming(1284))
    bureau.to("2026-05-10")
    issues.close(bureau.books, 5)
    payment_reversals.reverse(bureau.books, paid.payment_id, day="2026-04-20")
    assert money(bureau, one) == {}
    assert [
        (each["cents"], each["booked_on"])
        for each in bureau.table("revenue")
        if each["kind"] == "earned"
    ] == [(100, "2026-05-01"), (-100, "2026-05-01")]
    check_sums(bureau)


def test_what_an_ended_item_has_earned_stays_revenue_when_its_payment_comes_back(
    bureau: Desk,
) -> None:
    one = order(bureau, is_paid=True)
    issues.close(bureau.books, 5)
    refunds.refund(bureau.books, one)
    payer_payments.pay_back(bureau.books, 1)
    payment_reversals.reverse(bureau.books, 1)
    assert shown(bureau, one).invoice.open_cents == 107
    assert accounts(bureau) == {
        "bank": -1177,
        "prepayments": 1177,
        "receivables": 107,
        "deferred": -100,
        "tax_not_due": -7,
    }
    check_sums(bureau)


def test_an_allowance_of_what_was_never_paid_is_no_price(bureau: Desk) -> None:
    one = order(bureau)
    paid = pay(bureau, one, Incoming(1284))
    invoices.credit(bureau.books, number_of(bureau, one), 107)
    payment_reversals.reverse(bureau.books, paid.payment_id)
    invoices.write_off(bureau.books, number_of(bureau, one), keep=True)
    (term,) = bureau.table("terms")
    assert (term["price"], term["allowed"], term["class"]) == (0, 0, "complimentary")
    assert money(bureau, one) == {}
    check_sums(bureau)


def test_a_product_that_was_refunded_in_part_stays_so_when_its_payment_comes_back(
    bureau: Desk,
) -> None:
    one = order(bureau, 1, Item(product_id=1))
    paid = pay(bureau, one, Incoming(963))
    refunds.refund(bureau.books, one, None, 107)
    payment_reversals.reverse(bureau.books, paid.payment_id)
    disputes.dispute(bureau.books, one, "never ordered")
    disputes.settle(bureau.books, one, is_upheld=True)
    assert shown(bureau, one).invoice.open_cents == 963 - 107
    assert accounts(bureau) == {"receivables": 856, "product_revenue": -800, "tax_not_due": -56}
    check_sums(bureau)


def test_an_issue_is_reopened_after_a_payment_came_back(bureau: Desk) -> None:
    one = order(bureau)
    paid = pay(bureau, one, Incoming(1284))
    issues.close(bureau.books, 5)
    payment_reversals.reverse(bureau.books, paid.payment_id)
    issues.reopen(bureau.books, 5)
    assert money(bureau, one) == {}
    pay(bureau, one, Incoming(1284))
    assert money(bureau, one) == {"received": 1200}
    check_sums(bureau)


def test_a_month_can_be_closed_in_which_a_refunded_product_was_open_again(bureau: Desk) -> None:
    one = order(bureau, 1, Item(product_id=1))
    paid = pay(bureau, one, Incoming(963))
    refunds.refund(bureau.books, one, None, 107)
    payment_reversals.reverse(bureau.books, paid.payment_id)
    bureau.to("2026-05-20")
    pay(bureau, one, Incoming(856))
    invoices.cancel(bureau.books, number_of(bureau, one))
    assert closed_months.close(bureau.books, "2026-04").receivables == 856


def test_an_unpaid_subscription_that_was_credited_does_not_come_back(bureau: Desk) -> None:
    one = order(bureau)
    cancelling.cancel(bureau.books, 1, refund=False)
    assert shown(bureau, one).invoice.open_cents == 0
    assert "a credit note was made" in refused(bureau, cancelling.uncancel, 1)


def test_a_cancelled_subscription_whose_payment_came_back_does_not_come_back(
    bureau: Desk,
) -> None:
    order(bureau, is_paid=True)
    cancelling.cancel(bureau.books, 1, refund=False)
    payment_reversals.reverse(bureau.books, 1)
    said = refused(bureau, cancelling.uncancel, 1)
    assert "was paid or refunded since it was cancelled" in said


def test_an_issue_stays_closed_if_the_payment_of_what_ended_with_it_came_back(
    bureau: Desk,
) -> None:
    order(bureau, is_paid=True)
    cancelling.cancel(bureau.books, 1, refund=False, after_issue=5)
    issues.close(bureau.books, 5)
    payment_reversals.reverse(bureau.books, 1)
    assert "its payment came back since" in refused(bureau, issues.reopen, 5)


def test_an_item_with_two_lines_of_a_rate_is_credited_once(bureau: Desk) -> None:
    bureau.put("publications", publication_id=2, name="Ebb", issues_per_year=6)
    bureau.put("issues", issue_id=101, publication_id=2, name="Ebb 1", date="2026-05-15")
    bureau.put("bundles", bundle_id=2, name="Both titles", price=999, tax=70)
    for line, (publication, issues_of, price) in enumerate(((1, 6, 500), (2, 5, 499)), 1):
        bureau.put(
            "bundle_lines",
            bundle_id=2,
            line_number=line,
            publication_id=publication,
            issues=issues_of,
            type="Print",
            copies=1,
            price=price,
        )
    one = order(bureau, 1, Item(bundle_id=2))
    pay(bureau, one, Incoming(1069))
    invoices.credit(bureau.books, number_of(bureau, one), 801)
    erasure.erase(bureau.books, 1, "refund", leave_traces=True)
    credited = [row["total"] for row in bureau.table("invoices") if row["kind"] == "credit_note"]
    assert credited == [801, 135, 133]
    check_sums(bureau)
