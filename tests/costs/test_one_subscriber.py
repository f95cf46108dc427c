"""To erase one subscriber, or to export the data of one, reads that subscriber's rows alone.

What is counted is what the database itself tells: of SQLite the steps of its machine, of PostgreSQL
the rows that it read.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from masthead.books import Books, reader
from masthead.loading.load import load
from masthead.store import commits, erasing, open_store
from masthead.store.books.operation import Reading
from masthead.store.sqlite import SqliteStoreConnection
from masthead.store.subscriber_data import data_of
from tests.costs.data import LARGE, SMALL, SUBSCRIBERS, fill
from tests.costs.limits import A_FEW, ALLOWANCE
from tests.long import ONLY_LONG
from tests.servers import write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from tests.servers import Store

WHO = 150
READ = """
    SELECT (SELECT sum(seq_tup_read) FROM pg_stat_xact_user_tables)
        + (SELECT sum(idx_tup_fetch) FROM pg_stat_xact_user_tables)
    """


@pytest.fixture(scope="module")
def filled(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStore]:
    """A small and a large account, in each of which all but two subscribers are erased."""
    folder = tmp_path_factory.mktemp("one-subscriber")
    url = store.new_database("one-subscriber")
    fill(url, folder)
    with closing(open_store(url)) as opened:
        for account_id, count in SUBSCRIBERS.items():
            others = [{"subscriber_id": n} for n in range(1, count) if n != WHO]
            files = write_ndjson(folder / f"{account_id}-erased", {"erasures": others})
            load(opened, files, account_id=account_id)
        if opened.dialect == "postgresql":
            with opened.writer() as database:
                database.script("ANALYZE")
        yield opened


class Visited:
    """How much of the database was looked at since the block began."""

    count = 0


@contextmanager
def visits(database: Connection) -> Iterator[Visited]:
    """Count what a block visits, inside of a transaction."""
    visited = Visited()
    if not isinstance(database, SqliteStoreConnection):
        ((before,),) = database.rows(READ)
        yield visited
        ((after,),) = database.rows(READ)
        visited.count = int(after - before)
        return

    def add(statement: dict[str, Any]) -> None:
        visited.count += statement["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    database._connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, add)
    yield visited
    database._connection.trace_v2(0, None)


def erase(database: Connection, account_id: int) -> None:
    whose = {"account_id": account_id, "subscriber_id": WHO}
    commit_id = commits.begin_commit(database, account_id)
    database.change(
        """
        INSERT INTO erasures (account_id, subscriber_id, erased_at)
        VALUES (:account_id, :subscriber_id, '2026-03-01 10:00:00')
        """,
        **whose,
    )
    assert erasing.blank(
        database, account_id, commit_id, ":subscriber_id", subscriber_id=WHO
    ) == dict.fromkeys(("subscribers", "addresses", "custom_field_answers"), 1)


def assert_alike(counts: dict[int, int]) -> None:
    assert 0 < counts[LARGE] <= max(counts[SMALL] * ALLOWANCE, counts[SMALL] + A_FEW), counts


@ONLY_LONG
def test_to_erase_one_costs_the_same_in_an_account_of_ten_times_the_size(
    filled: OpenStore,
) -> None:
    """decisions, "Personal data: erasing"; nor does it matter how many are erased already."""
    counts = {}
    for account_id in (SMALL, LARGE):
        with filled.writer() as database:
            database.script("BEGIN")
            database.lock_account(account_id)
            with visits(database) as visited:
                erase(database, account_id)
            database.script("ROLLBACK")
        counts[account_id] = visited.count
    assert_alike(counts)


def test_to_give_out_what_is_held_of_one_costs_the_same_there_too(filled: OpenStore) -> None:
    """rules, "Personal data: what is stored"."""
    counts = {}
    for account_id in (SMALL, LARGE):
        with filled.reader() as database:
            database.set_tenant(account_id)
            with database.snapshot(), visits(database) as visited:
                data = data_of(database, account_id, WHO)
        assert [len(rows) for rows in (data.orders, data.purchases, data.entries)] == [1, 1, 1]
        counts[account_id] = visited.count
    assert_alike(counts)


def test_the_page_of_a_reader_costs_the_same_there_too(filled: OpenStore) -> None:
    """decisions, "The page of a reader"."""
    counts = {}
    for account_id in (SMALL, LARGE):
        with filled.reader() as database:
            database.set_tenant(account_id)
            with database.snapshot(), visits(database) as visited:
                reading = Reading(filled, database, account_id)
                found = reader.look(Books(filled, account_id, within=reading), WHO, most=31)
        assert [len(found.subscriptions), len(found.events.orders)] == [1, 1]
        counts[account_id] = visited.count
    assert_alike(counts)
