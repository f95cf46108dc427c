"""When an invoice is whole, and when it is open again (billing, "Payment", "Reversal").

An invoice is whole when payments, credit notes and write-offs settle its total. The terms of its
order are paid from then on, and the revenue follows circulation. ``books.payer_payments`` and
``books.invoicing`` have the operations. All amounts are whole cents.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from masthead.billing.journal_entries import Posting
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
    _post(change, invoice, day, "is paid", lines, sign)


def _post(
    change: Operation, invoice: Invoice, day: str, said: str, lines: Sequence[Posting], sign: int
) -> None:
    """Post lines of an invoice that is whole, or, with ``sign`` -1, take them back."""
    post(
        change,
        day,
        f"{invoice.name} {said if sign > 0 else 'is open again'}",
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


_PARTS = "parts_of_invoices"
"""A memory (:func:`look_ahead`)."""


def parts_of(reading: Reading, invoice: Invoice) -> Parts:
    """Return what the order of an invoice has in the books."""
    known: Parts | None = reading.memory(_PARTS).get(invoice.invoice_id)
    return known or _parts_of_invoices(reading, [invoice])[invoice.invoice_id]


def _parts_of_invoices(reading: Reading, wanted: Collection[Invoice]) -> dict[int, Parts]:
    """Return what the orders of invoices have in the books, by the ids of the invoices."""
    orders = order_money.find_orders(
        reading, [each.order_id for each in wanted if each.order_id is not None]
    )
    terms = defaultdict[int, list[Term]](list)
    items = [item.order_item_id for order in orders.values() for item in order.items]
    for term in order_money.terms_of(reading, items):
        terms[term.order_item_id].append(term)
    ids = [each.invoice_id for each in wanted]
    shipping, tax = Counter[int](), Counter[int]()
    for line in invoices.lines_of_invoices(reading, ids):
        shipping[line.invoice_id] += line.net if line.goods == "shipping" else 0
    for invoice_id, line in invoices.credited_lines_of_invoices(reading, ids):
        shipping[invoice_id] -= line.net if line.goods == "shipping" else 0
        tax[invoice_id] += line.tax
    found = {}
    for each in wanted:
        assert each.order_id is not None
        order = orders[each.order_id]
        own = sorted(term for item in order.items for term in terms[item.order_item_id])
        found[each.invoice_id] = Parts(
            order, own, shipping[each.invoice_id], each.tax - tax[each.invoice_id]
        )
    return found


class Expected(NamedTuple):
    """Money that an operation will book: whose it is, and for which invoice, if it names one."""

    subscriber_id: int
    cents: int
    invoice: Invoice | None = None
    source: str | None = None


def look_ahead(change: Operation, expected: Collection[Expected]) -> None:
    """Look up together what payments will settle, before ``payer_payments.receive`` for each.

    An invoice is settled if an entry names it, or if what the payer owes before it is paid.
    """
    payers = {each.subscriber_id for each in expected}
    open_ones = invoices.open_of_payers(change, payers)
    with_credit_of = payments.with_credit_of_payers(change, payers)
    sources = [each.source for each in expected if each.source is not None]
    known = payments.payments_of_sources(change, sources) if sources else {}
    reached = {
        each.invoice.invoice_id: each.invoice
        for each in expected
        if each.invoice is not None and each.invoice.open_cents > 0
    }
    cents = Counter[int]()
    for each in expected:
        cents[each.subscriber_id] += each.cents
    for payer, own in open_ones.items():
        for invoice in own:
            if cents[payer] <= 0:
                break
            cents[payer] -= invoice.open_cents
            reached[invoice.invoice_id] = invoice
    settling = payments.settling_of_invoices(change, reached)
    parts = _parts_of_invoices(
        change, [each for each in reached.values() if each.order_id is not None]
    )
    months = order_money.months_of(change, (t for each in parts.values() for t in each.terms))
    # Kept at the end, since each statement above empties all memories.
    invoices.keep_open(change, open_ones)
    payments.keep(change, sources=known, with_credit=with_credit_of, settling=settling)
    order_money.keep_months(change, months)
    change.memory(_PARTS).update(parts)


def post_fee(change: Operation, invoice: Invoice, day: str, *, sign: int = 1) -> None:
    """Post that the fee of a reminder is whole, or, with ``sign`` -1, that it is open again.

    What was paid is no revenue from readers, and what was written off was never earned.
    """
    settled = payments.settled_of(change, invoice.invoice_id)
    lines: list[Posting] = [
        ("prepayments", settled.paid),
        ("receivables", -invoice.total),
        ("unpaid", invoice.total),
        ("reminder_fees", -settled.paid),
    ]
    _post(change, invoice, day, "is settled", lines, sign)


def settle(
    change: Operation,
    settings: BillingSettings,
    invoice: Invoice,
    marked: Marked,
) -> None:
    """Book that an invoice is whole: its order is paid, with the day and type of the payment."""
    if invoice.is_fee:
        post_fee(change, invoice, marked.booked_on)
        return
    parts = parts_of(change, invoice)
    change.memory(_PARTS).pop(invoice.invoice_id, None)
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
    if invoice.is_fee:
        post_fee(change, invoice, day, sign=-1)
        return
    parts = parts_of(change, invoice)
    change.memory(_PARTS).pop(invoice.invoice_id, None)
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
