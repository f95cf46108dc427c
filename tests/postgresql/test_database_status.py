"""``masthead database``: which steps of the schema a database has, and to bring it up to date."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from masthead.store import find_store
from masthead.store.migrations import migrations
from tests.postgres import Cluster
from tests.postgresql.service import PASSWORD, empty_database
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.store.database import Dialect

KINDS: tuple[Dialect, ...] = ("sqlite", "postgresql")
each_kind = pytest.mark.parametrize("kind", KINDS)
NUMBERS = [migration.number for migration in migrations("sqlite")]


@pytest.fixture
def database(kind: Dialect, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that has nothing in it."""
    if kind == "postgresql":
        return empty_database(request.getfixturevalue("cluster"), "status")
    (tmp_path / "empty.db").touch()
    return f"sqlite:///{tmp_path}/empty.db"


def forget(database: str, first: int) -> None:
    """Let the database be of the version that did not know the steps from ``first`` on."""
    masthead("database", "migrate", database=database)
    with closing(find_store(database)) as store, store.writer() as connection:
        connection.change("DELETE FROM migrations WHERE number >= :first", first=first)


def tables(database: str, kind: Dialect) -> list[str]:
    """Return the names of all tables."""
    sql = {
        "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'table'",
        "postgresql": "SELECT tablename::TEXT FROM pg_tables WHERE schemaname = 'public'",
    }[kind]
    with closing(find_store(database)) as store, store.writer() as connection:
        return sorted(name for (name,) in connection.rows(sql))


def states(database: str) -> list[str]:
    """Return what the command prints of each step, and its last line."""
    *steps, last = masthead("database", "status", database=database).stdout.splitlines()
    found = [re.fullmatch(r"(applied|missing)  (\d{4}) (\w+)", step) for step in steps]
    assert [match and int(match[2]) for match in found] == NUMBERS
    return [*(match[1] for match in found if match), last]


@each_kind
def test_of_a_fresh_database_all_is_missing_and_stays_so(database: str, kind: Dialect) -> None:
    count = len(NUMBERS)
    assert states(database) == [*["missing"] * count, f"{count} of {count} missing"]
    assert tables(database, kind) == []


@each_kind
def test_an_up_to_date_database_is_said_to_be(database: str, kind: Dialect) -> None:
    done = masthead("database", "migrate", database=database).stdout.splitlines()
    steps = [f"applied  {step.title}" for step in migrations(kind)]
    assert done == [*steps, "up to date"]
    assert states(database) == [*["applied"] * len(NUMBERS), "up to date"]
    assert masthead("database", "migrate", database=database).stdout == "up to date\n"


@each_kind
@pytest.mark.parametrize("first", NUMBERS)
def test_of_an_earlier_version_the_later_steps_are_missing_and_stay_so(
    database: str, kind: Dialect, first: int
) -> None:
    forget(database, first)
    before = tables(database, kind)
    count = len([number for number in NUMBERS if number >= first])
    wanted = [*["applied"] * (len(NUMBERS) - count), *["missing"] * count]
    assert states(database) == [*wanted, f"{count} of {len(NUMBERS)} missing"]
    assert tables(database, kind) == before


@pytest.mark.parametrize("kind", ["postgresql"])
@pytest.mark.parametrize(
    "command", [("accounts", "list"), ("feed", "new-epoch"), ("serve", "--port", "0")]
)
def test_what_needs_tables_says_which_command_makes_them_and_makes_none(
    database: str, kind: Dialect, command: tuple[str, ...]
) -> None:
    """rules, "Migrations"; a file is made by each command that needs it."""
    done = masthead(*command, database=database, exit_status=1)
    assert done.stderr == (
        "the database has no tables yet: migrate it as the user who owns it first; "
        "run `masthead database migrate`\n"
    )
    assert tables(database, kind) == []
    forget(database, NUMBERS[-1])
    done = masthead(*command, database=database, exit_status=1)
    assert "the database has schema 0, this version of Masthead needs schema 1: " in done.stderr


@each_kind
def test_a_database_of_a_newer_version_is_refused(database: str, kind: Dialect) -> None:
    masthead("database", "migrate", database=database)
    with closing(find_store(database)) as store, store.writer() as connection:
        connection.change(
            "INSERT INTO migrations (number, name, checksum) VALUES (9999, 'later', 'x')"
        )
    before = tables(database, kind)
    for command in ("status", "migrate"):
        done = masthead("database", command, database=database, exit_status=1)
        assert "9999" in done.stderr
        assert done.stderr.count("\n") == 1
    assert tables(database, kind) == before


def test_a_file_that_does_not_exist_is_said_and_not_made(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/none.db"
    done = masthead("database", "status", database=database, exit_status=1)
    assert f"{tmp_path}/none.db" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_database_or_a_server_that_does_not_exist_is_said(cluster: Cluster) -> None:
    none = empty_database(cluster, "none")
    cluster.drop(none.rpartition("/")[2])
    with closing(Cluster()) as gone:
        nowhere = empty_database(gone, "nowhere")
    for database in (none, nowhere):
        done = masthead("database", "status", database=database, exit_status=1)
        assert done.stderr.startswith("the database cannot be opened: ")
        assert done.stderr.count("\n") == 1
        assert PASSWORD not in done.stderr


@pytest.mark.parametrize(
    "database",
    [
        f"postgresql://postgres:{PASSWORD}%zz@127.0.0.1/name",
        f"postgresql://postgres:{PASSWORD} 1@127.0.0.1/name",
        f"postgresql://postgres:{PASSWORD}@127.0.0.1/name?nonsense=1",
    ],
)
def test_a_url_that_cannot_be_read_is_bad_usage_and_its_password_is_not_printed(
    database: str,
) -> None:
    with pytest.raises(psycopg.ProgrammingError):
        psycopg.conninfo.conninfo_to_dict(database)
    done = masthead("database", "status", database=database, exit_status=2)
    assert "postgresql://user:password@host/name" in done.stderr
    assert PASSWORD not in done.stdout + done.stderr
