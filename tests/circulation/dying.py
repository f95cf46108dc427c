"""A program that does operations in processes which die at a given statement.

``python -m tests.circulation.dying`` reads a line for each: the database, the time in microseconds,
the operation (``moments.OPERATIONS``), and the number of the statement before which its process
dies by SIGKILL. It answers with how the process ended. The processes are forks of this one, which
has imported Masthead and has no threads.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Self

from tests.circulation.doing import Office
from tests.circulation.moments import OPERATIONS
from tests.circulation.statements import counting
from tests.servers import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class Dying:
    """The running program, by its module."""

    def __init__(self, module: str = "tests.circulation.dying") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
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

    def do(self, url: str, now: int, operation: str, at: int) -> int:
        """Do an operation in a process that dies before a statement; return its exit status."""
        assert self._process.stdin
        assert self._process.stdout
        print(url, now, operation, at, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def die() -> None:
    """End this process as a kill does."""
    os.kill(os.getpid(), signal.SIGKILL)


def _do(url: str, now: int, operation: str, at: int) -> None:
    office = Office(url)
    office.now = now
    name, given = OPERATIONS[operation]
    with counting(at, die):
        getattr(office, name)(**given)
    office.leave()


def fork_for_each_line(do: Callable[[str, int, str, int], None]) -> None:
    """Fork for each line, and let the fork do what it says."""
    for line in sys.stdin:
        url, now, operation, at = line.split()
        process = os.fork()
        if process == 0:
            do(url, int(now), operation, int(at))
            os._exit(0)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    fork_for_each_line(_do)
