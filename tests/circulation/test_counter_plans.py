"""What is done at the counter and at the telephone reads a few rows of any number of readers.

On SQLite the plan of each statement is looked at; its planner is told of a large database
(`0001_start.sql`), so the plans over a small one are those of any size. PostgreSQL plans by what a
table holds, so it holds some thousands here, and the rows that it really reads are counted.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import Books, cancelling, orders, payments, refunds, subscribers, subscriptions
from masthead.books.reader_subscriptions import SubscriptionsAsked
from masthead.books.subscriptions import Values
from masthead.circulation.ordering import Item, Order, Person
from masthead.databases.queries import Batch
from masthead.databases.sqlite import SqliteConnection
from masthead.store.books import (
    order_readers,
    order_records,
    reader_home,
    standing,
    subscriber_search,
    word_search,
)
from masthead.store.books.derived_values import refresh_subscriptions
from masthead.store.books.details import look_at_subscriber, look_at_subscription
from masthead.store.books.operation import Operation, operation
from masthead.store.books.order_details import show_order
from masthead.store.books.subscriber_search import Sought
from tests.circulation.desk import Desk, at_desk
from tests.circulation.many_readers import READERS, rows_of_readers
from tests.long import ONE_SERVER, ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Connection
    from masthead.store.database import Value
    from tests.servers import Store

pytestmark = ONE_SERVER

READ_MAX = 60
"""Rows of a table that an operation may read; each has its own reader, orders and terms once."""

OF_READERS = {
    "subscribers",
    "addresses",
    "orders",
    "order_items",
    "purchases",
    "subscriptions",
    "terms",
    "revenue",
    "subscription_issues",
    "mailing_list_entries",
    "suspensions",
    "temporary_addresses",
}
"""The tables that grow with the readers."""

FOUND_BY = (
    Sought(name="First7 Last77x"),
    Sought(name="last77x, first7"),
    Sought(email="reader77@example.org"),
    Sought(renewal_code="R77"),
    Sought(order="77"),
    Sought(order="WEB-77"),
    Sought(order="WEB-77", name="last77x"),
    Sought(order="WEB-77", zip_code="10077"),
    Sought(street="77 Quay"),
    Sought(zip_code="10077"),
    Sought(zip_code="10077", city="Salem", name="last77x"),
)
WORDS = ("last77x salem", "salem 77 quay", "quay 77", "10077 last77x")


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """Three thousand readers; the second issue is closed, as far as the tables are concerned."""
    with at_desk(store) as found:
        found.to("2026-02-10")
        found.put("publications", publication_id=1, name="Tide", grace_counts=1)
        found.put("list_downloads", mailing_list_id=1, name="Tide no. 2", count=READERS)
        for n in range(1, 13):
            found.put(
                "issues",
                issue_id=n,
                publication_id=1,
                name=f"no. {n}",
                date=f"2026-{n:02}-01",
                closed_at="2026-01-20 00:00:00" if n < 3 else None,
                mailing_list_id=1 if n == 2 else None,
            )
        found.put("bundles", bundle_id=1, name="A year", price=1200)
        found.put(
            "bundle_lines",
            bundle_id=1,
            line_number=1,
            publication_id=1,
            issues=12,
            type="Print",
            price=1200,
        )
        for table, rows in rows_of_readers().items():
            found.put_many(table, rows)
        found.refresh()
        with found.store.writer() as connection:
            for table in OF_READERS:
                connection.analyze(table)
        yield found


def ordered(books: Books, person: Person, *, is_paid: bool, **item: Any) -> int:
    """Take an order of a year; return its id."""
    order = Order(person, (Item(bundle_id=1, **item),), is_paid=is_paid)
    return orders.place(books, order).order_id


def paid(books: Books) -> None:
    """Take an order, and its payment afterwards."""
    order = ordered(books, Person(subscriber_id=1_000), is_paid=False)
    payments.pay(books, order)


def refunded(books: Books) -> None:
    """Refund an order."""
    refunds.refund(books, 1_100)


def moved(books: Books) -> None:
    """Give a reader a new address."""
    subscriptions.move(books, 2_000, {"address": "9 Elm", "city": "Salem"})


NEW = Person(
    email="new@example.org", last_name="New", address={"address": "1 New Road", "city": "Salem"}
)
WRITING: dict[str, Callable[[Books], object]] = {
    "order add, somebody new": lambda books: ordered(books, NEW, is_paid=True),
    "order add, a reader": lambda books: ordered(books, Person(subscriber_id=1_200), is_paid=False),
    "order add, a reader by the email address": lambda books: ordered(
        books, Person(email="reader1210@example.org"), is_paid=True
    ),
    "order add, a gift": lambda books: ordered(
        books,
        Person(subscriber_id=1_300),
        is_paid=True,
        recipient=Person(subscriber_id=1_400),
        is_new=True,
    ),
    "order pay": paid,
    "order refund": refunded,
    "subscription set": lambda books: subscriptions.set_values(
        books, 1_500, Values(copies=3, how="convert")
    ),
    "subscription suspend": lambda books: subscriptions.suspend(
        books, 1_600, "2026-05-01", "2026-05-31"
    ),
    "subscription resume": lambda books: subscriptions.resume(books, 1_700),
    "subscription extend": lambda books: subscriptions.extend(books, 1_800, 1),
    "subscription cancel": lambda books: cancelling.cancel(books, 1_900, refund=True),
    "address": moved,
    "subscriber merge": lambda books: subscribers.merge(books, 2_100, 2_200),
}
READING: dict[str, Callable[[Connection], object]] = {
    "order show": lambda database: show_order(database, 1, 77),
    "order show, by the reference": lambda database: show_order(database, 1, reference="WEB-77"),
    "order show, its readers": lambda database: order_readers.brought(database, 1, [77]),
    "order show, its payer": lambda database: order_readers.payer_of(database, 1, 77),
    "order, what readers have": lambda database: order_readers.held_by(database, 1, [77, 78]),
    "order, earlier prices": lambda database: order_readers.earlier_prices(database, 1, 77, 1, 999),
    "subscription show": lambda database: look_at_subscription(database, 1, 77),
    "subscriber show": lambda database: look_at_subscriber(database, 1, 77),
    "subscriber duplicates": lambda database: list(
        subscriber_search.duplicates(database, 1, of=77)
    ),
}
READING |= {
    "what is found": lambda database: (
        standing.standings(database, 1, [77], today="2026-02-10"),
        standing.last_payments(database, 1, [77]),
    ),
    "find: an order": lambda database: order_records.orders_named(database, 1, "WEB-77"),
    "the first page of a reader": lambda database: on_first_page(database, 77),
}


def on_first_page(connection: Connection, subscriber_id: int) -> None:
    """Ask what the readers' pages show of a reader first; the reader got an issue."""
    batch = Batch(connection, account_id=1)
    subscriptions = SubscriptionsAsked(batch, subscriber_id)
    received = batch.add(reader_home.received(subscriber_id, 6))
    batch.add(reader_home.addresses(subscriber_id))
    batch.add(reader_home.gifts(subscriber_id, is_asking=False))
    batch.send()
    (served,) = subscriptions.served()
    assert [*received()] == [served.line.subscription_id]


