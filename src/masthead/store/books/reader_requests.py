"""What readers ask the desk for, and what they agree to.

The functions run in an operation (``store.books.operation``) or in a reading of one.
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.databases.queries import Query, rows_as
from masthead.errors import NotFound
from masthead.store.books.operation import Operation, Reading


class Request(NamedTuple):
    """What a reader asks the desk for; the text is None once the reader is erased.

    ``kind`` is missing_copy, erasure or message. ``issue`` is the name of the issue, and
    ``issue_day`` its day.
    """

    reader_request_id: int
    subscriber_id: int
    subscription_id: int | None
    issue_id: int | None
    kind: str
    text: str | None
    made_at: str
    answered_at: str | None
    answered_by: str | None
    issue: str | None
    issue_day: str | None
    first_name: str | None
    last_name: str | None


_FOUND = """
    SELECT q.reader_request_id, q.subscriber_id, q.subscription_id, q.issue_id, q.kind, q.text,
        q.made_at, q.answered_at, q.answered_by, i.name, i.date, s.first_name,
        s.last_name
    FROM reader_requests AS q
    JOIN subscribers AS s ON s.account_id = :account_id AND s.subscriber_id = q.subscriber_id
    LEFT JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = q.issue_id
    WHERE q.account_id = :account_id
    """


def add(
    change: Operation,
    subscriber_id: int,
    kind: str,
    text: str | None,
    subscription_id: int | None = None,
    issue_id: int | None = None,
) -> int:
    """Add a request of now; return its id."""
    key = change.new_id("reader_requests")
    change.add(
        "reader_requests",
        reader_request_id=key,
        subscriber_id=subscriber_id,
        subscription_id=subscription_id,
        issue_id=issue_id,
        kind=kind,
        text=text or None,
        made_at=change.now,
    )
    return key


def of_reader(subscriber_id: int, most: int) -> Query[list[Request]]:
    """Return the newest requests of a reader, the newest first."""
    return rows_as(
        Request,
        f"""
        {_FOUND} AND q.subscriber_id = :subscriber_id
        ORDER BY q.reader_request_id DESC LIMIT :most
        """,
        subscriber_id=subscriber_id,
        most=most,
    )


def open_requests(reading: Reading, most: int) -> list[Request]:
    """Return the requests that were not answered, in the order of asking.

    A reader who was erased asks for nothing any more.
    """
    return reading.rows_as(
        Request,
        f"""
        {_FOUND} AND q.answered_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM erasures AS e
            WHERE e.account_id = :account_id AND e.subscriber_id = q.subscriber_id)
        ORDER BY q.reader_request_id LIMIT :most
        """,
        most=most,
    )


def find(reading: Reading, reader_request_id: int) -> Request:
    """Return a request. Raises NotFound if there is none."""
    found = reading.row_as(
        Request,
        f"{_FOUND} AND q.reader_request_id = :reader_request_id",
        reader_request_id=reader_request_id,
    )
    if found is None:
        raise NotFound("there is no such request of a reader")
    return found


def answer(change: Operation, reader_request_id: int, by: str) -> None:
    """Note that a request was answered now."""
    change.change(
        """
        UPDATE reader_requests SET answered_at = :now, answered_by = :by
        WHERE account_id = :account_id AND reader_request_id = :reader_request_id
        """,
        now=change.now,
        by=by,
        reader_request_id=reader_request_id,
    )


class Consent(NamedTuple):
    """The consent of a reader to a purpose that was not ended."""

    reader_consent_id: int
    purpose: str
    given_at: str


def consents_of(reading: Reading, subscriber_id: int) -> list[Consent]:
    """Return what a reader agrees to, in the order of agreeing."""
    found = reading.rows_as(
        Consent,
        """
        SELECT reader_consent_id, purpose, given_at FROM reader_consents
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND ended_at IS NULL
        """,
        subscriber_id=subscriber_id,
    )
    return sorted(found)


def give(change: Operation, subscriber_id: int, purpose: str) -> int:
    """Note that a reader agrees to a purpose from now on; return the id of the consent."""
    key = change.new_id("reader_consents")
    change.add(
        "reader_consents",
        reader_consent_id=key,
        subscriber_id=subscriber_id,
        purpose=purpose,
        given_at=change.now,
    )
    return key


def end(change: Operation, ids: Iterable[int], *, again: bool = False) -> int:
    """End consents now, or let them hold ``again``; return how many changed."""
    done = 0
    for key in ids:
        done += change.change(
            f"""
            UPDATE reader_consents SET ended_at = {"NULL" if again else ":now"}
            WHERE account_id = :account_id AND reader_consent_id = :key
                AND ended_at IS {"NOT NULL" if again else "NULL"}
            """,
            key=key,
            **({} if again else {"now": change.now}),
        )
    return done


class MadeGood(NamedTuple):
    """How many copies a subscription got again since a day, and whether an issue was asked for."""

    copies: int
    is_asked: int


def made_good(reading: Reading, subscription_id: int, issue_id: int, since: str) -> MadeGood:
    """Return what is known of missing copies of a subscription.

    All complaints that brought a copy or a free issue count, also those that a clerk entered.
    """
    found = reading.row_as(
        MadeGood,
        """
        SELECT (SELECT count(*) FROM complaints AS c
            WHERE c.account_id = :account_id AND c.subscription_id = :subscription_id
                AND c.answer <> 'nothing' AND c.made_at >= :since),
            (SELECT count(*) FROM complaints AS c
            WHERE c.account_id = :account_id AND c.subscription_id = :subscription_id
                AND c.issue_id = :issue_id AND c.answer <> 'nothing')
            + (SELECT count(*) FROM reader_requests AS q
            WHERE q.account_id = :account_id AND q.subscription_id = :subscription_id
                AND q.issue_id = :issue_id AND q.answered_at IS NULL)
        """,
        subscription_id=subscription_id,
        issue_id=issue_id,
        since=since,
    )
    assert found is not None
    return found


def take_back_copy(change: Operation, complaint_id: int, replacement_id: int) -> bool:
    """Remove copies that wait, and note that nothing was done; return whether they waited."""
    waited = change.change(
        """
        DELETE FROM replacements WHERE account_id = :account_id
            AND replacement_id = :replacement_id AND written_at IS NULL
        """,
        replacement_id=replacement_id,
    )
    change.change(
        """
        UPDATE complaints SET answer = 'nothing'
        WHERE account_id = :account_id AND complaint_id = :complaint_id
        """,
        complaint_id=complaint_id,
    )
    return bool(waited)


def waiting_copy(reading: Reading, subscription_id: int, issue_id: int) -> int | None:
    """Return the id of the copies of an issue that wait for a subscription, None if none do."""
    return reading.value_as(
        int,
        """
        SELECT replacement_id FROM replacements WHERE account_id = :account_id
            AND subscription_id = :subscription_id AND issue_id = :issue_id AND written_at IS NULL
        """,
        subscription_id=subscription_id,
        issue_id=issue_id,
    )
