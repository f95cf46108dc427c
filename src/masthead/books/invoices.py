"""Invoices and credit notes: making, showing, cancelling and writing off (billing, "Invoice").

Most invoices are made with their order (``books.orders``); ``books.invoicing`` says how. All
amounts are whole cents, with tax unless a name says otherwise.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from masthead.books import refunds
from masthead.books.account import Books
from masthead.books.credit_notes import credit_what_ended
from masthead.books.invoicing import bill, billed_as_ordered
from masthead.books.payment_allocation import complete
from masthead.books.settlement import Parts, parts_of, post_fee
from masthead.books.term_payments import bookable, end_terms, receive, subscriptions_of
from masthead.circulation.amounts import in_currency
from masthead.circulation.earned_share import EVENLY
from masthead.circulation.refunding import parts as divided
from masthead.circulation.refunding import tax_of
from masthead.contract.printable import counted, single_spaced
from masthead.errors import BadInput
from masthead.store.billing import invoices, payments
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.invoices import Invoice, InvoiceLine, Listed
from masthead.store.billing.journal import post
from masthead.store.billing.payer_movements import kept_payer
from masthead.store.billing.payments import Allocation, Settled
from masthead.store.billing.settings import settings_of
from masthead.store.books import order_money
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation
from masthead.store.books.order_money import Marked

if TYPE_CHECKING:
    from masthead.billing.journal_entries import Posting

__all__ = [
    "Allocation",
    "Credited",
    "Invoice",
    "InvoiceLine",
    "Listed",
    "Made",
    "Shown",
    "WrittenOff",
    "cancel",
    "credit",
    "listed",
    "make",
    "show",
    "write_off",
]

REASON_MAX = 200
"""The most characters of a reason."""


class Made(NamedTuple):
    """An invoice that was made for an order."""

    invoice: Invoice
    currency: str

    @property
    def sentence(self) -> str:
        """The invoice, what is due, and when."""
        total = in_currency(self.invoice.total, self.currency)
        said = f"{self.invoice.name} for order {self.invoice.order_id}: {total}"
        if self.invoice.open_cents and self.invoice.due_on:
            said += f", due on {self.invoice.due_on}"
        return said


def make(books: Books, order_id: int, *, dry_run: bool = False) -> Made:
    """Make the invoice of an order that has none, for what is due of it.

    Its tax is the one in the order. Raises NotFound if there is no such order. Raises BadInput if
    the order has an invoice, is paid, is history, or has nothing left to pay for.
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        order = bookable(change, order_id)
        before = invoices.invoice_of_order(change, order_id)
        if before is not None:
            raise BadInput(
                f"{order_named(change, order_id)} has {before.name} already: nothing was changed"
            )
        if order.paid_on is not None:
            raise BadInput(
                f"{order_named(change, order_id)} was paid on {order.paid_on}, before it had an "
                "invoice"
            )
        invoice = bill(change, order_id, billed_as_ordered(change, order))
        if invoice is None:
            raise BadInput(f"{order_named(change, order_id)} has nothing left to pay for")
        done = Made(invoice, change.currency)
        change.say(done.sentence)
    return done


class Credited(NamedTuple):
    """A credit note, and what it changed."""

    note: Invoice
    of: str
    credit: int
    currency: str

    @property
    def sentence(self) -> str:
        """The credit note, and the credit that the payer has now."""
        said = (
            f"credit note {self.note.number_text} of invoice {self.of}: "
            f"{in_currency(self.note.total, self.currency)}"
        )
        if self.credit:
            said += f"; the payer has a credit of {in_currency(self.credit, self.currency)}"
        return said


