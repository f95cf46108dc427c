"""Orders: taking one, taking those of a file, and showing one."""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books.account import Books, refresh_touched
from masthead.circulation.amounts import decimal
from masthead.circulation.ordering import Order, RefusedOrder
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.books import ordering, similar_readers
from masthead.store.books.operation import Operation
from masthead.store.books.order_details import ItemShown, OrderShown, TermShown, show_order
from masthead.store.books.ordering import Newcomer, Placed
from masthead.store.books.similar_readers import Resembling

__all__ = [
    "ItemShown",
    "Newcomer",
    "OrderShown",
    "Placed",
    "PlacedMany",
    "RefusedOrders",
    "Resembling",
    "TermShown",
    "newest",
    "place",
    "place_many",
    "show",
]


def place(books: Books, order: Order, *, after: int | None = None, dry_run: bool = False) -> Placed:
    """Take an order: what it brings to subscribers, subscriptions, terms and money.

    An order that exists already is not taken again (circulation, "Order"). It exists if an order
    has its reference; a payment that has come since is then booked. It also exists if an order of
    the same content was taken after the order ``after`` (:func:`newest`), as when a form is sent
    twice. Raises RefusedOrder, also for the same reference with other content.
    """
    with books.change(dry_run=dry_run) as change:
        placed = ordering.placed_since(change, order, after) or ordering.place(change, order)
        change.touch(placed.subscriptions)
        if not placed.is_known or placed.was_paid:
            change.say(placed.sentence)
        return placed._replace(newcomers=_described(change, placed.newcomers))


class PlacedMany(NamedTuple):
    """What happened to orders that were taken together: counts, and the cents of the new ones.

    ``ended`` are orders that are marked as paid but have nothing left to pay for. ``newcomers`` are
    new subscribers who look like an existing reader, each with the number of the order, from 0; the
    first ones have a line about each such reader.
    """

    added: int
    cents: int
    paid: int
    unchanged: int
    ended: Sequence[Placed]
    newcomers: Sequence[tuple[int, Newcomer]]

    @property
    def sentence(self) -> str:
        """How many orders were added, are paid now, and are unchanged."""
        if not self.added and not self.paid:
            there = counted(self.unchanged, "order was there", "orders were there")
            return f"nothing changed: {there} already"
        parts = []
        if self.added:
            added = counted(self.added, "order was added", "orders were added")
            parts.append(f"{added}, of {decimal(self.cents)} in all")
        if self.paid:
            paid = "order that was there is", "orders that were there are"
            parts.append(f"{counted(self.paid, *paid)} paid now")
        if self.unchanged:
            parts.append(counted(self.unchanged, "order is unchanged", "orders are unchanged"))
        return "; ".join(parts)


class RefusedOrders(BadInput):
    """Some orders are refused; ``refused`` has their numbers, from 0, and the reasons."""

    def __init__(self, refused: Sequence[tuple[int, RefusedOrder]]) -> None:
        super().__init__("; ".join(str(error) for _, error in refused))
        self.refused = refused


def place_many(
    books: Books, orders: Sequence[Order], *, described_max: int, dry_run: bool = False
) -> PlacedMany:
    """Take orders as :func:`place` does, all of them or none, with a few statements for many.

    The first ``described_max`` newcomers get a line about each reader whom they look like. Raises
    RefusedOrders if any order is refused.
    """
    with books.change(dry_run=dry_run) as change:
        placed, refused = list[Placed](), list[tuple[int, RefusedOrder]]()
        for number, result in enumerate(ordering.place_many(change, orders)):
            if isinstance(result, RefusedOrder):
                refused.append((number, result))
            else:
                placed.append(result)
        if refused:
            raise RefusedOrders(refused)
        change.touch(each for one in placed for each in one.subscriptions)
        newcomers = [(number, each) for number, one in enumerate(placed) for each in one.newcomers]
        lines = _described(change, [each for _, each in newcomers[:described_max]])
        newcomers[: len(lines)] = [
            (number, each) for (number, _), each in zip(newcomers, lines, strict=False)
        ]
        new = [each for each in placed if not each.is_known]
        paid = sum(each.is_known and each.was_paid for each in placed)
        done = PlacedMany(
            len(new),
            sum(each.cents for each in new),
            paid,
            len(placed) - len(new) - paid,
            [each for each in placed if each.was_ended],
            newcomers,
        )
        if done.added or done.paid:
            change.say(done.sentence)
    return done


def newest(books: Books) -> int:
    """Return the id of the newest order, 0 if there is none."""
    with books.read() as reading:
        return ordering.newest_order(reading.connection, books.account_id)


def _described(change: Operation, newcomers: Sequence[Newcomer]) -> tuple[Newcomer, ...]:
    """Return newcomers with a line about each reader whom they look like."""
    ids = {one.subscriber_id for each in newcomers for one in each.resembling}
    if not ids:
        return ()
    refresh_touched(change)
    lines = similar_readers.described(change, ids)
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
