"""What deliveries and months earn, booked for many terms at once (circulation, "Money").

``store.books.earned_share_sql`` has the amounts, ``store.billing.closed_months`` the days.
"""

from masthead.store.billing.closed_months import open_days
from masthead.store.books.derived_values import write_balances
from masthead.store.books.earned_share_sql import DELIVERED, earned, months_served
from masthead.store.books.ids import next_ids
from masthead.store.books.issue import Issue, issues_of
from masthead.store.books.operation import Operation, Reading
from masthead.store.database import Value

_INTO = "revenue (account_id, revenue_id, term_id, issue_id, kind, cents, booked_on)"
_BOOKED_ON = "CASE WHEN t.paid_on > :day THEN t.paid_on ELSE :day END"
"""``:day`` is the open day for the issue's day; a payment may be later."""
_IS_PAID = "t.price > 0 AND t.paid_on IS NOT NULL"
_BOOKED = """(
    SELECT coalesce(CAST(sum(r.cents) AS BIGINT), 0) FROM revenue AS r
    WHERE r.account_id = :account_id AND r.term_id = t.term_id AND r.kind = 'earned')"""
_LATEST = """(
    SELECT r.revenue_id FROM revenue AS r
    LEFT JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = r.issue_id
    WHERE r.account_id = :account_id AND r.term_id = t.term_id AND r.kind = 'earned'
        AND r.cents > 0 AND (r.issue_id IS NULL
            OR (r.issue_id <> :issue_id AND i.closed_at IS NOT NULL))
    ORDER BY coalesce(i.date, '') DESC, r.revenue_id DESC LIMIT 1)"""
"""The revenue of the term ``t`` for its latest other closed issue, or else for its payment."""


def _open_day(day: str) -> str:
    """Return the SQL of ``OpenDays.day_for``."""
    return f"CASE WHEN {day} < :since THEN :instead ELSE {day} END"


def earn_by_deliveries(books: Operation, issue: Issue, mailing_list_id: int) -> None:
    """Book the share of a list's delivery, for each paid term with an end.

    ``issues_left`` has already changed. Nothing is booked before a term is paid.
    """
    cents = f"({earned(DELIVERED)} - {earned(f'({DELIVERED} - 1)')})"
    books.change(
        f"""
        INSERT INTO {_INTO}
        SELECT t.account_id, :first_id + row_number() OVER (ORDER BY d.subscription_id) - 1,
            t.term_id, :issue_id, 'earned', {cents}, {_BOOKED_ON}
        FROM subscription_issues AS d, terms AS t
        WHERE d.account_id = :account_id AND d.mailing_list_id = :mailing_list_id
            AND t.account_id = :account_id AND t.term_id = d.term_id
            AND t.issues > 0 AND {_IS_PAID} AND {cents} <> 0
        """,
        issue_id=issue.issue_id,
        mailing_list_id=mailing_list_id,
        day=open_days(books).day_for(issue.booked_on),
        first_id=next_ids(books.connection, books.account_id, "revenue"),
    )


def earn_by_months(books: Operation, issue: Issue) -> None:
    """Book what a publication's unlimited terms have earned by now, and update their balances.

    Months count up to the newest issue with a list; without one, nothing is earned. The booking is
    for ``issue``. If terms have earned less than is booked, the rest is taken back from the latest
    booking.
    """
    months = months_served(listed_issues(books, issue.publication_id))
    first_id = _settle(
        books,
        issue,
        f"""
        (WITH unlimited AS MATERIALIZED (
            SELECT t.*, {months} AS served FROM subscriptions AS s JOIN terms AS t
                ON t.account_id = :account_id AND t.subscription_id = s.subscription_id
            WHERE s.account_id = :account_id AND s.publication_id = :publication_id
                AND s.issues < 0 AND s.subscription_id IN (SELECT u.subscription_id FROM terms AS u
                    WHERE u.account_id = :account_id AND u.term_id > 0 AND u.issues_left < 0)
                AND t.issues_left < 0 AND {_IS_PAID}
                AND t.starts_on IS NOT NULL AND t.months > 0)
        SELECT * FROM unlimited) AS t
        """,
        earned("(CASE WHEN t.served < 0 THEN 0 ELSE t.served END)", "t.months"),
        publication_id=issue.publication_id,
    )
    if first_id is not None:
        _write_balances_since(books, first_id)


