"""How SQLite finds rows: by an index where a few are asked for, never by walking an account.

The planner is told of a large database (`0001_start.sql`), so the plans seen here, over a small
one, are those of any size. PostgreSQL's, which depend on what a database holds, are looked at in
`test_plans_postgresql.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.store import changes, credentials, deletions, interface_queries
from masthead.store.books.ownership import BOOKS
from tests.loading.publisher import SMALL, Publisher
from tests.store.conftest import ON_SQLITE, new_url
from tests.store.plans import (
    CHANGES,
    OF_ONE_SUBSCRIBER,
    POINT_LOOKUPS,
    SEARCHED,
    load_in_steps,
    statements,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Connection
    from tests.servers import Store

pytestmark = ON_SQLITE


def plan(database: Connection, sql: str, values: dict[str, Any]) -> list[str]:
    """Return the lines of the database's plan for a statement."""
    return [row[3] for row in database.rows(f"EXPLAIN QUERY PLAN {sql}", **values)]


@pytest.fixture(scope="module")
def loaded(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    """An account that holds the small publisher."""
    with new_url(store) as url:
        publisher = Publisher(url, tmp_path_factory.mktemp("plans"))
        publisher.load({**SMALL, "erasures.csv": "subscriber_id\n2\n"})
        yield publisher
        publisher.store.close()


@pytest.mark.parametrize("name", POINT_LOOKUPS)
def test_a_point_lookup_finds_its_rows_by_an_index(loaded: Publisher, name: str) -> None:
    """decisions, "SQLite through apsw"."""
    with loaded.store.reader() as database:
        with statements(database) as found:
            POINT_LOOKUPS[name](database)
        assert found
        for sql, values in found:
            assert_finds_by_index(plan(database, sql, values))


@pytest.mark.parametrize("name", OF_ONE_SUBSCRIBER)
def test_what_is_one_subscribers_is_found_by_an_index(loaded: Publisher, name: str) -> None:
    """decisions, "Personal data: erasing"; rules, "Personal data: what is stored"."""
    with loaded.store.writer() as database:
        database.script("BEGIN")
        with statements(database) as found:
            OF_ONE_SUBSCRIBER[name](database)
        # The account's fields, their options and its lists are as few as there are of them.
        of_the_account = r"SEARCH (f|o|l) .*\(account_id=\?\)"
        for sql, values in found:
            lines = plan(database, sql, values)
            assert_finds_by_index([x for x in lines if not re.match(of_the_account, x)])


def test_indexes_by_subscriber_lead_to_the_rows_of_one(loaded: Publisher) -> None:
    """rules, "Personal data: what is stored"."""
    with loaded.store.reader() as database:
        with statements(database) as found:
            OF_ONE_SUBSCRIBER["data"](database)
        lines = " ".join(line for sql, values in found for line in plan(database, sql, values))
    for table in ("addresses", "subscriptions", "orders", "purchases"):
        assert f"INDEX {table}_by_subscriber (account_id=? AND subscriber_id=?)" in lines


def test_credentials_are_found_by_the_index_of_the_keys(loaded: Publisher) -> None:
    with loaded.store.reader() as database:
        with statements(database) as found:
            credentials.account_for_credentials(database, "key", "login", now=0)
        ((sql, values),) = found
        assert plan(database, sql, values) == [
            "SEARCH k USING INDEX sqlite_autoindex_credentials_1 (key_hash=?)",
            "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)",
        ]


@pytest.mark.parametrize(
    "filters", [{"copies": 9}, {"type": "Print", "min_copies": 2}, {"publication_id": 2}]
)
def test_a_filter_that_nothing_fits_reads_no_subscription(
    loaded: Publisher, filters: dict[str, int | str]
) -> None:
    """rules, "Filters that select nothing"."""
    with loaded.store.reader() as database:
        with statements(database) as found:
            assert interface_queries.subscriptions(database, 1, filters, after=0, limit=100) == []
        ((sql, values),) = found
        (line,) = (line for line in plan(database, sql, values) if line.startswith("SEARCH"))
        assert "USING COVERING INDEX subscription_kinds_by_account (account_id=?" in line


@pytest.mark.parametrize("filters", [{"type": "Print"}, {"min_copies": 2, "copies": 2}])
def test_a_filter_that_few_kinds_fit_finds_their_ids_by_an_index_of_the_kinds(
    loaded: Publisher, filters: dict[str, int | str]
) -> None:
    """rules, "Filters that few fit"."""
    with loaded.store.reader() as database:
        with statements(database) as found:
            assert interface_queries.subscriptions(database, 1, filters, after=0, limit=100)
        _kinds, (sql, values) = found
        lines = [line for line in plan(database, sql, values) if line.startswith("SEARCH")]
        assert all("USING" in line for line in lines if line != "SEARCH k"), lines
        for line in lines:
            if line.startswith("SEARCH n"):
                assert "COVERING INDEX subscriptions_by_kind (account_id=?" in line
                assert "renew_campaign_active=? AND subscription_id>?" in line
            elif line.startswith("SEARCH subscriptions"):
                assert "USING PRIMARY KEY (account_id=? AND subscription_id=?)" in line


@pytest.mark.parametrize("filters", [{"type": "Print"}, {"min_copies": 2, "copies": 2}])
def test_a_filter_that_many_kinds_fit_is_asked_of_the_next_ids_first(
    loaded: Publisher, filters: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Filters that few fit"."""
    monkeypatch.setattr(interface_queries, "_FEW_COMBINATIONS", 0)
    with loaded.store.reader() as database:
        with statements(database) as found:
            assert interface_queries.subscriptions(database, 1, filters, after=0, limit=1)
        _kinds, (sql, values) = found
        lines = plan(database, sql, values)
        assert "USE TEMP B-TREE FOR ORDER BY" not in lines
        assert [line for line in lines if line.startswith("SEARCH")] == [
            "SEARCH subscriptions USING PRIMARY KEY (account_id=? AND subscription_id=?)",
            "SEARCH subscriptions USING PRIMARY KEY (account_id=? AND subscription_id>?)",
        ]


@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("asked", ["ada", "ada*", ""])
def test_a_search_finds_its_rows_by_the_index_of_its_column(
    loaded: Publisher, name: str, asked: str
) -> None:
    with loaded.store.reader() as database:
        with statements(database) as found:
            interface_queries.search_subscribers(database, 1, {name: asked}, after=0, limit=100)
        *_counts, (sql, values) = found
        lines = plan(database, sql, values)
        assert_finds_by_index(lines)
        assert asked == "" or f"subscribers_by_{name}" in lines[0] or "by_name" in lines[0]


def test_a_search_for_two_names_takes_the_index_of_both(loaded: Publisher) -> None:
    """rules, "Filters that few fit"."""
    asked = {"first_name": "ada", "last_name": "ames"}
    with loaded.store.reader() as database:
        with statements(database) as found:
            assert interface_queries.search_subscribers(database, 1, asked, after=0, limit=100)
        *_counts, (sql, values) = found
        (line,) = (line for line in plan(database, sql, values) if line.startswith("SEARCH"))
        assert "subscribers_by_name (account_id=? AND last_name_folded=? AND first_name" in line


@pytest.mark.parametrize("asked", ["a*", "*"])
def test_a_search_that_many_fit_is_asked_of_the_next_ids_first(
    loaded: Publisher, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Filters that few fit"."""
    monkeypatch.setattr(interface_queries, "_FEW_ROWS", 1)
    with loaded.store.reader() as database:
        with statements(database) as found:
            interface_queries.search_subscribers(
                database, 1, {"last_name": asked}, after=0, limit=1
            )
        _count, (sql, values) = found
        lines = plan(database, sql, values)
        assert "USE TEMP B-TREE FOR ORDER BY" not in lines
        assert "SEARCH subscribers USING PRIMARY KEY (account_id=? AND subscriber_id>?)" in lines


@pytest.mark.parametrize(
    ("asked", "narrowest"),
    [
        ({"email": "a*", "last_name": "x*"}, "last_name"),
        ({"email": "ada@*", "last_name": "*"}, "email"),
        ({"first_name": "*", "last_name": "b*", "renewal_code": "*"}, "last_name"),
    ],
)
def test_a_search_for_several_things_takes_the_index_of_the_one_that_fewest_fit(
    loaded: Publisher, asked: dict[str, str], narrowest: str
) -> None:
    """rules, "Filters that few fit"."""
    with loaded.store.reader() as database:
        with statements(database) as found:
            interface_queries.search_subscribers(database, 1, asked, after=0, limit=100)
        *counts, (sql, values) = found
        assert len(counts) >= len(asked)
        (line,) = (line for line in plan(database, sql, values) if line.startswith("SEARCH"))
        # That of both names begins with the last name.
        assert re.search(f"subscribers_by_({narrowest}|name) ", line)


def assert_finds_by_index(lines: list[str]) -> None:
    """Assert that nothing walks a table, or the part of a table that is the account's.

    But for the account's custom fields, which are few.
    """
    for line in lines:
        if line.startswith("SEARCH f USING PRIMARY KEY (account_id=?)"):
            continue
        # "best" is one row, the best of those that an index has found.
        assert not line.startswith("SCAN") or line in {"SCAN CONSTANT ROW", "SCAN best"}, line
        assert "(account_id=?)" not in line or "commits" in line, line


def test_a_list_is_read_in_the_order_of_its_ids_without_sorting(loaded: Publisher) -> None:
    with loaded.store.reader() as database:
        with statements(database) as found:
            interface_queries.subscriptions(database, 1, {}, after=0, limit=100)
        ((sql, values),) = found
        assert plan(database, sql, values) == [
            "SEARCH subscriptions USING PRIMARY KEY (account_id=? AND subscription_id>?)"
        ]


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
        with_values = {each.name for each in TABLES if each.values and each.name not in BOOKS}
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


@pytest.mark.parametrize("entity", deletions.REMOVABLE)
def test_what_was_removed_is_found_by_its_commit_and_sorted_by_nothing(
    loaded: Publisher, entity: str
) -> None:
    with loaded.store.reader() as database:
        with statements(database) as found:
            list(deletions.removed(database, entity, 1, 2))
            deletions.has_noted(database, entity, 1, 2)
        for sql, values in found:
            first, *others = plan(database, sql, values)
            assert re.search(
                r"USING COVERING INDEX deletions_by_commit "
                r"\(account_id=\? AND entity=\? AND commit_id>\?\)",
                first,
            )
            assert not [line for line in others if "B-TREE" in line]
            assert_finds_by_index([line for line in others if line.startswith("SEARCH")])
