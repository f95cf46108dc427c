"""Cancelling a subscription: its terms end, and what is unearned is given back or earned.

The function runs in an operation (``store.books.operation``) and says what it did.
"""

from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from masthead.circulation.amounts import decimal, stored_cents
from masthead.circulation.refunding import Item, tax_share
from masthead.store.books.operation import Operation
from masthead.store.books.paying import add_revenue
from masthead.store.books.subscription import changeable, the_one

__all__ = ["Cancelled", "cancel"]


class Cancelled(NamedTuple):
    """What cancelling did: issues that are not delivered any more (-1: unlimited), and cents.

    ``refunded`` is net, ``tax`` what goes back with it; ``earned`` is kept.
    """

    issues: int
    refunded: int
    tax: int
    earned: int


class _Term(NamedTuple):
    term_id: int
    order_item_id: int | None
    unearned: int


def cancel(books: Operation, subscription_id: int, *, refund: bool) -> Cancelled:
    """Cancel a subscription today; with ``refund`` what is unearned goes back, with its tax.

    Without, it is earned today. All terms end, also those that are used up, and the subscription
    leaves the campaign: partners who write to its readers leave this one out. An item of an order
    of which money goes back gets its ``refund_date``. Raises NotFound if there is no such
    subscription, BadInput if it was cancelled before.
    """
    found = changeable(books, subscription_id)
    terms = _terms(books, subscription_id)
    unearned = sum(term.unearned for term in terms)
    _book(books, "refunded" if refund else "earned", terms)
    books.connection.change(
        """
        UPDATE terms SET issues_left = 0, ended_at = :now
        WHERE account_id = :account_id AND subscription_id = :subscription_id
            AND ended_at IS NULL
        """,
        account_id=books.account_id,
        subscription_id=subscription_id,
        now=books.now,
    )
    tax = _refund_items(books, terms) if refund else 0
    books.connection.change(
        """
        UPDATE subscriptions
        SET cancelled_on = :today, renew_campaign_active = 0, commit_id = :commit_id
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        """,
        account_id=books.account_id,
        subscription_id=subscription_id,
        today=books.today,
        commit_id=books.commit_id,
    )
    the_one(books, subscription_id)
    cancelled = Cancelled(
        found.issues or 0, unearned if refund else 0, tax, 0 if refund else unearned
    )
    books.say(
        f"subscription {subscription_id} was cancelled: {decimal(cancelled.refunded + tax)} was "
        f"refunded, {decimal(cancelled.earned)} earned"
    )
    return cancelled


def _terms(books: Operation, subscription_id: int) -> list[_Term]:
    rows = books.connection.rows(
        """
        SELECT t.term_id, t.order_item_id, coalesce((
            SELECT sum(CASE r.kind WHEN 'received' THEN r.cents ELSE -r.cents END)
            FROM revenue AS r WHERE r.account_id = t.account_id AND r.term_id = t.term_id), 0)
        FROM terms AS t
        WHERE t.account_id = :account_id AND t.subscription_id = :subscription_id
            AND t.ended_at IS NULL
        ORDER BY t.order_item_id, t.term_id
        """,
        account_id=books.account_id,
        subscription_id=subscription_id,
    )
    return [_Term(term_id, item_id, int(unearned)) for term_id, item_id, unearned in rows]


def _book(books: Operation, kind: str, terms: list[_Term]) -> None:
    rows = sorted((term.term_id, kind, term.unearned, books.today) for term in terms)
    add_revenue(books, rows)


def _refund_items(books: Operation, terms: list[_Term]) -> int:
    """Note in the items of orders what was refunded; return the tax of it, in cents."""
    of_items = [term for term in terms if term.order_item_id is not None]
    taxes = 0
    for item_id, parts in groupby(of_items, attrgetter("order_item_id")):
        unearned = sum(term.unearned for term in parts)
        (item,) = books.connection.rows(
            """
            SELECT i.order_id, i.sub_total, i.tax_total, i.refunded, coalesce((
                SELECT sum(r.cents) FROM terms AS t JOIN revenue AS r
                    ON r.account_id = t.account_id AND r.term_id = t.term_id
                WHERE t.account_id = :account_id AND t.order_item_id = :item_id
                    AND r.account_id = :account_id AND r.kind = 'refunded'), 0)
            FROM order_items AS i
            WHERE i.account_id = :account_id AND i.order_item_id = :item_id
            """,
            account_id=books.account_id,
            item_id=item_id,
        )
        order_id, net, tax = item[0], *map(stored_cents, item[1:3])
        sold, booked = Item(net, tax, net, int(item[3])), int(item[4])
        share = tax_share(sold, unearned, booked - unearned)
        taxes += share
        if unearned:
            _refund_item(books, order_id, item_id, unearned + share)
    return taxes


def _refund_item(books: Operation, order_id: int, item_id: int, cents: int) -> None:
    books.connection.change(
        """
        UPDATE order_items SET refunded = refunded + :cents, refund_date = :at
        WHERE account_id = :account_id AND order_item_id = :item_id
        """,
        account_id=books.account_id,
        item_id=item_id,
        cents=cents,
        at=books.now,
    )
    books.connection.change(
        """
        UPDATE orders SET commit_id = :commit_id
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        account_id=books.account_id,
        order_id=order_id,
        commit_id=books.commit_id,
    )
