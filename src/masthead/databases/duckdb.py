"""DuckDB: a connection to a file, and the errors of its driver, which only the extra brings.

One process at a time can open a file that it writes to, and others cannot read it meanwhile. So a
connection waits for the file when it is opened, and holds it until it is closed.
"""

import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import duckdb

from masthead.databases.connection import (
    DatabaseLocked,
    DatabaseUnavailable,
    Dialect,
    OpenStreams,
    Row,
    RowsAndStreams,
    Value,
    retry,
)
from masthead.private_files import make_file, make_folder

__all__ = ["DuckdbConnection", "create_file"]

_STREAM_ROWS = 1_000
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")

_UNAVAILABLE = (
    duckdb.ConnectionException,
    duckdb.FatalException,
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
)
"""Errors of the database. All others are errors in a statement, which are bugs of ours."""

_NOT_HELD = (duckdb.DataError, duckdb.InvalidInputException, UnicodeError)
"""What a value raises that a column cannot hold."""

_MAGIC = b"DUCK"
_BEGINNING_BYTES = 12
"""A file of DuckDB begins with so many bytes, of which the last ones are ``_MAGIC``."""

_writers: defaultdict[Path, Lock] = defaultdict(Lock)
"""Locks out the other threads that write to a file, which all have one instance of DuckDB."""


class DuckdbConnection(RowsAndStreams):
    """A connection to a file (``databases.connection`` describes its methods).

    Waits up to ``wait_s`` seconds for another process that has the file open.
    """

    dialect: Dialect = "duckdb"
    driver_error: type[Exception] = duckdb.Error

    def __init__(self, path: Path, wait_s: float) -> None:
        self._path = path.absolute()
        self._wait_s = wait_s
        self._log = Path(f"{self._path}.wal")
        self._spilled = Path(f"{self._path}.tmp")
        self._connection = retry(lambda: _open(self._path), wait_s)
        # For what does not fit into memory. DuckDB would create it with the mode of the umask.
        with suppress(OSError):
            make_folder(self._spilled)
        self.streams = OpenStreams()

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Run a statement and return all its rows."""
        with _explaining():
            return self._execute(sql, values).fetchall()

    def _stream(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
        with _explaining():
            found = self._execute(sql, values)
            while rows := found.fetchmany(_STREAM_ROWS):
                yield from rows

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a statement that writes; return how many rows it changed."""
        ((changed,),) = self.rows(sql, **values)
        return int(changed)

    def insert_many(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        /,
        **same: int,
    ) -> None:
        """Insert the rows as one JSON text, since a statement for each row takes a millisecond."""
        found = list(rows)
        if not found:
            return
        names = ", ".join(f'"{name}"' for name in (*same, *columns))
        places = [f"r[{number}]" for number in range(1, len(columns) + 1)]
        values = ", ".join([*map(str, same.values()), *places])
        sql = (
            f"INSERT INTO {table} ({names}) SELECT {values} "
            """FROM (SELECT unnest(from_json(:rows, '[["VARCHAR"]]')) AS r)"""
        )
        try:
            self.rows(sql, rows=json.dumps(found, ensure_ascii=False))
        except _NOT_HELD as error:
            raise ValueError(str(error)) from error

    def script(self, sql: str, /) -> None:
        """Run several statements."""
        with _explaining():
            self._connection.execute(sql)

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read in one transaction. Its snapshot is that of its first statement."""
        self.script("BEGIN")
        try:
            yield
        finally:
            self.streams.close()
            self.script("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction; no other thread can write to the file meanwhile."""
        writer = _writers[self._path]
        if not writer.acquire(timeout=self._wait_s):
            raise DatabaseLocked("the database is busy", "another thread is writing to it")
        try:
            # DuckDB creates its log when it commits, with the mode that the umask leaves. Whoever
            # may read the file needs the log too, which can stay.
            make_file(self._log)
            with suppress(OSError):
                shutil.copymode(self._path, self._log)
            self.script("BEGIN")
            try:
                yield
                self.script("COMMIT")
            except BaseException:
                self.streams.close()
                # A COMMIT that fails has ended the transaction already.
                with suppress(DatabaseUnavailable):
                    self.script("ROLLBACK")
                raise
        finally:
            writer.release()

    def close(self) -> None:
        """Close the connection and its streams."""
        self.streams.close()
        self._connection.close()
        with suppress(OSError):
            self._spilled.rmdir()

    def _execute(self, sql: str, values: dict[str, Value]) -> duckdb.DuckDBPyConnection:
        return self._connection.execute(_PARAMETER.sub(r"$\1", sql), values)


def create_file(path: Path) -> None:
    """Create an empty database, readable by its owner only, if there is none.

    DuckDB does not take an empty file for a new database, so it makes one in a folder of its own.
    Raises DatabaseUnavailable, also for a file that is none of DuckDB: of some it would download
    an extension from the network that can read them.
    """
    try:
        if path.exists():
            with path.open("rb") as file:
                if file.read(_BEGINNING_BYTES)[-len(_MAGIC) :] != _MAGIC:
                    raise DatabaseUnavailable(f"{path} cannot be used", "it is no file of DuckDB")
            return
        with TemporaryDirectory(prefix=".new-", dir=path.absolute().parent) as folder:
            new = Path(folder) / "new.duckdb"
            _open(new).close()
            new.chmod(0o600)
            try:
                os.link(new, path)
            except FileExistsError:
                return
    except OSError as error:
        raise DatabaseUnavailable(f"the database {path} cannot be created", str(error)) from error


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(path)
    except _UNAVAILABLE as error:
        if "Could not set lock" in str(error):
            raise DatabaseLocked(
                f"the database {path} is locked",
                "another process has it open, perhaps another mirror",
            ) from error
        raise _unavailable(error) from error


@contextmanager
def _explaining() -> Iterator[None]:
    """Raise DatabaseUnavailable for DuckDB's errors of the database."""
    try:
        yield
    except _UNAVAILABLE as error:
        raise _unavailable(error) from error


def _unavailable(error: duckdb.Error) -> DatabaseUnavailable:
    return DatabaseUnavailable("the database does not answer", str(error).partition("\n")[0])
