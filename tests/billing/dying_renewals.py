"""A program that announces and orders renewals in processes which die at a given statement.

``tests.circulation.dying.Dying`` runs it. A line names a half of the nightly run in place of an
operation.
"""

from __future__ import annotations

from contextlib import closing

from masthead.books import automatic_renewals
from masthead.books.account import Books
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting

MODULE = "tests.billing.dying_renewals"


def run(url: str, now: int, half: str) -> None:
    """Run a half of the nightly run with a store of its own: ``announce`` or ``renew``."""
    with closing(open_store(url, clock=lambda: now)) as store:
        books = Books(store, 1, Actor("ada", "renewals automatic"))
        if half == "announce":
            automatic_renewals.announce(books)
        else:
            automatic_renewals.renew(books)


def _run_and_die(url: str, now: int, half: str, at: int) -> None:
    with counting(at, die):
        run(url, now, half)


if __name__ == "__main__":
    fork_for_each_line(_run_and_die)
