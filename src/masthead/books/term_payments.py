"""What a payment of an order does to its terms (circulation, "Money").

``books.payments`` has the operations. All amounts are whole cents, net of tax.
"""

from collections.abc import Iterable, Sequence

from masthead.circulation.earned_share import earned
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books import order_money
from masthead.store.books.earlier_orders import check_bookable
from masthead.store.books.operation import Operation
from masthead.store.books.order_money import BookedOrder, Booking, Term


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
            # What an allowance gave back, if an earlier payment came back since.
            Booking(term.term_id, "refunded", term.spread.allowed, day),
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


def end_terms(change: Operation, order_id: int, terms: Sequence[Term]) -> None:
    """End terms today; what they have received and not earned is earned now."""
    money = order_money.money_of(change, terms)
    order_money.add_revenue(
        change,
        [
            Booking(term.term_id, "earned", each.unearned, change.today)
            for term, each in zip(terms, money, strict=True)
        ],
    )
    for item_id in dict.fromkeys(term.order_item_id for term in terms):
        order_money.end_item(change, order_id, item_id, is_dropped=False)
