"""Runs ``masthead`` and counts what each request costs: ``python -m tests.costs.counting …``.

Nothing of the program is replaced. Python tells of each call in each thread (``sys.setprofile``),
SQLite of each statement that has run, tracemalloc how much memory is in use. A request's bill is
closed when the next one comes, and then stands as a line of JSON in the file that COSTS names:

calls       of functions, of Python and of C; those of the thread that writes the log are left
            out: it takes the lines of many requests at once, whenever it has the time
statements  [SQL, steps of SQLite's machine, those of them that walk a table]
in_use      bytes of memory at its end
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import tracemalloc
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from types import FrameType

A_REQUEST_COMES = "LimitedProtocol.data_received"
THE_LOG_BEGINS = "_Writer._run"
COLLECTED_EVERY = 10
"""So many requests lie between two looks for what nothing refers to."""


class Bills:
    """Counts in all threads, and closes the bill of a request when the next one comes."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        # Each takes what it is told in one step of C, so that no thread disturbs another.
        self._calls = count()
        self._statements: deque[dict[str, Any]] = deque()
        self._called = self._closed = 0

    def watch(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count a call; Python calls this, and tells nothing of what is called in here."""
        if event == "call":
            if frame.f_code.co_qualname == A_REQUEST_COMES:
                self._close()
            elif frame.f_code.co_qualname == THE_LOG_BEGINS:
                sys.setprofile(None)
            next(self._calls)
        elif event == "c_call":
            next(self._calls)

    def open(self, connection: apsw.Connection) -> None:
        """Let SQLite tell of each statement of a new connection."""
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._statements.append)

    def _close(self) -> None:
        called = next(self._calls)
        ran = [self._statements.popleft() for _ in range(len(self._statements))]
        statements = [
            (
                " ".join(one["sql"].split()),
                one["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"],
                one["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"],
            )
            for one in ran
        ]
        del ran
        self._closed += 1
        if self._closed % COLLECTED_EVERY == 0:
            gc.collect()
        in_use, _ = tracemalloc.get_traced_memory()
        calls = called - self._called - 1
        self._called = called
        line = {"calls": calls, "statements": statements, "in_use": in_use}
        os.write(self._file, f"{json.dumps(line)}\n".encode())


def main() -> None:
    """Count from here on."""
    bills = Bills(os.environ["COSTS"])
    apsw.connection_hooks.append(bills.open)
    tracemalloc.start()
    threading.setprofile(bills.watch)
    sys.setprofile(bills.watch)
    from masthead.cli import main as masthead  # noqa: PLC0415 - what it begins is counted

    masthead()


if __name__ == "__main__":
    main()
