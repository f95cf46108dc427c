"""The books as the readers' pages have them: on PostgreSQL, opened by the role of these pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books.account import Books
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.servers import as_readers

if TYPE_CHECKING:
    from masthead.store import Store as OpenStore
    from tests.circulation.desk import Desk

_opened: dict[str, OpenStore] = {}


def store_of_readers(desk: Desk) -> OpenStore:
    """Return the desk's database as the role of the pages has it open, until the desk is left.

    A file has no roles: there, only the conditions of each query keep readers apart.
    """
    if desk.url not in _opened:
        _opened[desk.url] = open_store(as_readers(desk.url), clock=desk._clock)
        desk._stack.callback(lambda: _opened.pop(desk.url).close())
    return _opened[desk.url]


def books_of_reader(desk: Desk, reader_id: int) -> Books:
    """Return the books of a desk's account, in which a reader works on the pages."""
    actor = Actor(f"reader {reader_id}", "readers: test")
    return Books(store_of_readers(desk), desk.account_id, actor, reader_id=reader_id)
