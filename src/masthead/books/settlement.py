"""When an invoice is whole, and when it is open again (billing, "Payment", "Reversal").

An invoice is whole when payments, credit notes and write-offs settle its total. The terms of its
order are paid from then on, and the revenue follows circulation. ``books.payer_payments`` and
``books.invoicing`` have the operations. All amounts are whole cents.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from masthead.billing.settings import BillingSettings
from masthead.books import term_payments
from masthead.circulation.booking_day import taken_back
from masthead.circulation.refunding import tax_of
from masthead.store.billing import invoices, payments
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.journal import post
from masthead.store.billing.payments import Settled
from masthead.store.books import order_money
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_money import BookedItem, BookedOrder, Booking, Marked, Term

if TYPE_CHECKING:
    from masthead.billing.journal_entries import Posting


class Recognized(NamedTuple):
    """What a whole invoice brings to the books, net: terms, products and shipping; and its tax.

    ``settled`` is by what it is whole.
    """

    terms: int
    products: int
    shipping: int
    tax: int
    settled: Settled

    @property
    def net(self) -> int:
        """The sum without tax."""
        return self.terms + self.products + self.shipping


def post_whole(
    change: Operation,
    settings: BillingSettings,
    invoice: Invoice,
    day: str,
    recognized: Recognized,
    *,
    sign: int = 1,
) -> None:
    """Post that an invoice is whole, or, with ``sign`` -1, that it is open again."""
    paid, written_off = recognized.settled.paid, recognized.settled.written_off
    lost_tax = tax_of(written_off, invoice.total, invoice.tax)
    lines: list[Posting] = [
        ("prepayments", paid),
        ("losses", written_off - lost_tax),
        ("tax", lost_tax),
        ("receivables", -paid - written_off),
        ("unpaid", recognized.net),
        ("deferred", -recognized.terms),
        ("product_revenue", -recognized.products),
        ("shipping_revenue", -recognized.shipping),
        (settings.tax_account, recognized.tax),
        ("tax", -recognized.tax),
    ]
    said = "is paid" if sign > 0 else "is open again"
    post(
        change,
        day,
        f"{invoice.name} {said}",
        [(account, sign * cents) for account, cents in lines],
        invoice_id=invoice.invoice_id,
    )


class Parts(NamedTuple):
    """The items of the order of an invoice, with their terms.

    ``shipping`` and ``tax`` are what was billed of them less what was credited since.
    """

    order: BookedOrder
    terms: Sequence[Term]
    shipping: int
    tax: int

    @property
    def products(self) -> list[BookedItem]:
        """The products that were neither refunded nor dropped."""
        with_terms = {term.order_item_id for term in self.terms}
        return [
            item
            for item in self.order.items
            if item.order_item_id not in with_terms and not item.refund_date
        ]


def parts_of(reading: Reading, invoice: Invoice) -> Parts:
    """Return what the order of an invoice has in the books."""
    assert invoice.order_id is not None
    order = order_money.find_order(reading, invoice.order_id)
    terms = order_money.terms_of(reading, [item.order_item_id for item in order.items])
    billed = invoices.lines_of(reading, invoice.invoice_id)
    credited = invoices.credited_lines(reading, invoice.invoice_id)
    shipping = sum(line.net for line in billed if line.goods == "shipping")
    shipping -= sum(line.net for line in credited if line.goods == "shipping")
    tax = invoice.tax - sum(line.tax for line in credited)
    return Parts(order, terms, shipping, tax)


def settle(
    change: Operation,
    settings: BillingSettings,
    invoice: Invoice,
    marked: Marked,
) -> None:
    """Book that an invoice is whole: its order is paid, with the day and type of the payment."""
    parts = parts_of(change, invoice)
    due = [term for term in parts.terms if term.is_due]
    term_payments.receive(change, due, marked.booked_on)
    order_money.mark_paid(change, parts.order.order_id, due, marked)
    change.touch(term_payments.subscriptions_of(due))
    recognized = Recognized(
        sum(term.price - term.spread.allowed for term in due),
        sum(item.net for item in parts.products),
        parts.shipping,
        parts.tax,
        payments.settled_of(change, invoice.invoice_id),
    )
    post_whole(change, settings, invoice, marked.booked_on, recognized)


def reopen(change: Operation, settings: BillingSettings, invoice: Invoice, day: str) -> None:
    """Book that a whole invoice is open again, before its allocations are taken back.

    The running terms of its order are unpaid from now on: what they received, earned and gave back
    is taken back on ``day``, and what was earned later on its own day. Terms that ended keep what
    they earned.
    """
    parts = parts_of(change, invoice)
    running = [
        term
        for term in parts.terms
        if term.price > 0 and term.paid_on is not None and term.ended_at is None
    ]
    money = order_money.money_of(change, running)
    for term, each in zip(running, money, strict=True):
        back = taken_back(each.earned, order_money.earned_after(change, term, day), day)
        order_money.add_revenue(
            change,
            [
                Booking(term.term_id, "received", -each.received, day),
                Booking(term.term_id, "refunded", -each.refunded, day),
                *(Booking(term.term_id, "earned", -cents, on) for on, cents in back),
            ],
        )
    recognized = Recognized(
        sum(each.received - each.refunded for each in money),
        sum(item.net for item in parts.products),
        parts.shipping,
        parts.tax,
        payments.settled_of(change, invoice.invoice_id),
    )
    post_whole(change, settings, invoice, day, recognized, sign=-1)
    order_money.mark_unpaid(change, parts.order.order_id, running)
    change.touch(term_payments.subscriptions_of(running))
