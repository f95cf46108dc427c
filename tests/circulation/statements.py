"""Runs a function just before a given statement of an operation is sent."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from masthead.databases.postgresql.connection import PostgresConnection
from masthead.databases.sqlite import SqliteConnection
from masthead.store.postgresql_connection import PostgresStoreConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SENDING = {
    SqliteConnection: ("rows", "_stream", "insert_many"),
    PostgresConnection: ("_run", "script", "_stream", "insert_many"),
    PostgresStoreConnection: ("change_many",),
}
"""The methods through which all statements go, those too that begin and end transactions."""


class Counting:
    """How many statements this thread has sent; ``happen`` is called once, before number ``at``."""

    def __init__(self, at: int | None, happen: Callable[[], object] | None) -> None:
        self.sent = 0
        self._at = at
        self._happen = happen
        self._thread = threading.get_ident()

    def count(self) -> None:
        """Count a statement that is about to be sent."""
        if threading.get_ident() == self._thread:
            self.sent += 1
            if self.sent == self._at and self._happen:
                self._happen()


@contextmanager
def counting(
    at: int | None = None, happen: Callable[[], object] | None = None
) -> Iterator[Counting]:
    """Count the statements that this thread sends within the block."""
    counts = Counting(at, happen)
    patches = [
        patch.object(kind, name, _counted(getattr(kind, name), counts))
        for kind, names in _SENDING.items()
        for name in names
    ]
    for each in patches:
        each.start()
    try:
        yield counts
    finally:
        for each in patches:
            each.stop()


def _counted(send: Callable[..., Any], counts: Counting) -> Callable[..., Any]:
    def counted(*given: Any, **named: Any) -> Any:
        counts.count()
        return send(*given, **named)

    return counted
