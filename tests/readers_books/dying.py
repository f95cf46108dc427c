"""A program that does what a reader does in processes which die at a given statement.

``python -m tests.readers_books.dying`` reads a line for each, as ``tests.circulation.dying`` does.
The reader is Ben of ``tests.readers_books.household``, whose subscription is his only one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from masthead.books import (
    Books,
    reader_addresses,
    reader_cancelling,
    reader_home,
    reader_orders,
    reader_pauses,
)
from masthead.books.reader_addresses import Wanted
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting

if TYPE_CHECKING:
    from collections.abc import Callable

MODULE = "tests.readers_books.dying"
BEN = 2
BAY = {"last_name": "Ames", "address": "1 Bay", "city": "Cork", "zip_code": "T9", "country": "IE"}

OPERATIONS: dict[str, Callable[[Books, int, bool], object]] = {
    "address": lambda books, key, dry: reader_addresses.change(
        books, BEN, Wanted(BAY, [key]), dry_run=dry
    ),
    "pause": lambda books, key, dry: reader_pauses.pause(
        books, BEN, key, "2026-06-01", "2026-06-20", dry_run=dry
    ),
    "order": lambda books, key, dry: reader_orders.order(
        books, BEN, reader_orders.Wanted("renew", 1, "invoice", key), dry_run=dry
    ),
    "cancel": lambda books, key, dry: reader_cancelling.cancel(books, BEN, key, dry_run=dry),
}


def run(url: str, now: int, operation: str, *, dry_run: bool = False) -> None:
    """Do an operation with a connection of its own."""
    store = open_store(url, clock=partial(int, now))
    try:
        books = Books(store, 1, Actor(f"reader {BEN}", "readers: test"), reader_id=BEN)
        (own,) = reader_home.home(books, BEN).subscriptions
        OPERATIONS[operation](books, own.subscription_id, dry_run)
    finally:
        store.close()


def _run_and_die(url: str, now: int, operation: str, at: int) -> None:
    with counting(at, die):
        run(url, now, operation)


if __name__ == "__main__":
    fork_for_each_line(_run_and_die)
