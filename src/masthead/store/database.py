"""What the queries know of a database: the same few methods on SQLite and on PostgreSQL.

The queries stand in the modules beside this one and are the same text for both databases, but for
the few that a dialect has to put in its own words: those are chosen by :attr:`Connection.dialect`.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Literal, Protocol

from masthead.errors import StoreUnavailable
from masthead.store.secret import Secret

__all__ = [
    "Clock",
    "Connection",
    "Dialect",
    "Later",
    "Row",
    "Store",
    "Streams",
    "Value",
    "system_clock",
]

Clock = Callable[[], int]
"""Returns microseconds since 1970 in UTC."""

Later = Callable[[Callable[[], None]], object]
"""Has a function called later; an event loop's ``call_soon`` is one."""

Dialect = Literal["sqlite", "postgresql"]
Value = int | str | None
Row = tuple[Any, ...]


def system_clock() -> int:
    """Return the time of this machine in microseconds since 1970."""
    return time.time_ns() // 1_000


class Streams:
    """The streams of a connection, which closes them: none is left to the garbage collector."""

    def __init__(self) -> None:
        self._open: list[Generator[Row, None, None]] = []

    def opened(self, rows: Generator[Row, None, None]) -> Iterator[Row]:
        """Return the stream, which is closed by :meth:`close` if it does not end before."""
        self._open.append(rows)
        return rows

    def close(self) -> None:
        """Close all streams; what they were to read is lost in any case."""
        while self._open:
            with suppress(StoreUnavailable):
                self._open.pop().close()


class Connection(Protocol):
    """A connection to a database, to be used by one thread at a time.

    Its methods raise StoreUnavailable where the database does not answer.
    """

    dialect: Dialect
    secret: Secret

    def set_tenant(self, account_id: int) -> None:
        """Let this connection see nothing but the account's data from now on."""

    def accounts(self, sql: str, /, **values: Value) -> list[Row]:
        """Return what ``sql`` finds of the accounts that credentials may open, their ids first.

        On a server the connection speaks for the last of them from now on, or for nobody.
        """

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows that ``sql`` yields; ``values`` are its ``:name`` parameters."""

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; on a server they are found in the way that is best for these values.

        To find that way takes longer than most look-ups.
        """

    def row(self, sql: str, /, **values: Value) -> Row | None:
        """Return the first row, or None."""

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one, in flat memory; nothing else is asked meanwhile.

        The stream is closed at the end of the snapshot in which it was opened, else when the
        connection is given back.
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
        """Insert ``rows`` of the ``columns``; those named by ``same`` are the same in each row."""

    def script(self, sql: str, /) -> None:
        """Run several statements without parameters."""

    def analyze(self, table: str, /) -> None:
        """Let the planner know what ``table`` holds, where it does not know without."""

    def now(self) -> int:
        """Return the database's time in microseconds since 1970, by which stamps go."""

    def read_snapshot(self) -> AbstractContextManager[None]:
        """Let the few questions of the block see one and the same state of the database."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all streams of the block see one and the same state, however long they take."""

    def transaction(self) -> AbstractContextManager[None]:
        """Write all that the block writes, or nothing of it if the block raises."""

    def lock_account(self, account_id: int, /) -> None:
        """Become the only writer of the account's data, until the transaction ends."""

    def lock_stamps(self, account_id: int, /) -> None:
        """Become the only one who stamps the account's commits, until the transaction ends.

        What is read after that sees what all earlier ones have written.
        """

    def lock_accounts(self) -> None:
        """Become the only one who adds accounts or changes one, until the transaction ends."""

    def close(self) -> None:
        """Give the connection back to the system."""


class Store(Protocol):
    """A database: where it is, and how to get connections to it.

    ``clock`` is the time of this machine, unless a caller has reasons of its own; stamps go by
    :meth:`Connection.now`.
    """

    dialect: Dialect
    clock: Clock
    secret: Secret

    def migrate(self) -> None:
        """Create the tables where there are none, and bring the schema up to date.

        Raises MastheadError where it was made by a newer version, StoreUnavailable where the
        database cannot be opened.
        """

    def open_loop_reader(self, at_end_of_turn: Later) -> Connection | None:
        """Return a connection that answers within microseconds, for use by an event loop.

        None where there is no such thing, and each query belongs into a thread. All that is asked
        in a turn of the loop may be asked of one state of the database: ``at_end_of_turn`` has a
        function called before the loop looks for new requests and then goes on.
        """

    def reader(self) -> AbstractContextManager[Connection]:
        """Lend a connection that can only read; a thread at a time has it."""

    def writer(self, *, patient: bool = True) -> AbstractContextManager[Connection]:
        """Lend a connection that can write, and sees all accounts.

        A ``patient`` one waits until other writers have finished, however large their loads are;
        another gives up after five seconds with StoreUnavailable.
        """

    def counters(self) -> AbstractContextManager[Connection]:
        """Lend a connection to what servers count: no load ever holds that.

        Raises StoreUnavailable where it does not answer.
        """

    def vacuum_after_erase(self) -> None:
        """Take away what the files of the database still hold of values that were replaced.

        On a server that is the server's own business (its vacuum), and nothing happens. Raises
        StoreUnavailable where others have used the files all the time; what was written is kept.
        """

    def check(self) -> None:
        """Raise StoreUnavailable where what was opened is no more what the URL leads to.

        Nothing is read then until it is again. A server's own connections tell that by themselves,
        and nothing happens.
        """

    def write_heartbeat(self) -> None:
        """Let readers of a replica know how far it has followed, where there is one."""

    def close(self) -> None:
        """Give all connections back that nobody has."""
