"""``masthead database``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.store import open_store
from tests.cli.running import holds_nothing
from tests.servers import masthead

if TYPE_CHECKING:
    from tests.servers import Store


def test_status_of_an_empty_database_changes_nothing(store: Store) -> None:
    """A file that is not there yet is not made."""
    database = store.new_database("status")
    if store.kind == "sqlite":
        done = masthead("database", "status", database=database, exit_status=1)
        assert "cannot be opened" in done.stderr
    else:
        printed = masthead("database", "status", database=database).stdout.splitlines()
        assert printed[0] == "0001  missing  start"
        *steps, last = printed
        assert all("  missing  " in line for line in steps)
        assert last == f"{len(steps)} of {len(steps)} missing"
    assert holds_nothing(database)


def test_status_shows_each_step_of_the_schema_and_whether_it_is_applied(account: str) -> None:
    *steps, last = masthead("database", "status", database=account).stdout.splitlines()
    assert steps[0] == "0001  applied  start"
    assert all("  applied  " in line for line in steps)
    assert last == "up to date"
    with open_store(account).writer() as database:
        database.change("DELETE FROM migrations WHERE number = 2")
    *steps, last = masthead("database", "status", database=account).stdout.splitlines()
    assert steps[1] == "0002  missing  epoch"
    assert last == f"1 of {len(steps)} missing"
