"""The made-up publisher whose data the benchmarks use."""

import csv
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.databases import home_of, new_database, settle
from benchmarks.machine import CLIENT_CORE
from masthead.contract.records import TABLES

KEY, LOGIN = "benchmark-key", "benchmark-login"
AUTHORIZATION = "Basic " + b64encode(f"{KEY}:{LOGIN}".encode()).decode()
ACCOUNT_ID = 1
PATHS = 500


class Published(NamedTuple):
    """A database with a publisher's data, and the files loaded into it."""

    database: str
    files: Path

    def order_paths(self) -> list[str]:
        """Return up to 500 paths of orders, evenly spread."""
        return [f"/2/orders/{id_}" for id_ in self._ids("orders")]

    def list_paths(self) -> list[str]:
        """Return up to 500 paths of lists of 100 subscriptions, evenly spread."""
        return [f"/2/subscriptions/?limit=100&after={id_}" for id_ in self._ids("subscriptions")]

    def _ids(self, table: str) -> list[int]:
        ids = sorted(int(row[f"{table[:-1]}_id"]) for row in self.rows(table))[:-100]
        return ids[:: max(1, len(ids) // PATHS)][:PATHS]

    def rows(self, table: str) -> Iterator[dict[str, str]]:
        """Yield the rows of a table's file."""
        with (self.files / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
            yield from csv.DictReader(lines)


def masthead(*arguments: str, database: str = "") -> None:
    """Run a command of Masthead, which must succeed."""
    subprocess.run(
        [sys.executable, "-m", "masthead", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"MASTHEAD_DATABASE": database},
    )


def tables_of(files: Path) -> list[str]:
    """Return the tables that have a file; a row refers only to its own or earlier tables."""
    return [each.name for each in TABLES if (files / f"{each.name}.csv").exists()]


def make_files(files: Path, subscribers: int) -> None:
    """Make the publisher's files."""
    masthead("generate", str(files), "--subscribers", str(subscribers))


def add_account(database: str) -> None:
    """Add the publisher's account."""
    account = ("accounts", "add", str(ACCOUNT_ID), "--api-key", KEY, "--api-login", LOGIN)
    masthead(*account, database=database)


def load(database: str, files: Path) -> None:
    """Import files."""
    masthead("import", str(files), "--account", str(ACCOUNT_ID), database=database)


@contextmanager
def published(store: str, subscribers: int) -> Iterator[Published]:
    """Make a publisher in a new database, with PostgreSQL on the clients' core."""
    with (
        TemporaryDirectory() as folder,
        home_of(store, core=CLIENT_CORE) as home,
        new_database(home, "benchmark") as database,
    ):
        files = Path(folder) / "files"
        make_files(files, subscribers)
        add_account(database)
        load(database, files)
        settle(database)
        yield Published(database, files)