def _write_balances_since(books: Operation, first_id: int) -> None:
    """Update the balances of all subscriptions that have revenue from this id on."""
    write_balances(
        books,
        """(SELECT DISTINCT m.subscription_id AS key FROM terms AS m
        WHERE m.account_id = :account_id AND m.term_id IN (
            SELECT r.term_id FROM revenue AS r
            WHERE r.account_id = :account_id AND r.revenue_id >= :first_id))""",
        first_id=first_id,
    )


def take_back(books: Operation, issue: Issue, terms: str) -> None:
    """Take back what an issue earned, on the days of the bookings, or today.

    ``terms`` is a FROM item of the terms with an end out of which it came, in a column ``key``;
    they already have the issue back. An unpaid term of an order has earned nothing: what it had
    was taken back with its payment. If an earlier issue came later, the shares have moved: the
    difference is booked where the latest of them was.
    """
    first_id = next_ids(books.connection, books.account_id, "revenue")
    books.change(
        f"""
        INSERT INTO {_INTO}
        SELECT b.account_id, :first_id + row_number() OVER (ORDER BY b.term_id, b.booked_on) - 1,
            b.term_id, :issue_id, 'earned', -b.cents, b.booked_on
        FROM (
            SELECT r.account_id, r.term_id, {_open_day("r.booked_on")} AS booked_on,
                CAST(sum(r.cents) AS BIGINT) AS cents
            FROM revenue AS r JOIN terms AS t
                ON t.account_id = :account_id AND t.term_id = r.term_id
            WHERE r.account_id = :account_id AND r.issue_id = :issue_id AND r.kind = 'earned'
                AND t.ended_at IS NULL
                AND NOT (t.price > 0 AND t.paid_on IS NULL AND t.order_item_id IS NOT NULL)
            GROUP BY 1, 2, 3) AS b
        WHERE b.cents <> 0
        """,
        issue_id=issue.issue_id,
        **open_days(books)._asdict(),
        first_id=first_id,
    )
    _settle(
        books,
        issue,
        f"""
        (SELECT o.* FROM {terms} AS k JOIN terms AS o
            ON o.account_id = :account_id AND o.term_id = k.key
        WHERE o.issues > 0 AND o.price > 0 AND o.paid_on IS NOT NULL) AS t
        """,
        earned(DELIVERED),
    )
    _write_balances_since(books, first_id)


def listed_issues(books: Reading, publication_id: int) -> list[tuple[int, str]]:
    """Return id and date of the issues of a publication that have a list, by date."""
    return [
        (each.issue_id, each.date)
        for each in issues_of(books, publication_id)
        if each.mailing_list_id is not None
    ]


def _settle(books: Operation, issue: Issue, terms: str, target: str, **values: Value) -> int | None:
    """Book what the terms ``t`` should have earned; return the first id of revenue, if any.

    Additional earnings are booked for the issue; a decrease is booked where the latest earning was.
    """
    first_id = next_ids(books.connection, books.account_id, "revenue")
    taken_back_on = _open_day("coalesce(o.booked_on, e.paid_on)")
    days = open_days(books)
    booked = books.change(
        f"""
        INSERT INTO {_INTO}
        SELECT e.account_id, :first_id + row_number() OVER (ORDER BY e.term_id) - 1, e.term_id,
            CASE WHEN e.is_less = 0 THEN :issue_id ELSE o.issue_id END, 'earned', e.cents,
            CASE WHEN e.is_less = 0 THEN e.booked_on ELSE {taken_back_on} END
        FROM (
            WITH due AS MATERIALIZED (
                SELECT t.account_id, t.term_id, t.paid_on, {target} - {_BOOKED} AS cents
                FROM {terms})
            SELECT t.account_id, t.term_id, t.paid_on, {_BOOKED_ON} AS booked_on, t.cents,
                CASE WHEN t.cents < 0 THEN 1 ELSE 0 END AS is_less,
                CASE WHEN t.cents < 0 THEN {_LATEST} END AS latest
            FROM due AS t WHERE t.cents <> 0) AS e
        LEFT JOIN revenue AS o ON o.account_id = :account_id AND o.revenue_id = e.latest
        """,
        issue_id=issue.issue_id,
        day=days.day_for(issue.booked_on),
        **days._asdict(),
        first_id=first_id,
        **values,
    )
    return first_id if booked else None
