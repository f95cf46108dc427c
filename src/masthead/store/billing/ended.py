"""Orders whose money an ending touches, and what they gave back without an invoice.

The functions run in an operation.
"""

from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation


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
