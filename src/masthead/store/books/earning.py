"""What deliveries and months earn, booked for many terms at once (circulation, "Money").

``circulation.shares`` has the same rules for one term, ``circulation.booking`` the days.
"""

from datetime import date

from masthead.circulation.booking import open_day
from masthead.circulation.shares import last_day_reached
from masthead.store.books.ids import next_ids
from masthead.store.books.issue import Issue
from masthead.store.books.operation import Operation
from masthead.store.books.refreshing import renew_balances
from masthead.store.database import Value

__all__ = ["earn_by_deliveries", "earn_by_months"]

_MONTH = len("YYYY-MM")
_INTO = "revenue (account_id, revenue_id, term_id, issue_id, kind, cents, booked_on)"
_BOOKED_ON = "CASE WHEN t.paid_on > :day THEN t.paid_on ELSE :day END"
"""``circulation.booking.booked_on``; ``:day`` is ``open_day`` of the issue's date."""

_TAKEN_BACK_ON = """(SELECT CASE WHEN b.day < :month THEN :today ELSE b.day END
    FROM (SELECT coalesce((SELECT r.booked_on FROM revenue AS r
        WHERE r.account_id = :account_id AND r.term_id = {term_id} AND r.issue_id = :issue_id
            AND r.kind = 'earned' AND r.cents > 0
        ORDER BY r.revenue_id DESC LIMIT 1), {paid_on}) AS day) AS b)"""
"""``open_day`` of the day on which the share of an issue was booked: by its closing, or else by the
payment."""

_EARNED = "t.price * (t.issues - t.issues_left + {more}) / t.issues"


def earn_by_deliveries(
    running: Operation, issue: Issue, delivered: str, *, undone: bool = False, **values: Value
) -> None:
    """Book the share of the last delivery of each paid term with an end.

    ``delivered`` is a FROM item ``d`` with its conditions, of which ``term_id`` and
    ``subscription_id`` are read; ``issues_left`` has been changed already. With ``undone``, the
    delivery was undone, and what it earned is taken back on the day on which that was booked.
    Nothing is booked before a term was paid.
    """
    before = _EARNED.format(more=1 if undone else -1)
    cents = f"({_EARNED.format(more=0)} - {before})"
    undone_on = _TAKEN_BACK_ON.format(term_id="t.term_id", paid_on="t.paid_on")
    running.connection.change(
        f"""
        INSERT INTO {_INTO}
        SELECT t.account_id, :first_id + row_number() OVER (ORDER BY d.subscription_id) - 1,
            t.term_id, :issue_id, 'earned', {cents}, {undone_on if undone else _BOOKED_ON}
        FROM {delivered} AND t.account_id = :account_id AND t.term_id = d.term_id
            AND t.issues > 0 AND t.price > 0 AND t.paid_on IS NOT NULL AND {cents} <> 0
        """,
        account_id=running.account_id,
        issue_id=issue.issue_id,
        first_id=next_ids(running.connection, running.account_id, "revenue"),
        **_days(running, issue),
        **values,
    )


def earn_by_months(running: Operation, issue: Issue, newest: str | None) -> None:
    """Book what a publication's unlimited terms have earned by now, and renew their balances.

    That is up to the date of its ``newest`` closed issue, nothing if there is none. After a
    reopening it is less than before, which is taken back as :func:`earn_by_deliveries` does. It is
    booked for ``issue``.
    """
    until = date.fromisoformat(newest or "0001-01-01")
    elapsed = f"""({until.year * 12 + until.month}
        - 12 * CAST(substr(t.starts_on, 1, 4) AS BIGINT)
        - CAST(substr(t.starts_on, 6, 2) AS BIGINT)
        - CASE WHEN CAST(substr(t.starts_on, 9, 2) AS BIGINT) > {last_day_reached(until)}
            THEN 1 ELSE 0 END)"""
    undone_on = _TAKEN_BACK_ON.format(term_id="e.term_id", paid_on="e.paid_on")
    first_id = next_ids(running.connection, running.account_id, "revenue")
    booked = running.connection.change(
        f"""
        INSERT INTO {_INTO}
        SELECT e.account_id, :first_id + row_number() OVER (ORDER BY e.term_id) - 1, e.term_id,
            :issue_id, 'earned', e.cents,
            CASE WHEN e.cents < 0 THEN {undone_on} ELSE e.booked_on END
        FROM (
            SELECT t.account_id, t.term_id, t.paid_on, {_BOOKED_ON} AS booked_on,
                t.price * CASE WHEN {elapsed} <= 0 THEN 0 WHEN {elapsed} >= t.months THEN t.months
                    ELSE {elapsed} END / t.months - (
                    SELECT coalesce(CAST(sum(r.cents) AS BIGINT), 0) FROM revenue AS r
                    WHERE r.account_id = :account_id AND r.term_id = t.term_id
                        AND r.kind = 'earned') AS cents
            FROM subscriptions AS s JOIN terms AS t
                ON t.account_id = :account_id AND t.subscription_id = s.subscription_id
            WHERE s.account_id = :account_id AND s.publication_id = :publication_id
                AND s.issues < 0 AND t.issues_left < 0 AND t.price > 0
                AND t.paid_on IS NOT NULL AND t.starts_on IS NOT NULL AND t.months > 0
        ) AS e
        WHERE e.cents <> 0
        """,
        account_id=running.account_id,
        publication_id=issue.publication_id,
        issue_id=issue.issue_id,
        first_id=first_id,
        **_days(running, issue),
    )
    if booked:
        renew_balances(
            running,
            """(SELECT DISTINCT m.subscription_id AS key FROM terms AS m
            WHERE m.account_id = :account_id AND m.term_id IN (
                SELECT r.term_id FROM revenue AS r
                WHERE r.account_id = :account_id AND r.revenue_id >= :first_id))""",
            first_id=first_id,
        )


def _days(running: Operation, issue: Issue) -> dict[str, str]:
    """Return what the days of bookings depend on."""
    today = running.today
    return {"day": open_day(issue.date, today), "today": today, "month": today[:_MONTH]}
