"""DuckDB: a connection to a file, and the errors of its driver, which comes with the extra.

While a process has a file open for writing, no other process can open it, not even to read. So a
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
    RowsAndStreams,
    retry,
)
from masthead.databases.queries import Row, Value
from masthead.private_files import make_file, make_folder

_STREAM_ROWS = 1_000
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")

_UNAVAILABLE = (
    duckdb.ConnectionException,
    duckdb.FatalException,
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
)
"""Errors of the database. All others are errors in our statements, which are bugs."""

_NOT_HELD = (duckdb.DataError, duckdb.InvalidInputException, UnicodeError)
"""Errors for a value that a column cannot hold."""

_MAGIC = b"DUCK"
_BEGINNING_BYTES = 12
"""The length of the beginning of a DuckDB file, which ends with ``_MAGIC``."""

_writers: defaultdict[Path, Lock] = defaultdict(Lock)
"""The write lock of each file, for the threads of this process: they share a DuckDB instance."""


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
        # For data that does not fit into memory. DuckDB would create it with the umask's mode.
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
        """Read in one transaction. Its first statement takes the snapshot."""
        self.script("BEGIN")
        try:
            yield
        finally:
            self.streams.close()
            self.script("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction; no other thread can write to the file during it."""
        writer = _writers[self._path]
        if not writer.acquire(timeout=self._wait_s):
            raise DatabaseLocked("the database is busy", "another thread is writing to it")
        try:
            # DuckDB creates its log at a commit, with the umask's mode. The log can stay, and all
            # users who may read the file need it.
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

    DuckDB does not accept an empty file as a new database, so this creates one in a temporary
    folder. Raises DatabaseUnavailable, also for a file of another format: for some formats, DuckDB
    would download an extension from the network.
    """
    try:
        if path.is_dir():
            raise DatabaseUnavailable(f"{path} cannot be used", "it is a folder")
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
    except duckdb.Error as error:
        if "Could not set lock" in str(error):
            raise DatabaseLocked(
                f"the database {path} is locked",
                "another process has it open, perhaps another mirror",
            ) from error
        raise _unavailable(error) from error


@contextmanager
def _explaining() -> Iterator[None]:
    """Turn DuckDB's errors of the database into DatabaseUnavailable."""
    try:
        yield
    except _UNAVAILABLE as error:
        raise _unavailable(error) from error


def _unavailable(error: duckdb.Error) -> DatabaseUnavailable:
    return DatabaseUnavailable("the database does not answer", str(error).partition("\n")[0])
