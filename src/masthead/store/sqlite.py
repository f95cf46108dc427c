"""The embedded database: connections, transactions and errors of SQLite.

The queries stand in the modules beside this one and know only :class:`Database`. SQLite comes with
apsw, which brings a current release: those that Python links are often among the ones that can
corrupt a database in WAL mode when two connections write or checkpoint at once.

Readers never wait for a writer (WAL). A writer takes the one write lock at the start of its
transaction, so that it can wait for it instead of failing halfway.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from masthead.errors import StoreUnavailable
from masthead.store import migrations

__all__ = ["Clock", "Database", "SqliteStore", "system_clock"]

Clock = Callable[[], int]
"""Returns microseconds since 1970 in UTC."""

Value = int | str | None
Row = tuple[Any, ...]

BUSY_TIMEOUT_MS = 5_000
STATEMENTS_CACHED = 500

_UNAVAILABLE = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NotADBError,
    apsw.PermissionsError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
)
"""Errors of the database, as against those of a query, which are ours to mend."""


def system_clock() -> int:
    """Return the time of this machine in microseconds since 1970."""
    return time.time_ns() // 1_000


class Database:
    """A connection to the database, to be used by one thread at a time."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows that ``sql`` yields; ``values`` are its ``:name`` parameters.

        Raises StoreUnavailable when the database does not answer.
        """
        try:
            return self._connection.execute(sql, values).fetchall()
        except _UNAVAILABLE as error:
            raise _explained(error) from error

    def row(self, sql: str, /, **values: Value) -> Row | None:
        """Return the first row, or None; raises as :meth:`rows` does."""
        found = self.rows(sql, **values)
        return found[0] if found else None

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one, in flat memory; raises as :meth:`rows` does."""
        try:
            yield from self._connection.execute(sql, values)
        except _UNAVAILABLE as error:
            raise _explained(error) from error

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a statement that writes; return how many rows it inserted, updated or deleted."""
        self.rows(sql, **values)
        return self._connection.changes()

    def insert_many(self, sql: str, rows: Iterable[Sequence[Value]], /) -> None:
        """Run a statement with ``?`` parameters once for each of ``rows``."""
        try:
            self._connection.executemany(sql, rows)
        except _UNAVAILABLE as error:
            raise _explained(error) from error

    def script(self, sql: str, /) -> None:
        """Run several statements without parameters."""
        self.rows(sql)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads of the block see one and the same state of the database."""
        self.rows("BEGIN")
        try:
            self.rows("SELECT 1 FROM commits LIMIT 1")
            yield
        finally:
            self.rows("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that the block writes, or nothing of it if the block raises."""
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        finally:
            if self._connection.in_transaction:
                self.rows("ROLLBACK")

    def close(self) -> None:
        """Give the connection back to the system."""
        self._connection.close()


class SqliteStore:
    """A database in a file.

    ``clock`` is what stamps go by; the system's unless a caller has reasons of its own.
    """

    dialect = "sqlite"

    def __init__(self, path: Path, clock: Clock = system_clock) -> None:
        self.path = path
        self.clock = clock
        self._idle_readers: list[Database] = []
        self._lock = threading.Lock()

    def migrate(self) -> None:
        """Create the database where there is none, and bring its schema up to date.

        Raises MastheadError where it was made by a newer version, StoreUnavailable where it
        cannot be opened.
        """
        self._use_wal()
        with self.writer() as database:
            if migrations.missing(database, self.dialect):
                with database.transaction():
                    migrations.apply_missing(database, self.dialect)

    def open_reader(self) -> Database:
        """Return a new connection that can only read, for many small reads.

        The file is mapped into its memory: that makes look-ups faster, but not long streams.
        """
        connection = self._connect(apsw.SQLITE_OPEN_READONLY)
        connection.execute("PRAGMA mmap_size = 268435456")
        return Database(connection)

    @contextmanager
    def reader(self) -> Iterator[Database]:
        """Lend a connection that can only read; a thread at a time has it."""
        with self._lock:
            database = self._idle_readers.pop() if self._idle_readers else None
        database = database or Database(self._connect(apsw.SQLITE_OPEN_READONLY))
        try:
            yield database
        except BaseException:
            database.close()
            raise
        with self._lock:
            self._idle_readers.append(database)

    def close(self) -> None:
        """Give all connections back that nobody has."""
        with self._lock:
            while self._idle_readers:
                self._idle_readers.pop().close()

    @contextmanager
    def writer(self, *, patient: bool = True) -> Iterator[Database]:
        """Lend a connection that can write, for one or a few transactions.

        A ``patient`` one waits until other writers have finished, however large their loads are;
        another gives up after five seconds with StoreUnavailable.
        """
        connection = self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        if patient:
            connection.set_busy_handler(_wait_for_ever)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            yield Database(connection)
        except _UNAVAILABLE as error:
            raise _explained(error) from error
        finally:
            connection.close()

    def _use_wal(self) -> None:
        """Let the file keep a write-ahead log from now on.

        SQLite asks no busy handler where two connections make this change at once: each would
        wait for the other. So the one that is refused tries again.
        """
        connection = self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            for attempt in count():
                with suppress(apsw.BusyError):
                    connection.execute("PRAGMA journal_mode = WAL")
                    break
                _wait_for_ever(attempt)
        except _UNAVAILABLE as error:
            raise _explained(error) from error
        finally:
            connection.close()

    def _connect(self, flags: int) -> apsw.Connection:
        try:
            # A connection is one thread's at a time, and rows come faster without SQLite's locks.
            connection = apsw.Connection(
                os.fspath(self.path),
                flags=flags | apsw.SQLITE_OPEN_NOMUTEX,
                statementcachesize=STATEMENTS_CACHED,
            )
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        except _UNAVAILABLE as error:
            raise StoreUnavailable(f"the database {self.path} cannot be opened: {error}") from error
        return connection


def _wait_for_ever(calls: int) -> bool:
    time.sleep(min(0.001 * 2 ** min(calls, 8), 0.25))
    return True


def _explained(error: apsw.Error) -> StoreUnavailable:
    if isinstance(error, apsw.BusyError):
        return StoreUnavailable("the database is busy: another process is writing to it")
    return StoreUnavailable(f"the database does not answer: {error}")
