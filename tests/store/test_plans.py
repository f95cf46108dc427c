"""How the database finds rows: by an index where a few are asked for, never by walking an account.

The planner is told of a large database (`0001_start.sql`), so the plans seen here, over a small
one, are those of any size.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.loading.checks import check_batch
from masthead.loading.files import find_files, read_batches
from masthead.store import accounts, changes, checking, commits, merging, reading
from masthead.store.staging import Staging
from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Database
    from tests.servers import Store

POINT_LOOKUPS: dict[str, Callable[[Database], object]] = {
    "credentials": lambda database: accounts.account_for_credentials(database, "key", "login"),
    "one account": lambda database: accounts.get_account(database, 1),
    "settings": lambda database: accounts.settings_of(database, 1),
    "order": lambda database: reading.order(database, 1, 1),
    "answers": lambda database: reading.answers_of(database, 1, 1),
    "login": lambda database: reading.login_candidates(
        database, 1, "ada@example.org", password_md5="x", today="2026-11-20"
    ),
    "received issues": lambda database: list(reading.received_subscriptions(database, 1, 1)),
    "mailing list": lambda database: list(reading.mailing_list_entries(database, 1, 1) or ()),
    "subscriptions of a subscriber": lambda database: reading.subscriptions(
        database, 1, {"subscriber_id": 1}, after=0, limit=100
    ),
    "first commit since": lambda database: commits.first_commit_since(database, 1, 5),
    "position": lambda database: commits.position_of(database, 1),
}
SEARCHED = ("email", "first_name", "last_name", "renewal_code", "source")


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """Collect the statements that run on the connection, with their values."""
    found: list[tuple[str, Any]] = []

    def keep(_cursor: object, sql: str, values: Any) -> bool:
        if sql.split(maxsplit=1)[0] in {"SELECT", "INSERT", "UPDATE", "DELETE"}:
            found.append((sql, values))
        return True

    database._connection.exec_trace = keep
    try:
        yield found
    finally:
        database._connection.exec_trace = None


def plan(database: Database, sql: str, values: Any) -> list[str]:
    """Return the lines of the database's plan for a statement."""
    rows = database._connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)
    return [row[3] for row in rows]


