"""A program that writes files of letters in processes which die at a given statement.

``python -m tests.circulation.dying_letters`` reads a line for each: the database, the time in
microseconds, the file, and the number of the statement before which its process dies by SIGKILL. It
answers with how the process ended. Its processes are forks, as those of ``dying``.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from masthead.books import Books
from masthead.loading.letter_files import send_letters
from masthead.store import open_store
from tests.circulation.desk import ACTOR
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting


def _write_and_die(url: str, now: int, path: str, at: int) -> None:
    with counting(at, die):
        store = open_store(url, clock=partial(int, now))
        send_letters(Books(store, 1, ACTOR), Path(path))


if __name__ == "__main__":
    fork_for_each_line(_write_and_die)
