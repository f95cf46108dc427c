"""What the figures over a whole account count (``books.figures``)."""

from typing import Literal, NamedTuple

from masthead.contract.subscription_types import PRINTED
from masthead.store.books.operation import Reading


class WithoutAddress(NamedTuple):
    """A printed subscription with issues left but no address."""

    subscription_id: int
    subscriber_id: int
    first_name: str | None
    last_name: str | None
    publication: str | None


class Changed(NamedTuple):
    """A subscription that is new or was lost in a month."""

    subscription_id: int
    subscriber_id: int
    first_name: str | None
    last_name: str | None
    publication: str | None
    type: str | None
    day: str
    is_cancelled: int


class Unpaid(NamedTuple):
    """An order that has used up its credit, and its payer."""

    order_id: int
    subscriber_id: int
    first_name: str | None
    last_name: str | None
    order_date: str | None


_IS_NEW = "substr(s.date_created, 1, 7) = :month"
_IS_LOST = """((s.merged_into IS NULL AND substr(s.cancelled_on, 1, 7) = :month)
    OR (s.cancelled_on IS NULL AND s.issues = 0 AND substr(s.date_expired, 1, 7) = :month))"""


def new_and_lost(reading: Reading) -> tuple[int, int]:
    """Return how many subscriptions were created and how many ended in the current month."""
    ((new, lost),) = reading.rows(
        f"""
        SELECT coalesce(sum(CASE WHEN {_IS_NEW} THEN 1 ELSE 0 END), 0),
            coalesce(sum(CASE WHEN {_IS_LOST} THEN 1 ELSE 0 END), 0)
        FROM subscriptions AS s WHERE s.account_id = :account_id
        """,
        month=reading.today[:7],
    )
    return int(new), int(lost)


def changed(reading: Reading, which: Literal["new", "lost"], limit: int) -> list[Changed]:
    """Return the subscriptions that :func:`new_and_lost` counts, at most ``limit``, newest first.

    ``day`` is when it was created, cancelled, or when it ended.
    """
    condition, day = (
        (_IS_NEW, "s.date_created")
        if which == "new"
        else (_IS_LOST, "coalesce(s.cancelled_on, s.date_expired)")
    )
    return reading.rows_as(
        Changed,
        f"""
        SELECT s.subscription_id, s.subscriber_id, r.first_name, r.last_name, p.name, s.type,
            substr({day}, 1, 10), CASE WHEN s.cancelled_on IS NULL THEN 0 ELSE 1 END
        FROM subscriptions AS s
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND {condition}
        ORDER BY 7 DESC, s.subscription_id DESC LIMIT {limit:d}
        """,
        month=reading.today[:7],
    )


def liability(reading: Reading) -> int:
    """Return what is owed to readers, in cents."""
    cents = reading.value_as(
        int,
        """
        SELECT coalesce(sum(CASE kind WHEN 'received' THEN cents ELSE -cents END), 0)
        FROM revenue WHERE account_id = :account_id
        """,
    )
    return cents or 0


def without_address(reading: Reading) -> list[WithoutAddress]:
    """Return the printed subscriptions with issues left but no address."""
    return reading.rows_as(
        WithoutAddress,
        f"""
        SELECT s.subscription_id, s.subscriber_id, r.first_name, r.last_name, p.name
        FROM subscriptions AS s
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = s.mailing_address_id
        WHERE s.account_id = :account_id AND s.issues <> 0 AND s.cancelled_on IS NULL
            AND s.type IN {PRINTED} AND coalesce(a.address, '') = ''
        """,
    )


def unpaid(reading: Reading) -> list[Unpaid]:
    """Return the orders that have used up their credit, the oldest first."""
    return reading.rows_as(
        Unpaid,
        """
        SELECT DISTINCT o.order_id, o.subscriber_id, r.first_name, r.last_name, o.order_date
        FROM terms AS t
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = t.subscription_id
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        JOIN order_items AS i
            ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
        JOIN orders AS o ON o.account_id = :account_id AND o.order_id = i.order_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = o.subscriber_id
        WHERE t.account_id = :account_id AND t.price > 0 AND t.paid_on IS NULL
            AND t.ended_at IS NULL AND t.issues - t.issues_left >= p.credit_issues
        ORDER BY o.order_id
        """,
    )
