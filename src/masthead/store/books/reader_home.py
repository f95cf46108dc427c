"""What the readers' pages show of a reader: the reader's own rows, and nothing of others.

Each statement follows an index of the reader. Rows are sorted in Python: a snapshot of PostgreSQL
disables sorting (``store.subscriber_data``).
"""

from collections.abc import Mapping
from typing import NamedTuple

from masthead.circulation.addresses import FIELDS
from masthead.databases.queries import Query, Row, rows_as, rows_of, sorted_by
from masthead.errors import no_subscriber
from masthead.store.books.operation import Reading

_SUBSCRIPTIONS_MAX = 100_000
"""More subscriptions than a reader has."""


class Reader(NamedTuple):
    """A reader who was not deleted: the name and the email address, as in the interface."""

    subscriber_id: int
    first_name: str | None
    last_name: str | None
    email: str | None


class Issue(NamedTuple):
    """An issue that a subscription received; ``copies`` is None if it is not known."""

    issue_id: int
    name: str | None
    day: str | None
    copies: int | None


class GiftRow(NamedTuple):
    """An item of an order that a reader pays for and somebody else gets.

    The name is that of the address to which it went first, as the payer gave it. ``total`` is a
    number of the interface.
    """

    order_id: int
    order_item_id: int
    bundle: str | None
    ordered: str | None
    first_name: str | None
    last_name: str | None
    company: str | None
    total: str | None
    paid_on: str | None
    refund_date: str | None


def reader_of(reading: Reading, subscriber_id: int) -> Reader:
    """Return a reader. Raises NotFound if there is none, and if the reader was deleted.

    A reader who was merged into another one, or erased, is deleted.
    """
    return reading.ask(reader(reading.account_id, subscriber_id))


def reader(account_id: int, subscriber_id: int) -> Query[Reader]:
    """Return the query of :func:`reader_of`, whose answer raises NotFound."""

    def found(rows: list[Reader]) -> Reader:
        if not rows:
            raise no_subscriber(account_id, subscriber_id)
        return rows[0]

    return rows_as(
        Reader,
        """
        SELECT subscriber_id, first_name, last_name, email FROM subscribers
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            AND delete_date IS NULL
        """,
        subscriber_id=subscriber_id,
    ).then(found)


