"""Undoing a cancelling, exactly, until the publication's next issue is closed.

Additional rows take back what was booked. The functions run in an operation
(``store.books.operation``).
"""

from itertools import groupby
from operator import itemgetter

from masthead.errors import BadInput
from masthead.store.books.derived_values import refresh
from masthead.store.books.ids import next_ids
from masthead.store.books.issue import Issue
from masthead.store.books.names import subscription_named
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.stored_expiry_dates import GOES_ON
from masthead.store.books.subscription import stored_subscription
from masthead.store.key_lists import KeyLists

_REVIVED = "books_revived"


def uncancel(books: Operation, subscription_id: int) -> None:
    """Undo the cancelling of a subscription, whether it has ended or not.

    Terms, issues, the campaign and money are as before. Raises what :func:`check` raises.
    """
    if check(books, subscription_id):
        _revive(books, "c.subscription_id = :subscription_id", subscription_id=subscription_id)
    withdraw(books, subscription_id)


def check(books: Reading, subscription_id: int) -> bool:
    """Return whether a subscription that was cancelled has ended; its cancelling can be undone.

    Raises NotFound if there is no such subscription. Raises BadInput if the subscription was not
    cancelled, if its reader was deleted, or if, since it ended, an issue of its publication was
    closed, money of its orders was paid or refunded, or its reader qualified again.
    """
    stored_subscription(books.connection, books.account_id, subscription_id)
    found = books.row_as(
        tuple[str | None, str | None, str | None, str | None],
        """
        SELECT c.ended_on, i.name, i.date, r.delete_date FROM subscriptions AS s
        JOIN cancellations AS c
            ON c.account_id = s.account_id AND c.subscription_id = s.subscription_id
        JOIN subscribers AS r ON r.account_id = s.account_id AND r.subscriber_id = s.subscriber_id
        LEFT JOIN issues AS i ON i.account_id = c.account_id AND i.issue_id = c.final_issue_id
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    if found is None:
        raise BadInput(
            f"{subscription_named(books, subscription_id)} was not cancelled here: nothing to undo"
        )
    ended_on, issue, day, delete_date = found
    again = "an order begins a new one"
    if day is not None:
        raise BadInput(
            f"{subscription_named(books, subscription_id)} was cancelled on {ended_on}, and "
            f"{issue or 'the issue'} of {day} was closed since, without it: that can "
            f"no longer be undone; {again}",
            code="cancelled",
        )
    if delete_date is not None:
        raise BadInput(
            f"the reader of {subscription_named(books, subscription_id)} was deleted since"
        )
    if _was_booked_since(books, subscription_id):
        raise BadInput(
            f"money of the orders of {subscription_named(books, subscription_id)} was paid or "
            f"refunded since it was cancelled on {ended_on}: that can no longer be "
            f"undone; {again}",
            code="cancelled",
        )
    if ended_on is not None and _qualified_since(books, subscription_id):
        raise BadInput(
            f"the reader qualified again since {subscription_named(books, subscription_id)} was "
            f"cancelled on {ended_on}, and both subscriptions would get copies: cancel the other "
            "one first"
        )
    return ended_on is not None


def refunded_by(books: Reading, subscription_id: int) -> int:
    """Return the cents with tax that were refunded when a cancelled subscription ended."""
    cents = books.value_as(
        int,
        """
        SELECT coalesce(sum(e.refunded + e.tax), 0) FROM cancellations AS c
        JOIN terms AS t ON t.account_id = :account_id AND t.subscription_id = c.subscription_id
        JOIN cancelled_terms AS e ON e.account_id = :account_id AND e.term_id = t.term_id
        WHERE c.account_id = :account_id AND c.subscription_id = :subscription_id
            AND c.ended_on IS NOT NULL
        """,
        subscription_id=subscription_id,
    )
    return int(cents or 0)


def withdraw(books: Operation, subscription_id: int) -> bool:
    """Remove the cancelling of a subscription that has not ended yet; return whether there was one.

    The subscription is in the campaign again if it was before. The caller refreshes it.
    """
    campaign = books.value_as(
        int,
        """
        SELECT c.campaign FROM cancellations AS c
        WHERE c.account_id = :account_id AND c.subscription_id = :subscription_id
            AND c.ended_on IS NULL
        """,
        subscription_id=subscription_id,
    )
    if campaign is None:
        return False
    books.change(
        """
        UPDATE subscriptions SET renew_campaign_active = :campaign, commit_id = :commit_id
        WHERE account_id = :account_id AND subscription_id = :subscription_id
            AND renew_campaign_active <> :campaign
        """,
        campaign=campaign,
        commit_id=books.commit_id,
        subscription_id=subscription_id,
    )
    books.change(
        """
        DELETE FROM cancellations
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    return True


def finalize(books: Operation, issue: Issue) -> None:
    """Note that the issue closed after earlier cancellings took effect; these are now final."""
    books.change(
        """
        UPDATE cancellations SET final_issue_id = :issue_id
        WHERE account_id = :account_id AND ended_on IS NOT NULL AND final_issue_id IS NULL
            AND EXISTS (SELECT 1 FROM subscriptions AS s
                WHERE s.account_id = :account_id AND s.publication_id = :publication_id
                    AND s.subscription_id = cancellations.subscription_id)
        """,
        issue_id=issue.issue_id,
        publication_id=issue.publication_id,
    )


def go_back(books: Operation, issue: Issue) -> None:
    """Revive the subscriptions that the closing of an issue has ended; they will end later.

    The cancellings that this closing made final can be undone again. The subscriptions are
    refreshed. Raises BadInput if the payment of an order of one of them came back since.
    """
    if books.row(
        """
        SELECT 1 FROM cancellations AS c
        JOIN terms AS t ON t.account_id = :account_id AND t.subscription_id = c.subscription_id
        JOIN cancelled_terms AS e ON e.account_id = :account_id AND e.term_id = t.term_id
        JOIN order_items AS i
            ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
        JOIN orders AS o ON o.account_id = :account_id AND o.order_id = i.order_id
        WHERE c.account_id = :account_id AND c.ended_issue_id = :issue_id
            AND t.price > 0 AND t.paid_on IS NOT NULL AND o.paid_on IS NULL
        LIMIT 1
        """,
        issue_id=issue.issue_id,
    ):
        raise BadInput(
            f"{issue.title} stays closed: a subscription ended with it, and its payment came back "
            "since"
        )
    books.change(
        """
        UPDATE cancellations SET final_issue_id = NULL
        WHERE account_id = :account_id AND final_issue_id = :issue_id
        """,
        issue_id=issue.issue_id,
    )
    _revive(books, "c.ended_issue_id = :issue_id", issue_id=issue.issue_id)


def _qualified_since(books: Reading, subscription_id: int) -> bool:
    """Return whether the reader has another free subscription since a free one ended."""
    return bool(
        books.row(
            f"""
            SELECT 1 FROM subscriptions AS s
            JOIN cancellations AS c
                ON c.account_id = :account_id AND c.subscription_id = s.subscription_id
            JOIN qualified_subscriptions AS w ON w.account_id = :account_id
                AND w.subscription_id = s.subscription_id AND w.served = 1 AND w.lapsed_by IS NULL
            JOIN subscriptions AS o ON o.account_id = :account_id
                AND o.subscriber_id = s.subscriber_id AND o.publication_id = s.publication_id
                AND o.type = s.type AND o.cancelled_on IS NULL AND o.date_created >= c.ended_on
            JOIN qualified_subscriptions AS q ON q.account_id = :account_id
                AND q.subscription_id = o.subscription_id AND {GOES_ON}
            WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id LIMIT 1
            """,
            subscription_id=subscription_id,
        )
    )


def _was_booked_since(books: Reading, subscription_id: int) -> bool:
    return bool(
        books.row(
            """
            SELECT 1 FROM cancellations AS c
            JOIN terms AS t ON t.account_id = c.account_id AND t.subscription_id = c.subscription_id
            JOIN cancelled_terms AS e ON e.account_id = t.account_id AND e.term_id = t.term_id
            WHERE c.account_id = :account_id AND c.subscription_id = :subscription_id
                AND c.ended_on IS NOT NULL AND (EXISTS (
                    SELECT 1 FROM revenue AS r WHERE r.account_id = t.account_id
                        AND r.term_id = t.term_id AND r.revenue_id > coalesce(c.revenue_id, -1))
                OR EXISTS (
                    SELECT 1 FROM terms AS o JOIN revenue AS r
                        ON r.account_id = o.account_id AND r.term_id = o.term_id
                    WHERE o.account_id = t.account_id AND o.order_item_id = t.order_item_id
                        AND r.kind = 'refunded' AND r.revenue_id > coalesce(c.revenue_id, -1))
                OR (t.price > 0 AND EXISTS (
                    SELECT 1 FROM order_items AS i JOIN orders AS o
                        ON o.account_id = i.account_id AND o.order_id = i.order_id
                    WHERE i.account_id = t.account_id AND i.order_item_id = t.order_item_id
                        AND (o.paid_on IS NULL) <> (t.paid_on IS NULL))))
            LIMIT 1
            """,
            subscription_id=subscription_id,
        )
    )


def _revive(books: Operation, which: str, **values: int) -> None:
    """Revive ended subscriptions; afterwards they are still cancelled, but have not ended.

    ``which`` is a condition on ``cancellations AS c``.
    """
    lists = KeyLists(books.connection, books.account_id, books.commit_id)
    if not lists.keep(
        _REVIVED,
        f"""SELECT c.subscription_id AS key FROM cancellations AS c
        WHERE c.account_id = :account_id AND c.ended_on IS NOT NULL AND {which}""",
        ("key",),
        **values,
    ):
        return
    keys = lists.keys_in(_REVIVED)
    of_these = f"""{keys} AS k JOIN terms AS t
        ON t.account_id = :account_id AND t.subscription_id = k.key
        JOIN cancelled_terms AS e ON e.account_id = t.account_id AND e.term_id = t.term_id"""
    books.change(
        f"""
        INSERT INTO revenue (account_id, revenue_id, term_id, kind, cents, booked_on)
        SELECT e.account_id, :first_id + row_number() OVER (ORDER BY e.term_id) - 1, e.term_id,
            CASE WHEN e.refunded > 0 THEN 'refunded' ELSE 'earned' END, -e.earned - e.refunded,
            :today
        FROM {of_these} WHERE e.earned + e.refunded <> 0
        """,
        first_id=next_ids(books.connection, books.account_id, "revenue"),
        today=books.today,
    )
    _take_back_refunds(books, of_these, keys)
    books.change(
        f"""
        UPDATE terms AS t SET issues_left = e.issues_left, ended_at = NULL
        FROM cancelled_terms AS e
        WHERE t.account_id = :account_id AND t.subscription_id IN (SELECT k.key FROM {keys} AS k)
            AND e.account_id = :account_id AND e.term_id = t.term_id
        """,
    )
    books.change(
        f"""
        DELETE FROM cancelled_terms WHERE account_id = :account_id AND term_id IN (
            SELECT t.term_id FROM {keys} AS k JOIN terms AS t
                ON t.account_id = :account_id AND t.subscription_id = k.key)
        """,
    )
    for table, change in (
        ("subscriptions", "cancelled_on = NULL, commit_id = :commit_id"),
        ("cancellations", "ended_on = NULL, ended_issue_id = NULL, revenue_id = NULL"),
    ):
        commit = {"commit_id": books.commit_id} if ":commit_id" in change else {}
        books.change(
            f"""
            UPDATE {table} SET {change}
            WHERE account_id = :account_id AND subscription_id IN (SELECT k.key FROM {keys} AS k)
            """,
            **commit,
        )
    refresh(books, f"SELECT k.key FROM {keys} AS k")
    lists.drop(_REVIVED)


def _take_back_refunds(books: Operation, of_these: str, keys: str) -> None:
    """Give items of orders the refunds that they had before the subscriptions ended.

    The item's former ``refund_date`` is stored with its first term. It comes back only if another
    subscription, not one of ``keys``, ended with a refund of the item: an allowance alone leaves an
    item without a date.
    """
    rows = books.rows_as(
        tuple[int, int, str | None],
        f"""
        SELECT t.order_item_id, e.refunded + e.tax, e.refund_date
        FROM {of_these} WHERE t.order_item_id IS NOT NULL AND e.refunded > 0
        ORDER BY t.order_item_id, e.term_id
        """,
    )
    for item_id, parts in groupby(rows, itemgetter(0)):
        own = list(parts)
        books.change(
            f"""
            UPDATE order_items SET refunded = refunded - :cents, refund_date = CASE WHEN EXISTS (
                SELECT 1 FROM terms AS o JOIN cancelled_terms AS c
                    ON c.account_id = o.account_id AND c.term_id = o.term_id
                WHERE o.account_id = :account_id AND o.order_item_id = :item_id
                    AND c.account_id = :account_id AND c.refunded > 0
                    AND o.subscription_id NOT IN (SELECT k.key FROM {keys} AS k)
                ) THEN coalesce(:refund_date, refund_date) END
            WHERE account_id = :account_id AND order_item_id = :item_id
            """,
            cents=sum(cents for _, cents, _ in own),
            refund_date=own[0][2],
            item_id=item_id,
        )
        books.change(
            """
            UPDATE orders SET commit_id = :commit_id
            WHERE account_id = :account_id AND order_id = (
                SELECT i.order_id FROM order_items AS i
                WHERE i.account_id = :account_id AND i.order_item_id = :item_id)
            """,
            commit_id=books.commit_id,
            item_id=item_id,
        )
