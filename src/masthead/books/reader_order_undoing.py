"""A clerk undoes an order that a reader placed on the pages."""

from masthead.books import refunds, term_payments
from masthead.books.account import Books
from masthead.books.credit_notes import credit_orders, revenue_mark
from masthead.errors import BadInput
from masthead.store.billing.invoices import invoice_of_order
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange


def undo(_books: Books, change: Operation, made: ReaderChange) -> None:
    """End what an order brought that is not paid, and take its whole invoice back.

    Raises BadInput if something was paid, if the order has ended, or if it is in dispute.
    """
    order_id = int((made.after or {})["order_id"])
    order = term_payments.bookable(change, order_id)
    invoice = invoice_of_order(change, order_id)
    mark = revenue_mark(change)
    ended = [] if order.paid_on else refunds.refund_everything(change, order_id)
    if not ended and not order.paid_on:
        raise BadInput("the order has ended since: nothing was changed")
    if order.paid_on or (invoice is not None and invoice.open_cents != invoice.total):
        raise BadInput("the order was paid since: give the money back on the page of the order")
    notes = credit_orders(change, mark, [order_id], with_shipping=True)
    number = notes[0].number_text if notes else None
    for each in ended:
        change.say(each._replace(credit_note=number).sentence)
