"""A program that changes the books of a free title in processes which die at a given statement.

``python -m tests.qualification.dying`` reads a line for each, as ``tests.circulation.dying`` does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from masthead.books import Books, issues, qualification_files
from masthead.books.qualification_files import AnswerCell, FileRow
from masthead.circulation.ordering import Person
from masthead.store import open_store
from tests.circulation.desk import ACTOR
from tests.circulation.dying import die, fork_for_each_line
from tests.circulation.statements import counting

if TYPE_CHECKING:
    from collections.abc import Callable

ISSUE = 5
_CHIEF = [AnswerCell("job", "chief", ["chief"])]
ROWS = [
    FileRow(2, Person(1), "2026-04-02", "web", _CHIEF, None, {}, None, "c-1"),
    FileRow(3, Person(None, "d@example.org"), "2026-04-03", "web", _CHIEF, None, {}, None, None),
    FileRow(4, Person(3), "2023-03-02", "web", _CHIEF, None, {}, None, None),
]


def import_file(books: Books, *, dry_run: bool = False) -> int:
    """Import three qualifications, one of a new reader and one that has lapsed; return how many."""
    done = qualification_files.import_rows(books, 1, ROWS, described_max=1, dry_run=dry_run)
    return done.added


def close(books: Books, *, dry_run: bool = False) -> int:
    """Close the issue; return the number of its entries."""
    return issues.close(books, ISSUE, dry_run=dry_run).entries


def write_file(books: Books, *, dry_run: bool = False) -> int:
    """Note that the file of the issue is written, which freezes its report."""
    return issues.mark_written(books, ISSUE, dry_run=dry_run).mailing_list_id


OPERATIONS: dict[str, Callable[..., int]] = {
    each.__name__: each for each in (import_file, close, write_file)
}


def run(url: str, now: int, operation: str, *, dry_run: bool = False) -> int:
    """Do an operation with a connection of its own."""
    store = open_store(url, clock=partial(int, now))
    try:
        return OPERATIONS[operation](Books(store, 1, ACTOR), dry_run=dry_run)
    finally:
        store.close()


def _run_and_die(url: str, now: int, operation: str, at: int) -> None:
    with counting(at, die):
        run(url, now, operation)


if __name__ == "__main__":
    fork_for_each_line(_run_and_die)
