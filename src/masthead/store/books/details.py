"""What a person on the telephone looks at: a subscription with its terms, or a subscriber."""

from collections.abc import Collection
from typing import NamedTuple

from masthead.circulation.addresses import FIELDS
from masthead.circulation.spans import Span
from masthead.databases.queries import Query, rows_of
from masthead.errors import no_subscriber
from masthead.store.books.earlier_orders import history_until
from masthead.store.books.order_keys import listed
from masthead.store.books.subscription import spans, stored_subscription
from masthead.store.database import Connection, Row

_NEWEST = 5


class Postal(NamedTuple):
    """An address: its id, and its fields that are not empty, in one line."""

    address_id: int
    line: str


class TermShown(NamedTuple):
    """A term: ``issues`` and ``issues_left`` are -1 if it is unlimited, amounts are cents.

    ``free_copies`` of ``free_class`` come beside its own. ``ended_at`` is when the term was
    refunded or cancelled.
    """

    term_id: int
    kind: str
    issues: int
    issues_left: int
    price: int
    paid_on: str | None
    unearned: int
    order_id: int | None
    ended_at: str | None
    copies: int
    of_class: str
    free_copies: int
    free_class: str | None


class Subscription(NamedTuple):
    """A subscription: its own fields by name, and what belongs to it.

    ``temporary`` has the spans of temporary addresses with their ids. ``received`` has the names
    and dates of the newest received issues, and whether each was grace. ``sent`` has efforts with
    their days.
    """

    fields: dict[str, int | str | None]
    mailing: Postal | None
    billing: Postal | None
    terms: list[TermShown]
    suspensions: list[Span]
    temporary: list[tuple[Span, Postal]]
    received: list[tuple[str, str, bool]]
    sent: list[tuple[int, str]]


class SubscriptionLine(NamedTuple):
    """A subscription in one line: issues left (-1: unlimited), and the last day.

    ``merged_into`` is the subscription into which it was merged.
    """

    subscription_id: int
    publication: str | None
    type: str | None
    copies: int | None
    issues: int | None
    last_day: str | None
    cancelled_on: str | None
    merged_into: int | None


class OrderLine(NamedTuple):
    """An order in one line: its date and time, its total with tax as text, and when it was paid.

    ``is_history`` says that it is from before the opening of the books.
    """

    order_id: int
    ordered: str | None
    total: str | None
    paid_on: str | None
    is_history: bool


class Person(NamedTuple):
    """A subscriber: own fields by name, addresses, subscriptions and the newest orders."""

    fields: dict[str, int | str | None]
    addresses: list[Postal]
    subscriptions: list[SubscriptionLine]
    orders: list[OrderLine]