def sought_by(sought: Sought | str) -> Callable[[Connection], object]:
    """Return what finds a reader by what is known of one, or by words in any order."""
    if isinstance(sought, str):
        by_words = word_search.by_words
        return lambda database: check_found(by_words(database, 1, sought.split(), limit=20))
    return lambda database: check_found(subscriber_search.find(database, 1, sought, limit=20))


READING |= {f"find {each}": sought_by(each) for each in (*FOUND_BY, *WORDS)}


def check_found(found: list[subscriber_search.Found]) -> None:
    """Assert that it is reader 77 who was found."""
    assert [each.subscriber_id for each in found] == [77]


@contextmanager
def writing(desk: Desk) -> Iterator[Operation]:
    """An operation that is undone at the end of the block."""
    with operation(desk.store, 1, None, dry_run=True) as books:
        yield books


@contextmanager
def looking(desk: Desk) -> Iterator[Connection]:
    """A connection that reads as the commands of the telephone do."""
    with desk.store.writer() as connection, connection.read_snapshot():
        yield connection


def read(connection: Connection) -> dict[str, int]:
    """Return how many rows of each table PostgreSQL has read in the transaction."""
    rows = connection.rows(
        "SELECT relname::TEXT, CAST(seq_tup_read + coalesce(idx_tup_fetch, 0) AS BIGINT) "
        "FROM pg_stat_xact_user_tables"
    )
    return {name: number for name, number in rows if name in OF_READERS}


