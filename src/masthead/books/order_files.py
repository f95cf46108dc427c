"""Taking the orders of a file: all of them, or none."""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.orders import Newcomer, Placed, described, take
from masthead.circulation.amounts import in_currency
from masthead.circulation.ordering import Order, RefusedOrder
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.books import extendable_subscriptions, order_people, order_records
from masthead.store.books.operation import Operation
from masthead.store.search_filters import ascii_lower

_LOOKED_UP = 500
"""The number of orders whose data is looked up together."""


class PlacedMany(NamedTuple):
    """What happened to orders that were taken together: counts, and the cents of the new ones.

    ``ended`` are orders that are marked as paid but have nothing left to pay for. ``newcomers`` are
    new subscribers who look like an existing reader, each with the number of the order, from 0; the
    first ones have a line about each such reader.
    """

    added: int
    cents: int
    currency: str
    paid: int
    unchanged: int
    ended: Sequence[Placed]
    newcomers: Sequence[tuple[int, Newcomer]]

    @property
    def sentence(self) -> str:
        """How many orders were added, are paid now, and are unchanged."""
        if not (self.added or self.paid or self.unchanged):
            return "nothing changed: the file has no orders"
        if not self.added and not self.paid:
            there = counted(self.unchanged, "order was there", "orders were there")
            return f"nothing changed: {there} already"
        parts = []
        if self.added:
            added = counted(self.added, "order was added", "orders were added")
            parts.append(f"{added}, of {in_currency(self.cents, self.currency)} in all")
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
    """Take orders as ``books.orders.place`` does, with a few statements for many.

    The first ``described_max`` newcomers get a line about each reader whom they look like. Raises
    RefusedOrders if any order is refused.
    """
    with books.change(dry_run=dry_run) as change:
        placed = take_many(change, orders)
        newcomers = [(number, each) for number, one in enumerate(placed) for each in one.newcomers]
        first = described(change, [each for _, each in newcomers[:described_max]])
        for position, each in enumerate(first):
            newcomers[position] = newcomers[position][0], each
        new = [each for each in placed if not each.is_known]
        paid = sum(each.is_known and each.was_paid for each in placed)
        done = PlacedMany(
            len(new),
            sum(each.cents for each in new),
            change.currency,
            paid,
            len(placed) - len(new) - paid,
            [each for each in placed if each.was_ended],
            newcomers,
        )
        if done.added or done.paid:
            change.say(done.sentence)
    return done


def take_many(change: Operation, orders: Sequence[Order]) -> list[Placed]:
    """Take orders within a running operation, which the caller undoes if this raises.

    Raises RefusedOrders if any order is refused.
    """
    placed, refused = list[Placed](), list[tuple[int, RefusedOrder]]()
    for number, order in enumerate(orders):
        if number % _LOOKED_UP == 0:
            look_up(change, orders[number : number + _LOOKED_UP])
        try:
            placed.append(take(change, order))
        except RefusedOrder as error:
            refused.append((number, error))
    if refused:
        raise RefusedOrders(refused)
    return placed


def look_up(change: Operation, orders: Sequence[Order]) -> None:
    """Look up what ``books.orders.take`` needs for each order, with a few statements for all."""
    references = [ascii_lower(each.reference) for each in orders if each.reference]
    known = order_records.orders_by(change, references)
    new = [each for each in orders if not each.reference or not known[ascii_lower(each.reference)]]
    order_people.look_up(
        change, [who for each in new for who in (each.payer, *(i.recipient for i in each.items))]
    )
    extendable_subscriptions.look_up(change, change.memory("addresses"))
