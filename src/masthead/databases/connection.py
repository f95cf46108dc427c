"""What a connection to any database can do, and the errors that it raises.

SQL is the same text for all databases, with parameters written as ``:name``. The few statements
that differ are chosen by :attr:`Connection.dialect`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from inspect import GEN_CLOSED, GEN_RUNNING, getgeneratorstate
from typing import Literal, Protocol, TypeVar

from masthead.databases.queries import Answer, Bound, Query, Row, Shape, Value
from masthead.errors import StoreBusy, StoreUnavailable

Dialect = Literal["sqlite", "postgresql", "duckdb"]
Result = TypeVar("Result")
Scalar = TypeVar("Scalar", int, str)

_RETRY_S_MAX = 0.1


class DatabaseUnavailable(StoreUnavailable):
    """The database cannot be opened or used now; ``reason`` is the driver's message."""

    def __init__(self, problem: str, reason: str) -> None:
        super().__init__(f"{problem}: {reason}")
        self.reason = reason


class DatabaseLocked(DatabaseUnavailable, StoreBusy):
    """Another process held a lock for longer than this connection waits."""


class Queries(Protocol):
    """Runs statements, and returns their rows with types."""

    @abstractmethod
    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Run a statement and return all its rows; ``values`` are its ``:name`` parameters."""

    def ask(self, query: Query[Answer]) -> Answer:
        """Run the statement of a query, and return its answer."""
        return query.answer_of(self.rows(query.bound.sql, **query.bound.values))

    def row(self, sql: str, /, **values: Value) -> Row | None:
        """Return the first row, or None."""
        found = self.rows(sql, **values)
        return found[0] if found else None

    def rows_as(self, kind: type[Shape], sql: str, /, **values: Value) -> list[Shape]:
        """Return all rows as ``kind``: a NamedTuple, or a type such as ``tuple[int, str]``.

        Raises TypeError if a NamedTuple has another number of fields than the row has columns.
        """
        make = getattr(kind, "_make", kind)
        return [make(row) for row in self.rows(sql, **values)]

    def row_as(self, kind: type[Shape], sql: str, /, **values: Value) -> Shape | None:
        """Return the only row as ``kind``, like :meth:`rows_as`; None if there is no row.

        Raises ValueError if there are several: the query then lacks a condition.
        """
        found = self.rows_as(kind, sql, **values)
        if not found:
            return None
        (row,) = found
        return row

    def column_as(self, kind: type[Scalar], sql: str, /, **values: Value) -> list[Scalar]:
        """Return the values of the only column, which has no nulls, converted to ``kind``."""
        return [kind(value) for (value,) in self.rows(sql, **values)]

    def value_as(self, kind: type[Scalar], sql: str, /, **values: Value) -> Scalar | None:
        """Return the only value of the first row, converted to ``kind``.

        Returns None if the value is null or there is no row.
        """
        (value,) = self.row(sql, **values) or (None,)
        return None if value is None else kind(value)


class Connection(Queries, Protocol):
    """A connection to a database, to be used by one thread at a time.

    Its methods raise DatabaseLocked or DatabaseUnavailable. The driver's error for an invalid
    statement is not caught; it is a ``driver_error``.
    """

    dialect: Dialect
    driver_error: type[Exception]

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one, in constant memory.

        No other statement may run before the stream ends. The stream is closed at the end of the
        snapshot in which it was opened, or when the connection is closed or returned.
        """

    def rows_of_each(self, statements: Sequence[Bound], /) -> list[list[Row]]:
        """Run statements that only read; return the rows of each.

        PostgreSQL gets all of them in one message. The first one that fails raises its error.
        """

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a statement that writes; return how many rows it inserted, updated or deleted."""

    def insert_many(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        /,
        **same: int,
    ) -> None:
        """Insert rows of ``columns``; the columns in ``same`` have the same value in each row.

        Raises ValueError if the database cannot hold a value.
        """

    def script(self, sql: str, /) -> None:
        """Run several statements without parameters."""

    def read_snapshot(self) -> AbstractContextManager[None]:
        """Read in one transaction, so that all statements of the block see the same data."""

    def transaction(self) -> AbstractContextManager[None]:
        """Commit what the block writes, or roll it back if the block raises."""

    def close(self) -> None:
        """Close the connection and its streams."""


class RowsAndStreams(Queries, ABC):
    """The common part of all connections: typed rows, and streams that are closed in time."""

    streams: "OpenStreams"

    @abstractmethod
    def _stream(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
        """Run a statement and yield its rows one by one."""

    def rows_of_each(self, statements: Sequence[Bound], /) -> list[list[Row]]:
        """Run the statements one after the other: a file has no round trips."""
        return [self.rows(sql, **values) for sql, values in statements]

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one."""
        return self.streams.add(self._stream(sql, values))


class OpenStreams:
    """The streams of a connection; it closes those that were not read to their end."""

    def __init__(self) -> None:
        self._open: list[Generator[Row, None, None]] = []

    def add(self, rows: Generator[Row, None, None]) -> Iterator[Row]:
        """Return the stream; :meth:`close` closes it unless it has ended."""
        self._open = [stream for stream in self._open if getgeneratorstate(stream) != GEN_CLOSED]
        self._open.append(rows)
        return rows

    def close(self) -> None:
        """Close all streams, except one that is ending: it is the caller.

        Errors are ignored, since the rows are no longer needed.
        """
        while self._open:
            stream = self._open.pop()
            if getgeneratorstate(stream) != GEN_RUNNING:
                with suppress(StoreUnavailable):
                    stream.close()


def retry(attempt: Callable[[], Result], seconds: float) -> Result:
    """Call ``attempt`` until it raises no DatabaseLocked, and return its result.

    Raises DatabaseLocked if ``attempt`` still raises it after ``seconds``.
    """
    try:
        return attempt()
    except DatabaseLocked:
        # Imported only when it is needed: the import takes 30 ms.
        from tenacity import (  # noqa: PLC0415
            Retrying,
            retry_if_exception_type,
            stop_after_delay,
            wait_exponential,
        )

        retrying = Retrying(
            retry=retry_if_exception_type(DatabaseLocked),
            wait=wait_exponential(multiplier=0.001, max=_RETRY_S_MAX),
            stop=stop_after_delay(seconds),
            reraise=True,
        )
        return retrying(attempt)
