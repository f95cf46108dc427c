"""Opens a copy by its URL: a SQLite file, a PostgreSQL database, a DuckDB file or Parquet files."""

from pathlib import Path

from masthead.databases.connection import Connection, DatabaseUnavailable
from masthead.databases.sqlite import SqliteConnection, create_file
from masthead.databases.urls import (
    PARQUET_CURRENT,
    duckdb_path,
    is_postgresql,
    parquet_folder,
    sqlite_path,
)
from masthead.errors import BadInput, BadUsage, StoreUnavailable
from masthead.extras import install
from masthead.mirror.database import Copy
from masthead.mirror.dialects import LOCK_TIMEOUT_S
from masthead.mirror.parquet import ParquetFiles

_KEEPALIVES = """
    SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
"""
"""The server notices within a minute if a mirror's host loses power, and ends its transaction."""


def open_copy(
    url: str, *, must_exist: bool = False, history: bool = False, unearned: bool = False
) -> Copy:
    """Return the copy at a URL, and create its tables.

    With ``history``, it gets those of the history too, with ``unearned`` that of unearned revenue.
    A copy that has them keeps them, with or without the argument. With ``must_exist``, creates
    nothing, and raises BadInput if no copy has been started there.

    The URL is ``sqlite:///copy.db``, ``postgresql://…``, ``duckdb:///copy.duckdb`` or
    ``parquet://folder/``. Raises BadUsage for another URL, for a database with other contents, and
    if the package of DuckDB is missing; StoreUnavailable if the database cannot be opened.
    """
    path = sqlite_path(url) or duckdb_path(url) or parquet_folder(url)
    if path is None and not is_postgresql(url):
        raise BadUsage(
            "the copy is named as sqlite:///copy.db or postgresql://user@host/name, "
            "duckdb:///copy.duckdb or parquet://folder/"
        )
    try:
        file = path / PARQUET_CURRENT if path and parquet_folder(url) else path
        if must_exist and file and not file.exists():
            raise _no_copy(path)
        copy = _open_path(url, path) if path else Copy(_open_server(url))
    except DatabaseUnavailable as error:
        name = f"the copy {path}" if path else "the copy"
        raise StoreUnavailable(f"{name} cannot be opened: {error.reason}") from error
    try:
        copy.load_files(always=must_exist)
        if must_exist and not copy.has_begun():
            raise _no_copy(path)
        copy.prepare(history=history, unearned=unearned)
    except BaseException:
        copy.close()
        raise
    return copy


def _no_copy(path: Path | None) -> BadInput:
    where = f"at {path}" if path else "in this database"
    return BadInput(f"there is no copy {where}: make one first", code="no_copy")


def _open_path(url: str, path: Path) -> Copy:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise DatabaseUnavailable(f"{path} cannot be opened", f"there is no folder {folder}")
    if not sqlite_path(url):
        return _open_duckdb(url, path)
    create_file(path)
    connection = SqliteConnection(path)
    connection.set_lock_timeout(LOCK_TIMEOUT_S)
    return Copy(connection)


def _open_duckdb(url: str, path: Path) -> Copy:
    try:
        # Imported only here, since DuckDB comes only with an extra.
        from masthead.databases import duckdb  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "duckdb":
            raise
        raise BadUsage(
            "a copy in DuckDB or Parquet needs the extra duckdb: with the file of the release, "
            f"{install('duckdb')} brings it"
        ) from None
    files = ParquetFiles(path) if parquet_folder(url) else None
    database = files.database if files else path
    duckdb.create_file(database)
    return Copy(duckdb.DuckdbConnection(database, LOCK_TIMEOUT_S), files)


def _open_server(url: str) -> Connection:
    # Imported only here, since psycopg takes long to import.
    from masthead.databases.postgresql.connection import (  # noqa: PLC0415
        PostgresConnection,
        check_url,
        connect,
        explaining,
    )

    check_url(url)
    session = connect(url)
    connection = PostgresConnection(session)
    with explaining():
        # Behind a pooler, the next user of the session would get these settings.
        if not session.is_pooled():
            connection.script(_KEEPALIVES)
    return connection
