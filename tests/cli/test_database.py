"""``masthead database``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.store import open_store
from tests.cli.running import holds_nothing
from tests.servers import masthead

if TYPE_CHECKING:
    from tests.servers import Store


def test_status_of_an_empty_database_changes_nothing(store: Store) -> None:
    """A file that is not there yet is not made."""
    database = store.empty_database("status")
    if store.kind == "sqlite":
        done = masthead("database", "status", database=database, exit_status=1)
        assert "cannot be opened" in done.stderr
    else:
        printed = masthead("database", "status", database=database).stdout.splitlines()
        assert printed[0] == "missing  0001 start"
        *steps, last = printed
        assert all(line.startswith("missing  ") for line in steps)
        assert last == f"{len(steps)} of {len(steps)} missing"
    assert holds_nothing(database)


def test_status_shows_each_step_of_the_schema_and_whether_it_is_applied(account: str) -> None:
    *steps, last = masthead("database", "status", database=account).stdout.splitlines()
    assert steps[0] == "applied  0001 start"
    assert all(line.startswith("applied  ") for line in steps)
    assert last == "up to date"
    with open_store(account).writer() as database:
        database.change("DELETE FROM migrations WHERE number = 1")
    *steps, last = masthead("database", "status", database=account).stdout.splitlines()
    assert steps[0] == "missing  0001 start"
    assert last == f"1 of {len(steps)} missing"


def test_migrate_says_what_it_applied_and_a_second_time_that_nothing_was_left(
    store: Store,
) -> None:
    database = store.empty_database("migrate")
    assert masthead("database", "migrate", database=database).stdout == (
        "applied  0001 start\nup to date\n"
    )
    assert masthead("database", "migrate", database=database).stdout == "up to date\n"
    masthead("accounts", "add", 1, database=database)


@pytest.mark.parametrize(
    "words", [("database", "status"), ("database", "migrate"), ("serve", "--port=0"), ("loads",)]
)
def test_each_command_refuses_the_tables_of_another_version(
    account: str, words: tuple[str]
) -> None:
    """rules, "Checksums of migrations": with a sentence."""
    with open_store(account).writer() as database:
        database.change("UPDATE migrations SET checksum = 'another'")
    done = masthead(*words, database=account, exit_status=1)
    assert "were made by another migration 0001 start than that of this version" in done.stderr
    assert "Traceback" not in done.stderr
