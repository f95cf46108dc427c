"""A program that hands in invoices in processes which die at a given statement.

``tests.circulation.dying.Dying`` runs it. A line names a day in place of an operation.
"""

from __future__ import annotations

from contextlib import closing

from masthead.books import debit_runs
from masthead.books.account import Books
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting

MODULE = "tests.billing.dying_debits"


def hand_in(url: str, now: int, day: str) -> int:
    """Hand in what can be collected on a day with a store of its own; return how much it is."""
    with closing(open_store(url, clock=lambda: now)) as store:
        return debit_runs.run(Books(store, 1, Actor("ada", "debit run")), day).run.claims


def _hand_in_and_die(url: str, now: int, day: str, at: int) -> None:
    with counting(at, die):
        hand_in(url, now, day)


if __name__ == "__main__":
    fork_for_each_line(_hand_in_and_die)