def cancel(
    books: Books, number: str, *, reason: str | None = None, dry_run: bool = False
) -> Credited:
    """Take back a whole invoice: its order ends, and a credit note is made.

    What was paid becomes the payer's credit. Raises NotFound if there is no such invoice, BadInput
    if nothing is left of it to take back.
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        invoice, order_id = _invoice_of_order(change, number)
        refunds.refund_everything(change, order_id)
        note = credit_what_ended(change, order_id, _reason(reason), with_shipping=True)
        if note is None:
            raise BadInput(f"nothing of {invoice.name} is left to take back")
        done = _credited(change, note, invoice)
        change.say(done.sentence)
    return done


def credit(
    books: Books,
    number: str,
    cents: int,
    *,
    item_id: int | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> Credited:
    """Give back a part of a paid invoice as a credit note; the subscriptions go on.

    ``item_id`` is None for the only item of the order. Raises NotFound if there is no such invoice.
    Raises BadInput if it is not paid, or for more than is unearned (``refunds.allow``).
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        invoice, order_id = _invoice_of_order(change, number)
        if invoice.open_cents:
            raise BadInput(
                f"{invoice.name} is not paid: cancel it and order again at the other price, or "
                "write off what is missing"
            )
        allowed = refunds.allow_item(change, order_id, item_id, cents)
        note = credit_what_ended(change, order_id, _reason(reason))
        if note is None:
            raise BadInput(f"nothing of {invoice.name} is left to take back")
        change.touch(allowed.subscriptions)
        done = _credited(change, note, invoice)
        change.say(done.sentence)
    return done


def _credited(change: Operation, note: Invoice, invoice: Invoice) -> Credited:
    credit = payments.credit_of(change, invoice.subscriber_id)
    return Credited(note, invoice.number_text, max(credit, 0), change.currency)


def _invoice(change: Operation, number: str) -> Invoice:
    found = invoices.invoice_numbered(change, number)
    if found.kind == "credit_note":
        raise BadInput(f"{found.name} takes back an invoice: name the invoice")
    return found


def _invoice_of_order(change: Operation, number: str) -> tuple[Invoice, int]:
    """Return an invoice that a credit note can take back, and the order that it is for."""
    invoice = _invoice(change, number)
    if invoice.order_id is None:
        raise BadInput(f"{invoice.name} is the fee of a reminder: write off what is open of it")
    return invoice, invoice.order_id


def _reason(reason: str | None) -> str | None:
    text = single_spaced(reason or "")
    if len(text) > REASON_MAX:
        raise BadInput(
            f"the reason has {len(text)} characters: {REASON_MAX} is the most", field="reason"
        )
    return text or None


class WrittenOff(NamedTuple):
    """What was written off of an invoice; ``is_kept``: its terms go on for what was paid."""

    number: str
    cents: int
    is_kept: bool
    terms: int
    currency: str

    @property
    def sentence(self) -> str:
        """What was written off, and what happens to the terms."""
        said = f"{in_currency(self.cents, self.currency)} of invoice {self.number} is written off"
        if not self.terms:
            return said
        one, more = ("goes on", "go on") if self.is_kept else ("ends", "end")
        return f"{said}; {counted(self.terms, 'term')} {one if self.terms == 1 else more}"