@pytest.fixture(scope="module")
def loaded(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Publisher:
    """An account that holds the small publisher."""
    publisher = Publisher(store.new_database("plans"), tmp_path_factory.mktemp("plans"))
    publisher.load(SMALL)
    return publisher


@pytest.mark.parametrize("name", POINT_LOOKUPS)
def test_a_point_lookup_finds_its_rows_by_an_index(loaded: Publisher, name: str) -> None:
    """decisions, "SQLite through apsw"."""
    with loaded.store.reader() as database:
        with statements(database) as found:
            POINT_LOOKUPS[name](database)
        assert found
        for sql, values in found:
            assert_finds_by_index(plan(database, sql, values))


@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("asked", ["ada", "ada*", ""])
def test_a_search_finds_its_rows_by_the_index_of_its_column(
    loaded: Publisher, name: str, asked: str
) -> None:
    with loaded.store.reader() as database:
        with statements(database) as found:
            reading.search_subscribers(database, 1, {name: asked}, after=0, limit=100)
        ((sql, values),) = found
        lines = plan(database, sql, values)
        assert_finds_by_index(lines)
        assert asked == "" or f"subscribers_by_{name}" in lines[0]


def assert_finds_by_index(lines: list[str]) -> None:
    """Assert that nothing walks a table, or the part of a table that is the account's."""
    for line in lines:
        assert not line.startswith("SCAN"), line
        assert "(account_id=?)" not in line or "commits" in line, line


@pytest.mark.parametrize("filters", [{}, {"type": "Print"}, {"min_copies": 2, "copies": 2}])
def test_a_list_is_read_in_the_order_of_its_ids_without_sorting(
    loaded: Publisher, filters: dict[str, int | str]
) -> None:
    with loaded.store.reader() as database:
        with statements(database) as found:
            reading.subscriptions(database, 1, filters, after=0, limit=100)
        ((sql, values),) = found
        assert plan(database, sql, values) == [
            "SEARCH subscriptions USING PRIMARY KEY (account_id=? AND subscription_id>?)"
        ]


@contextmanager
def load_in_steps(
    publisher: Publisher, files: dict[str, str], *, discard: bool
) -> Iterator[tuple[Database, list[tuple[str, Any]]]]:
    """Load the files, and give the statements of checking and merging while all is still there."""
    with publisher.store.writer() as database:
        staging = Staging(database, publisher.account_id)
        for number, file in enumerate(find_files([publisher.write(files)])):
            for batch in read_batches(file):
                checked = check_batch(file.table, batch)
                staging.add(file.table, number, checked.columns, checked.rows)
        staging.finish()
        database.rows("BEGIN IMMEDIATE")
        with statements(database) as found:
            checking.check(staging, discard=discard)
            merging.merge(staging, lambda _doing: None)
        yield database, found
        database.rows("ROLLBACK")


CHANGES = {
    name: content.replace("Tide", "Ebb")
    .replace("Spring", "Easter")
    .replace("AAAAA", "ZZZZZ")
    .replace("Salem", "Boise")
    .replace("Print", "Digital")
    .replace("Your", "The")
    .replace("Farming", "Farms")
    .replace("10|11", "10")
    .replace("10.5", "11.5")
    .replace("March", "April")
    for name, content in SMALL.items()
}


@pytest.mark.parametrize("discard", [False, True])
def test_a_small_load_into_a_large_account_walks_only_its_own_rows(
    loaded: Publisher, *, discard: bool
) -> None:
    """Each staged row looks its target up by the primary key, when it checks and when it writes."""
    with load_in_steps(loaded, CHANGES, discard=discard) as (database, found):
        updated = set()
        for sql, values in found:
            lines = plan(database, sql, values)
            for line in lines:
                table = line.removeprefix("SCAN ").split()[0]
                assert not line.startswith("SCAN") or table not in TABLES_BY_NAME, (sql, line)
            if match := re.match(r"\s*UPDATE (\w+) AS o SET", sql):
                updated.add(match[1])
                assert lines[0] == "SCAN s"
                assert lines[1].startswith("SEARCH o USING PRIMARY KEY (account_id=? AND ")
        with_values = {table.name for table in TABLES if table.values}
        assert updated == with_values


@pytest.mark.parametrize(
    ("name", "marked"),
    [
        ("order_items.csv", "orders"),
        ("custom_field_answers.csv", "subscribers"),
        ("custom_field_options.csv", "subscribers"),
    ],
)
def test_what_shows_a_changed_row_is_found_by_its_key(
    loaded: Publisher, name: str, marked: str
) -> None:
    with load_in_steps(loaded, {name: CHANGES[name]}, discard=False) as (database, found):
        ((sql, values),) = (each for each in found if each[0].startswith(f"UPDATE {marked}"))
        first = plan(database, sql, values)[0]
        assert re.fullmatch(
            rf"SEARCH {marked} USING PRIMARY KEY \(account_id=\? AND \w+=\?\)", first
        )


def test_a_load_that_changes_no_field_or_option_reads_no_answers(loaded: Publisher) -> None:
    """An account may hold millions of them."""
    files = {name: SMALL[name] for name in ("custom_fields.csv", "custom_field_options.csv")}
    with load_in_steps(loaded, files, discard=False) as (_, found):
        assert not [sql for sql, _ in found if "custom_field_answers" in sql]
        assert not [sql for sql, _ in found if "UPDATE subscribers" in sql]


@pytest.mark.parametrize("entity", changes.CHANGED)
def test_the_feed_finds_what_changed_by_its_commit_and_sorts_nothing(
    loaded: Publisher, entity: str
) -> None:
    with loaded.store.reader() as database:
        with statements(database) as found:
            list(changes.CHANGED[entity](database, 1, 2))
        ((sql, values),) = found
        first, *others = plan(database, sql, values)
        assert re.search(
            r"USING (COVERING )?INDEX \w+_by_\w*commit \(account_id=\? AND \w+>\?\)", first
        )
        for line in others:
            assert line.startswith("SEARCH") or "LAST TERM OF ORDER BY" in line, line
