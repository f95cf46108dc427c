"""What the console shows of billing: open items, an invoice, and the account of a payer.

All amounts are whole cents, with tax. Each function reads one snapshot.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.billing.months import month_after, month_id, month_of
from masthead.billing.payer_statements import Statement
from masthead.books import invoices, payer_statement
from masthead.books.account import Books
from masthead.books.invoices import Shown
from masthead.contract.moments import in_words
from masthead.contract.printable import single_spaced
from masthead.errors import NotFound
from masthead.store.billing import invoices as stored
from masthead.store.billing import open_items, payments
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.open_items import Came, Credit, OpenInvoice, Settlement, Sums
from masthead.store.billing.payer_movements import kept_payer
from masthead.store.billing.payments import Payment
from masthead.store.billing.settings import is_billing
from masthead.store.books.names import reader_named

__all__ = [
    "Billed",
    "Came",
    "Credit",
    "Invoice",
    "Month",
    "OpenInvoice",
    "Overview",
    "PayerAccount",
    "Payment",
    "Settlement",
    "ShownInvoice",
    "Sums",
    "account_of",
    "billed",
    "bills",
    "credit_of",
    "find",
    "invoice_of_order",
    "months",
    "named",
    "overview",
    "payer_of",
    "payment",
    "show",
]

_MONTH = len("2026-11")
_NUMBER = re.compile(
    r"(?:invoice|receipt|credit note)? ?(?:no\.? |number )?(.{1,100})", re.IGNORECASE
)


def bills(books: Books) -> bool:
    """Return whether the account makes invoices. Raises NotFound if there is no such account."""
    with books.read() as reading:
        return is_billing(reading)


class Overview(NamedTuple):
    """How the money of an account stands: the open invoices, what came this month, the credits.

    The lists have at most as many entries as were asked for, the sums count all.
    """

    open: Sequence[OpenInvoice]
    open_sums: Sums
    late_sums: Sums
    came: Sequence[Came]
    came_sums: Sums
    credits: Sequence[Credit]


def overview(books: Books, limit: int) -> Overview:
    """Return how the money of an account stands today."""
    with books.read() as reading:
        month = f"{reading.today[:_MONTH]}-01"
        return Overview(
            open_items.open_by_due_day(reading, limit),
            *open_items.open_sums(reading, reading.today),
            open_items.came_since(reading, month, limit),
            open_items.came_sums(reading, month),
            open_items.credits_of_payers(reading),
        )


def find(books: Books, text: str) -> Invoice | None:
    """Return the invoice or credit note that a text names, None if it names none.

    The text is a number or a payment reference; the word invoice can stand before it.
    """
    found = _NUMBER.fullmatch(single_spaced(text))
    if found is None:
        return None
    with books.read() as reading:
        return open_items.find_numbered(reading, found[1])


class ShownInvoice(NamedTuple):
    """An invoice with all that belongs to it.

    ``of`` is the invoice that a credit note takes back, ``notes`` are the credit notes of an
    invoice. ``credit`` is the payer's, below 0 if the payer owes it.
    """

    shown: Shown
    payer: str
    of: Invoice | None
    notes: Sequence[Invoice]
    settlements: Sequence[Settlement]
    credit: int

    @property
    def left(self) -> int:
        """What of the invoice was neither taken back nor written off."""
        settled = self.shown.settled
        return self.shown.invoice.total - settled.credited - settled.written_off


def show(books: Books, invoice_id: int) -> ShownInvoice:
    """Return an invoice or a credit note. Raises NotFound if there is none."""
    with books.snapshot() as inside, inside.read() as reading:
        found = stored.invoices_by_id(reading, [invoice_id])
        if not found:
            raise NotFound("there is no such invoice")
        (invoice,) = found
        shown = invoices.show(inside, invoice.number_text)
        of = stored.invoices_by_id(reading, [invoice.of_invoice_id or 0])
        return ShownInvoice(
            shown,
            reader_named(reading, invoice.subscriber_id),
            of[0] if of else None,
            open_items.credit_notes_of(reading, invoice_id),
            open_items.settlements_of(reading, list(shown.allocations)),
            payments.credit_of(reading, invoice.subscriber_id),
        )


def invoice_of_order(books: Books, order_id: int) -> Invoice | None:
    """Return the invoice or receipt of an order, None if it has none."""
    with books.read() as reading:
        return stored.invoice_of_order(reading, order_id)


class Billed(NamedTuple):
    """Invoices and receipts by order, and the credit of a payer; below 0 it is owed."""

    invoices: Mapping[int, Invoice]
    credit: int


def billed(books: Books, subscriber_id: int, orders: Iterable[int] = ()) -> Billed:
    """Return what a payer was billed, with the invoices of other orders, such as that of a gift."""
    with books.read() as reading:
        by_order = {
            each.order_id: each
            for each in reading.ask(open_items.documents(subscriber_id))
            if each.order_id is not None and each.kind != "credit_note"
        }
        for order_id in set(orders) - by_order.keys():
            other = stored.invoice_of_order(reading, order_id)
            if other is not None:
                by_order[order_id] = other
        return Billed(by_order, payments.credit_of(reading, subscriber_id))


def named(books: Books, subscriber_id: int) -> str:
    """Return the name of a payer. Raises NotFound if there is none."""
    with books.read() as reading:
        return reader_named(reading, kept_payer(reading, subscriber_id))


def payer_of(first_name: str | None, last_name: str | None, company: str | None) -> str:
    """Return the payer's name, else the company; '' if there is neither."""
    return open_items.named(first_name, last_name) or company or ""


def credit_of(books: Books, subscriber_id: int) -> tuple[str, int]:
    """Return the name and the credit of a payer. Raises NotFound if there is none."""
    with books.read() as reading:
        payer = kept_payer(reading, subscriber_id)
        return reader_named(reading, payer), payments.credit_of(reading, payer)


class Month(NamedTuple):
    """A month of billing, such as ``2026-11``, and the day on which it was closed, if it was."""

    month: str
    closed_on: str | None

    @property
    def title(self) -> str:
        """The month in words."""
        return in_words(self.month)


def months(books: Books) -> list[Month]:
    """Return the months since billing began, until that of today.

    Raises MastheadError if the account does not bill.
    """
    found = []
    with books.read() as reading:
        month, last = month_of(check_bills(reading)), month_of(reading.today)
        closed = open_items.closed_months(reading)
        while month <= last:
            found.append(Month(month, closed.get(month_id(month))))
            month = month_after(month)
    return found


class PayerAccount(NamedTuple):
    """The account of a payer: the statement, and what its lines lead to.

    ``invoices`` are ids by number. ``payments`` are those that did not come back, by id.
    """

    statement: Statement
    invoices: Mapping[str, int]
    payments: Mapping[int, Payment]


def account_of(books: Books, subscriber_id: int) -> PayerAccount:
    """Return the account of a payer. Raises NotFound if there is no such subscriber."""
    with books.snapshot() as inside, inside.read() as reading:
        statement = payer_statement.statement(inside, subscriber_id)
        payer = statement.subscriber_id
        moved = payments.payments_of(reading, payer)
        back = {each.reverses_id for each in moved}
        return PayerAccount(
            statement,
            open_items.ids_by_number(reading, payer),
            {
                each.payment_id: each
                for each in moved
                if each.kind == "payment" and each.payment_id not in back
            },
        )


def payment(books: Books, payment_id: int) -> tuple[Payment, bool]:
    """Return a payment, and whether it came back. Raises NotFound if there is none."""
    with books.read() as reading:
        found = payments.find_payment(reading, payment_id)
        return found, payments.reversal_of(reading, payment_id) is not None
