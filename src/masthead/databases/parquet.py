"""A folder of Parquet files, one for each table, which DuckDB reads and writes.

``current`` in the folder is a link to the newest version, a folder that never changes. A
transaction copies the tables that it writes to into a temporary database, writes the files of the
next version, and puts the link in place of the old one by one rename. What did not change is linked
from the version before. So whoever lists or reads a version sees all of a transaction or nothing,
and a killed one leaves the link as it was. The next transaction removes its remains.

Who may read the folder may read all that a version has, whatever the umask: others than its owner
only where somebody has changed the folder's mode (decisions, "Who may read the files").
"""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

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
from masthead.databases.duckdb import DuckdbConnection
from masthead.databases.urls import PARQUET_CURRENT
from masthead.errors import BadUsage
from masthead.private_files import make_file, make_folder, share, sync

__all__ = ["OLD_VERSIONS_STAY_S", "ParquetConnection"]

OLD_VERSIONS_STAY_S = 600
"""For so long after it was replaced, those who have resolved the link find all of a version."""

_VERSIONS = ".versions"
_LOCK = ".lock"
_WORK = ".work-"
_ENDING = ".parquet"
_DELETE = re.compile(r"DELETE FROM (?P<table>\w+)(?P<where> WHERE .*)?", re.DOTALL)


