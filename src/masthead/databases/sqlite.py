"""SQLite: connections, transactions, write-ahead logs, copies of files, and the driver's errors.

The driver is apsw, which contains a current release of SQLite. The releases that Python is linked
with often have a bug that can corrupt a WAL database when two connections write or checkpoint at
the same time.

Readers never wait for a writer (WAL mode). A transaction takes the write lock when it begins
(``BEGIN IMMEDIATE``), so it waits at its start and cannot fail halfway.
"""

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from masthead.databases.connection import (
    DatabaseLocked,
    DatabaseUnavailable,
    Dialect,
    OpenStreams,
    RowsAndStreams,
    retry,
)
from masthead.databases.queries import Row, Value
from masthead.private_files import make_file

BUSY_TIMEOUT_MS = 5_000
WAL_TIMEOUT_S = 5.0
"""Seconds to retry the switch to WAL mode while another program locks the whole file."""

WAL_BYTES_KEPT = 64 * 1024 * 1024
"""The log of a large load may be as large as the load. It is later truncated to this size."""

_STATEMENTS_CACHED = 500
_PAGES = 2_000

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
"""Errors of the database. All others are errors in our statements, which are bugs."""

_creation = threading.Lock()


class SqliteConnection(RowsAndStreams):
    """A connection to a file (``databases.connection`` describes its methods)."""

    dialect: Dialect = "sqlite"
    driver_error: type[Exception] = apsw.Error

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._connection = _open(path, read_only=read_only)
        self.path = path
        self.streams = OpenStreams()

    def set_lock_timeout(self, seconds: float) -> None:
        """Set how long to wait for a lock before raising DatabaseLocked."""
        self._connection.set_busy_timeout(int(seconds * 1_000))

    def wait_without_limit(self, waits: Callable[[bool], object]) -> None:
        """Wait forever for locks; before each sleep, tell ``waits`` whether it is the first."""

        def sleep_and_retry(calls: int) -> bool:
            waits(calls == 0)
            time.sleep(min(0.001 * 2 ** min(calls, 8), 0.25))
            return True

        self._connection.set_busy_handler(sleep_and_retry)

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Run a statement, which stays prepared, and return all its rows."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except apsw.NotADBError as error:
            problem = f"the database {self.path} cannot be read"
            raise DatabaseUnavailable(problem, "the file is not a database of SQLite") from error
        except _UNAVAILABLE as error:
            raise _unavailable(error) from error

    def _stream(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
        with closing(self._connection.cursor()) as cursor:
            try:
                yield from cursor.execute(sql, values)
            except _UNAVAILABLE as error:
                raise _unavailable(error) from error

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a statement that writes; return how many rows it changed."""
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
        """Insert the rows with one prepared statement."""
        names = ", ".join(f'"{name}"' for name in (*same, *columns))
        places = ", ".join([*map(str, same.values()), *"?" * len(columns)])
        try:
            self._connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)
        except OverflowError as error:
            raise ValueError(str(error)) from error
        except _UNAVAILABLE as error:
            raise _unavailable(error) from error

    def script(self, sql: str, /) -> None:
        """Run several statements."""
        self.rows(sql)

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read in one transaction. Its first statement takes the snapshot."""
        self.rows("BEGIN")
        try:
            yield
        finally:
            self.streams.close()
            self.rows("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction; no other connection can write to the file during it."""
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        finally:
            if self._connection.in_transaction:
                self.rows("ROLLBACK")

    def switch_to_wal(self) -> None:
        """Switch the file to WAL mode, permanently.

        When two connections do this at the same time, SQLite refuses one without calling its busy
        handler, since each would wait for the other. The refused one retries here. Raises
        DatabaseLocked after :data:`WAL_TIMEOUT_S`.
        """
        try:
            retry(lambda: self.rows("PRAGMA journal_mode = WAL"), WAL_TIMEOUT_S)
        except DatabaseLocked as error:
            raise DatabaseLocked(
                f"the database {self.path} is locked", "another program has locked it"
            ) from error

    def limit_wal(self) -> None:
        """Truncate the log to :data:`WAL_BYTES_KEPT` whenever this connection restarts it."""
        self.rows(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")

    def rewrite(self, wait_s: float) -> None:
        """Rewrite the file without its free pages, and empty its log.

        Waits up to ``wait_s`` seconds for writers, and then as long for readers: the log can be
        emptied only when no reader has an older snapshot. Other connections can write between the
        attempts. Raises DatabaseLocked when the time is over.
        """
        self.set_lock_timeout(wait_s)
        self.rows("VACUUM")
        self.set_lock_timeout(0)
        retry(self._empty_log, wait_s)

    def _empty_log(self) -> None:
        # Most pages are copied while others write; only the rest needs the write lock.
        self.rows("PRAGMA wal_checkpoint(PASSIVE)")
        ((is_busy, *_),) = self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        if is_busy:
            raise DatabaseLocked("the log cannot be emptied", "another program is reading it")

    def close(self) -> None:
        """Close the connection and its streams."""
        self.streams.close()
        self._connection.close()


def create_file(path: Path) -> None:
    """Create an empty file, readable by its owner only, if there is none.

    Errors are left to the connection that opens it. Closing a file releases all locks that the
    process has on it, so no other thread may open the new file before this function closes it.
    """
    with _creation:
        make_file(path)


def copy_file(source: Path, target: Path, advance: Callable[[int, int], None]) -> None:
    """Copy a snapshot of the database ``source`` over the file ``target``, which then has no log.

    ``advance`` is called with the number of pages copied so far and the number of all pages. Raises
    DatabaseUnavailable.
    """
    try:
        with closing(_open(source, read_only=True)) as original, closing(_open(target)) as copy:
            # In one snapshot: otherwise each write by another connection would restart the copy.
            original.execute("BEGIN; SELECT 1 FROM sqlite_schema").fetchall()
            with copy.backup("main", original, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES)
                    advance(backup.page_count - backup.remaining, backup.page_count)
            copy.execute("PRAGMA journal_mode = DELETE")
    except apsw.Error as error:
        raise DatabaseUnavailable(f"the database {source} cannot be copied", str(error)) from error


def overwrite_file(source: Path, target: Path) -> None:
    """Overwrite ``target`` with the contents of ``source``, while others may read it.

    Readers see one transaction, and ``target`` stays the same file in WAL mode. Raises
    DatabaseUnavailable, or DatabaseLocked if another connection writes for longer than
    :data:`WAL_TIMEOUT_S`.
    """
    with closing(_open(source, read_only=True)) as original, closing(_open(target)) as copy:
        retry(lambda: _overwrite(original, copy), WAL_TIMEOUT_S)


def _overwrite(original: apsw.Connection, copy: apsw.Connection) -> None:
    try:
        with copy.backup("main", original, "main") as backup:
            backup.step()
    except _UNAVAILABLE as error:
        raise _unavailable(error) from error


def find_damage(path: Path) -> str | None:
    """Return the first finding of SQLite's integrity check, or None if the file is intact."""
    with closing(SqliteConnection(path, read_only=True)) as connection:
        try:
            ((found,),) = connection.rows("PRAGMA integrity_check(1)")
        except (apsw.Error, DatabaseUnavailable) as error:
            return error.reason if isinstance(error, DatabaseUnavailable) else str(error)
    return None if found == "ok" else str(found)


def _open(path: Path, *, read_only: bool = False) -> apsw.Connection:
    access = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    try:
        # An absolute path, since ":memory:" alone would not be a file. NOMUTEX, since one thread at
        # a time uses a connection, and rows come faster without SQLite's own locks.
        connection = apsw.Connection(
            os.fspath(path.absolute()),
            flags=access | apsw.SQLITE_OPEN_NOMUTEX,
            statementcachesize=_STATEMENTS_CACHED,
        )
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        # Without this, a statement is prepared again for each new value.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except _UNAVAILABLE as error:
        problem, folder = f"the database {path} cannot be opened", path.absolute().parent
        if path.is_dir():
            raise DatabaseUnavailable(problem, "it is a folder") from error
        if not folder.is_dir():
            raise DatabaseUnavailable(problem, f"there is no folder {folder}") from error
        raise DatabaseUnavailable(problem, str(error)) from error
    return connection


def _unavailable(error: apsw.Error) -> DatabaseUnavailable:
    if isinstance(error, apsw.BusyError):
        return DatabaseLocked("the database is busy", "another process is writing to it")
    return DatabaseUnavailable("the database does not answer", str(error))
