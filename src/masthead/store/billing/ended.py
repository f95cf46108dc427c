"""Orders whose money an ending touches, and what they gave back without an invoice.

The functions run in an operation.
"""

from typing import NamedTuple

from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation, Reading


def orders_of_subscription(books: Operation, subscription_id: int) -> list[int]:
    """Return the orders whose terms a subscription has, by id."""
    return _orders(books, "t.subscription_id = :key", subscription_id)


def orders_ended_with(books: Operation, issue_id: int) -> list[int]:
    """Return the orders of the subscriptions that ended when an issue was closed, by id."""
    return _orders(
        books,
        """t.subscription_id IN (SELECT c.subscription_id FROM cancellations AS c
            WHERE c.account_id = :account_id AND c.ended_issue_id = :key)""",
        issue_id,
    )


def _orders(books: Operation, condition: str, key: int) -> list[int]:
    rows = books.rows_as(
        tuple[int],
        f"""
        SELECT DISTINCT i.order_id FROM terms AS t JOIN order_items AS i
            ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
        WHERE t.account_id = :account_id AND {condition}
        ORDER BY i.order_id
        """,
        key=key,
    )
    return [order_id for (order_id,) in rows]


def next_revenue(books: Operation) -> int:
    """Return the id of the next row of ``revenue``; rows with it and later ones are new."""
    return next_ids(books.connection, books.account_id, "revenue")


def given_back_without_invoice(books: Operation, since: int) -> int:
    """Return the net cents that terms of orders without an invoice gave back, in new rows.

    Money that such terms received, such as at an uncancelling, counts against it. ``since`` is the
    first new row of ``revenue``.
    """
    cents = books.value_as(
        int,
        """
        SELECT CAST(coalesce(sum(CASE r.kind WHEN 'refunded' THEN r.cents
            WHEN 'received' THEN -r.cents ELSE 0 END), 0) AS BIGINT)
        FROM revenue AS r
        JOIN terms AS t ON t.account_id = :account_id AND t.term_id = r.term_id
        LEFT JOIN order_items AS i
            ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
        WHERE r.account_id = :account_id AND r.revenue_id >= :since
            AND NOT EXISTS (SELECT 1 FROM invoices AS v
                WHERE v.account_id = :account_id AND v.order_id = i.order_id)
        """,
        since=since,
    )
    return cents or 0


class Owners(NamedTuple):
    """Whose money the terms of a subscription that have not ended hold: 0 or 1 for each.

    ``is_billed``: a term was billed. ``is_earlier``: a term was paid and never billed, such as
    before billing began.
    """

    is_billed: int
    is_earlier: int


_OF_TERM = """
    LEFT JOIN order_items AS i
        ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
    LEFT JOIN invoices AS v ON v.account_id = :account_id AND v.order_id = i.order_id
        AND v.kind <> 'credit_note'
    """


def owners_of(books: Reading, subscription_id: int) -> Owners:
    """Return whether the money of a subscription was billed, was paid without a bill, or both."""
    found = books.row_as(
        Owners,
        f"""
        SELECT coalesce(max(CASE WHEN v.invoice_id IS NOT NULL THEN 1 ELSE 0 END), 0),
            coalesce(max(CASE WHEN v.invoice_id IS NULL AND t.paid_on IS NOT NULL
                THEN 1 ELSE 0 END), 0)
        FROM terms AS t {_OF_TERM}
        WHERE t.account_id = :account_id AND t.subscription_id = :key AND t.ended_at IS NULL
            AND t.price > 0
        """,
        key=subscription_id,
    )
    assert found is not None
    return found


def refunded_by_hand(books: Operation, subscription_id: int) -> int:
    """Return the cents, with tax, that a cancelling gave back of terms that were never billed."""
    cents = books.value_as(
        int,
        f"""
        SELECT CAST(coalesce(sum(e.refunded + e.tax), 0) AS BIGINT)
        FROM terms AS t JOIN cancelled_terms AS e
            ON e.account_id = :account_id AND e.term_id = t.term_id
            {_OF_TERM}
        WHERE t.account_id = :account_id AND t.subscription_id = :key AND v.invoice_id IS NULL
        """,
        key=subscription_id,
    )
    return cents or 0
