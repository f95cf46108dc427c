"""What happened to a reader: deliveries, notes and complaints, the newest of each."""

from typing import NamedTuple

from masthead.store.books.operation import Reading
from masthead.store.books.reader_notes import Note


class Delivery(NamedTuple):
    """An issue that a subscription received: how many copies, and to which address.

    ``copies`` is None for a delivery from before the opening; ``is_gap`` says that it came with a
    gap list.
    """

    subscription_id: int
    name: str | None
    day: str | None
    is_grace: int
    address_id: int | None
    copies: int | None
    is_gap: int | None


class Complaint(NamedTuple):
    """A complaint with its issue."""

    complaint_id: int
    subscription_id: int
    kind: str
    answer: str
    made_at: str | None
    author: str | None
    text: str | None
    issue: str | None
    day: str | None


def deliveries(reading: Reading, subscription_id: int, most: int) -> list[Delivery]:
    """Return the newest deliveries of a subscription by the ids of their issues."""
    return reading.rows_as(
        Delivery,
        """
        SELECT x.subscription_id, i.name, i.date, x.is_grace, x.address_id, e.copies, l.is_gap
        FROM subscription_issues AS x
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = x.issue_id
        LEFT JOIN mailing_list_entries AS e ON e.account_id = :account_id
            AND e.mailing_list_id = x.mailing_list_id AND e.subscription_id = x.subscription_id
        LEFT JOIN list_downloads AS l
            ON l.account_id = :account_id AND l.mailing_list_id = x.mailing_list_id
        WHERE x.account_id = :account_id AND x.subscription_id = :subscription_id
        ORDER BY x.issue_id DESC LIMIT :most
        """,
        subscription_id=subscription_id,
        most=most,
    )


def notes(reading: Reading, subscriber_id: int, most: int) -> list[Note]:
    """Return the newest notes about a reader, without erased ones."""
    return reading.rows_as(
        Note,
        """
        SELECT note_id, subscriber_id, noted_at, author, text FROM notes
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND text IS NOT NULL
        ORDER BY note_id DESC LIMIT :most
        """,
        subscriber_id=subscriber_id,
        most=most,
    )


def complaints(reading: Reading, subscriber_id: int, most: int) -> list[Complaint]:
    """Return the newest complaints of a reader."""
    return reading.rows_as(
        Complaint,
        """
        SELECT c.complaint_id, c.subscription_id, c.kind, c.answer, c.made_at, c.author, c.text,
            i.name, i.date
        FROM complaints AS c
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = c.issue_id
        WHERE c.account_id = :account_id AND c.subscriber_id = :subscriber_id
        ORDER BY c.complaint_id DESC LIMIT :most
        """,
        subscriber_id=subscriber_id,
        most=most,
    )
