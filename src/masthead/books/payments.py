"""Payments of orders (circulation, "Money").

Masthead books them on the cash basis, net of tax; the money itself moves elsewhere. All amounts are
whole cents.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.circulation.booking_day import open_day
from masthead.circulation.earned_share import earned
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.books import order_money
from masthead.store.books.earlier_orders import check_bookable
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation
from masthead.store.books.order_details import show_order
from masthead.store.books.order_money import BookedOrder, Booking, Marked, Term


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
    if they have the day of the payment.
    """

    order_id: int
    cents: int
    earned: int
    subscriptions: tuple[int, ...]
    currency: str
    paid_on: str | None = None
    booked_on: str | None = None

    @property
    def sentence(self) -> str:
        """What the operation booked."""
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
    come, a day before the order, and a sum that is not the one that is due.
    """
    with books.change(dry_run=dry_run) as change:
        order = bookable(change, order_id)
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
        if payment.cents is not None:
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


def due_terms(change: Operation, order: BookedOrder) -> list[Term] | None:
    """Return the terms that a payment of an order pays for.

    None if all items of the order that cost something have ended unpaid.
    """
    terms = order_money.terms_of(change, [item.order_item_id for item in order.items])
    due = [term for term in terms if term.is_due]
    with_terms = {term.order_item_id for term in terms}
    has_product = any(
        not item.refund_date and item.order_item_id not in with_terms for item in order.items
    )
    has_ended = not due and not has_product and any(term.price > 0 for term in terms)
    return None if has_ended else due


def book_payment(change: Operation, order_id: int, due: Sequence[Term], payment: Payment) -> Paid:
    """Book that an order was paid, which pays for the terms in ``due``."""
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


def receive(change: Operation, due: Iterable[Term], day: str | None = None) -> int:
    """Book terms as paid on a day, by default today, and what their deliveries have earned.

    Returns the latter in cents.
    """
    day = day or change.today
    bookings = [
        booking
        for term in due
        for booking in (
            Booking(term.term_id, "received", term.price, day),
            Booking(term.term_id, "earned", _earned(change, term), day),
        )
    ]
    order_money.add_revenue(change, bookings)
    return sum(each.cents for each in bookings if each.kind == "earned")


def _earned(change: Operation, term: Term) -> int:
    """Return what a term that is paid now has earned, by its deliveries."""
    whole = term.months if term.issues == UNLIMITED else term.issues
    return earned(term.price, whole, order_money.done_of(change, term), term.spread) if whole else 0


def bookable(change: Operation, order_id: int) -> BookedOrder:
    """Return an order that is not history. Raises NotFound if there is none, BadInput if it is."""
    order = order_money.find_order(change, order_id)
    check_bookable(change, order_id)
    return order


def subscriptions_of(terms: Iterable[Term]) -> tuple[int, ...]:
    """Return the ids of the subscriptions that have the terms, sorted."""
    return tuple(sorted({term.subscription_id for term in terms}))
