"""The keys of what an order brought, found step by step.

PostgreSQL estimates the rows of a new order. A query that joins the order's items with millions of
terms can therefore read all terms. So these functions get the keys of the items first, and then the
terms by these keys (rules, "An order's terms are found by their keys").
"""

from collections.abc import Iterable

from masthead.store.database import Connection

RECEIVED_BY = """
    CASE WHEN s.merged_into IS NULL OR EXISTS (
        SELECT 1 FROM subscription_issues AS own WHERE own.account_id = :account_id
        AND own.subscription_id = e.subscription_id AND own.issue_id = :issue_id)
    THEN e.subscription_id ELSE s.merged_into END
    """
"""The subscription that has the delivery of a list's entry ``e``, whose subscription is ``s``: its
own, or the one into which it was merged since (``store.books.merging_subscriptions``)."""


def listed(ids: Iterable[int]) -> str:
    """Return ids for ``IN (…)``; without ids, -1, which no record has."""
    return ", ".join(f"{each:d}" for each in ids) or "-1"


def items_of(connection: Connection, account_id: int, orders: Iterable[int]) -> list[int]:
    """Return the ids of the items of some orders."""
    return connection.column_as(
        int,
        f"""
        SELECT order_item_id FROM order_items
        WHERE account_id = :account_id AND order_id IN ({listed(orders)})
        """,
        account_id=account_id,
    )
