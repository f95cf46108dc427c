"""A program that takes orders in processes which die at a given statement.

``python -m tests.billing.dying_bills`` reads a line for each: the database, the time in
microseconds, the payer, and the number of the statement before which its process dies by SIGKILL.
It answers with how the process ended. The processes are forks of this one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Self

from masthead.books import orders
from masthead.books.account import Books
from masthead.circulation.ordering import Item, Order, Person
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.circulation.statements import counting
from tests.servers import ROOT, environment

if TYPE_CHECKING:
    from types import TracebackType


class Dying:
    """The running program."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.billing.dying_bills"],
            cwd=ROOT,
            env=environment(""),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def take_order(self, url: str, now: int, payer: int, at: int) -> int:
        """Take an order in a process that dies before a statement; return its exit status."""
        assert self._process.stdin
        assert self._process.stdout
        print(url, now, payer, at, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def take_order(url: str, now: int, payer: int) -> str | None:
    """Take an order of a year of Tide with a store of its own; return the invoice's number."""
    with closing(open_store(url, clock=lambda: now)) as store:
        books = Books(store, 1, Actor("ada", "order add"))
        wanted = Order(Person(subscriber_id=payer), (Item(bundle_id=1),))
        return orders.place(books, wanted).invoice


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Fork for each line."""
    for line in sys.stdin:
        url, now, payer, at = line.split()
        process = os.fork()
        if process == 0:
            with counting(int(at), _die):
                take_order(url, int(now), int(payer))
            os._exit(0)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
