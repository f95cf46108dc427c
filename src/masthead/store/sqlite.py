"""The embedded database: connections, transactions and errors of SQLite.

SQLite comes with apsw, which brings a current release: those that Python links are often among the
ones that can corrupt a database in WAL mode when two connections write or checkpoint at once.

Readers never wait for a writer (WAL). A writer takes the one write lock at the start of its
transaction, so that it can wait for it instead of failing halfway.
"""

# Long because it says for SQLite all that ``database`` asks of a connection and of a store, and the
# care for the file's log, its place and its traces belongs to both.

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from itertools import count
from pathlib import Path

import apsw

from masthead.errors import StoreUnavailable
from masthead.private import make_file
from masthead.store import migrations
from masthead.store.database import (
    Clock,
    Dialect,
    Later,
    Row,
    Streams,
    Value,
    system_clock,
)
from masthead.store.secret import Secret

__all__ = ["SqliteConnection", "SqliteStore"]

BUSY_TIMEOUT_MS = 5_000
LOCKED_S_MAX = 5.0
"""So long may a file let nobody even read it, before a command gives up."""

TRACES_WAIT_S = 5.0
"""So long does a file that is written anew wait for others who write to it or read it."""

WAL_BYTES_KEPT = 64 * 1024 * 1024
"""The write-ahead log of a large load may be as long as the load; afterwards it need not be."""

_TRY_AGAIN_S = 0.05

COUNTERS_TIMEOUT_MS = 500
"""Who writes to the counters does so in microseconds; and an event loop may be what waits."""

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


