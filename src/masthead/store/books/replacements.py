"""Copies of delivered issues that are sent again: those that wait, and the rows of their files."""

from collections.abc import Iterator
from typing import NamedTuple

from masthead.circulation.addresses import FIELDS
from masthead.store.books.ids import next_ids
from masthead.store.books.mail_file import KEYLINE, address_of
from masthead.store.books.operation import Operation, Reading
from masthead.store.database import Row

COLUMNS = ("keyline", "copies", "publication", "issue", *FIELDS)
"""The columns of a file of replacements."""

_FILES = 20


class Received(NamedTuple):
    """An issue that a subscription received: its publication, name, date, copies and type."""

    issue_id: int
    publication: str
    name: str
    date: str
    copies: int
    type: str | None


class Waiting(NamedTuple):
    """Copies that the next file has, and their reader."""

    replacement_id: int
    asked_on: str
    copies: int
    publication: str
    issue: str
    date: str
    subscriber_id: int
    first_name: str | None
    last_name: str | None


class OfReader(NamedTuple):
    """Copies of a reader's subscription that were sent again; no ``written_at``: they wait."""

    subscription_id: int
    asked_on: str
    written_at: str | None
    copies: int
    issue: str


class File(NamedTuple):
    """A file that was written: when, and its number of rows and of copies."""

    written_at: str
    rows: int
    copies: int


def received(
    books: Reading, subscription_id: int, *, issue_id: int | None = None, limit: int = 1
) -> list[Received]:
    """Return the newest issues that a subscription received, or only the one with ``issue_id``."""
    which = "" if issue_id is None else "AND d.issue_id = :issue_id"
    values = {} if issue_id is None else {"issue_id": issue_id}
    return books.rows_as(
        Received,
        f"""
        SELECT d.issue_id, coalesce(p.name, ''), coalesce(i.name, ''), coalesce(i.date, ''),
            coalesce(e.copies, s.copies, 1), coalesce(e.type, s.type)
        FROM subscription_issues AS d
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = d.subscription_id
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = d.issue_id
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = i.publication_id
        LEFT JOIN mailing_list_entries AS e ON e.account_id = :account_id
            AND e.mailing_list_id = d.mailing_list_id AND e.subscription_id = d.subscription_id
        WHERE d.account_id = :account_id AND d.subscription_id = :subscription_id {which}
        ORDER BY i.date DESC, d.issue_id DESC LIMIT :limit
        """,
        subscription_id=subscription_id,
        limit=limit,
        **values,
    )


def waits(books: Reading, subscription_id: int, issue_id: int) -> bool:
    """Return whether copies of the issue wait for the subscription already."""
    return bool(
        books.row(
            """
            SELECT 1 FROM replacements WHERE account_id = :account_id
                AND subscription_id = :subscription_id AND issue_id = :issue_id
                AND written_at IS NULL
            """,
            subscription_id=subscription_id,
            issue_id=issue_id,
        )
    )


def add(books: Operation, subscription_id: int, issue_id: int, copies: int) -> int:
    """Let copies of an issue wait for the next file; return the id of the replacement."""
    replacement_id = next_ids(books.connection, books.account_id, "replacements")
    books.connection.insert_many(
        "replacements",
        ("replacement_id", "subscription_id", "issue_id", "copies", "asked_on"),
        [(replacement_id, subscription_id, issue_id, copies, books.today)],
        account_id=books.account_id,
    )
    return replacement_id


def remove(books: Operation, replacement_id: int) -> bool:
    """Remove copies that wait; return whether they did."""
    return bool(
        books.change(
            """
            DELETE FROM replacements WHERE account_id = :account_id
                AND replacement_id = :replacement_id AND written_at IS NULL
            """,
            replacement_id=replacement_id,
        )
    )


def waiting(books: Reading) -> list[Waiting]:
    """Return the copies that wait, in the order of asking."""
    return books.rows_as(
        Waiting,
        """
        SELECT w.replacement_id, w.asked_on, w.copies, coalesce(p.name, ''), coalesce(i.name, ''),
            coalesce(i.date, ''), s.subscriber_id, r.first_name, r.last_name
        FROM replacements AS w
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = w.subscription_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = w.issue_id
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = i.publication_id
        WHERE w.account_id = :account_id AND w.written_at IS NULL AND r.delete_date IS NULL
        ORDER BY w.replacement_id
        """,
    )


def files(books: Reading) -> list[File]:
    """Return the newest files."""
    return books.rows_as(
        File,
        f"""
        SELECT written_at, count(*), CAST(sum(copies) AS BIGINT) FROM replacements
        WHERE account_id = :account_id AND written_at IS NOT NULL
        GROUP BY written_at ORDER BY written_at DESC LIMIT {_FILES}
        """,
    )


def has_file(books: Reading, written_at: str) -> bool:
    """Return whether a file was written at that time."""
    return bool(
        books.row(
            """
            SELECT 1 FROM replacements
            WHERE account_id = :account_id AND written_at = :written_at LIMIT 1
            """,
            written_at=written_at,
        )
    )


def mark_written(books: Operation) -> int:
    """Note that a file has all copies that wait, and that their issues stay closed.

    Copies of readers who were deleted meanwhile are removed. Returns the number of rows.
    """
    books.change(
        """
        DELETE FROM replacements WHERE account_id = :account_id AND replacement_id IN (
            SELECT w.replacement_id FROM replacements AS w
            JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = w.subscription_id
            JOIN subscribers AS r
                ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
            WHERE w.account_id = :account_id AND w.written_at IS NULL
                AND r.delete_date IS NOT NULL)
        """
    )
    books.change(
        """
        UPDATE issues SET file_written_at = :now
        WHERE account_id = :account_id AND file_written_at IS NULL AND issue_id IN (
            SELECT w.issue_id FROM replacements AS w
            WHERE w.account_id = :account_id AND w.written_at IS NULL)
        """,
        now=books.now,
    )
    return books.change(
        """
        UPDATE replacements SET written_at = :now
        WHERE account_id = :account_id AND written_at IS NULL
        """,
        now=books.now,
    )


def rows_of(books: Reading, written_at: str) -> Iterator[Row]:
    """Yield the rows of a file with :data:`COLUMNS`, one by one, by country and postal code.

    A copy goes to the subscription's address of today; a reader who was deleted since gets none.
    """
    return books.connection.stream(
        f"""
        SELECT {KEYLINE}, w.copies, p.name, i.name, {address_of("r")}
        FROM replacements AS w
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = w.subscription_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = w.issue_id
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = i.publication_id
        LEFT JOIN addresses AS a ON a.account_id = :account_id AND a.address_id = coalesce((
            SELECT min(t.address_id) FROM temporary_addresses AS t
            WHERE t.account_id = :account_id AND t.subscription_id = s.subscription_id
                AND t.from_date <= :today AND t.to_date >= :today), s.mailing_address_id)
        WHERE w.account_id = :account_id AND w.written_at = :written_at
            AND r.delete_date IS NULL
        ORDER BY coalesce(a.country_name, ''), coalesce(a.zip_code, ''), w.replacement_id
        """,
        account_id=books.account_id,
        today=books.today,
        written_at=written_at,
    )


def of_reader(books: Reading, subscriber_id: int) -> list[OfReader]:
    """Return the copies that a reader's subscriptions got again."""
    return books.rows_as(
        OfReader,
        """
        SELECT r.subscription_id, r.asked_on, r.written_at, r.copies, coalesce(i.name, '')
        FROM subscriptions AS s
        JOIN replacements AS r
            ON r.account_id = :account_id AND r.subscription_id = s.subscription_id
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = r.issue_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    )
