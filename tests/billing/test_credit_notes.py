"""Credit notes, cancelled invoices and write-offs (billing, "Invoice", "Write-off")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import (
    cancelling,
    disputes,
    invoices,
    issues,
    payer_payments,
    payment_reversals,
    refunds,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item
from tests.billing.bureau import (
    accounts,
    fill,
    money,
    number_of,
    order,
    pay,
    refused,
    shown,
)

if TYPE_CHECKING:
    from typing import Any

    from tests.circulation.desk import Desk

PAID = {"bank": 1284, "deferred": -1200, "tax": -84}


def notes(desk: Desk) -> list[dict[str, Any]]:
    """Return the credit notes."""
    return [each for each in desk.table("invoices") if each["kind"] == "credit_note"]


def test_cancelling_an_unpaid_invoice_takes_everything_back(bureau: Desk) -> None:
    one = order(bureau, 1, Item(bundle_id=1), Item(product_id=1))
    done = invoices.cancel(bureau.books, number_of(bureau, one), reason="ordered twice")
    assert done.sentence == "credit note C2026-000001 of invoice 2026-000001: 22.47 USD"
    assert accounts(bureau) == {}
    assert shown(bureau, one).invoice.open_cents == 0
    assert [each["issues_left"] for each in bureau.table("terms")] == [0]
    assert "nothing of invoice 2026-000001 is left" in refused(
        bureau, invoices.cancel, number_of(bureau, one)
    )


def test_cancelling_a_paid_invoice_makes_a_credit(bureau: Desk) -> None:
    one = order(bureau)
    pay(bureau, one, Incoming(1284))
    done = invoices.cancel(bureau.books, number_of(bureau, one))
    assert done.credit == 1284
    assert accounts(bureau) == {"bank": 1284, "prepayments": -1284}
    assert money(bureau, one) == {"received": 1200, "refunded": 1200}
    assert payer_payments.pay_back(bureau.books, 1).cents == 1284
    assert accounts(bureau) == {}


def test_cancelling_gives_a_deposit_back(bureau: Desk) -> None:
    one = order(bureau)
    pay(bureau, one, Incoming(500))
    assert invoices.cancel(bureau.books, number_of(bureau, one)).credit == 500
    assert accounts(bureau) == {"bank": 500, "prepayments": -500}


def test_a_refund_after_a_delivery_credits_what_is_unearned(bureau: Desk) -> None:
    """decisions, "When a credit note is made"."""
    one = order(bureau, is_paid=True)
    issues.close(bureau.books, 5)
    refunds.refund(bureau.books, one)
    (note,) = notes(bureau)
    assert (note["net"], note["tax"], note["total"]) == (1100, 77, 1177)
    assert note["of_invoice_id"] == shown(bureau, one).invoice.invoice_id
    assert accounts(bureau) == {
        "bank": 1284,
        "prepayments": -1177,
        "deferred": -100,
        "tax": -7,
    }
    assert money(bureau, one) == {"received": 1200, "earned": 100, "refunded": 1100}


def test_an_allowance_is_a_credit_note_and_the_issues_go_on(bureau: Desk) -> None:
    one = order(bureau, is_paid=True)
    done = invoices.credit(bureau.books, number_of(bureau, one), 107, reason="arrived late")
    assert (done.note.net, done.note.tax) == (100, 7)
    assert accounts(bureau) == {"bank": 1284, "prepayments": -107, "deferred": -1100, "tax": -77}
    assert [each["issues_left"] for each in bureau.table("terms")] == [12]
    payment_reversals.reverse(bureau.books, 1)
    assert shown(bureau, one).invoice.open_cents == 1284 - 107
    assert money(bureau, one) == {}
    assert accounts(bureau) == {"receivables": 1177, "unpaid": -1100, "tax_not_due": -77}
    pay(bureau, one, Incoming(1177))
    assert money(bureau, one) == {"received": 1200, "refunded": 100}
    assert accounts(bureau) == {"bank": 1177, "deferred": -1100, "tax": -77}


def test_cancelling_a_subscription_with_refund_makes_the_credit_note(bureau: Desk) -> None:
    order(bureau, is_paid=True)
    done = cancelling.cancel(bureau.books, 1, refund=True)
    assert done.sentence.endswith("1 credit note: C2026-000001")
    assert accounts(bureau) == {"bank": 1284, "prepayments": -1284}
    assert refused(bureau, cancelling.uncancel, 1) == (
        "a credit note was made for the order of 2026-04-15, and it is not taken back: order the "
        "same again"
    )


def test_cancelling_an_unpaid_subscription_cancels_its_invoice(bureau: Desk) -> None:
    one = order(bureau)
    cancelling.cancel(bureau.books, 1, refund=False)
    assert shown(bureau, one).invoice.open_cents == 0
    assert accounts(bureau) == {}


def test_a_subscription_that_ends_with_an_issue_is_credited_when_that_is_closed(
    bureau: Desk,
) -> None:
    one = order(bureau, is_paid=True)
    cancelling.cancel(bureau.books, 1, refund=True, after_issue=5)
    assert notes(bureau) == []
    issues.close(bureau.books, 5)
    assert [each["total"] for each in notes(bureau)] == [1177]
    assert money(bureau, one) == {"received": 1200, "earned": 100, "refunded": 1100}
    assert "a credit note was made" in refused(bureau, issues.reopen, 5)


def test_a_chargeback_that_is_upheld_credits_the_order(bureau: Desk) -> None:
    one = order(bureau, is_paid=True)
    disputes.dispute(bureau.books, one, "never ordered")
    disputes.settle(bureau.books, one, is_upheld=True)
    assert accounts(bureau) == {"bank": 1284, "prepayments": -1284}


def test_shipping_is_given_back_with_the_whole_order(bureau: Desk) -> None:
    """decisions, "When shipping is given back"."""
    price: dict[str, Any] = {"shipping_price_id": 1, "type": "Print", "cents": 150}
    bureau.put("shipping_prices", begins_on="2026-01-01", **price)
    one, two = order(bureau, is_paid=True), order(bureau, is_paid=True)
    ((item,),) = bureau.rows(
        "SELECT order_item_id FROM order_items WHERE account_id = :account_id AND order_id = :two",
        two=two,
    )
    refunds.refund(bureau.books, two, item)
    assert [each["total"] for each in notes(bureau)] == [1284]
    disputes.dispute(bureau.books, one, "never ordered")
    assert "14.34 USD is refunded" in disputes.settle(bureau.books, one, is_upheld=True).sentence
    assert [each["total"] for each in notes(bureau)] == [1284, 1434]
    assert accounts(bureau) == {"bank": 2868, "prepayments": -2718, "shipping_revenue": -150}
    unpaid = order(bureau)
    disputes.dispute(bureau.books, unpaid, "never ordered")
    disputes.settle(bureau.books, unpaid, is_upheld=True)
    assert shown(bureau, unpaid).invoice.open_cents == 0


def test_a_write_off_without_a_payment_costs_nothing_and_ends_the_term(bureau: Desk) -> None:
    one = order(bureau)
    done = invoices.write_off(bureau.books, number_of(bureau, one))
    assert done.sentence == "12.84 USD of invoice 2026-000001 is written off; 1 term ends"
    assert accounts(bureau) == {}
    assert [each["issues_left"] for each in bureau.table("terms")] == [0]
    assert "nothing of invoice 2026-000001 is open" in refused(
        bureau, invoices.write_off, number_of(bureau, one)
    )


def test_a_write_off_that_keeps_the_term_makes_it_complimentary(bureau: Desk) -> None:
    one = order(bureau)
    done = invoices.write_off(bureau.books, number_of(bureau, one), keep=True)
    assert done.sentence.endswith("; 1 term goes on")
    (term,) = bureau.table("terms")
    assert (term["price"], term["class"], term["kind"]) == (0, "complimentary", "free")
    assert term["issues_left"] == 12


def test_what_was_paid_before_a_write_off_is_the_price(bureau: Desk) -> None:
    """decisions, "What a write-off costs"."""
    one = order(bureau)
    pay(bureau, one, Incoming(642))
    invoices.write_off(bureau.books, number_of(bureau, one), keep=True)
    assert accounts(bureau) == {"bank": 642, "deferred": -600, "tax": -42}
    assert money(bureau, one) == {"received": 600}
    issues.close(bureau.books, 5)
    assert money(bureau, one) == {"received": 600, "earned": 50}
    payment_reversals.reverse(bureau.books, 1)
    assert accounts(bureau) == {"deferred": -600, "losses": 600}


def test_a_write_off_that_ends_the_term_earns_what_was_paid(bureau: Desk) -> None:
    one = order(bureau)
    pay(bureau, one, Incoming(642))
    invoices.write_off(bureau.books, number_of(bureau, one))
    assert money(bureau, one) == {"received": 600, "earned": 600}


def test_a_small_rest_is_written_off_and_the_invoice_is_paid(bureau: Desk) -> None:
    fill(bureau, tolerance="0.50")
    one = order(bureau)
    pay(bureau, one, Incoming(1250))
    assert shown(bureau, one).invoice.open_cents == 0
    assert money(bureau, one) == {"received": 1200}
    assert accounts(bureau) == {"bank": 1250, "deferred": -1200, "tax": -82, "losses": 32}
    payment_reversals.reverse(bureau.books, 1)
    assert shown(bureau, one).invoice.open_cents == 1284
    assert accounts(bureau) == {"receivables": 1284, "unpaid": -1200, "tax_not_due": -84}


def test_tax_that_is_due_by_invoice_is_due_at_once(bureau: Desk) -> None:
    fill(bureau, tax_due="invoice")
    one = order(bureau)
    assert accounts(bureau) == {"receivables": 1284, "unpaid": -1200, "tax": -84}
    pay(bureau, one, Incoming(1284))
    assert accounts(bureau) == PAID
    two = order(bureau)
    pay(bureau, two, Incoming(642))
    invoices.write_off(bureau.books, number_of(bureau, two))
    assert accounts(bureau)["tax"] == -84 - 42


def test_a_credit_on_an_unpaid_invoice_is_refused(bureau: Desk) -> None:
    one = order(bureau)
    assert "is not paid: cancel it" in refused(bureau, invoices.credit, number_of(bureau, one), 100)


def test_an_order_of_before_billing_gets_its_invoice_when_it_is_made(bureau: Desk) -> None:
    bureau.put(
        "orders",
        order_id=1,
        subscriber_id=2,
        billing_address_id=2,
        order_date="2026-03-01 10:00:00",
        sub_total="9",
        tax_total="0.63",
        grand_total="9.63",
    )
    bureau.put(
        "order_items",
        order_item_id=1,
        order_id=1,
        product_id=1,
        sub_total="9",
        tax_total="0.63",
        grand_total="9.63",
    )
    made = invoices.make(bureau.books, 1)
    assert made.sentence == ("invoice 2026-000001 for order 1: 9.63 USD, due on 2026-04-29")
    assert "has invoice 2026-000001 already" in refused(bureau, invoices.make, 1)
    assert [line.percent for line in shown(bureau, 1).lines] == [700]
