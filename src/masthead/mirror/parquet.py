"""A copy as a folder of Parquet files, one for each table, written by DuckDB.

The mirror works in a database of DuckDB inside the folder. At the end of a transaction, it writes
the changed tables to the files of a new version, and replaces ``current``, a link to the newest
version, by one rename. Files of other tables are hard links to those of the previous version. So a
reader of a version sees all of a pass or nothing, even if the mirror is killed.

The files are the copy. If they are not those that the database has last written, as after a kill,
the database is filled from them.

Users who may read the folder may read all files of a version, whatever the umask. Only the owner
may read the folder until somebody changes its mode (rules, "Who may read the files").
"""

import json
import os
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from masthead.databases.connection import Connection, DatabaseUnavailable
from masthead.databases.urls import PARQUET_CURRENT
from masthead.errors import BadUsage
from masthead.mirror.schema import BUNDLES, described
from masthead.mirror.tables import TABLES
from masthead.mirror.versions import history_of
from masthead.private_files import make_folder, share, sync

OLD_VERSIONS_STAY_S = 600
"""Seconds for which a replaced version stays complete for readers that have resolved the link."""

_SUBSCRIPTIONS = "subscriptions"
_VERSIONS = ".versions"
_WORK = ".work"
_ENDING = ".parquet"


class ParquetFiles:
    """The files of a copy, and the place of the database that writes them.

    Creates the folder if it does not exist, readable by its owner only. Raises BadUsage for a
    folder with other files, DatabaseUnavailable if it cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._work = self._folder / _WORK
        self._current = self._folder / PARQUET_CURRENT
        self.database = self._work / "copy.duckdb"
        with self._explaining():
            self._folder.mkdir(0o700, exist_ok=True)
            # In this order: another mirror may create the work folder between the two.
            holds_files = any(self._folder.iterdir())
            is_copy = self._work.exists() or self._current.is_symlink()
            if holds_files and not is_copy:
                raise BadUsage(f"the folder {folder} holds other files: name a new one for a copy")
            make_folder(self._work)

    def load(self, connection: Connection, *, always: bool = False) -> None:
        """Fill the database from the files, if they are not those that it has last written.

        Call it in a transaction that has the database alone. ``always`` fills it in any case.
        Raises DatabaseUnavailable, with a remedy, for a file that is damaged.
        """
        connection.script(
            "CREATE SCHEMA IF NOT EXISTS written; "
            "CREATE TABLE IF NOT EXISTS written.files (description TEXT)"
        )
        with self._explaining():
            description = self._description()
        if not always and connection.rows("FROM written.files") == [(description,)]:
            return
        for table in _tables(connection):
            connection.script(f"DROP TABLE {_name(table)}")
        files = self._files()
        for table, path in files.items():
            if table == BUNDLES:
                continue
            sql = f"CREATE TABLE {_name(table)} AS FROM read_parquet({_text(path)})"
            try:
                connection.script(sql)
            except connection.driver_error as error:
                # Without space or memory it is DatabaseUnavailable, and the files can be right.
                reason = str(error).partition("\n")[0]
                remedy = f"remove the folder {self._folder}, and the next update copies all again"
                if any(history_of(each) in files for each in TABLES):
                    remedy += "; its history is lost, unless you restore the folder from a backup"
                raise DatabaseUnavailable(
                    f"{path} cannot be read", f"{reason}: {remedy}"
                ) from error
        self._note(connection, description)

    def write(self, connection: Connection, changed: Collection[str]) -> None:
        """Write the next version if a table is new or ``changed``; the rename commits it.

        Call it at the end of the transaction that changed the tables. If the transaction then fails
        to commit, the next one loads the files.
        """
        with self._explaining():
            number = self._remove_old()
            files = self._files()
            tables = _tables(connection)
            if not changed and {*tables, BUNDLES} == set(files):
                return
            made = self._work / "version"
            shutil.rmtree(made, ignore_errors=True)
            make_folder(made)
            for table in (*tables, BUNDLES):
                path = made / f"{table}{_ENDING}"
                depends_on = _SUBSCRIPTIONS if table == BUNDLES else table
                if table in files and depends_on not in changed:
                    os.link(files[table], path)
                else:
                    connection.script(
                        f"COPY (FROM {_name(table)} ORDER BY ALL) TO {_text(path)} "
                        f"(FORMAT parquet, COMPRESSION zstd{_metadata(table)})"
                    )
                    sync(path)
            self._publish(made, number + 1)
            self._note(connection, self._description())

    def _publish(self, made: Path, number: int) -> None:
        """Make a folder of files the current version."""
        versions = self._folder / _VERSIONS
        make_folder(versions)
        for path in (versions, made, *made.iterdir()):
            share(path, self._folder)
        sync(made)
        version = versions / str(number)
        made.rename(version)
        sync(versions)
        link = self._work / PARQUET_CURRENT
        link.unlink(missing_ok=True)
        link.symlink_to(version.relative_to(self._folder))
        link.replace(self._current)
        sync(self._folder)

    def _remove_old(self) -> int:
        """Remove old versions, and one that was not committed; return the current number."""
        number = int(self._current.readlink().name) if self._current.is_symlink() else 0
        replaced_at = 0.0
        versions = (self._folder / _VERSIONS).glob("*")
        for version in sorted(versions, key=lambda path: int(path.name), reverse=True):
            is_old = replaced_at and replaced_at < time.time() - OLD_VERSIONS_STAY_S
            if int(version.name) > number or is_old:
                shutil.rmtree(version)
            else:
                replaced_at = version.stat().st_mtime
        return number

    def _files(self) -> dict[str, Path]:
        """Return the files of the current version, by their tables."""
        return {path.stem: path for path in self._current.resolve().glob(f"*{_ENDING}")}

    def _description(self) -> str:
        """Return a text that changes whenever a file changes."""
        found = sorted((table, path.stat()) for table, path in self._files().items())
        return json.dumps([(table, s.st_ino, s.st_size, s.st_mtime_ns) for table, s in found])

    def _note(self, connection: Connection, description: str) -> None:
        connection.script("DELETE FROM written.files")
        connection.insert_many("written.files", ("description",), [(description,)])

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise DatabaseUnavailable(
                f"the folder {self._folder} cannot be used", reason
            ) from error


def _tables(connection: Connection) -> list[str]:
    """Return the names of the copy's tables."""
    return connection.column_as(
        str,
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT temporary "
        "ORDER BY table_name",
    )


def _metadata(table: str) -> str:
    """Return the option of COPY that writes what the columns of a copy's table mean."""
    meanings = described(table)
    if not meanings:
        return ""
    pairs = ", ".join(f"{_text(column)}: {_text(text)}" for column, text in meanings.items())
    return f", KV_METADATA {{{pairs}}}"


def _name(table: str) -> str:
    quoted = table.replace('"', '""')
    return f'"{quoted}"'


def _text(value: Path | str) -> str:
    quoted = str(value).replace("'", "''")
    return f"'{quoted}'"
