"""A program that sends reminders in processes which die at a given statement.

``tests.circulation.dying.Dying`` runs it.
"""

from __future__ import annotations

from contextlib import closing

from masthead.books import reminders
from masthead.books.account import Books
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting

MODULE = "tests.billing.dying_reminders"


def send(url: str, now: int) -> str:
    """Send the reminders that are due, with a store of its own; return what was done."""
    with closing(open_store(url, clock=lambda: now)) as store:
        return reminders.send(Books(store, 1, Actor("ada", "reminders send"))).sentence


def _send_and_die(url: str, now: int, _: str, at: int) -> None:
    with counting(at, die):
        send(url, now)


if __name__ == "__main__":
    fork_for_each_line(_send_and_die)
