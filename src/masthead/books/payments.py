"""Payments of orders (circulation, "Money").

Masthead books them on the cash basis, net of tax; the money itself moves elsewhere. In an account
that bills, a payment of an order is one of its invoice (``books.payer_payments``). All amounts are
whole cents.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books import payer_payments
from masthead.books.account import Books
from masthead.books.invoicing import bill, billed_as_ordered
from masthead.books.term_payments import bookable, due_terms, receive, subscriptions_of
from masthead.circulation.amounts import in_currency
from masthead.circulation.booking_day import open_day
from masthead.errors import BadInput
from masthead.store.billing.invoices import invoice_of_order
from masthead.store.billing.settings import is_billing
from masthead.store.books import order_money
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation
from masthead.store.books.order_details import show_order
from masthead.store.books.order_money import BookedOrder, Marked, Term


class Payment(NamedTuple):
    """How an order was paid: by default today, and all that is due.

    ``reference`` is such as the number of a transfer. ``cents`` is the sum with tax that came.
    """

    payment_type: str | None = None
    paid_on: str | None = None
    reference: str | None = None
    cents: int | None = None


TODAY = Payment()
"""A payment of today of which nothing more is known."""


class Paid(NamedTuple):
    """What a payment brought: net cents received, and how many of them are earned at once.

    ``paid_on`` is None if the order was paid today. ``booked_on`` is the day of the bookings, None
    if they have the day of the payment. ``settled`` is what the payment settled in an account that
    bills, which may be less than the order.
    """

    order_id: int
    cents: int
    earned: int
    subscriptions: tuple[int, ...]
    currency: str
    paid_on: str | None = None
    booked_on: str | None = None
    settled: payer_payments.Received | None = None

    @property
    def sentence(self) -> str:
        """What the operation booked."""
        if self.settled is not None:
            return f"order {self.order_id}: {self.settled.sentence}"
        when = f" on {self.paid_on}" if self.paid_on else ""
        if self.booked_on:
            when += f", whose month has ended, so it is booked to {self.booked_on}"
        return (
            f"order {self.order_id} was paid{when}: received "
            f"{in_currency(self.cents, self.currency)} without tax, earned "
            f"{in_currency(self.earned, self.currency)} of it at once"
        )


def pay(books: Books, order_id: int, payment: Payment = TODAY, *, dry_run: bool = False) -> Paid:
    """Book that an order was paid in full, today or on an earlier day.

    The day is booked as it is, or to today if its month has ended. What was delivered on credit is
    earned on the same day. Raises NotFound if there is no such order, BadInput if it is history, is
    already paid, or has nothing left to pay for. Raises BadInput, with the ``field``, for a day to
    come, a day before the order, a text that is too long, and a sum that is not the one that is
    due. An account that bills takes each sum above 0.
    """
    with books.change(dry_run=dry_run) as change:
        payment = payment._replace(
            payment_type=payer_payments.checked_text(payment.payment_type, "type"),
            reference=payer_payments.checked_text(payment.reference, "reference"),
        )
        order = bookable(change, order_id)
        if is_billing(change):
            payer_payments.check_day(change, payment.paid_on)
            if payment.cents is not None:
                payer_payments.check_amount(change, payment.cents)
        else:
            _check_day(change, order, payment.paid_on)
        if order.paid_on is not None:
            raise BadInput(
                f"{order_named(change, order_id)} was paid on {order.paid_on} already: nothing "
                "was changed"
            )
        due = due_terms(change, order)
        if due is None:
            raise BadInput(
                f"{order_named(change, order_id)} has nothing left to pay for: what it brought was "
                "refunded or cancelled"
            )
        if payment.cents is not None and not is_billing(change):
            _check_sum(change, order_id, payment.cents)
        paid = book_payment(change, order_id, due, payment)
        change.touch(paid.subscriptions)
        change.say(paid.sentence)
    return paid


def _check_day(change: Operation, order: BookedOrder, day: str | None) -> None:
    if day is None:
        return
    if day > change.today:
        raise BadInput(f"{day} is still to come: a payment has come already", field="paid_on")
    ordered = (order.ordered or "")[: len(day)]
    if day < ordered:
        raise BadInput(
            f"the order is of {ordered}: it was not paid before, on {day}", field="paid_on"
        )


def _check_sum(change: Operation, order_id: int, cents: int) -> None:
    due = show_order(change.connection, change.account_id, order_id).due
    if cents != due:
        raise BadInput(
            f"{in_currency(due, change.currency)} is due for the order, not "
            f"{in_currency(cents, change.currency)}: a part cannot be booked; book the payment "
            "when all of it has come",
            field="amount",
        )


def book_payment(change: Operation, order_id: int, due: Sequence[Term], payment: Payment) -> Paid:
    """Book that an order was paid, which pays for the terms in ``due``.

    In an account that bills, the invoice of the order is paid, and made before if there is none.
    """
    if is_billing(change):
        return _pay_invoice(change, order_id, payment)
    paid_on = payment.paid_on or change.today
    booked_on = open_day(paid_on, change.today)
    earned_now = receive(change, due, booked_on)
    order_money.mark_paid(
        change,
        order_id,
        due,
        Marked(paid_on, booked_on, payment.payment_type, payment.reference),
    )
    return Paid(
        order_id,
        sum(term.price for term in due),
        earned_now,
        subscriptions_of(due),
        change.currency,
        None if paid_on == change.today else paid_on,
        None if booked_on == paid_on else booked_on,
    )


def has_nothing_open(change: Operation, order: BookedOrder) -> bool:
    """Return whether an account that bills expects no payment of an order.

    Nothing of its invoice is open; or it has none, and costs nothing, or no longer does.
    """
    if not is_billing(change):
        return False
    invoice = invoice_of_order(change, order.order_id)
    if invoice is None:
        return not billed_as_ordered(change, order).total
    return not invoice.open_cents


def _pay_invoice(change: Operation, order_id: int, payment: Payment) -> Paid:
    invoice = invoice_of_order(change, order_id)
    if invoice is None:
        billed = billed_as_ordered(change, order_money.find_order(change, order_id))
        is_paid = payment.cents is None or payment.cents >= billed.total
        invoice = bill(change, order_id, billed, is_paid=is_paid)
    elif not invoice.open_cents:
        invoice = None
    if invoice is None:
        raise BadInput(f"{order_named(change, order_id)} has nothing left to pay for")
    settled = payer_payments.receive(
        change,
        payer_payments.Incoming(
            invoice.open_cents if payment.cents is None else payment.cents,
            payment.paid_on,
            payment.payment_type,
            payment.reference,
        ),
        invoice=invoice,
    )
    return Paid(order_id, settled.cents, 0, (), change.currency, settled=settled)