@contextmanager
def planned() -> Iterator[list[str]]:
    """Collect what is wrong with the plans of statements that SQLite runs within the block."""
    found: list[str] = []
    rows = SqliteConnection.rows

    def planning(self: SqliteConnection, sql: str, /, **values: Value) -> Any:
        if sql.split(maxsplit=1)[0] in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
            plan = rows(self, f"EXPLAIN QUERY PLAN {sql}", **values)
            found.extend(f"{line}: {sql}" for *_, line in plan if walks(line, sql))
        return rows(self, sql, **values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteConnection, "rows", planning)
        yield found


def walks(line: str, sql: str) -> bool:
    """Return whether a line of a plan reads all rows that an account has in a table of readers."""
    if (found := re.match(r"(SCAN|SEARCH) (\w+)(.*)$", line)) is None:
        return False
    what, name, how = found.groups()
    tables = set(re.findall(rf"(\w+) AS {name}\b", sql)) | {name}
    if not tables & OF_READERS:
        return False
    # The greatest id is the last one of an index, of which nothing else is read.
    is_newest = sql.split()[1].startswith("max(s.id)")
    return (
        what == "SCAN" or "AUTOMATIC" in how or (how.endswith("(account_id=?)") and not is_newest)
    )


def check_reads_little(desk: Desk, before: dict[str, int], after: dict[str, int]) -> None:
    """Assert that no table was read more than a little; ``desk`` says of which kind it is."""
    assert desk.store.dialect == "postgresql"
    much = {
        name: number - before.get(name, 0)
        for name, number in after.items()
        if number - before.get(name, 0) > READ_MAX
    }
    assert not much


@pytest.mark.parametrize("name", WRITING)
def test_an_operation_reads_no_whole_table(desk: Desk, name: str) -> None:
    """rules, "An order's terms are found by their keys"; SQLite through apsw."""
    if desk.store.dialect == "sqlite":
        with planned() as wrong, writing(desk) as change:
            prepare(name, Books(desk.store, 1, within=change))
            write(name, desk, change)
        assert not wrong
        return
    with writing(desk) as change:
        prepare(name, Books(desk.store, 1, within=change))
        before = read(change.connection)
        write(name, desk, change)
        check_reads_little(desk, before, read(change.connection))


def write(name: str, desk: Desk, change: Operation) -> None:
    """Do an operation, and bring what is derived up to date, as at the end of a transaction."""
    WRITING[name](Books(desk.store, 1, within=change))
    refresh_subscriptions(change, change.touched)


def prepare(name: str, books: Books) -> None:
    """Do what an operation needs before it."""
    if name == "subscription resume":
        subscriptions.suspend(books, 1_700, "2026-02-20", "2026-02-28")


@pytest.mark.parametrize("name", READING)
def test_a_look_reads_no_whole_table(desk: Desk, name: str) -> None:
    """rules, "An order's terms are found by their keys"; SQLite through apsw."""
    with looking(desk) as connection:
        if desk.store.dialect == "sqlite":
            with planned() as wrong:
                READING[name](connection)
            assert not wrong
            return
        before = read(connection)
        READING[name](connection)
        check_reads_little(desk, before, read(connection))


@ONLY_LONG
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(t.price) FROM terms AS t WHERE t.account_id = :account_id",
        "SELECT count(*) FROM orders WHERE account_id = :account_id AND grand_total = '13'",
        """SELECT o.order_id FROM orders AS o JOIN addresses AS a
            ON a.account_id = o.account_id AND a.zip_code = o.import_name
        WHERE o.account_id = :account_id""",
    ],
)
def test_a_statement_that_reads_a_whole_table_is_noticed(desk: Desk, sql: str) -> None:
    """The tests above can fail."""
    with looking(desk) as connection:
        if desk.store.dialect == "sqlite":
            with planned() as wrong:
                connection.rows(sql, account_id=1)
            assert wrong
            return
        before = read(connection)
        connection.rows(sql, account_id=1)
        after = read(connection)
        with pytest.raises(AssertionError):
            check_reads_little(desk, before, after)
