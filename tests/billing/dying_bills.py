"""A program that takes orders in processes which die at a given statement.

``tests.circulation.dying.Dying`` runs it. A line names a payer in place of an operation.
"""

from __future__ import annotations

from contextlib import closing

from masthead.books import orders
from masthead.books.account import Books
from masthead.circulation.ordering import Item, Order, Person
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting

MODULE = "tests.billing.dying_bills"


def take_order(url: str, now: int, payer: int) -> str | None:
    """Take an order of a year of Tide with a store of its own; return the invoice's number."""
    with closing(open_store(url, clock=lambda: now)) as store:
        books = Books(store, 1, Actor("ada", "order add"))
        wanted = Order(Person(subscriber_id=payer), (Item(bundle_id=1),))
        return orders.place(books, wanted).invoice


def _take_and_die(url: str, now: int, payer: str, at: int) -> None:
    with counting(at, die):
        take_order(url, now, int(payer))


if __name__ == "__main__":
    fork_for_each_line(_take_and_die)
