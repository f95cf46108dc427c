"""Payments: whole, short, over, early, late, twice and back (billing, "Payment", "Reversal")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.billing import printed
from masthead.books import (
    figures,
    invoices,
    issues,
    order_files,
    orders,
    payer_payments,
    payment_reversals,
    payments,
    refunds,
)
from masthead.books.open_items import credit_of
from masthead.books.payer_payments import Incoming
from masthead.circulation.amounts import CENTS_MAX, in_currency
from masthead.circulation.ordering import Item, Order, Person
from tests.billing.bureau import TODAY, accounts, fill, money, number_of, order, pay, refused, shown

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

BILLED = {"receivables": 1284, "unpaid": -1200, "tax_not_due": -84}
PAID = {"bank": 1284, "deferred": -1200, "tax": -84}


def test_an_order_makes_an_invoice_with_its_number_on_the_purchase(bureau: Desk) -> None:
    """billing, "Invoice"; decisions, "What a purchase of the books shows"."""
    one = order(bureau)
    found = shown(bureau, one)
    assert found.invoice.number_text == "2026-000001"
    assert found.invoice.due_on == "2026-04-29"
    assert (found.invoice.net, found.invoice.tax, found.invoice.total) == (1200, 84, 1284)
    assert found.invoice.open_cents == 1284
    (purchase,) = bureau.table("purchases")
    assert purchase["invoice_id"] == "2026-000001"
    assert (purchase["name"], purchase["product_total"]) == ("Tide for a year", "12.00")
    assert purchase["total"] == "12.84"
    assert accounts(bureau) == BILLED
    assert money(bureau, one) == {}


def test_an_order_that_is_paid_at_once_gets_a_receipt(bureau: Desk) -> None:
    one = order(bureau, is_paid=True)
    found = shown(bureau, one)
    assert (found.invoice.kind, found.invoice.open_cents) == ("receipt", 0)
    assert accounts(bureau) == PAID
    assert money(bureau, one) == {"received": 1200}
    (paid,) = bureau.table("payments")
    assert (paid["cents"], paid["value_date"], paid["left_cents"]) == (1284, TODAY, 0)


def test_a_payment_of_an_earlier_day_is_the_day_on_which_the_terms_are_paid(bureau: Desk) -> None:
    one = order(bureau)
    bureau.to("2026-04-20")
    pay(bureau, one, Incoming(1284, "2026-04-17", "transfer", "T-1"))
    assert [each["paid_on"] for each in bureau.table("terms")] == ["2026-04-17"]
    assert [each["paid_on"] for each in bureau.table("orders")] == ["2026-04-17"]
    assert [each["payment_type"] for each in bureau.table("purchases")] == ["transfer"]
    assert accounts(bureau) == PAID


def test_the_same_cheque_is_not_booked_twice(bureau: Desk) -> None:
    """decisions, "The same cheque again"."""
    one, two = order(bureau), order(bureau)
    cheque = Incoming(1284, "2026-04-15", "check", "4711")
    first = pay(bureau, one, cheque)
    bureau.to("2026-05-20")
    again = cheque._replace(value_date="2026-05-20")
    assert (
        "12.84 USD of Ada Ames with the reference 4711 was booked on 2026-04-15 as payment 1: "
        "if this is another payment, give another reference"
    ) in refused(bureau, payer_payments.add, again, invoice=number_of(bureau, one))
    assert "was booked" in refused(bureau, payer_payments.add, again, subscriber_id=1)
    # It pays another invoice too, has another number, or was handed in again after it bounced.
    pay(bureau, two, again)
    for other in (again._replace(reference="4712"), again._replace(payment_type="transfer")):
        payer_payments.add(bureau.books, other, subscriber_id=1)
    payer_payments.add(bureau.books, again, subscriber_id=2)
    payment_reversals.reverse(bureau.books, first.payment_id)
    bureau.to("2026-11-20")
    payer_payments.add(bureau.books, cheque._replace(value_date=None), subscriber_id=1)


def test_a_short_payment_is_a_deposit_until_the_rest_has_come(bureau: Desk) -> None:
    """decisions, "What settles an invoice"."""
    one = order(bureau)
    done = pay(bureau, one, Incoming(1000))
    assert done.sentence.endswith("invoice 2026-000001 is open with 2.84 USD")
    assert accounts(bureau) == {**BILLED, "bank": 1000, "prepayments": -1000}
    assert money(bureau, one) == {}
    pay(bureau, one, Incoming(284))
    assert accounts(bureau) == PAID
    assert money(bureau, one) == {"received": 1200}


def test_what_is_over_is_a_credit_that_the_next_invoice_uses(bureau: Desk) -> None:
    one = order(bureau)
    assert pay(bureau, one, Incoming(2000)).credit == 716
    two = order(bureau)
    assert shown(bureau, two).invoice.open_cents == 1284 - 716
    assert payer_payments.list_payments(bureau.books, 1)[0].left_cents == 0
    pay(bureau, two, Incoming(1284 - 716))
    assert accounts(bureau) == {name: 2 * cents for name, cents in PAID.items()}


def test_a_payment_without_an_invoice_settles_the_oldest_first(bureau: Desk) -> None:
    one, two = order(bureau), order(bureau)
    payer_payments.add(bureau.books, Incoming(1500), subscriber_id=1)
    assert shown(bureau, one).invoice.open_cents == 0
    assert shown(bureau, two).invoice.open_cents == 2 * 1284 - 1500


def test_credit_is_paid_back_and_no_more_than_there_is(bureau: Desk) -> None:
    one = order(bureau)
    pay(bureau, one, Incoming(2000))
    said = refused(bureau, payer_payments.pay_back, 1, 717)
    assert said == "Ada Ames has a credit of 7.16 USD: that is the most"
    assert payer_payments.pay_back(bureau.books, 1).cents == 716
    assert accounts(bureau) == PAID
    assert "nothing can be paid back" in refused(bureau, payer_payments.pay_back, 1)


def test_a_bounced_payment_opens_its_invoice_and_takes_back_what_was_earned(bureau: Desk) -> None:
    """decisions, "What a payment that comes back takes with it"."""
    one = order(bureau)
    paid = pay(bureau, one, Incoming(1284))
    bureau.to("2026-05-02")
    done = payment_reversals.reverse(bureau.books, paid.payment_id, fee=300, reason="no funds")
    assert done.sentence == (
        f"payment {paid.payment_id} of 12.84 USD is taken back on 2026-05-02, with a fee of "
        "3.00 USD; invoice 2026-000001 is open with 12.84 USD"
    )
    assert accounts(bureau) == {**BILLED, "bank": -300, "fees": 300}
    assert money(bureau, one) == {}
    assert [each["paid_on"] for each in bureau.table("terms")] == [None]
    pay(bureau, one, Incoming(1284))
    assert accounts(bureau) == {**PAID, "bank": 984, "fees": 300}
    assert money(bureau, one) == {"received": 1200}


def test_a_payment_comes_back_once(bureau: Desk) -> None:
    paid = pay(bureau, order(bureau), Incoming(1284))
    payment_reversals.reverse(bureau.books, paid.payment_id)
    said = refused(bureau, payment_reversals.reverse, paid.payment_id)
    assert said == f"payment {paid.payment_id} was taken back before: nothing was changed"


def test_the_same_source_is_booked_once(bureau: Desk) -> None:
    one = order(bureau)
    pay(bureau, one, Incoming(1284, source="statement 7, entry 1"))
    before = bureau.everything()
    again = pay(bureau, one, Incoming(1284, source="statement 7, entry 1"))
    assert again.is_known
    assert bureau.everything() == before


def test_a_product_is_revenue_once_it_is_paid(bureau: Desk) -> None:
    one = order(bureau, 1, Item(product_id=1))
    assert accounts(bureau) == {"receivables": 963, "unpaid": -900, "tax_not_due": -63}
    pay(bureau, one, Incoming(963))
    assert accounts(bureau) == {"bank": 963, "product_revenue": -900, "tax": -63}


def test_what_cannot_be_a_payment_is_refused(bureau: Desk) -> None:
    number = number_of(bureau, order(bureau))
    add = payer_payments.add
    assert refused(bureau, add, Incoming(0), invoice=number) == (
        "the amount of a payment is above 0"
    )
    assert "is still to come" in refused(bureau, add, Incoming(100, "2026-04-16"), invoice=number)
    assert refused(bureau, add, Incoming(100, "2026-03-31"), invoice=number) == (
        "2026-03-31 is before billing began on 2026-04-01: the first open day is 2026-04-01"
    )
    assert refused(bureau, add, Incoming(100), invoice="2026-000009") == (
        "there is no invoice or credit note 2026-000009"
    )
    assert refused(bureau, add, Incoming(100)) == "a payment names an invoice or a payer"
    assert refused(bureau, add, Incoming(100), invoice=number, subscriber_id=2) == (
        "invoice 2026-000001 is one of Ada Ames, and not of the payer that is named"
    )


def test_paying_an_order_pays_its_invoice_in_parts_too(bureau: Desk) -> None:
    one = order(bureau)
    payments.pay(bureau.books, one, payments.Payment("check", None, None, 284))
    assert shown(bureau, one).invoice.open_cents == 1000
    payments.pay(bureau.books, one)
    assert shown(bureau, one).invoice.open_cents == 0
    assert "was paid on" in refused(bureau, payments.pay, one)


def test_a_payment_of_an_order_is_above_0_and_has_a_short_reference(bureau: Desk) -> None:
    one, two = order(bureau), before_billing(bureau, 2)
    for key, cents in ((one, 0), (one, -1), (two, 0)):
        said = refused(bureau, payments.pay, key, payments.Payment(cents=cents))
        assert said == "the amount of a payment is above 0"
    most = in_currency(CENTS_MAX, "USD")
    assert refused(bureau, payments.pay, one, payments.Payment(cents=CENTS_MAX + 1)) == (
        f"the amount of a payment is at most {most}"
    )
    for long in (payments.Payment(reference="x" * 201), payments.Payment("x" * 201)):
        assert "has 201 characters: 200 is the most" in refused(bureau, payments.pay, one, long)
    assert bureau.table("payments") == []


def test_a_part_of_an_order_without_an_invoice_pays_a_part_of_a_new_one(bureau: Desk) -> None:
    """A receipt says that all of it is paid."""
    one, two = before_billing(bureau, 1), before_billing(bureau, 2)
    payments.pay(bureau.books, one, payments.Payment(cents=500))
    payments.pay(bureau.books, two, payments.Payment(cents=1300))
    assert [(each["kind"], each["open_cents"]) for each in bureau.table("invoices")] == [
        ("invoice", 784),
        ("receipt", 0),
    ]
    assert credit_of(bureau.books, 2)[1] == 16


def test_the_credit_of_the_payer_pays_an_invoice_before_a_part_does(bureau: Desk) -> None:
    one = before_billing(bureau, 1)
    payer_payments.add(bureau.books, Incoming(1284), subscriber_id=1)
    done = payments.pay(bureau.books, one, payments.Payment(cents=500))
    assert done.settled is not None
    assert done.settled.credit == 500
    assert shown(bureau, one).invoice.open_cents == 0


def test_an_invoice_does_not_ask_for_what_the_credit_leaves_within_the_tolerance(
    bureau: Desk,
) -> None:
    """decisions, "A rest within the tolerance on a new invoice"."""
    fill(bureau, tolerance="0.50")
    payer_payments.add(bureau.books, Incoming(1250), subscriber_id=1)
    one = order(bureau, 1)
    assert shown(bureau, one).invoice.open_cents == 0
    (made,) = bureau.table("invoices")
    document = printed.from_json(made["printed"], printed.PrintedInvoice)
    assert (document.prepaid, document.waived, document.due) == (1250, 34, 0)


def test_what_is_open_of_an_unpaid_order_is_what_the_first_page_says(bureau: Desk) -> None:
    one = order(bureau)
    pay(bureau, one, Incoming(500))
    for number in (5, 6):
        bureau.to(f"2026-0{number}-02")
        issues.close(bureau.books, number)
    found = figures.figures_of(bureau.books)
    assert [each.order_id for each in found.unpaid] == [one]
    assert found.due == {one: 784}


def before_billing(desk: Desk, payer: int) -> int:
    """Take an order of a payer as if billing had not begun."""
    desk.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING account_id")
    key = order(desk, payer)
    desk.put("billing", billing_id=1, begun_on="2026-04-01")
    return key


def test_a_dry_run_of_an_order_promises_no_number(bureau: Desk) -> None:
    """Another order may get the number first."""
    for is_paid, kind in ((True, "receipt"), (False, "invoice")):
        wanted = Order(Person(subscriber_id=1), (Item(bundle_id=1),), is_paid=is_paid)
        dry = orders.place(bureau.books, wanted, dry_run=True)
        assert f"paid, with a new {kind}; subscription" in dry.sentence
        done = orders.place(bureau.books, wanted)
        assert f", {kind} {done.invoice}; " in done.sentence


def sold(reference: str, *items: Item) -> Order:
    """Return an order of a shop, which is not paid."""
    return Order(Person(subscriber_id=1), items or (Item(bundle_id=1),), reference=reference)


def test_an_order_with_nothing_left_to_pay_does_not_refuse_the_file_of_a_shop(
    bureau: Desk,
) -> None:
    """decisions, "A free order that is marked as paid later"."""
    bureau.put("bundles", bundle_id=2, name="Tide for free", price=0, tax=0)
    bureau.put(
        "bundle_lines",
        bundle_id=2,
        line_number=1,
        publication_id=1,
        issues=2,
        type="Print",
        copies=1,
        price=0,
    )
    file = [
        sold("free", Item(bundle_id=2)),
        sold("product", Item(product_id=1)),
        sold("kept"),
        sold("ended"),
        sold("refunded"),
        sold("open"),
    ]
    order_files.place_many(bureau.books, file, described_max=0)
    for number, keep in ((2, False), (3, True), (4, False)):
        invoices.write_off(bureau.books, number_of(bureau, number), keep=keep)
    refunds.refund(bureau.books, 5)
    paid = [each._replace(is_paid=True) for each in [*file, sold("new")]]
    done = order_files.place_many(bureau.books, paid, described_max=0)
    assert (done.added, done.paid, done.unchanged) == (1, 1, 5)
    assert [each.order_id for each in done.ended] == [2, 3, 4, 5]
    assert done.ended[1].sentence == (
        "order 3 was there already: it is marked as paid now, and what it brought was refunded, "
        "cancelled or written off before; no payment was booked"
    )
    assert [row["cents"] for row in bureau.table("payments")] == [1284, 1284]
    again = order_files.place_many(bureau.books, paid, described_max=0)
    assert again.sentence == "nothing changed: 7 orders were there already"


def test_an_order_before_billing_that_costs_nothing_or_was_given_back_is_not_paid_for(
    bureau: Desk,
) -> None:
    bureau.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING account_id")
    file = [sold("product", Item(product_id=1)), sold("open")]
    order_files.place_many(bureau.books, file, described_max=0)
    refunds.refund(bureau.books, 1)
    bureau.put("billing", billing_id=1, begun_on="2026-04-01")
    paid = [each._replace(is_paid=True) for each in file]
    done = order_files.place_many(bureau.books, paid, described_max=0)
    assert ([each.order_id for each in done.ended], done.paid) == ([1], 1)