def look_at_subscription(
    connection: Connection, account_id: int, subscription_id: int
) -> Subscription:
    """Return a subscription with all that belongs to it. Raises NotFound if there is none."""
    stored_subscription(connection, account_id, subscription_id)
    one = {"account_id": account_id, "subscription_id": subscription_id}
    names = (
        "subscription_id",
        "publication_id",
        "publication",
        "subscriber_id",
        "first_name",
        "last_name",
        "type",
        "copies",
        "issues",
        "paid_issues_left",
        "unearned_revenue",
        "begins_on",
        "date_created",
        "date_last_renewed",
        "date_expired",
        "cancelled_on",
        "merged_into",
        "renew_campaign_active",
    )
    (row,) = connection.rows(
        """
        SELECT s.subscription_id, s.publication_id, p.name, s.subscriber_id, r.first_name,
            r.last_name, s.type, s.copies, s.issues, s.paid_issues_left, s.unearned_revenue,
            s.begins_on, s.date_created, s.date_last_renewed, s.date_expired, s.cancelled_on,
            s.merged_into, s.renew_campaign_active, s.mailing_address_id, s.billing_address_id
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = s.account_id AND p.publication_id = s.publication_id
        JOIN subscribers AS r ON r.account_id = s.account_id AND r.subscriber_id = s.subscriber_id
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        **one,
    )
    *values, mailing_id, billing_id = row
    fields = dict(zip(names, values, strict=True))
    return Subscription(
        {**fields, "cancellation": _cancellation(connection, one)},
        _postal(connection, account_id, mailing_id),
        _postal(connection, account_id, billing_id),
        _terms(connection, one),
        spans(connection, account_id, "suspensions", subscription_id),
        _temporary(connection, one),
        _received(connection, one),
        connection.rows(
            """
            SELECT effort, sent_on FROM renewals_sent
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            ORDER BY sent_on, term_id, effort
            """,
            **one,
        ),
    )


class FirstIssue(NamedTuple):
    """The next issue that a subscription gets: its name and date."""

    name: str
    day: str


def first_issue(connection: Connection, account_id: int, subscription_id: int) -> FirstIssue | None:
    """Return the next planned or closed issue that a subscription gets, if there is one.

    It is the first since its beginning that it has not received; suspensions are ignored. An issue
    that was closed without a list does not count.
    """
    return connection.row_as(
        FirstIssue,
        """
        SELECT coalesce(i.name, 'the issue'), i.date FROM subscriptions AS s
        JOIN issues AS i ON i.account_id = s.account_id AND i.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
            AND i.date >= s.begins_on
            AND (i.closed_at IS NULL OR i.mailing_list_id IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM subscription_issues AS d WHERE d.account_id = s.account_id
                AND d.subscription_id = s.subscription_id AND d.issue_id = i.issue_id)
        ORDER BY i.date, i.issue_id LIMIT 1
        """,
        account_id=account_id,
        subscription_id=subscription_id,
    )


def _cancellation(connection: Connection, one: dict[str, int]) -> str | None:
    """Return how it was cancelled and why, such as ``after May 2026, refunded: moved``."""
    row = connection.row(
        """
        SELECT c.at_end, i.name, i.date, c.is_refund, c.made_on, c.reason FROM cancellations AS c
        LEFT JOIN issues AS i ON i.account_id = c.account_id AND i.issue_id = c.after_issue_id
        WHERE c.account_id = :account_id AND c.subscription_id = :subscription_id
        """,
        **one,
    )
    if row is None:
        return None
    at_end, issue, day, is_refund, made_on, reason = row
    when = (
        "at its end" if at_end else f"after {issue or 'the issue'} of {day}" if day else "at once"
    )
    money = ", refunded" if is_refund else ""
    return f"{made_on}, {when}{money}{f': {reason}' if reason else ''}"


def _terms(connection: Connection, one: dict[str, int]) -> list[TermShown]:
    return connection.rows_as(
        TermShown,
        """
        SELECT t.term_id, t.kind, t.issues, t.issues_left, t.price, t.paid_on, coalesce((
                SELECT CAST(sum(CASE r.kind WHEN 'received' THEN r.cents ELSE -r.cents END)
                    AS BIGINT)
                FROM revenue AS r WHERE r.account_id = t.account_id AND r.term_id = t.term_id
            ), 0), (
                SELECT i.order_id FROM order_items AS i
                WHERE i.account_id = t.account_id AND i.order_item_id = t.order_item_id
            ), t.ended_at, t.copies, t.class, t.free_copies, t.free_class
        FROM terms AS t
        WHERE t.account_id = :account_id AND t.subscription_id = :subscription_id
        ORDER BY t.term_id
        """,
        **one,
    )


def _temporary(connection: Connection, one: dict[str, int]) -> list[tuple[Span, Postal]]:
    rows = connection.rows(
        """
        SELECT temporary_address_id, from_date, to_date, address_id FROM temporary_addresses
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        ORDER BY from_date
        """,
        **one,
    )
    found = [(Span(*row[:3]), _postal(connection, one["account_id"], row[3])) for row in rows]
    return [(span, postal) for span, postal in found if postal]


def _received(connection: Connection, one: dict[str, int]) -> list[tuple[str, str, bool]]:
    rows = connection.rows(
        f"""
        SELECT i.name, i.date, x.is_grace FROM subscription_issues AS x
        JOIN issues AS i ON i.account_id = x.account_id AND i.issue_id = x.issue_id
        WHERE x.account_id = :account_id AND x.subscription_id = :subscription_id
        ORDER BY i.date DESC, i.issue_id DESC LIMIT {_NEWEST}
        """,
        **one,
    )
    return [(name or "", day or "", bool(is_grace)) for name, day, is_grace in rows]


def _fields(prefix: str = "") -> str:
    return ", ".join(f"{prefix}{name}" for name in FIELDS)


def _line(row: Row) -> Postal:
    """Return the address in a row of its id and :data:`FIELDS`."""
    first, last, *others, country, code = row[1:]
    name = " ".join(part for part in (first, last) if part)
    return Postal(row[0], ", ".join(part for part in (name, *others, country or code) if part))


def _postal(connection: Connection, account_id: int, address_id: int | None) -> Postal | None:
    if address_id is None:
        return None
    row = connection.row(
        f"""
        SELECT address_id, {_fields()} FROM addresses
        WHERE account_id = :account_id AND address_id = :address_id
        """,
        account_id=account_id,
        address_id=address_id,
    )
    return _line(row) if row else None


def postals(connection: Connection, account_id: int, ids: Collection[int]) -> dict[int, Postal]:
    """Return addresses by their ids, without ids that do not exist."""
    if not ids:
        return {}
    rows = connection.rows(
        f"""
        SELECT address_id, {_fields()} FROM addresses
        WHERE account_id = :account_id AND address_id IN ({listed(ids)})
        """,
        account_id=account_id,
    )
    return {row[0]: _line(row) for row in rows}


def postals_of(subscriber_id: int) -> Query[dict[int, Postal]]:
    """Return the addresses by id to which a reader's subscriptions go, their bills too."""
    return rows_of(
        f"""
        SELECT a.address_id, {_fields("a.")}
        FROM (
            SELECT s.mailing_address_id AS address_id FROM subscriptions AS s
            WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            UNION ALL
            SELECT s.billing_address_id FROM subscriptions AS s
            WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            UNION ALL
            SELECT x.address_id FROM subscriptions AS s
            JOIN temporary_addresses AS x
                ON x.account_id = :account_id AND x.subscription_id = s.subscription_id
            WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        ) AS u
        JOIN addresses AS a ON a.account_id = :account_id AND a.address_id = u.address_id
        """,
        subscriber_id=subscriber_id,
    ).then(lambda rows: {row[0]: _line(row) for row in rows})


def look_at_subscriber(connection: Connection, account_id: int, subscriber_id: int) -> Person:
    """Return a subscriber with all that belongs to it. Raises NotFound if there is none."""
    # Sorted in Python: a snapshot of PostgreSQL disables sorting, so ORDER BY would make it read
    # all rows of the account in index order, unless the reader's index has that order.
    one = {"account_id": account_id, "subscriber_id": subscriber_id}
    names = ("subscriber_id", "first_name", "last_name", "email", "renewal_code", "source")
    found = connection.row(
        f"""
        SELECT {", ".join(names)}, delete_date FROM subscribers
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        **one,
    )
    if found is None:
        raise no_subscriber(account_id, subscriber_id)
    addresses = connection.rows(
        f"""
        SELECT address_id, {_fields()} FROM addresses
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        **one,
    )
    subscriptions = connection.rows_as(
        SubscriptionLine,
        """
        SELECT s.subscription_id, p.name, s.type, s.copies, s.issues, s.date_expired,
            s.cancelled_on, s.merged_into
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = s.account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        """,
        **one,
    )
    orders = connection.rows(
        f"""
        SELECT order_id, order_date, grand_total, paid_on FROM orders
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        ORDER BY order_id DESC LIMIT {_NEWEST}
        """,
        **one,
    )
    fields = dict(zip((*names, "delete_date"), found, strict=True))
    until = history_until(connection, account_id)
    return Person(
        fields,
        sorted(map(_line, addresses)),
        sorted(subscriptions),
        [OrderLine._make((*row, row[0] <= until)) for row in orders],
    )
