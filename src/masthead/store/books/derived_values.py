"""Values of a subscription derived from terms and issues (circulation, "What is stored").

These are ``issues``, ``copies``, ``paid_issues_left``, ``unearned_revenue`` and ``date_expired``.
Only rows in which one of them differs are written and get the operation's commit.
"""

from collections.abc import Iterable

from masthead.store.books.earned_share_sql import DELIVERED, earned
from masthead.store.books.operation import Operation
from masthead.store.books.order_keys import listed
from masthead.store.books.serving_sql import IS_PASSED_OVER
from masthead.store.books.stored_expiry_dates import GOES_ON, write_expiry_dates
from masthead.store.database import Value
from masthead.store.key_lists import KeyLists

_REFRESHED = "books_refreshed"

_IDS_MAX = 5_000
"""The most subscription ids that one statement names."""

_IS_PAID = "t.paid_on IS NOT NULL"
_ISSUES = """CASE WHEN n.qualification_id IS NOT NULL AND s.cancelled_on IS NULL THEN -1
            ELSE n.issues END"""
_UNEARNED = f"""
    CASE WHEN t.issues_left > 0
        THEN t.price - t.allowed - ({earned(DELIVERED)})
        ELSE t.price - (
            SELECT coalesce(CAST(sum(r.cents) AS BIGINT), 0) FROM revenue AS r
            WHERE r.account_id = :account_id AND r.term_id = t.term_id AND r.kind <> 'received')
    END
    """
"""The unearned revenue of a paid term with issues left. A term with an end counts its deliveries,
which equal the bookings; an unlimited term counts the bookings."""


def refresh(
    books: Operation, subscriptions: str, *, with_kinds: bool = True, **values: Value
) -> int:
    """Recompute the derived values of subscriptions; return the number of balances written.

    ``subscriptions`` is a query of one column, their ids; it may use ``:account_id`` and the
    parameters ``values``. Afterwards ``subscription_kinds`` is complete, including rows that the
    operation itself changed and gave ``books.commit_id``. So an operation calls this once, after
    all its other writes. Before, it may call it without ``with_kinds``, which reads no other rows:
    ``books.lacks_kinds`` says that they are to be added at the end.
    """
    # Each refreshing drops its lists.
    lists = KeyLists(books.connection, books.account_id, books.commit_id, are_new=True)
    lists.keep(
        _REFRESHED,
        f"WITH found (key) AS ({subscriptions}) SELECT DISTINCT key FROM found",
        ("key",),
        **values,
    )
    keys = lists.keys_in(_REFRESHED)
    written = write_balances(books, keys)
    write_expiry_dates(books, lists, keys)
    lists.drop(_REFRESHED)
    if with_kinds:
        add_kinds(books)
    books.lacks_kinds = not with_kinds
    return written


def refresh_subscriptions(
    books: Operation, subscriptions: Iterable[int], *, with_kinds: bool = True
) -> None:
    """Recompute the derived values of subscriptions, given by their ids (:func:`refresh`)."""
    ids = sorted(subscriptions)
    for first in range(0, len(ids), _IDS_MAX):
        refresh(
            books,
            f"""SELECT s.subscription_id FROM subscriptions AS s
            WHERE s.account_id = :account_id
                AND s.subscription_id IN ({listed(ids[first : first + _IDS_MAX])})""",
            with_kinds=with_kinds,
        )


def decimal_of(cents: str) -> str:
    """Return the SQL for the decimal text, ``12.50``, of an expression in cents, 0 or above."""
    return (
        f"CAST({cents} / 100 AS TEXT) || '.' || CAST({cents} % 100 / 10 AS TEXT)"
        f" || CAST({cents} % 10 AS TEXT)"
    )


def write_balances(books: Operation, keys: str, **values: Value) -> int:
    """Update issues, paid issues, unearned revenue and copies of subscriptions that differ.

    The copies are those of the term that is delivered next; without issues left they stay. A
    subscription that goes by a qualification has every issue (decisions, "Issues of who
    qualifies").

    ``keys`` is a FROM item whose column ``key`` has each id once. Returns the number of rows
    written.
    """
    return books.change(
        f"""
        UPDATE subscriptions AS s SET issues = {_ISSUES}, paid_issues_left = n.paid,
            unearned_revenue = n.unearned, commit_id = :commit_id,
            copies = coalesce(n.copies, s.copies)
        FROM (
            SELECT b.key, b.issues, b.paid, {decimal_of("b.cents")} AS unearned,
                c.copies + c.free_copies AS copies, q.qualification_id
            FROM (
                SELECT k.key,
                    CASE WHEN min(t.issues_left) < 0 THEN -1
                        ELSE coalesce(CAST(sum(t.issues_left) AS BIGINT), 0) END AS issues,
                    CASE WHEN min(t.issues_left) < 0 THEN NULL
                        ELSE coalesce(CAST(sum(CASE WHEN {_IS_PAID} THEN t.issues_left END)
                            AS BIGINT), 0) END AS paid,
                    coalesce(CAST(sum(CASE WHEN {_IS_PAID} THEN {_UNEARNED} END)
                        AS BIGINT), 0) AS cents,
                    CASE WHEN max(CASE WHEN {_IS_PAID} THEN 1 END) = 1
                        THEN min(CASE WHEN NOT {IS_PASSED_OVER} THEN t.term_id END)
                        ELSE min(t.term_id) END AS term_id
                FROM {keys} AS k
                LEFT JOIN terms AS t ON t.account_id = :account_id
                    AND t.subscription_id = k.key AND t.issues_left <> 0
                GROUP BY k.key
            ) AS b
            LEFT JOIN terms AS c ON c.account_id = :account_id AND c.term_id = b.term_id
            LEFT JOIN qualified_subscriptions AS q ON q.account_id = :account_id
                AND q.subscription_id = b.key AND {GOES_ON}
        ) AS n
        WHERE s.account_id = :account_id AND s.subscription_id = n.key
            AND (s.issues IS DISTINCT FROM {_ISSUES} OR s.paid_issues_left IS DISTINCT FROM n.paid
                OR s.unearned_revenue IS DISTINCT FROM n.unearned
                OR (n.copies IS NOT NULL AND s.copies IS DISTINCT FROM n.copies))
        """,
        commit_id=books.commit_id,
        **values,
    )


def add_kinds(books: Operation, publication_id: int | None = None) -> None:
    """Add the missing kinds of the operation's subscriptions.

    With ``publication_id``, adds those of all its subscriptions: these come from an index, which is
    faster if most have changed.
    """
    columns = "account_id, publication_id, type, copies, issues, renew_campaign_active"
    which, value = (
        ("commit_id", books.commit_id)
        if publication_id is None
        else ("publication_id", publication_id)
    )
    books.change(
        f"""
        INSERT INTO subscription_kinds ({columns})
        SELECT DISTINCT {columns} FROM subscriptions
        WHERE account_id = :account_id AND {which} = :{which}
        EXCEPT SELECT {columns} FROM subscription_kinds WHERE account_id = :account_id
        """,
        **{which: value},
    )
