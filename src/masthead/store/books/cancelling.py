"""Cancelling a subscription: now, after an issue, or when its issues are used up.

What is unearned at the end is given back or earned. ``store.books.uncancelling`` undoes it.
"""

from typing import NamedTuple

from masthead.circulation.amounts import stored_cents
from masthead.circulation.refunding import Item, tax_share
from masthead.store.books.derived_values import refresh
from masthead.store.books.ids import next_ids
from masthead.store.books.issue import Issue
from masthead.store.books.operation import Operation, Reading
from masthead.store.key_lists import KeyLists

_ENDING = "books_ending"
_UNEARNED = """
    coalesce((SELECT sum(CASE WHEN r.kind = 'received' THEN r.cents ELSE -r.cents END)
        FROM revenue AS r WHERE r.account_id = t.account_id AND r.term_id = t.term_id), 0)
    """


class Noted(NamedTuple):
    """A cancelling that was noted: why and on which day, and how the subscription ends.

    ``after_issue`` is the id of its last issue; with ``at_end`` (0 or 1), it ends when its issues
    are used up. ``is_refund`` (0 or 1) says whether money is given back then.
    """

    reason: str | None
    made_on: str
    after_issue: int | None
    at_end: int
    is_refund: int


def noted(books: Reading, subscription_id: int) -> Noted | None:
    """Return a cancelling as it was noted.

    Return None if the subscription is not cancelled, or has ended.
    """
    return _noted(books, subscription_id, "ended_on IS NULL")


def ended_by(books: Reading, subscription_id: int) -> Noted | None:
    """Return the cancelling by which a subscription has ended, None if there is none."""
    return _noted(books, subscription_id, "ended_on IS NOT NULL")


def _noted(books: Reading, subscription_id: int, which: str) -> Noted | None:
    return books.row_as(
        Noted,
        f"""
        SELECT reason, made_on, after_issue_id, at_end, is_refund FROM cancellations
        WHERE account_id = :account_id AND subscription_id = :subscription_id AND {which}
        """,
        subscription_id=subscription_id,
    )