def write_off(
    books: Books, number: str, *, keep: bool = False, dry_run: bool = False
) -> WrittenOff:
    """Write off what is open of an invoice: it is not expected any more.

    A rest within the tolerance makes the invoice paid. Otherwise its terms end or, with ``keep``,
    go on: what was paid is their price, and without a payment they are complimentary. Raises
    NotFound if there is no such invoice, BadInput if nothing of it is open.
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        invoice = _invoice(change, number)
        if not invoice.open_cents:
            raise BadInput(f"nothing of {invoice.name} is open: there is nothing to write off")
        done = give_up(change, invoice, keep=keep)
        change.say(done.sentence)
    return done


def give_up(change: Operation, invoice: Invoice, *, keep: bool) -> WrittenOff:
    """Write off what is open of an invoice within a running operation, as :func:`write_off` does.

    The caller writes the audit entry.
    """
    settings = settings_of(change)
    settled = payments.settled_of(change, invoice.invoice_id)
    lost = invoice.open_cents
    if lost <= settings.tolerance and settled.paid:
        newest = payments.find_payment(change, payments.paid_by(change, invoice.invoice_id)[0][0])
        complete(change, settings, invoice, newest, change.today)
        return WrittenOff(invoice.number_text, lost, True, 0, change.currency)
    if invoice.is_fee:
        return _waive(change, invoice)
    parts = parts_of(change, invoice)
    due = [term for term in parts.terms if term.is_due]
    left_total = lost + settled.paid
    paid_tax = tax_of(settled.paid, left_total, parts.tax)
    weights = _weights(parts, due)
    recognized_before = left_total - parts.tax - sum(weights)
    paid_net = settled.paid - paid_tax
    to_revenue = max(paid_net - recognized_before, 0)
    shares = divided(to_revenue, weights)
    of_terms, others = shares[: len(due)], shares[len(due) :]
    # A product that was paid in part is sold: what is missing is lost.
    sold = weights[len(due) :] if settled.paid else [0 for _ in others]
    lines: list[Posting] = [
        ("receivables", -left_total),
        ("prepayments", settled.paid),
        ("unpaid", sum(weights)),
        ("deferred", -sum(of_terms)),
        ("product_revenue", -sum(sold[:-1])),
        ("shipping_revenue", -sold[-1]),
        ("losses", max(recognized_before - paid_net, 0) + sum(sold) - sum(others)),
        (settings.tax_account, parts.tax),
        ("tax", -paid_tax),
    ]
    post(
        change,
        change.today,
        f"{invoice.name} is written off",
        lines,
        invoice_id=invoice.invoice_id,
    )
    payments.allocate(change, invoice.invoice_id, "write_off", lost, change.today)
    invoices.change_open(change, invoice.invoice_id, 0)
    if not settled.paid:
        # Nothing was received in the end: what was given back of it before is none of the price.
        due = [term._replace(spread=EVENLY) for term in due]
    repriced = order_money.reprice(change, due, of_terms)
    paid = [term for term in repriced if term.price]
    receive(change, paid)
    if settled.paid:
        marked = Marked(change.today, change.today, None, None)
        order_money.mark_paid(change, parts.order.order_id, paid, marked)
    if not keep:
        end_terms(change, parts.order.order_id, repriced)
    change.touch(subscriptions_of(due))
    return WrittenOff(invoice.number_text, lost, keep, len(due), change.currency)


def _waive(change: Operation, invoice: Invoice) -> WrittenOff:
    """Write off the open rest of a reminder's fee: it was never earned, so nothing is lost."""
    lost = invoice.open_cents
    payments.allocate(change, invoice.invoice_id, "write_off", lost, change.today)
    invoices.change_open(change, invoice.invoice_id, 0)
    post_fee(change, invoice, change.today)
    return WrittenOff(invoice.number_text, lost, False, 0, change.currency)


def _weights(parts: Parts, due: Sequence[order_money.Term]) -> list[int]:
    return [
        *(term.price - term.spread.allowed for term in due),
        *(item.net for item in parts.products),
        parts.shipping,
    ]


class Shown(NamedTuple):
    """An invoice with its lines, what settled it, and its credit notes."""

    invoice: Invoice
    lines: Sequence[InvoiceLine]
    settled: Settled
    allocations: Sequence[Allocation]
    currency: str


def show(books: Books, number: str) -> Shown:
    """Return an invoice or a credit note by its number. Raises NotFound if there is none."""
    with books.read() as reading:
        invoice = invoices.invoice_numbered(reading, number)
        return Shown(
            invoice,
            invoices.lines_of(reading, invoice.invoice_id),
            payments.settled_of(reading, invoice.invoice_id),
            payments.allocations_of(reading, invoice.invoice_id),
            reading.currency,
        )


def listed(
    books: Books,
    *,
    subscriber_id: int | None = None,
    is_open: bool = False,
    due_by: str | None = None,
    after: int = 0,
    limit: int = 100,
) -> list[Listed]:
    """Return invoices and credit notes by id: those of a payer, open ones, those due by a day.

    Raises NotFound for an unknown payer.
    """
    with books.read() as reading:
        if subscriber_id is not None:
            subscriber_id = kept_payer(reading, subscriber_id)
        return invoices.list_invoices(
            reading,
            subscriber_id=subscriber_id,
            is_open=is_open,
            due_by=due_by,
            after=after,
            limit=limit,
        )
