"""The books as the readers' pages have them: on PostgreSQL, opened by the role of these pages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from masthead.books.account import Books
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.servers import as_readers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.circulation.desk import Desk


@contextmanager
def books_of_readers(desk: Desk) -> Iterator[Callable[[int], Books]]:
    """Give the books of a desk's account in which a reader works, by the reader's id.

    A file has no roles: there, only the conditions of each query keep readers apart.
    """
    opened = open_store(as_readers(desk.url), clock=desk._clock)
    try:
        yield lambda reader_id: Books(
            opened,
            desk.account_id,
            Actor(f"reader {reader_id}", "readers: test"),
            reader_id=reader_id,
        )
    finally:
        opened.close()
