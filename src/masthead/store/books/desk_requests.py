"""What readers ask the desk for, until somebody has answered (readers' pages, "Requests")."""

from typing import Literal, NamedTuple

from masthead.errors import NotFound
from masthead.store.books.operation import Operation, Reading

RequestKind = Literal["missing_copy", "erasure", "message"]


class ReaderRequest(NamedTuple):
    """What a reader asks for; ``made_at`` is in the account's time zone."""

    reader_request_id: int
    kind: RequestKind
    subscriber_id: int
    first_name: str | None
    last_name: str | None
    publication: str | None
    issue: str | None
    text: str | None
    made_at: str | None
    answered_at: str | None


_FOUND = """
    SELECT r.reader_request_id, r.kind, r.subscriber_id, s.first_name, s.last_name, p.name,
        coalesce(i.name, i.date), r.text, r.made_at, r.answered_at
    FROM reader_requests AS r
    JOIN subscribers AS s
        ON s.account_id = :account_id AND s.subscriber_id = r.subscriber_id
    LEFT JOIN subscriptions AS u
        ON u.account_id = :account_id AND u.subscription_id = r.subscription_id
    LEFT JOIN publications AS p
        ON p.account_id = :account_id AND p.publication_id = u.publication_id
    LEFT JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = r.issue_id
    WHERE r.account_id = :account_id
    """


def open_requests(reading: Reading, most: int) -> list[ReaderRequest]:
    """Return the oldest requests that nobody has answered, at most ``most``.

    A reader who was erased asks for nothing any more.
    """
    return reading.rows_as(
        ReaderRequest,
        f"""
        {_FOUND} AND r.answered_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM erasures AS e
            WHERE e.account_id = :account_id AND e.subscriber_id = r.subscriber_id)
        ORDER BY r.reader_request_id LIMIT :most
        """,
        most=most,
    )


def the_request(reading: Reading, reader_request_id: int) -> ReaderRequest:
    """Return a request. Raises NotFound if there is none."""
    found = reading.row_as(
        ReaderRequest,
        f"{_FOUND} AND r.reader_request_id = :reader_request_id",
        reader_request_id=reader_request_id,
    )
    if found is None:
        raise NotFound(f"there is no request {reader_request_id} of a reader")
    return found


def mark_answered(change: Operation, reader_request_id: int, by: str) -> None:
    """Note that a request was answered now, and by whom."""
    change.change(
        """
        UPDATE reader_requests SET answered_at = :now, answered_by = :who
        WHERE account_id = :account_id AND reader_request_id = :reader_request_id
        """,
        now=change.now,
        who=by,
        reader_request_id=reader_request_id,
    )
