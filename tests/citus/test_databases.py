"""A database that a test dropped is as good as a new one for the next test."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from masthead.store import accounts, open_store
from tests.citus import content
from tests.citus.databases import CitusDatabases
from tests.postgres import unique

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.citus.cluster import CitusCluster
    from tests.citus.content import Content


@pytest.fixture(scope="module")
def databases(citus: CitusCluster) -> Iterator[CitusDatabases]:
    """Databases with the tables of Masthead."""
    with closing(CitusDatabases(citus)) as found:
        yield found


def held(citus: CitusCluster, name: str) -> list[Content]:
    """Return what a database has on each node."""
    return [content.read(node, name) for node in citus.nodes]


def add_accounts(databases: CitusDatabases, name: str) -> None:
    with closing(open_store(databases.url(name))) as store:
        for account_id in range(1, 6):
            accounts.add_account(store, {"account_id": account_id})


def test_a_used_database_gets_the_rows_of_its_source_again(
    citus: CitusCluster, databases: CitusDatabases
) -> None:
    first = databases.new_migrated(unique("first"))
    new = held(citus, first)
    add_accounts(databases, first)
    assert held(citus, first) != new
    source = databases.new_copy(first, unique("source"))
    filled = held(citus, source)
    databases.drop(first)
    again = databases.new_migrated(unique("again"))
    assert again == first
    assert held(citus, again) == new
    copy = databases.new_copy(source, unique("copy"))
    assert held(citus, copy) == filled
    databases.drop(copy)
    add_accounts_to = databases.new_copy(source, unique("copy"))
    assert add_accounts_to == copy
    assert held(citus, copy) == filled


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE accounts ADD COLUMN more TEXT",
        "CREATE TABLE more (n INTEGER)",
        "DROP FUNCTION histories",
    ],
)
def test_a_database_whose_schema_was_changed_is_not_used_again(
    databases: CitusDatabases, statement: str
) -> None:
    name = databases.new_migrated(unique("changed"))
    with closing(psycopg.connect(databases.url(name), autocommit=True)) as connection:
        connection.execute(statement.encode())
    databases.drop(name)
    again = databases.new_migrated(unique("again"))
    assert again != name
    databases.drop(again)
