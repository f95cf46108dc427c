"""What the page of a reader shows of subscriptions and orders.

Each statement follows an index of the reader, so that it reads no other reader's rows. Rows are
sorted in Python: a snapshot of PostgreSQL disables sorting (``store.subscriber_data``). Functions
that return a ``Query`` run nothing: a page asks several of them at once.
"""

from collections.abc import Collection
from operator import attrgetter
from typing import NamedTuple

from masthead.databases.queries import Query, rows_as, sorted_by
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed

ORDERS_MAX = 1_000
"""The newest orders of a payer, of which the page knows."""


class Line(NamedTuple):
    """A subscription: its own columns, and what its publication says.

    ``issues`` is -1 if it is unlimited. ``credit`` is the number of issues that come before they
    are paid, ``efforts`` the number of renewal letters.
    """

    subscription_id: int
    publication_id: int
    publication: str | None
    type: str | None
    copies: int | None
    issues: int | None
    begins_on: str | None
    date_created: str | None
    date_last_renewed: str | None
    last_day: str | None
    cancelled_on: str | None
    merged_into: int | None
    is_asked: int | None
    mailing_address_id: int | None
    billing_address_id: int | None
    credit: int
    efforts: int


class TermLine(NamedTuple):
    """A term with issues left, or of the opening, and the payer of its order."""

    subscription_id: int
    term_id: int
    kind: str
    issues: int
    issues_left: int
    price: int
    paid_on: str | None
    ended_at: str | None
    order_id: int | None
    payer_id: int | None
    payer_first_name: str | None
    payer_last_name: str | None


class SpanLine(NamedTuple):
    """A suspension, or a temporary address: the first and the last day; None: it is open."""

    subscription_id: int
    first: str
    last: str | None
    address_id: int | None


class Ended(NamedTuple):
    """How a subscription was cancelled (``contract.books.Cancellation``).

    ``is_final`` is 1 if it cannot be undone any more.
    """

    subscription_id: int
    made_on: str
    reason: str | None
    at_end: int
    is_refund: int
    ended_on: str | None
    issue: str | None
    issue_day: str | None
    is_final: int


class Coming(NamedTuple):
    """A planned issue."""

    publication_id: int
    issue_id: int
    name: str | None
    day: str


class Letter(NamedTuple):
    """A renewal letter, and the issues left at which its effort is due."""

    subscription_id: int
    effort: int
    sent_on: str
    issues_left: int | None


class OrderRow(NamedTuple):
    """An order with its payment and its dispute; ``total`` is a number of the interface."""

    order_id: int
    ordered: str | None
    reference: str | None
    is_gift: int | None
    total: str | None
    paid_on: str | None
    payment_type: str | None
    payment_reference: str | None
    disputed_on: str | None
    dispute: str | None
    dispute_ended_on: str | None
    dispute_result: str | None


class Renewing(NamedTuple):
    """The automatic renewal of a subscription: since when, and by which bundle.

    ``renews_on`` is the day of the next order, and ``cents`` what it costs with tax; both are None
    until they are announced.
    """

    subscription_id: int
    given_on: str
    bundle: str | None
    renews_on: str | None
    cents: int | None


class ItemRow(NamedTuple):
    """An item of an order: what was ordered, and what was given back, in cents with tax."""

    order_id: int
    bundle: str | None
    product: str | None
    total: str | None
    refund_date: str | None
    refunded: int


_OF_READER = "s.account_id = :account_id AND s.subscriber_id = :subscriber_id"


def lines(subscriber_id: int) -> Query[list[Line]]:
    """Return the subscriptions of a reader by ascending id."""
    found = rows_as(
        Line,
        f"""
        SELECT s.subscription_id, s.publication_id, p.name, s.type, s.copies, s.issues,
            s.begins_on, s.date_created, s.date_last_renewed, s.date_expired, s.cancelled_on,
            s.merged_into, s.renew_campaign_active, s.mailing_address_id, s.billing_address_id,
            p.credit_issues, (SELECT count(*) FROM renewal_efforts AS e
                WHERE e.account_id = :account_id AND e.publication_id = s.publication_id)
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE {_OF_READER}
        """,
        subscriber_id=subscriber_id,
    )
    return found.then(sorted_by("subscription_id"))


def terms(subscriber_id: int) -> Query[list[TermLine]]:
    """Return the terms of a reader's subscriptions with issues left, and those of the opening."""
    found = rows_as(
        TermLine,
        f"""
        SELECT t.subscription_id, t.term_id, t.kind, t.issues, t.issues_left, t.price, t.paid_on,
            t.ended_at, i.order_id, o.subscriber_id, r.first_name, r.last_name
        FROM subscriptions AS s
        JOIN terms AS t ON t.account_id = :account_id AND t.subscription_id = s.subscription_id
        LEFT JOIN order_items AS i
            ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
        LEFT JOIN orders AS o ON o.account_id = :account_id AND o.order_id = i.order_id
        LEFT JOIN subscribers AS r
            ON r.account_id = :account_id AND r.subscriber_id = o.subscriber_id
        WHERE {_OF_READER} AND (t.issues_left <> 0 OR t.kind = 'opening')
        """,
        subscriber_id=subscriber_id,
    )
    return found.then(sorted_by("term_id"))


def suspensions(subscriber_id: int) -> Query[list[SpanLine]]:
    """Return the suspensions of a reader's subscriptions by their first day."""
    return _spans(subscriber_id, "suspensions", "NULL")