class SqliteConnection:
    """A connection to the file (``store.database`` says what its methods do)."""

    dialect: Dialect = "sqlite"

    def __init__(self, connection: apsw.Connection, clock: Clock, secret: Secret) -> None:
        self._connection = connection
        self.now = clock
        self.secret = secret
        self.streams = Streams()

    def set_tenant(self, account_id: int) -> None:
        """Do nothing: each query names the account, and SQLite has no policies beside that."""

    def accounts(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows."""
        return self.rows(sql, **values)

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; a statement stays prepared."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except _UNAVAILABLE as error:
            raise _explained(error) from error

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows."""
        return self.rows(sql, **values)

    def row(self, sql: str, /, **values: Value) -> Row | None:
        """Return the first row, or None."""
        found = self.rows(sql, **values)
        return found[0] if found else None

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one."""
        return self.streams.opened(self._stream(sql, values))

    def _stream(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
        with closing(self._connection.cursor()) as cursor:
            try:
                yield from cursor.execute(sql, values)
            except _UNAVAILABLE as error:
                raise _explained(error) from error

    def change(self, sql: str, /, **values: Value) -> int:
        """Write, and return how many rows that changed."""
        self.rows(sql, **values)
        return self._connection.changes()

    def insert_many(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        /,
        **same: int,
    ) -> None:
        """Insert the rows with one statement, run for each."""
        names = ", ".join(f'"{name}"' for name in (*same, *columns))
        places = ", ".join([*map(str, same.values()), *"?" * len(columns)])
        try:
            self._connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)
        except _UNAVAILABLE as error:
            raise _explained(error) from error

    def script(self, sql: str, /) -> None:
        """Run several statements."""
        self.rows(sql)

    def analyze(self, table: str, /) -> None:
        """Do nothing: the planner was told what it needs once and for all."""

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read in one transaction."""
        self.rows("BEGIN")
        try:
            yield
        finally:
            self.rows("ROLLBACK")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read in one transaction."""
        self.rows("BEGIN")
        try:
            self.rows("SELECT 1 FROM commits LIMIT 1")
            yield
        finally:
            self.streams.close()
            self.rows("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction; it is the only one that writes to the file."""
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        finally:
            if self._connection.in_transaction:
                self.rows("ROLLBACK")

    def lock_account(self, account_id: int, /) -> None:
        """Do nothing: the transaction excludes every other writer."""

    def lock_stamps(self, account_id: int, /) -> None:
        """Do nothing: the transaction excludes every other writer."""

    def lock_accounts(self) -> None:
        """Do nothing: the transaction excludes every other writer."""

    def write_anew(self) -> None:
        """Write the file anew, and empty its log (``SqliteStore.vacuum_after_erase``).

        The log can be emptied when nobody reads a state from before. Nobody waits for that: it is
        tried again and again, and writers come in between.
        """
        try:
            self._connection.set_busy_timeout(int(TRACES_WAIT_S * 1_000))
            self._connection.execute("VACUUM").fetchall()
            self._connection.set_busy_timeout(0)
            ends_at = time.monotonic() + TRACES_WAIT_S
            while not self._empty_log():
                if time.monotonic() > ends_at:
                    raise _traces_left("another program is reading it")
                time.sleep(_TRY_AGAIN_S)
        except apsw.BusyError:
            raise _traces_left("another program is writing to it") from None
        except _UNAVAILABLE as error:
            raise _traces_left(str(error)) from error

    def _empty_log(self) -> bool:
        # What can be copied is copied while others write; only then are they kept out for a moment.
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        ((is_busy, *_),) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return not is_busy

    def close(self) -> None:
        """Give the connection back to the system."""
        self.streams.close()
        self._connection.close()


class _LoopReader(SqliteConnection):
    """The connection of an event loop, which reads in one transaction whatever one turn asks.

    To lock the file for a question, and to give it free, costs more than most answers. Whoever
    asks in a turn has arrived before it began, so the state that they see is no older than they
    are.
    """

    def __init__(
        self, store: "SqliteStore", connection: apsw.Connection, at_end_of_turn: Later
    ) -> None:
        super().__init__(connection, store.clock, store.secret)
        self._store = store
        self._at_end_of_turn = at_end_of_turn

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows."""
        if not self._connection.in_transaction:
            if self._store.missing:
                raise StoreUnavailable(self._store.missing)
            super().rows("BEGIN")
            self._at_end_of_turn(self._end_turn)
        return super().rows(sql, **values)

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Do nothing: a turn reads one state."""
        yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read the state of now, which may be newer than the one that the turn has read so far."""
        self._end_turn()
        yield

    def _end_turn(self) -> None:
        if self._connection.in_transaction:
            super().rows("ROLLBACK")


class SqliteStore:
    """A database in a file (``store.database`` says what its methods do)."""

    dialect: Dialect = "sqlite"

    def __init__(
        self, path: Path, clock: Clock = system_clock, secret: Secret | None = None
    ) -> None:
        self.path = path
        self.clock = clock
        self.secret = secret or Secret(path.with_name(f"{path.name}-key"))
        self._counters_path = path.with_name(f"{path.name}-logins")
        self.missing = ""
        """What is wrong with the file at this path, as :meth:`check` found it last."""
        self._file: tuple[int, int] | None = None
        self._idle_readers: list[SqliteConnection] = []
        self._idle_counters: list[SqliteConnection] = []
        self._lock = threading.Lock()

    def migrate(self) -> None:
        """Create the file where there is none, and bring its schema up to date."""
        self._use_wal(self.path)
        with self.writer() as database:
            if missing := migrations.missing(database):
                with database.transaction():
                    migrations.apply_missing(database)
                if 1 < missing[0].number <= migrations.SEALED_SINCE:
                    # What was in clear is still in free parts of pages, and in the log.
                    database.write_anew()
            migrations.check_secret(database)
        self._file = _file_at(self.path)

    def check(self) -> None:
        """Look whether the path still leads to the file that was opened.

        Where it does not, readers are lent no more until it does again. Raises StoreUnavailable
        then: a file that has another one in its place would be read from the one, and written to
        the other (decisions, "A file that is gone").
        """
        found = _file_at(self.path)
        if self._file is None or found == self._file:
            self.missing = ""
            return
        self.missing = f"the database {self.path} was " + (
            "replaced by another file while it was open: start the server anew to serve that"
            if found
            else "removed, or moved, while it was open: put the same file back, or stop the "
            "server, restore a backup and start it again"
        )
        raise StoreUnavailable(self.missing)

    def open_loop_reader(self, at_end_of_turn: Later) -> SqliteConnection:
        """Return a connection that has the file mapped into its memory.

        That makes look-ups faster, but not long streams.
        """
        connection = self._connect(self.path, apsw.SQLITE_OPEN_READONLY)
        connection.execute("PRAGMA mmap_size = 268435456")
        # The first look takes the file's shared lock, by which `masthead restore` knows a server.
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        return _LoopReader(self, connection, at_end_of_turn)

    @contextmanager
    def reader(self) -> Iterator[SqliteConnection]:
        """Lend a connection, which is kept for the next one."""
        if self.missing:
            raise StoreUnavailable(self.missing)
        with self._lent(self._idle_readers, self._new_reader) as database:
            yield database

    @contextmanager
    def counters(self) -> Iterator[SqliteConnection]:
        """Lend a connection to a file of its own, ``masthead.db-logins``, which it makes."""
        with self._lent(self._idle_counters, self._new_counters) as database:
            yield database

    @contextmanager
    def _lent(
        self, idle: list[SqliteConnection], new: Callable[[], SqliteConnection]
    ) -> Iterator[SqliteConnection]:
        with self._lock:
            database = idle.pop() if idle else None
        database = database or new()
        try:
            yield database
            database.streams.close()
        except BaseException:
            database.close()
            raise
        with self._lock:
            idle.append(database)

    def _new_reader(self) -> SqliteConnection:
        return self._database(self._connect(self.path, apsw.SQLITE_OPEN_READONLY))

    def _new_counters(self) -> SqliteConnection:
        self._use_wal(self._counters_path)
        connection = self._connect(self._counters_path, apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(COUNTERS_TIMEOUT_MS)
        database = self._database(connection)
        # What is lost when the machine loses its power are the last moments of the count.
        database.script("PRAGMA synchronous = NORMAL")
        database.script(files("masthead.store").joinpath("sql", "counters.sql").read_text("utf-8"))
        return database

    def vacuum_after_erase(self) -> None:
        """Write the file anew, and empty its log.

        Writers wait while the file is written, readers do not. Raises StoreUnavailable where others
        who write or read leave no time for it.
        """
        with self.writer() as database:
            database.write_anew()

    def write_heartbeat(self) -> None:
        """Do nothing: a file has no replicas."""

    def close(self) -> None:
        """Close the connections that nobody has."""
        with self._lock:
            for idle in (self._idle_readers, self._idle_counters):
                while idle:
                    idle.pop().close()

    @contextmanager
    def writer(self, *, patient: bool = True) -> Iterator[SqliteConnection]:
        """Lend a new connection, for one or a few transactions."""
        connection = self._connect(self.path, apsw.SQLITE_OPEN_READWRITE)
        if patient:
            connection.set_busy_handler(_wait_for_ever)
        try:
            with closing(self._database(connection)) as database:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                # A log is cut to the limit of the connection that begins it anew.
                connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
                yield database
        except _UNAVAILABLE as error:
            raise _explained(error) from error

    def _database(self, connection: apsw.Connection) -> SqliteConnection:
        return SqliteConnection(connection, self.clock, self.secret)

    def _use_wal(self, path: Path) -> None:
        """Let the file keep a write-ahead log from now on.

        SQLite asks no busy handler where two connections make this change at once: each would
        wait for the other. So the one that is refused tries again, for five seconds: then it is
        another program that has locked the file.
        """
        ends_at = time.monotonic() + LOCKED_S_MAX
        with self._lock:
            make_file(path)
        connection = self._connect(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            for attempt in count():
                with suppress(apsw.BusyError):
                    connection.execute("PRAGMA journal_mode = WAL")
                    break
                if time.monotonic() > ends_at:
                    raise StoreUnavailable(
                        f"the database {path} is locked: another program holds it for itself alone"
                    )
                _wait_for_ever(attempt)
        except _UNAVAILABLE as error:
            raise _explained(error) from error
        finally:
            connection.close()

    def _connect(self, path: Path, flags: int) -> apsw.Connection:
        try:
            # A connection is one thread's at a time, and rows come faster without SQLite's locks.
            connection = apsw.Connection(
                os.fspath(path),
                flags=flags | apsw.SQLITE_OPEN_NOMUTEX,
                statementcachesize=STATEMENTS_CACHED,
            )
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            # Else a statement is prepared anew for each value that it is run with.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        except _UNAVAILABLE as error:
            raise StoreUnavailable(f"the database {path} cannot be opened: {error}") from error
        return connection


def _file_at(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from any other, or None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _wait_for_ever(calls: int) -> bool:
    time.sleep(min(0.001 * 2 ** min(calls, 8), 0.25))
    return True


def _traces_left(reason: str) -> StoreUnavailable:
    return StoreUnavailable(
        "all is done and kept, but the files of the database still hold traces of what was "
        f"replaced, since they could not be written anew ({reason}). The next erasure does that, "
        "also one of the same subscriber: say `masthead erase` once more when it can"
    )


def _explained(error: apsw.Error) -> StoreUnavailable:
    if isinstance(error, apsw.BusyError):
        return StoreUnavailable("the database is busy: another process is writing to it")
    return StoreUnavailable(f"the database does not answer: {error}")