def note_cancelling(
    books: Operation,
    subscription_id: int,
    reason: str | None,
    *,
    refund: bool,
    after_issue: int | None,
    at_end: bool,
) -> None:
    """Note that a subscription is cancelled, how it ends, and whether it was in the campaign."""
    books.change(
        """
        INSERT INTO cancellations (account_id, subscription_id, reason, made_on, after_issue_id,
            at_end, is_refund, campaign)
        SELECT s.account_id, s.subscription_id, :reason, :today, :after_issue, :at_end, :refund,
            s.renew_campaign_active
        FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
        reason=reason,
        today=books.today,
        after_issue=after_issue,
        at_end=int(at_end),
        refund=int(refund),
    )


def leave_campaign(books: Operation, subscription_id: int) -> None:
    """Take a subscription that has not ended yet out of the renewal campaign."""
    books.change(
        """
        UPDATE subscriptions SET renew_campaign_active = 0, commit_id = :commit_id
        WHERE account_id = :account_id AND subscription_id = :subscription_id
            AND renew_campaign_active <> 0
        """,
        subscription_id=subscription_id,
        commit_id=books.commit_id,
    )


def end_now(books: Operation, subscription_id: int) -> tuple[int, int, int]:
    """End a cancelled subscription; return cents: refunded, their tax, earned."""
    return _end(books, "c.subscription_id = :subscription_id", subscription_id=subscription_id)


def end_due(books: Operation, issue: Issue) -> int:
    """End cancelled subscriptions whose last issue was this one; return their number.

    ``issue`` was just closed, or got a gap list. The ended subscriptions are refreshed.
    """
    which = """(c.after_issue_id = :issue_id OR (c.at_end = 1 AND s.issues = 0))
        AND s.publication_id = :publication_id"""
    values = {"issue_id": issue.issue_id, "publication_id": issue.publication_id}
    if not books.row(f"SELECT 1 {_to_come(which)} LIMIT 1", **values):
        return 0
    _end(books, which, **values)
    return refresh(
        books,
        """SELECT c.subscription_id FROM cancellations AS c
        WHERE c.account_id = :account_id AND c.ended_issue_id = :ended""",
        ended=issue.issue_id,
    )


def _to_come(which: str) -> str:
    return f"""
        FROM cancellations AS c JOIN subscriptions AS s
            ON s.account_id = c.account_id AND s.subscription_id = c.subscription_id
        WHERE c.account_id = :account_id AND c.ended_on IS NULL AND s.cancelled_on IS NULL
            AND {which}
        """


def _end(books: Operation, which: str, **values: int) -> tuple[int, int, int]:
    """End cancelled subscriptions; return the cents refunded, their tax, and earned.

    ``which`` is a condition on ``cancellations AS c`` and ``subscriptions AS s``.
    """
    lists = KeyLists(books.connection, books.account_id, books.commit_id)
    lists.keep(
        _ENDING,
        f"SELECT c.subscription_id AS key, c.is_refund AS other {_to_come(which)}",
        ("key", "other"),
        **values,
    )
    keys = lists.keys_in(_ENDING)
    books.change(
        f"""
        INSERT INTO cancelled_terms (account_id, term_id, issues_left, earned, refunded)
        SELECT u.account_id, u.term_id, u.issues_left,
            CASE WHEN u.other = 0 THEN u.cents ELSE 0 END,
            CASE WHEN u.other = 1 THEN u.cents ELSE 0 END
        FROM (
            SELECT t.account_id, t.term_id, t.issues_left, k.other,
                CAST({_UNEARNED} AS BIGINT) AS cents
            FROM {keys} AS k JOIN terms AS t
                ON t.account_id = :account_id AND t.subscription_id = k.key
            WHERE t.ended_at IS NULL
        ) AS u
        """,
    )
    of_these = f"""{keys} AS k JOIN terms AS t
        ON t.account_id = :account_id AND t.subscription_id = k.key AND t.ended_at IS NULL
        JOIN cancelled_terms AS e ON e.account_id = t.account_id AND e.term_id = t.term_id"""
    books.change(
        f"""
        INSERT INTO revenue (account_id, revenue_id, term_id, kind, cents, booked_on)
        SELECT e.account_id, :first_id + row_number() OVER (ORDER BY e.term_id) - 1, e.term_id,
            CASE WHEN k.other = 1 THEN 'refunded' ELSE 'earned' END, e.earned + e.refunded, :today
        FROM {of_these} WHERE e.earned + e.refunded <> 0
        """,
        first_id=next_ids(books.connection, books.account_id, "revenue"),
        today=books.today,
    )
    tax = _refund_items(books, of_these)
    ((refunded, earned),) = books.rows_as(
        tuple[int, int],
        f"""
        SELECT CAST(coalesce(sum(e.refunded), 0) AS BIGINT),
            CAST(coalesce(sum(e.earned), 0) AS BIGINT)
        FROM {of_these}
        """,
    )
    books.change(
        f"""
        UPDATE terms SET issues_left = 0, ended_at = :now
        WHERE account_id = :account_id AND ended_at IS NULL
            AND subscription_id IN (SELECT k.key FROM {keys} AS k)
        """,
        now=books.now,
    )
    books.change(
        f"""
        UPDATE subscriptions
        SET cancelled_on = :today, renew_campaign_active = 0, commit_id = :commit_id
        WHERE account_id = :account_id AND subscription_id IN (SELECT k.key FROM {keys} AS k)
        """,
        today=books.today,
        commit_id=books.commit_id,
    )
    books.change(
        f"""
        UPDATE cancellations SET ended_on = :today, ended_issue_id = :issue_id,
            revenue_id = :newest_revenue
        WHERE account_id = :account_id AND subscription_id IN (SELECT k.key FROM {keys} AS k)
        """,
        today=books.today,
        issue_id=values.get("issue_id"),
        newest_revenue=next_ids(books.connection, books.account_id, "revenue") - 1,
    )
    lists.drop(_ENDING)
    return refunded, tax, earned


def _refund_items(books: Operation, of_these: str) -> int:
    """Note in the items of orders what is refunded of their terms; return its tax in cents.

    The first term of an item that ends stores the item's tax and its former ``refund_date``.
    """
    rows = books.rows_as(
        tuple[int, int, int],
        f"""
        SELECT t.order_item_id, min(t.term_id), CAST(sum(e.refunded) AS BIGINT)
        FROM {of_these} WHERE t.order_item_id IS NOT NULL AND e.refunded > 0
        GROUP BY t.order_item_id, k.key ORDER BY min(t.term_id)
        """,
    )
    taxes = 0
    before: dict[int, int] = {}
    for item_id, _, unearned in rows:
        before[item_id] = before.get(item_id, 0) + unearned
    for item_id, term_id, unearned in rows:
        ((order_id, *amounts, refunded, refund_date, booked),) = books.rows_as(
            tuple[int, str, str, int, str | None, int],
            """
            SELECT i.order_id, i.sub_total, i.tax_total, i.refunded, i.refund_date, CAST(coalesce((
                SELECT sum(r.cents) FROM terms AS t JOIN revenue AS r
                    ON r.account_id = t.account_id AND r.term_id = t.term_id
                WHERE t.account_id = :account_id AND t.order_item_id = :item_id
                    AND r.account_id = :account_id AND r.kind = 'refunded'), 0) AS BIGINT)
            FROM order_items AS i
            WHERE i.account_id = :account_id AND i.order_item_id = :item_id
            """,
            item_id=item_id,
        )
        net, tax = map(stored_cents, amounts)
        share = tax_share(Item(net, tax, net, refunded), unearned, booked - before[item_id])
        before[item_id] -= unearned
        taxes += share
        _refund_item(books, order_id, item_id, unearned + share)
        books.change(
            """
            UPDATE cancelled_terms SET tax = :tax, refund_date = :refund_date
            WHERE account_id = :account_id AND term_id = :term_id
            """,
            term_id=term_id,
            tax=share,
            refund_date=refund_date,
        )
    return taxes


def _refund_item(books: Operation, order_id: int, item_id: int, cents: int) -> None:
    books.change(
        """
        UPDATE order_items SET refunded = refunded + :cents, refund_date = :at
        WHERE account_id = :account_id AND order_item_id = :item_id
        """,
        item_id=item_id,
        cents=cents,
        at=books.now,
    )
    books.change(
        """
        UPDATE orders SET commit_id = :commit_id
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        order_id=order_id,
        commit_id=books.commit_id,
    )
