"""Where the databases are that are measured: a folder for SQLite, a server for PostgreSQL."""

from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from benchmarks.machine import pin, tree
from tests.postgres import Cluster

STORES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}

Place = Path | Cluster

_POSTGRESQL = "postgresql://"
_AS_INSTALLED = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
}
"""PostgreSQL's own defaults, from which the tests' server departs to be quick."""


def stores_in(given: str) -> list[str]:
    """Return the stores that an option names."""
    names = given.split(",")
    if not set(names) <= set(STORES):
        raise ArgumentTypeError(f"the stores are {','.join(STORES)}")
    return [store for store in STORES if store in names]


@contextmanager
def place(store: str, *, core: int | None = None) -> Iterator[Place]:
    """Make a place for databases of a store; its server, if it has one, stays on the core."""
    if store == "sqlite":
        with TemporaryDirectory(prefix="masthead-benchmark-") as folder:
            yield Path(folder)
        return
    with closing(Cluster()) as cluster:
        with _connected(cluster.url("postgres")) as connection:
            for name, value in _AS_INSTALLED.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
        cluster.stop()
        cluster.start()
        if core is not None:
            # What runs already is moved; what is started later inherits the core.
            postmaster = (cluster.folder / "data" / "postmaster.pid").read_text().split()[0]
            for pid in tree(int(postmaster)):
                pin(core, pid)
        yield cluster


@contextmanager
def fresh(found: Place, name: str) -> Iterator[str]:
    """Make an empty database; give its URL. It is removed behind the block."""
    if isinstance(found, Path):
        yield f"sqlite:///{found / name}.db"
        for file in found.glob(f"{name}.db*"):
            file.unlink()
    else:
        found.create(name)
        yield found.url(name)
        found.drop(name)


def settle(database: str) -> None:
    """Do now what PostgreSQL would do by itself soon, in the middle of a measurement."""
    if is_postgresql(database):
        with _connected(database) as connection:
            connection.execute("VACUUM (ANALYZE)")
            connection.execute("CHECKPOINT")


def size(database: str) -> int:
    """Return how many bytes a database has on the disk, of what is in it and of its log."""
    if not is_postgresql(database):
        file = Path(database.removeprefix("sqlite:///"))
        return sum(
            each.stat().st_size
            for each in (file, file.with_name(f"{file.name}-wal"))
            if each.exists()
        )
    with _connected(database) as connection:
        ((found,),) = connection.execute("SELECT pg_database_size(current_database())").fetchall()
    return int(found)


def is_postgresql(database: str) -> bool:
    """Return whether the URL is that of a PostgreSQL database."""
    return database.startswith(_POSTGRESQL)


def described(found: Place) -> dict[str, str]:
    """Return what the figures of a PostgreSQL server depend on."""
    if isinstance(found, Path):
        return {}
    with _connected(found.url("postgres")) as connection:
        shown = {
            name: connection.execute(f"SHOW {name}".encode()).fetchall()[0][0]
            for name in ("server_version", *_AS_INSTALLED)
        }
    version = shown.pop("server_version")
    settings = ", ".join(f"{name} {value}" for name, value in shown.items())
    return {"PostgreSQL": f"{version}; {settings}"}


def _connected(url: str) -> psycopg.Connection:
    return psycopg.connect(url, autocommit=True)
