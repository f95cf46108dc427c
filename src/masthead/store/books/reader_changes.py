"""What readers changed on their pages, so that a clerk sees it and can undo it.

The functions run in an operation (``store.books.operation``) or in a reading of one.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from masthead.errors import NotFound
from masthead.store.books.operation import Operation, Reading


class ReaderChange(NamedTuple):
    """A change; ``before`` and ``after`` are its values by name, None once the reader is erased.

    ``undone_at`` is when ``undone_by`` took it back.
    """

    reader_change_id: int
    subscriber_id: int
    subscription_id: int | None
    kind: str
    made_at: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    undone_at: str | None
    undone_by: str | None


class TemporarySpan(NamedTuple):
    """A temporary address of a subscription, with its first and its last day."""

    span_id: int
    address_id: int
    first: str
    last: str


_COLUMNS = ", ".join(ReaderChange._fields)


def _changed(row: tuple[Any, ...]) -> ReaderChange:
    change = ReaderChange._make(row)
    return change._replace(
        before=change.before and json.loads(str(change.before)),
        after=change.after and json.loads(str(change.after)),
    )


def add(
    change: Operation,
    subscriber_id: int,
    kind: str,
    subscription_id: int | None,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> int:
    """Note a change of now; return its id."""
    key = change.new_id("reader_changes")
    change.add(
        "reader_changes",
        reader_change_id=key,
        subscriber_id=subscriber_id,
        subscription_id=subscription_id,
        kind=kind,
        made_at=change.now,
        before=json.dumps(before, ensure_ascii=False),
        after=json.dumps(after, ensure_ascii=False),
    )
    return key


def find(reading: Reading, reader_change_id: int) -> ReaderChange:
    """Return a change. Raises NotFound if there is none."""
    row = reading.row(
        f"""
        SELECT {_COLUMNS} FROM reader_changes
        WHERE account_id = :account_id AND reader_change_id = :reader_change_id
        """,
        reader_change_id=reader_change_id,
    )
    if row is None:
        raise NotFound("there is no such change of a reader")
    return _changed(row)


def of_reader(reading: Reading, subscriber_id: int, most: int) -> list[ReaderChange]:
    """Return the newest changes of a reader, the newest first."""
    rows = reading.rows(
        f"""
        SELECT {_COLUMNS} FROM reader_changes
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        ORDER BY reader_change_id DESC LIMIT :most
        """,
        subscriber_id=subscriber_id,
        most=most,
    )
    return [_changed(row) for row in rows]


def orders_of(reading: Reading, subscriber_id: int) -> list[ReaderChange]:
    """Return the orders that a reader placed on the pages, the newest first."""
    rows = reading.rows(
        f"""
        SELECT {_COLUMNS} FROM reader_changes
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND kind = 'order'
        """,
        subscriber_id=subscriber_id,
    )
    return sorted(map(_changed, rows), key=lambda each: -each.reader_change_id)


def left_by_moves(reading: Reading, subscription_id: int) -> list[TemporarySpan]:
    """Return the temporary addresses of a subscription that its reader's earlier moves left."""
    notes = reading.rows_as(
        tuple[str | None, str | None],
        """
        SELECT c.before, c.after FROM subscriptions AS s JOIN reader_changes AS c
            ON c.account_id = :account_id AND c.subscriber_id = s.subscriber_id
                AND c.kind IN ('address', 'subscription_address')
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    key, left = str(subscription_id), set[tuple[int, int]]()
    for before, after in notes:
        if before and after:
            former = json.loads(before)["subscriptions"].get(key)
            left |= {(span_id, former) for span_id in json.loads(after)["spans"].get(key, ())}
    # The id of a span that was removed is given again: the address tells a real one from it.
    return [
        each
        for each in temporary_spans(reading, subscription_id)
        if (each.span_id, each.address_id) in left
    ]


def temporary_spans(reading: Reading, subscription_id: int) -> list[TemporarySpan]:
    """Return all temporary addresses of a subscription."""
    return reading.rows_as(
        TemporarySpan,
        """
        SELECT temporary_address_id, address_id, from_date, to_date FROM temporary_addresses
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )


def mark_undone(change: Operation, reader_change_id: int, by: str) -> None:
    """Note that a change was taken back now."""
    change.change(
        """
        UPDATE reader_changes SET undone_at = :now, undone_by = :by
        WHERE account_id = :account_id AND reader_change_id = :reader_change_id
        """,
        now=change.now,
        by=by,
        reader_change_id=reader_change_id,
    )


def closed_of(
    reading: Reading, subscriber_id: int, subscription_id: int | None = None
) -> dict[str, str]:
    """Return the day of the newest closed issue of each publication, by its id as text.

    The publications are that of a subscription, or those of all subscriptions of a reader that were
    not merged. By these days, what was closed since a change is known.
    """
    which = "" if subscription_id is None else "AND s.subscription_id = :subscription_id"
    values = {} if subscription_id is None else {"subscription_id": subscription_id}
    rows = reading.rows(
        f"""
        SELECT s.publication_id, i.date FROM subscriptions AS s
        JOIN issues AS i ON i.account_id = :account_id AND i.publication_id = s.publication_id
            AND i.closed_at IS NOT NULL AND i.date IS NOT NULL
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            AND s.merged_into IS NULL {which}
        """,
        subscriber_id=subscriber_id,
        **values,
    )
    found: dict[str, str] = {}
    for publication_id, day in rows:
        key = str(publication_id)
        found[key] = max(found.get(key, ""), str(day))
    return found