class ParquetConnection(RowsAndStreams):
    """A connection to a folder (``databases.connection`` describes its methods).

    Outside of a block, each statement sees the newest version. Creates the folder, readable by its
    owner only, if there is none. Waits up to ``wait_s`` seconds for another process that uses it.
    Raises BadUsage for a folder with other files.
    """

    dialect: Dialect = "duckdb"
    driver_error: type[Exception] = duckdb.Error

    def __init__(self, folder: Path, wait_s: float) -> None:
        self._folder = folder.absolute()
        self._wait_s = wait_s
        self._work: _Work | None = None
        self.streams = OpenStreams()
        try:
            self._folder.mkdir(0o700, exist_ok=True)
            # In this order: another mirror that begins now makes the lock before all other files.
            if any(self._folder.iterdir()) and not (self._folder / _LOCK).exists():
                raise BadUsage(f"the folder {folder} holds other files: name a new one for a copy")
            make_file(self._folder / _LOCK)
        except OSError as error:
            raise DatabaseUnavailable(f"the folder {folder} cannot be used", str(error)) from error

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Run a statement and return all its rows."""
        with self._opened() as work:
            return work.connection.rows(sql, **values)

    def _stream(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
        with self._opened() as work:
            yield from work.connection.stream(sql, **values)

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a DELETE, of a transaction; return how many rows it deleted.

        A table of which nothing is deleted stays as it is.
        """
        found = _DELETE.fullmatch(sql)
        assert found
        assert self._work
        table, where = found.group("table", "where")
        work = self._work
        if not work.connection.rows(f"SELECT 1 FROM {table}{where or ''} LIMIT 1", **values):
            return 0
        work.copy(table)
        return work.connection.change(sql, **values)

    def insert_many(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        /,
        **same: int,
    ) -> None:
        """Insert the rows, in a transaction."""
        found = list(rows)
        if found:
            assert self._work
            self._work.copy(table)
            self._work.connection.insert_many(table, columns, found, **same)

    def script(self, sql: str, /) -> None:
        """Run statements that create tables, in a transaction."""
        assert self._work
        for table in self._work.tables():
            self._work.copy(table)
        self._work.connection.script(sql)

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read one version."""
        with self._opened(keep=True):
            try:
                yield
            finally:
                self.streams.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write the next version from what the block writes, if it writes anything."""
        with self._alone():
            number = self._remove_remains()
            with self._opened(keep=True) as work:
                try:
                    yield
                finally:
                    self.streams.close()
                with _explaining(self._folder):
                    self._publish(work, number + 1)

    def close(self) -> None:
        """Close the streams."""
        self.streams.close()

    @contextmanager
    def _opened(self, *, keep: bool = False) -> "Iterator[_Work]":
        """Open the newest version, or that of the block that is running.

        With ``keep`` it stays for the statements of the block.
        """
        if self._work:
            yield self._work
            return
        with self._work_folder() as folder:
            with _explaining(self._folder):
                work = _Work(folder, self._folder / PARQUET_CURRENT)
            with closing(work):
                if keep:
                    self._work = work
                try:
                    yield work
                finally:
                    self._work = None

    @contextmanager
    def _work_folder(self) -> Iterator[Path]:
        """Make a folder, readable by its owner only, that others leave alone during the block."""
        with _explaining(self._folder):
            folder = self._new_work_folder()
            while (descriptor := _locked_folder(folder)) is None:
                folder = self._new_work_folder()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)

    def _new_work_folder(self) -> Path:
        return Path(mkdtemp(prefix=_WORK, dir=self._folder))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock out other transactions during the block."""
        with _explaining(self._folder):
            descriptor = os.open(self._folder / _LOCK, os.O_RDWR)
        try:
            retry(lambda: self._lock(descriptor), self._wait_s)
            yield
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DatabaseLocked(
                f"the folder {self._folder} is locked", "another process writes to it"
            ) from error

    def _remove_remains(self) -> int:
        """Remove what killed processes left, and old versions; return the current number."""
        with _explaining(self._folder):
            for work in self._folder.glob(f"{_WORK}*"):
                _remove_unlocked(work)
            current = self._folder / PARQUET_CURRENT
            number = int(current.readlink().name) if current.is_symlink() else 0
            replaced_at = 0.0
            versions = (self._folder / _VERSIONS).glob("*")
            for version in sorted(versions, key=lambda path: int(path.name), reverse=True):
                is_old = replaced_at and replaced_at < time.time() - OLD_VERSIONS_STAY_S
                if int(version.name) > number or is_old:
                    shutil.rmtree(version)
                else:
                    replaced_at = version.stat().st_mtime
            return number

    def _publish(self, work: "_Work", number: int) -> None:
        """Make what the transaction wrote the current version; the rename is the commit."""
        if not work.is_changed():
            return
        versions = self._folder / _VERSIONS
        make_folder(versions)
        version = versions / str(number)
        made = work.write_version()
        for path in (versions, made, *made.iterdir()):
            share(path, self._folder)
        made.rename(version)
        sync(versions)
        link = work.folder / PARQUET_CURRENT
        link.symlink_to(version.relative_to(self._folder))
        link.replace(self._folder / PARQUET_CURRENT)
        sync(self._folder)


class _Work:
    """A temporary database with a view of each file of a version, and the tables that changed.

    The files are linked, so that they stay even if their version is removed.
    """

    def __init__(self, folder: Path, current: Path) -> None:
        self.folder = folder
        self.connection = DuckdbConnection(folder / "work.duckdb", wait_s=0)
        self._files = {}
        for path in current.resolve().glob(f"*{_ENDING}"):
            self._files[path.stem] = folder / path.name
            os.link(path, folder / path.name)
        self.connection.script("BEGIN")
        for table, path in self._files.items():
            self.connection.script(f"CREATE VIEW {_name(table)} AS FROM {_file(path)}")
        self._views = set(self._files)

    def tables(self) -> list[str]:
        """Return the names of all tables."""
        found = self.connection.rows(
            "SELECT table_name FROM information_schema.tables ORDER BY table_name"
        )
        return [name for (name,) in found]

    def copy(self, table: str) -> None:
        """Put a table with the rows of its file in place of the view, if that is still there."""
        if table in self._views:
            self._views.remove(table)
            self.connection.script(
                f"DROP VIEW {_name(table)}; "
                f"CREATE TABLE {_name(table)} AS FROM {_file(self._files[table])}"
            )

    def is_changed(self) -> bool:
        """Return whether there is anything beside the views."""
        return set(self.tables()) != self._views

    def write_version(self) -> Path:
        """Write a folder with a file of each table, durably, and return it."""
        version = self.folder / "version"
        make_folder(version)
        for table in self.tables():
            path = version / f"{table}{_ENDING}"
            if table in self._views:
                os.link(self._files[table], path)
            else:
                self.connection.script(
                    f"COPY (FROM {_name(table)} ORDER BY ALL) TO {_text(path)} "
                    "(FORMAT parquet, COMPRESSION zstd)"
                )
                sync(path)
        sync(version)
        return version

    def close(self) -> None:
        """Close the database, whose folder is removed then."""
        self.connection.close()


def _locked_folder(folder: Path) -> int | None:
    """Lock a folder that was just made; return its descriptor, None if it was removed already."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    if folder.exists():
        return descriptor
    os.close(descriptor)
    return None


def _remove_unlocked(folder: Path) -> None:
    """Remove a folder, unless a process has it locked or removes it itself."""
    with suppress(FileNotFoundError, BlockingIOError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(descriptor)


def _name(table: str) -> str:
    quoted = table.replace('"', '""')
    return f'"{quoted}"'


def _text(path: Path) -> str:
    quoted = str(path).replace("'", "''")
    return f"'{quoted}'"


def _file(path: Path) -> str:
    return f"read_parquet({_text(path)})"


@contextmanager
def _explaining(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise DatabaseUnavailable(f"the folder {folder} cannot be used", reason) from error
