"""Orders: taking one, taking those of a file, and showing one."""

from masthead.books import Books
from masthead.circulation.ordering import Order
from masthead.store.books import ordering, similar_readers
from masthead.store.books.operation import Reading
from masthead.store.books.order_details import ItemShown, OrderShown, TermShown, show_order
from masthead.store.books.ordering import Newcomer, Placed
from masthead.store.books.similar_readers import Resembling

__all__ = [
    "ItemShown",
    "Newcomer",
    "OrderShown",
    "Placed",
    "Resembling",
    "TermShown",
    "newest",
    "place",
    "show",
]


def place(books: Books, order: Order, *, after: int | None = None, dry_run: bool = False) -> Placed:
    """Take an order: what it brings to subscribers, subscriptions, terms and money.

    An order that is there already is not taken again (circulation, "Order"): one with its
    reference, of which a payment that has come since is booked, or one of the same content that was
    taken after the order ``after`` (:func:`newest`), as happens where a form is sent twice. Raises
    RefusedOrder, also for the same reference with other content.
    """
    with books.change(dry_run=dry_run) as change:
        placed = ordering.placed_since(change, order, after) or ordering.place(change, order)
        change.touch(placed.subscriptions)
        if not placed.is_known or placed.was_paid:
            change.say(placed.sentence)
        return placed._replace(newcomers=_described(change, placed.newcomers))


def newest(books: Books) -> int:
    """Return the id of the newest order, 0 if there is none."""
    with books.read() as reading:
        return ordering.newest_order(reading.connection, books.account_id)


def _described(reading: Reading, newcomers: tuple[Newcomer, ...]) -> tuple[Newcomer, ...]:
    """Return newcomers with a line about each reader whom they look like."""
    ids = {one.subscriber_id for each in newcomers for one in each.resembling}
    if not ids:
        return newcomers
    lines = similar_readers.described(reading, ids)
    return tuple(
        each._replace(
            resembling=[one._replace(line=lines[one.subscriber_id]) for one in each.resembling]
        )
        for each in newcomers
    )


def show(books: Books, order_id: int | None = None, *, reference: str | None = None) -> OrderShown:
    """Return an order by its id or its external reference. Raises NotFound if there is none."""
    with books.read() as reading:
        return show_order(reading.connection, books.account_id, order_id, reference=reference)
