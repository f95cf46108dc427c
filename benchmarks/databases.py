"""Databases to measure: SQLite files, and PostgreSQL servers with default settings."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import psycopg

from benchmarks.machine import pin, process_tree
from tests.citus.cluster import CitusCluster
from tests.citus.databases import CitusDatabases
from tests.postgres import Cluster, Databases

STORES = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "citus": "Citus"}
"""Citus is a coordinator and two workers; `make test-citus` builds it."""

Home = Path | Databases
"""The place for databases: a folder, or one or several PostgreSQL servers."""

_DEFAULTS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "vacuum_truncate": "on",
}
"""PostgreSQL's own defaults; the server of the tests uses other values."""

_COLUMNS = {
    True: """
        SELECT column_name FROM information_schema.columns
        WHERE table_schema = current_schema AND table_name = '{}' AND is_generated = 'NEVER'
        """,
    False: "SELECT name FROM pragma_table_xinfo('{}') WHERE hidden = 0",
}


@contextmanager
def home_of(store: str, *, core: int | None = None) -> Iterator[Home]:
    """Make a folder, or start PostgreSQL (on one core, if given)."""
    if store == "sqlite":
        with TemporaryDirectory(prefix="masthead-benchmark-") as folder:
            yield Path(folder)
        return
    with ExitStack() as stack:
        home: Databases
        if store == "citus":
            citus = stack.enter_context(closing(CitusCluster()))
            nodes: Sequence[Cluster] = citus.nodes
            home = stack.enter_context(closing(CitusDatabases(citus)))
        else:
            home = stack.enter_context(closing(Cluster()))
            nodes = [home]
        for node in nodes:
            _be_as_installed(node)
            if core is not None:
                postmaster = (node.folder / "data" / "postmaster.pid").read_text().split()[0]
                for pid in process_tree(int(postmaster)):
                    pin(core, pid)
        yield home


def _be_as_installed(node: Cluster) -> None:
    with connected(node.url("postgres")) as connection:
        for name, value in _DEFAULTS.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    node.stop()
    node.start()


@contextmanager
def new_database(home: Home, name: str) -> Iterator[str]:
    """Yield the URL of a database without accounts, for its owner.

    The database is removed at the end of the block.
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
    """Yield a connection with the database's own driver, in autocommit mode."""
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
    """Return the names of a table's columns, without generated columns."""
    return [name for (name,) in rows(url, _COLUMNS[is_postgresql(url)].format(table))]


def settle(url: str) -> None:
    """Do the work that autovacuum and the checkpointer would do during a measurement."""
    if is_postgresql(url):
        with connected(url) as connection:
            connection.execute("VACUUM (ANALYZE)")
            connection.execute("CHECKPOINT")
