"""Notes and complaints of a reader."""

from typing import NamedTuple

from masthead.errors import BadInput, NotFound, no_subscriber
from masthead.store.books.ids import next_ids
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation, Reading


class Note(NamedTuple):
    """A note: whom it is about, when and by whom it was written; no text if it was erased."""

    note_id: int
    subscriber_id: int
    noted_at: str | None
    author: str | None
    text: str | None


class Received(NamedTuple):
    """An issue that a subscription received, in how many copies, and the subscription's reader."""

    subscriber_id: int
    name: str
    copies: int


class Counted(NamedTuple):
    """How many complaints of a kind there are about an issue, and how they were answered."""

    publication: str | None
    issue_id: int
    issue: str | None
    day: str | None
    kind: str
    complaints: int
    extended: int
    sent_again: int


class OfIssue(NamedTuple):
    """A complaint about an issue: of whom, what was wrong, how it was answered, when and by whom.

    ``made_at`` is a time in the account's time zone, ``text`` what the reader said.
    """

    subscriber_id: int
    first_name: str | None
    last_name: str | None
    kind: str
    answer: str
    made_at: str | None
    author: str | None
    text: str | None


def check_open(books: Operation, subscriber_id: int) -> None:
    """Raise NotFound if there is no such subscriber, BadInput if it is deleted or merged."""
    found = books.row_as(
        tuple[str | None],
        """
        SELECT delete_date FROM subscribers
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    )
    if found is None:
        raise no_subscriber(books.account_id, subscriber_id)
    if found[0] is not None:
        raise BadInput(f"{reader_named(books, subscriber_id)} was deleted on {found[0][:10]}")


def add_note(books: Operation, subscriber_id: int, author: str, text: str) -> int:
    """Add a note; return its id."""
    note_id = next_ids(books.connection, books.account_id, "notes")
    books.add(
        "notes",
        note_id=note_id,
        subscriber_id=subscriber_id,
        noted_at=books.now,
        author=author,
        text=text,
    )
    return note_id


def note_of(books: Reading, note_id: int) -> Note:
    """Return a note. Raises NotFound if there is none."""
    found = books.row_as(
        Note,
        """
        SELECT note_id, subscriber_id, noted_at, author, text FROM notes
        WHERE account_id = :account_id AND note_id = :note_id
        """,
        note_id=note_id,
    )
    if found is None:
        raise NotFound("there is no such note")
    return found


def set_note(books: Operation, note_id: int, text: str) -> None:
    """Give a note another text."""
    books.change(
        "UPDATE notes SET text = :text WHERE account_id = :account_id AND note_id = :note_id",
        note_id=note_id,
        text=text,
    )


def received(books: Reading, subscription_id: int, issue_id: int) -> Received | None:
    """Return the issue if the subscription received it."""
    return books.row_as(
        Received,
        """
        SELECT s.subscriber_id, coalesce(i.name, ''), coalesce(e.copies, 1)
        FROM subscription_issues AS x
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = x.issue_id
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = x.subscription_id
        LEFT JOIN mailing_list_entries AS e ON e.account_id = :account_id
            AND e.mailing_list_id = x.mailing_list_id AND e.subscription_id = x.subscription_id
        WHERE x.account_id = :account_id AND x.subscription_id = :subscription_id
            AND x.issue_id = :issue_id
        """,
        subscription_id=subscription_id,
        issue_id=issue_id,
    )


def add_complaint(books: Operation, **row: str | int | None) -> int:
    """Add a complaint, made now; return its id."""
    complaint_id = next_ids(books.connection, books.account_id, "complaints")
    books.add("complaints", complaint_id=complaint_id, made_at=books.now, **row)
    return complaint_id


def complaints_of(books: Reading, subscription_id: int) -> int:
    """Return how many complaints there are about the issues of a subscription."""
    return (
        books.value_as(
            int,
            """
            SELECT count(*) FROM complaints
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            subscription_id=subscription_id,
        )
        or 0
    )


def count_complaints(books: Reading, since: str) -> list[Counted]:
    """Return the complaints about issues dated ``since`` or later, newest issues first."""
    return books.rows_as(
        Counted,
        """
        SELECT p.name, i.issue_id, i.name, i.date, c.kind, count(*),
            count(CASE c.answer WHEN 'extended' THEN 1 END),
            count(CASE c.answer WHEN 'sent_again' THEN 1 END)
        FROM complaints AS c
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = c.issue_id
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = i.publication_id
        WHERE c.account_id = :account_id AND i.date >= :since
        GROUP BY p.name, i.issue_id, i.name, i.date, c.kind
        ORDER BY i.date DESC, i.issue_id, c.kind
        """,
        since=since,
    )


def complaints_about(books: Reading, issue_id: int, most: int) -> list[OfIssue]:
    """Return the newest complaints about an issue."""
    return books.rows_as(
        OfIssue,
        """
        SELECT c.subscriber_id, s.first_name, s.last_name, c.kind, c.answer, c.made_at, c.author,
            c.text
        FROM complaints AS c
        JOIN subscribers AS s ON s.account_id = :account_id AND s.subscriber_id = c.subscriber_id
        WHERE c.account_id = :account_id AND c.issue_id = :issue_id
        ORDER BY c.complaint_id DESC LIMIT :most
        """,
        issue_id=issue_id,
        most=most,
    )
