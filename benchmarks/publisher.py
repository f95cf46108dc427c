"""The made-up publisher whose data are loaded and asked for."""

import base64
import csv
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from benchmarks.databases import described, fresh, place, settle

KEY, LOGIN = "benchmark-key", "benchmark-login"
AUTHORIZATION = "Basic " + base64.b64encode(f"{KEY}:{LOGIN}".encode()).decode()
ACCOUNT_ID = 1
PATHS = 500
LIST = 100
SUBSCRIBERS_MIN = 100
COMMAND_S_MAX = 3_600

Item = TypeVar("Item")


def masthead(*arguments: str, database: str = "") -> list[str]:
    """Run a command of Masthead; return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "masthead", *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"MASTHEAD_DATABASE": database},
        timeout=COMMAND_S_MAX,
    )
    return done.stdout.splitlines()


def make_files(files: Path, subscribers: int) -> None:
    """Make the publisher's files."""
    masthead("generate", str(files), "--subscribers", str(subscribers))


def add_account(database: str) -> None:
    """Make the tables, and in them the publisher's account."""
    account = ("accounts", "add", str(ACCOUNT_ID), "--api-key", KEY, "--api-login", LOGIN)
    masthead(*account, database=database)


def fill(database: str, files: Path) -> None:
    """Load the files into an empty database, ready to be measured."""
    add_account(database)
    masthead("import", str(files), "--account", str(ACCOUNT_ID), database=database)
    settle(database)


@contextmanager
def filled(
    store: str, files: Path, *, core: int | None = None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Make a database of the store and load the files; give its URL, and what figures depend on.

    Its server, if it has one, stays on the core.
    """
    with place(store, core=core) as home, fresh(home, "benchmark") as database:
        fill(database, files)
        yield database, described(home)


def paths(files: Path) -> tuple[list[str], list[str]]:
    """Return the paths of orders, and of lists, that are spread evenly over all there are."""
    orders = spread(_ids(files / "orders.csv"))
    starts = spread(_ids(files / "subscriptions.csv")[:-LIST])
    return (
        [f"/2/orders/{number}" for number in orders],
        [f"/2/subscriptions/?limit={LIST}&after={number}" for number in starts],
    )


def _ids(file: Path) -> list[int]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        return sorted(int(row[0]) for row in rows)


def spread(found: Sequence[Item]) -> list[Item]:
    """Return some of what there is, evenly spread."""
    return list(found[:: max(1, len(found) // PATHS)][:PATHS])
