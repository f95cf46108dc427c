"""A single subscription: what operations need to know, and changes of its own columns."""

from collections.abc import Mapping
from typing import NamedTuple

from masthead.circulation.spans import Span
from masthead.databases.queries import Query, rows_of
from masthead.errors import BadInput, NotFound
from masthead.store.books.derived_values import refresh
from masthead.store.books.ids import next_ids
from masthead.store.books.names import subscription_named
from masthead.store.books.operation import Operation, Reading
from masthead.store.database import Connection

_COLUMNS = {"type": "type", "campaign": "renew_campaign_active"}
SPANS = {"suspensions": "suspension_id", "temporary_addresses": "temporary_address_id"}
"""The tables of spans, and their keys."""


class StoredSubscription(NamedTuple):
    """A subscription: ``issues`` left (-1 unlimited); other columns are as in the interface.

    ``begins_on`` and ``cancelled_on`` are days. ``newest_closed`` is the date of the publication's
    newest closed issue, or None. ``merged_into`` is the subscription into which it was merged.
    """

    subscription_id: int
    subscriber_id: int
    publication_id: int
    mailing_address_id: int | None
    issues: int | None
    begins_on: str | None
    cancelled_on: str | None
    newest_closed: str | None
    merged_into: int | None = None


def stored_subscription(
    connection: Connection, account_id: int, subscription_id: int
) -> StoredSubscription:
    """Return the subscription. Raises NotFound if the account has none with this id."""
    found = connection.row_as(
        StoredSubscription,
        """
        SELECT s.subscription_id, s.subscriber_id, s.publication_id, s.mailing_address_id,
            s.issues, s.begins_on, s.cancelled_on,
            (SELECT max(i.date) FROM issues AS i
                WHERE i.account_id = s.account_id AND i.publication_id = s.publication_id
                AND i.closed_at IS NOT NULL), s.merged_into
        FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        account_id=account_id,
        subscription_id=subscription_id,
    )
    if found is None:
        raise NotFound(
            f"account {account_id} has no subscription {subscription_id}",
            code="unknown_subscription",
        )
    return found


def changeable(books: Operation, subscription_id: int) -> StoredSubscription:
    """Return the subscription; raise BadInput if it was cancelled, NotFound if there is none."""
    found = stored_subscription(books.connection, books.account_id, subscription_id)
    if found.merged_into is not None:
        raise BadInput(
            f"{subscription_named(books, subscription_id)} was merged into another subscription, "
            "which has its issues now",
            code="merged",
            into=found.merged_into,
        )
    if found.cancelled_on is not None:
        raise BadInput(
            f"{subscription_named(books, subscription_id)} was cancelled on {found.cancelled_on}; "
            "an order begins a new one",
            code="cancelled",
        )
    return found


def is_to_end(books: Reading, subscription_id: int) -> bool:
    """Return whether a subscription was cancelled and has not ended yet."""
    return books.ask(to_end(subscription_id))


def to_end(subscription_id: int) -> Query[bool]:
    """Return the query of :func:`is_to_end`."""
    return rows_of(
        """
        SELECT 1 FROM cancellations WHERE account_id = :account_id
            AND subscription_id = :subscription_id AND ended_on IS NULL
        """,
        subscription_id=subscription_id,
    ).then(bool)


def the_one(books: Operation, subscription_id: int) -> None:
    """Recompute the values that follow from one subscription's terms, issues and suspensions."""
    one = "SELECT CAST(:subscription_id AS BIGINT)"
    refresh(books, one, subscription_id=subscription_id)


def spans(connection: Connection, account_id: int, table: str, subscription_id: int) -> list[Span]:
    """Return the spans of a subscription, sorted by first day.

    ``table`` is ``suspensions`` or ``temporary_addresses``.
    """
    return connection.rows_as(
        Span,
        f"""
        SELECT {SPANS[table]}, from_date, to_date FROM {table}
        WHERE account_id = :account_id AND subscription_id = :subscription_id ORDER BY from_date
        """,
        account_id=account_id,
        subscription_id=subscription_id,
    )


def end_span(books: Operation, table: str, span_id: int, last: str | None) -> None:
    """Give a span of the table its last day; None removes it."""
    key = SPANS[table]
    which = f"WHERE account_id = :account_id AND {key} = :span_id"
    if last is None:
        books.change(f"DELETE FROM {table} {which}", span_id=span_id)
    else:
        books.change(f"UPDATE {table} SET to_date = :last {which}", last=last, span_id=span_id)


def add_suspension(books: Operation, subscription_id: int, first: str, last: str | None) -> None:
    """Add a suspension from ``first`` to ``last``, both included; None: until it is resumed."""
    books.change(
        """
        INSERT INTO suspensions (account_id, suspension_id, subscription_id, from_date, to_date)
        VALUES (:account_id, :suspension_id, :subscription_id, :first, :last)
        """,
        suspension_id=next_ids(books.connection, books.account_id, "suspensions"),
        subscription_id=subscription_id,
        first=first,
        last=last,
    )


def set_values(
    books: Operation, subscription_id: int, values: Mapping[str, int | str]
) -> dict[str, tuple[int | str | None, int | str]]:
    """Set ``type`` and ``campaign`` (0 or 1); return what changed: before and after."""
    columns = [_COLUMNS[name] for name in values]
    (before,) = books.rows(
        f"""
        SELECT {", ".join(columns)} FROM subscriptions
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    changed = {
        name: (old, values[name])
        for name, old in zip(values, before, strict=True)
        if old != values[name]
    }
    if changed:
        sets = ", ".join(f"{_COLUMNS[name]} = :{name}" for name in changed)
        books.change(
            f"""
            UPDATE subscriptions SET {sets}, commit_id = :commit_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            subscription_id=subscription_id,
            commit_id=books.commit_id,
            **{name: new for name, (_, new) in changed.items()},
        )
    return changed
