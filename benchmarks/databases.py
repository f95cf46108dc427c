"""Databases to measure: files of SQLite, and a PostgreSQL server with default settings."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import psycopg

from benchmarks.machine import pin, process_tree
from tests.postgres import Cluster

STORES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}

Home = Path | Cluster
"""Where databases are made: a folder, or a PostgreSQL server."""

_DEFAULTS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
}
"""PostgreSQL's own defaults; the server of the tests departs from them."""

_COLUMNS = {
    True: """
        SELECT column_name FROM information_schema.columns
        WHERE table_schema = current_schema AND table_name = '{}' AND is_generated = 'NEVER'
        """,
    False: "SELECT name FROM pragma_table_xinfo('{}') WHERE hidden = 0",
}


@contextmanager
def home_of(store: str, *, core: int | None = None) -> Iterator[Home]:
    """Make a folder, or start a PostgreSQL server (on one core, if that is given)."""
    if store == "sqlite":
        with TemporaryDirectory(prefix="masthead-benchmark-") as folder:
            yield Path(folder)
        return
    with closing(Cluster()) as cluster:
        with connected(cluster.url("postgres")) as connection:
            for name, value in _DEFAULTS.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        cluster.stop()
        cluster.start()
        if core is not None:
            postmaster = (cluster.folder / "data" / "postmaster.pid").read_text().split()[0]
            for pid in process_tree(int(postmaster)):
                pin(core, pid)
        yield cluster


@contextmanager
def new_database(home: Home, name: str) -> Iterator[str]:
    """Yield the URL of a database without accounts, for its owner.

    It is removed at the end of the block.
    """
    if isinstance(home, Path):
        yield f"sqlite:///{home / name}.db"
        for file in home.glob(f"{name}.db*"):
            file.unlink()
    else:
        home.copy_migrated(name)
        yield home.url(name)
        home.drop(name)


def is_postgresql(url: str) -> bool:
    """Return whether the URL names a PostgreSQL database."""
    return url.startswith("postgresql://")


@contextmanager
def connected(url: str) -> Iterator[Any]:
    """Yield a connection of the database's own driver, in autocommit mode."""
    if is_postgresql(url):
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection
    else:
        with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
            yield connection


def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of one statement."""
    with connected(url) as connection:
        found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
    return found


def columns(url: str, table: str) -> list[str]:
    """Return the names of a table's columns, without generated ones."""
    return [name for (name,) in rows(url, _COLUMNS[is_postgresql(url)].format(table))]


def settle(url: str) -> None:
    """Do what autovacuum and the checkpointer would otherwise do during a measurement."""
    if is_postgresql(url):
        with connected(url) as connection:
            connection.execute("VACUUM (ANALYZE)")
            connection.execute("CHECKPOINT")