def temporary_addresses(subscriber_id: int) -> Query[list[SpanLine]]:
    """Return the temporary addresses of a reader's subscriptions by their first day."""
    return _spans(subscriber_id, "temporary_addresses", "x.address_id")


def _spans(subscriber_id: int, table: str, address: str) -> Query[list[SpanLine]]:
    found = rows_as(
        SpanLine,
        f"""
        SELECT x.subscription_id, x.from_date, x.to_date, CAST({address} AS BIGINT)
        FROM subscriptions AS s
        JOIN {table} AS x ON x.account_id = :account_id AND x.subscription_id = s.subscription_id
        WHERE {_OF_READER}
        """,
        subscriber_id=subscriber_id,
    )
    return found.then(sorted_by("first"))


def cancellations(subscriber_id: int) -> Query[list[Ended]]:
    """Return how subscriptions of a reader were cancelled."""
    return rows_as(
        Ended,
        f"""
        SELECT c.subscription_id, c.made_on, c.reason, c.at_end, c.is_refund, c.ended_on,
            i.name, i.date, CASE WHEN c.final_issue_id IS NULL THEN 0 ELSE 1 END
        FROM subscriptions AS s
        JOIN cancellations AS c
            ON c.account_id = :account_id AND c.subscription_id = s.subscription_id
        LEFT JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = c.after_issue_id
        WHERE {_OF_READER}
        """,
        subscriber_id=subscriber_id,
    )


def renewing(subscriber_id: int) -> Query[list[Renewing]]:
    """Return the automatic renewals of a reader's subscriptions that were not stopped."""
    return rows_as(
        Renewing,
        """
        SELECT v.subscription_id, v.given_on, u.name, a.renews_on, a.price + a.tax
        FROM renewal_consents AS v
        LEFT JOIN bundles AS u ON u.account_id = :account_id AND u.bundle_id = v.bundle_id
        LEFT JOIN announced_renewals AS a ON a.account_id = :account_id
            AND a.consent_id = v.consent_id AND a.status = 'announced'
        WHERE v.account_id = :account_id AND v.subscriber_id = :subscriber_id
            AND v.stopped_on IS NULL
        """,
        subscriber_id=subscriber_id,
    )


def letters(subscriber_id: int) -> Query[list[Letter]]:
    """Return the renewal letters of a reader's subscriptions, the newest first."""
    found = rows_as(
        Letter,
        f"""
        SELECT r.subscription_id, r.effort, r.sent_on, e.issues_left
        FROM subscriptions AS s
        JOIN renewals_sent AS r
            ON r.account_id = :account_id AND r.subscription_id = s.subscription_id
        LEFT JOIN renewal_efforts AS e ON e.account_id = :account_id
            AND e.publication_id = s.publication_id AND e.effort = r.effort
        WHERE {_OF_READER}
        """,
        subscriber_id=subscriber_id,
    )
    return found.then(sorted_by("sent_on", "effort", reverse=True))


def coming(reading: Reading, publications: Collection[int]) -> list[Coming]:
    """Return the planned issues of some publications by their dates."""
    if not publications:
        return []
    found = reading.rows_as(
        Coming,
        f"""
        SELECT publication_id, issue_id, name, date FROM issues
        WHERE account_id = :account_id AND publication_id IN ({listed(sorted(publications))})
            AND closed_at IS NULL AND date IS NOT NULL
        """,
    )
    return sorted(found, key=attrgetter("day", "issue_id"))


def coming_to(subscriber_id: int) -> Query[list[Coming]]:
    """Return the planned issues of the publications of a reader's subscriptions by their dates."""
    found = rows_as(
        Coming,
        f"""
        SELECT i.publication_id, i.issue_id, i.name, i.date
        FROM subscriptions AS s
        JOIN issues AS i ON i.account_id = :account_id AND i.publication_id = s.publication_id
        WHERE {_OF_READER} AND i.closed_at IS NULL AND i.date IS NOT NULL
        """,
        subscriber_id=subscriber_id,
    )
    # A publication has several subscriptions of some readers.
    return found.then(lambda rows: sorted(set(rows), key=attrgetter("day", "issue_id")))


def orders(reading: Reading, subscriber_id: int) -> list[OrderRow]:
    """Return the orders of a payer, the newest first, at most :data:`ORDERS_MAX`."""
    return reading.rows_as(
        OrderRow,
        """
        SELECT order_id, order_date, external_reference, is_gift, grand_total, paid_on,
            payment_type, payment_reference, disputed_on, dispute, dispute_ended_on, dispute_result
        FROM orders WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        ORDER BY order_id DESC LIMIT :most
        """,
        subscriber_id=subscriber_id,
        most=ORDERS_MAX,
    )


def items(reading: Reading, subscriber_id: int, first_order: int) -> list[ItemRow]:
    """Return the items of a payer's orders from an id on."""
    return reading.rows_as(
        ItemRow,
        """
        SELECT i.order_id, b.name, p.name, i.grand_total, i.refund_date, i.refunded
        FROM orders AS o
        JOIN order_items AS i ON i.account_id = :account_id AND i.order_id = o.order_id
        LEFT JOIN bundles AS b ON b.account_id = :account_id AND b.bundle_id = i.bundle_id
        LEFT JOIN products AS p ON p.account_id = :account_id AND p.product_id = i.product_id
        WHERE o.account_id = :account_id AND o.subscriber_id = :subscriber_id
            AND o.order_id >= :first_order
        """,
        subscriber_id=subscriber_id,
        first_order=first_order,
    )