def addresses(subscriber_id: int) -> Query[dict[int, Mapping[str, str]]]:
    """Return the addresses of a reader by id, each with those of :data:`FIELDS` that it has."""

    def by_id(rows: list[Row]) -> dict[int, Mapping[str, str]]:
        return {
            key: {name: text for name, text in zip(FIELDS, texts, strict=True) if text}
            for key, *texts in sorted(rows)
        }

    return rows_of(
        f"""
        SELECT address_id, {", ".join(FIELDS)} FROM addresses
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    ).then(by_id)


def publication_of(reading: Reading, subscription_id: int) -> str:
    """Return the name of a subscription's publication; '' if it has none."""
    name = reading.value_as(
        str,
        """
        SELECT p.name FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    return name or ""


def received(subscriber_id: int, most: int) -> Query[dict[int, list[Issue]]]:
    """Return the newest issues that a reader's subscriptions received, by subscription.

    Each has at most ``most``, the newest first.
    """

    def by_subscription(rows: list[Row]) -> dict[int, list[Issue]]:
        found: dict[int, list[Issue]] = {}
        for key, *issue in rows:
            found.setdefault(key, []).append(Issue._make(issue))
        for issues in found.values():
            issues.sort(key=lambda each: (each.day or "", each.issue_id), reverse=True)
        return found

    # The limit keeps PostgreSQL from looking for the first issue of each issue again.
    return rows_of(
        """
        SELECT x.subscription_id, x.issue_id, i.name, i.date, e.copies
        FROM (
            SELECT s.subscription_id, coalesce((
                SELECT y.issue_id FROM subscription_issues AS y
                WHERE y.account_id = :account_id AND y.subscription_id = s.subscription_id
                ORDER BY y.issue_id DESC LIMIT 1 OFFSET :others
            ), 0) AS first_id
            FROM subscriptions AS s
            WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            LIMIT :limit
        ) AS n
        JOIN subscription_issues AS x ON x.account_id = :account_id
            AND x.subscription_id = n.subscription_id AND x.issue_id >= n.first_id
        JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = x.issue_id
        LEFT JOIN mailing_list_entries AS e ON e.account_id = :account_id
            AND e.mailing_list_id = x.mailing_list_id AND e.subscription_id = x.subscription_id
        """,
        subscriber_id=subscriber_id,
        others=most - 1,
        limit=_SUBSCRIPTIONS_MAX,
    ).then(by_subscription)


class ShownBundle(NamedTuple):
    """A bundle for sale that the publisher shows readers: to renew, to buy, or to give (0 or 1)."""

    bundle_id: int
    name: str | None
    renew: int
    buy: int
    gift: int


def shown_bundles(reading: Reading) -> list[ShownBundle]:
    """Return the bundles for sale that the publisher shows readers, by name."""
    return reading.ask(bundles())


def bundles() -> Query[list[ShownBundle]]:
    """Return the query of :func:`shown_bundles`."""
    return rows_as(
        ShownBundle,
        """
        SELECT b.bundle_id, b.name, o.renew, o.buy, o.gift FROM reader_bundles AS o
        JOIN bundles AS b ON b.account_id = :account_id AND b.bundle_id = o.bundle_id
        WHERE o.account_id = :account_id AND b.active = 1
        """,
    ).then(lambda rows: sorted(rows, key=lambda each: (each.name or "", each.bundle_id)))


class ShownLine(NamedTuple):
    """What a bundle for sale has: a publication in a type; for what readers see it (0 or 1)."""

    publication_id: int
    type: str
    renew: int
    buy: int
    gift: int


def shown_lines() -> Query[list[ShownLine]]:
    """Return the lines of the bundles for sale that the publisher shows readers."""
    return rows_as(
        ShownLine,
        """
        SELECT l.publication_id, l.type, o.renew, o.buy, o.gift FROM reader_bundles AS o
        JOIN bundles AS b ON b.account_id = :account_id AND b.bundle_id = o.bundle_id
        JOIN bundle_lines AS l ON l.account_id = :account_id AND l.bundle_id = o.bundle_id
        WHERE o.account_id = :account_id AND b.active = 1
        """,
    )


def unlimited_terms(reading: Reading, subscription_id: int) -> list[tuple[str | None, int]]:
    """Return the first day and the months of the unlimited terms; None: it has not begun."""
    return reading.rows_as(
        tuple[str | None, int],
        """
        SELECT starts_on, months FROM terms
        WHERE account_id = :account_id AND subscription_id = :subscription_id
            AND issues_left < 0 AND months IS NOT NULL
        """,
        subscription_id=subscription_id,
    )


def gifts(subscriber_id: int, *, is_asking: bool) -> Query[list[GiftRow]]:
    """Return what a reader gave to others, the newest first; no row of a recipient is read.

    Only the address has the recipient's name: it is that of the order. ``is_asking``: it is the
    reader who asks, on the readers' pages.
    """
    name = "a.first_name, a.last_name, a.company"
    if is_asking:
        # The database does not show this reader the address.
        name = "recipient_of(u.account_id, u.purchase_id), NULL, NULL"
    return rows_as(
        GiftRow,
        f"""
        SELECT o.order_id, i.order_item_id, b.name, o.order_date, {name},
            i.grand_total, o.paid_on, i.refund_date
        FROM orders AS o
        JOIN order_items AS i ON i.account_id = :account_id AND i.order_id = o.order_id
        JOIN purchases AS u ON u.account_id = :account_id AND u.purchase_id = i.purchase_id
        LEFT JOIN bundles AS b ON b.account_id = :account_id AND b.bundle_id = i.bundle_id
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = u.shipping_address_id
        WHERE o.account_id = :account_id AND o.subscriber_id = :subscriber_id AND u.is_gift = 1
        """,
        subscriber_id=subscriber_id,
    ).then(sorted_by("order_id", "order_item_id", reverse=True))
