"""A program that writes files of letters in processes which die at a given statement.

``python -m tests.circulation.dying_letters`` reads a line for each: the database, the time in
microseconds, the file, and the number of the statement before which its process dies by SIGKILL. It
answers with how the process ended. Its processes are forks, as those of ``dying``.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

from masthead.books import Books
from masthead.loading.letter_files import send_letters
from masthead.store import open_store
from tests.circulation.desk import ACTOR
from tests.circulation.statements import counting


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Fork for each line."""
    for line in sys.stdin:
        url, now, path, at = line.split()
        process = os.fork()
        if process == 0:
            with counting(int(at), _die):
                store = open_store(url, clock=partial(int, now))
                send_letters(Books(store, 1, ACTOR), Path(path))
            os._exit(0)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
