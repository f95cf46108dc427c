"""The data of the benchmark of circulation, and what closing is compared with, at a small size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.circulation import bring, insert_bare
from benchmarks.circulation_counter import Counter
from benchmarks.circulation_data import ISSUES, make_books, newest_list
from benchmarks.databases import rows
from masthead.books import Books, issues
from masthead.store import open_store
from masthead.store.books.derived_values import refresh
from masthead.store.books.operation import operation
from tests.circulation.desk import ACTOR
from tests.long import ONE_SERVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store

pytestmark = ONE_SERVER

READERS = 420
SUSPENDED = 4
ADDED = {
    "subscription_issues": "subscription_id, issue_id, mailing_list_id, term_id, address_id",
    "mailing_list_entries": "mailing_list_id, subscription_id, copies, is_paid, type",
    "revenue": "revenue_id, term_id, issue_id, kind, cents, booked_on",
}


@pytest.fixture(scope="module")
def books(store: Store) -> Iterator[str]:
    """The books of the benchmark, before anything happens to them."""
    url = store.new_database("benchmark")
    make_books(url, READERS)
    yield url
    store.drop_database(url)


@pytest.fixture
def url(store: Store, books: str) -> Iterator[str]:
    """A copy of the books."""
    copied = store.copy_database(books, "benchmark-copy")
    yield copied
    store.drop_database(copied)


def test_the_bare_statements_add_the_rows_that_closing_adds(store: Store, url: str) -> None:
    """rules, "What closing is compared with"."""
    bare = store.copy_database(url, "benchmark-bare")
    try:
        opened = open_store(url)
        made = issues.close(Books(opened, 1, ACTOR), ISSUES[0])
        opened.close()
        assert made.entries == READERS - SUSPENDED
        assert not made.held
        assert newest_list(url) == (made.mailing_list_id, made.entries)
        bring(url, bare, made.mailing_list_id or 0)
        insert_bare(bare)
        for table, columns in ADDED.items():
            query = f"SELECT {columns} FROM {table} ORDER BY 1, 2"
            assert rows(bare, query) == rows(url, query)
            assert len(rows(url, query)) >= made.entries
    finally:
        store.drop_database(bare)


def test_the_books_are_as_operations_would_have_left_them(url: str) -> None:
    """Derived values do not need an update (circulation, "What is stored")."""
    opened = open_store(url)
    with operation(opened, 1, None) as running:
        every = "SELECT subscription_id FROM subscriptions WHERE account_id = :account_id"
        assert refresh(running, every) == 0
    assert not rows(url, "SELECT 1 FROM subscriptions WHERE commit_id > 1")
    opened.close()


def test_every_operation_of_the_counter_is_done(url: str) -> None:
    """For the first two readers each."""
    opened = open_store(url)
    counter = Counter(opened, READERS)
    for work in counter.operations.values():
        work(0)
        work(1)
    assert rows(url, "SELECT count(*) FROM orders") == [(READERS + 4,)]
    assert rows(url, "SELECT count(*) FROM suspensions") == [(SUSPENDED + 2,)]
    opened.close()
