"""The statement of a payer: invoices, payments and what is open (billing, "What must hold")."""

from masthead.billing.months import check_day
from masthead.billing.payer_statements import OpenItem, Statement, statement_of
from masthead.books.account import Books
from masthead.errors import BadInput
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.invoices import open_invoices
from masthead.store.billing.payer_movements import kept_payer, movements_of
from masthead.store.billing.payments import credit_of
from masthead.store.books.names import reader_named


def statement(
    books: Books, subscriber_id: int, first: str | None = None, last: str | None = None
) -> Statement:
    """Return what a payer was billed and paid from ``first`` to ``last``, line by line.

    A line has the day of the invoice or the value date of the payment. Without days, the statement
    has everything. Raises NotFound if there is no such subscriber, BadInput for what is no day or
    for a ``last`` before ``first``, and MastheadError if the account does not bill.
    """
    for day in (first, last):
        if day is not None:
            check_day(day)
    if first is not None and last is not None and last < first:
        raise BadInput(f"a statement from {first} to {last} has no day: the first comes first")
    with books.read() as reading:
        check_bills(reading)
        subscriber_id = kept_payer(reading, subscriber_id)
        opening, movements = statement_of(movements_of(reading, subscriber_id), first, last)
        return Statement(
            subscriber_id,
            reader_named(reading, subscriber_id),
            first,
            last,
            opening,
            movements,
            [
                OpenItem(each.number_text, each.issued_on, each.due_on, each.open_cents)
                for each in open_invoices(reading, subscriber_id)
            ],
            credit_of(reading, subscriber_id),
            reading.currency,
        )
