"""What expires when: by the current subscriptions, and as known on a past day.

Rules: circulation, "Expiry" and "Reports"; rules, "The expiries of a past day". Cancelled
subscriptions and those of deleted subscribers are left out.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from masthead.circulation.expiry_dates import Calendar, Range, date_expired, day_before_next
from masthead.circulation.expiry_report import Expiring, Schedule
from masthead.store.database import Connection


class _Issue(NamedTuple):
    date: date
    name: str
    is_closed: bool
    is_listed: bool


def _issues(connection: Connection, account_id: int, day: str | None) -> dict[int, list[_Issue]]:
    """Return the issues by publication, sorted by date, closed as of a day."""
    found: dict[int, list[_Issue]] = {}
    for publication_id, dated, name, closed, list_id in connection.rows_as(
        tuple[int, str, str | None, str | None, int | None],
        """
        SELECT i.publication_id, i.date, i.name,
            coalesce(substr(l.date_created, 1, 10), substr(i.closed_at, 1, 10)), i.mailing_list_id
        FROM issues AS i
        LEFT JOIN list_downloads AS l
            ON l.account_id = i.account_id AND l.mailing_list_id = i.mailing_list_id
        WHERE i.account_id = :account_id AND i.date IS NOT NULL
        ORDER BY i.publication_id, i.date, i.issue_id
        """,
        account_id=account_id,
    ):
        is_closed = closed is not None and (day is None or closed <= day)
        found.setdefault(publication_id, []).append(
            _Issue(date.fromisoformat(dated), name or "", is_closed, list_id is not None)
        )
    return found


def schedules(
    connection: Connection, account_id: int, day: str | None = None
) -> dict[int, Schedule]:
    """Return the schedule of each publication, with what was closed by a day; None: by now.

    If two issues have the same date, the later one gives the name.
    """
    issues = _issues(connection, account_id, day)
    return {
        publication_id: Schedule(
            name or "",
            {each.date: each.name for each in issues.get(publication_id, [])},
            per_year,
            max(
                (each.date for each in issues.get(publication_id, []) if each.is_closed),
                default=None,
            ),
        )
        for publication_id, name, per_year in connection.rows_as(
            tuple[int, str | None, int],
            """
            SELECT publication_id, name, issues_per_year FROM publications
            WHERE account_id = :account_id
            """,
            account_id=account_id,
        )
    }


def expiring_now(connection: Connection, account_id: int) -> list[Expiring]:
    """Return the number of subscriptions by publication and ``date_expired``."""
    found = connection.rows_as(
        tuple[int, str | None, int, int, int],
        """
        SELECT s.publication_id, s.date_expired, count(*),
            CAST(sum(coalesce(s.copies, 0)) AS BIGINT),
            CAST(sum(s.renew_campaign_active) AS BIGINT)
        FROM subscriptions AS s
        JOIN subscribers AS u
            ON u.account_id = s.account_id AND u.subscriber_id = s.subscriber_id
        WHERE s.account_id = :account_id AND s.cancelled_on IS NULL AND u.delete_date IS NULL
            AND (s.date_expired IS NOT NULL OR s.issues = -1)
        GROUP BY 1, 2 ORDER BY 1, 2
        """,
        account_id=account_id,
    )
    return [
        Expiring(publication_id, date.fromisoformat(day) if day else None, *counts)
        for publication_id, day, *counts in found
    ]


class _Then(NamedTuple):
    """Subscriptions that expire together, as they were on a past day.

    ``received`` has dates of issues and ``suspended`` has ranges (``from/to``), with commas.
    """

    publication_id: int
    issues_left: int
    begins_on: str | None
    received: str | None
    suspended: str | None
    last_issue: str | None
    subscriptions: int
    copies: int
    campaign: int


def expiring_then(
    connection: Connection, account_id: int, day: str, known: Mapping[int, Schedule]
) -> list[Expiring]:
    """Return what was known on a past day, from the terms and deliveries until then.

    ``known`` has the schedules of that day. Copies, the campaign and dates of issues are the
    current ones. An extension counts as if it had always existed, because its date is not stored.
    """
    found = connection.rows_as(_Then, _THEN, account_id=account_id, day=day)
    calendars = {
        publication_id: Calendar(
            [each.date for each in issues if each.is_closed and each.is_listed],
            [each.date for each in issues if not each.is_closed],
            known[publication_id].issues_per_year,
            [each.date for each in issues if each.is_closed and not each.is_listed],
        )
        for publication_id, issues in _issues(connection, account_id, day).items()
    }
    counted: Counter[tuple[int, date | None, str]] = Counter()
    for each in found:
        if each.publication_id not in calendars:
            continue
        calendar = calendars[each.publication_id]
        expires = date_expired(
            calendar,
            each.issues_left,
            date.fromisoformat(each.begins_on) if each.begins_on else None,
            received=[date.fromisoformat(text) for text in _split(each.received)],
            suspensions=[
                Range(date.fromisoformat(start), date.fromisoformat(end) if end else None)
                for start, _, end in (text.partition("/") for text in _split(each.suspended))
            ],
        )
        if each.last_issue is not None:
            after = day_before_next(calendar, date.fromisoformat(each.last_issue))
            expires = min(expires or after, after)
        if expires is not None or each.issues_left < 0:
            for name in ("subscriptions", "copies", "campaign"):
                counted[each.publication_id, expires, name] += getattr(each, name)
    keys = sorted({key[:2] for key in counted}, key=lambda key: (key[0], key[1] or date.max))
    return [
        Expiring(
            *key,
            counted[*key, "subscriptions"],
            counted[*key, "copies"],
            counted[*key, "campaign"],
        )
        for key in keys
    ]


def _split(listed: str | None) -> list[str]:
    return listed.split(",") if listed else []


# Grouped by what the expiry date depends on: readers with equally many issues left expire together.
_THEN = """
    SELECT publication_id, issues_left, begins_on, received, suspended, last_issue, count(*),
        CAST(sum(copies) AS BIGINT), CAST(sum(campaign) AS BIGINT)
    FROM (
        SELECT s.publication_id,
            CAST(coalesce(terms_then.issues, 0) AS BIGINT) AS issues_left, s.begins_on,
            CASE WHEN coalesce(terms_then.issues, 0) = 0 THEN got.last ELSE got.due END
                AS received,
            (
                SELECT string_agg(p.from_date || '/' || coalesce(p.to_date, ''), ','
                    ORDER BY p.from_date)
                FROM suspensions AS p
                WHERE p.account_id = s.account_id AND p.subscription_id = s.subscription_id
            ) AS suspended,
            (
                SELECT i.date FROM cancellations AS c JOIN issues AS i
                    ON i.account_id = c.account_id AND i.issue_id = c.after_issue_id
                WHERE c.account_id = s.account_id AND c.subscription_id = s.subscription_id
                    AND c.made_on <= :day
            ) AS last_issue,
            coalesce(s.copies, 0) AS copies, s.renew_campaign_active AS campaign
        FROM subscriptions AS s
        JOIN subscribers AS u
            ON u.account_id = s.account_id AND u.subscriber_id = s.subscriber_id
        LEFT JOIN (
            SELECT t.subscription_id,
                CASE WHEN min(t.issues) = -1 THEN -1
                    ELSE sum(t.issues - coalesce(delivered.number, 0)) END AS issues
            FROM terms AS t
            LEFT JOIN (
                SELECT r.term_id, count(*) AS number
                FROM subscription_issues AS r
                JOIN list_downloads AS l
                    ON l.account_id = r.account_id AND l.mailing_list_id = r.mailing_list_id
                WHERE r.account_id = :account_id AND r.term_id IS NOT NULL
                    AND substr(l.date_created, 1, 10) <= :day
                GROUP BY r.term_id) AS delivered ON delivered.term_id = t.term_id
            LEFT JOIN order_items AS x
                ON x.account_id = t.account_id AND x.order_item_id = t.order_item_id
            LEFT JOIN orders AS o ON o.account_id = x.account_id AND o.order_id = x.order_id
            LEFT JOIN books AS b ON b.account_id = t.account_id AND t.kind = 'opening'
            WHERE t.account_id = :account_id
                AND (t.ended_at IS NULL OR substr(t.ended_at, 1, 10) > :day)
                AND coalesce(substr(o.order_date, 1, 10), b.opened_on, '') <= :day
            GROUP BY t.subscription_id) AS terms_then
            ON terms_then.subscription_id = s.subscription_id
        LEFT JOIN (
            SELECT r.subscription_id, max(i.date) AS last,
                string_agg(CASE WHEN i.date >= w.begins_on AND l.mailing_list_id IS NOT NULL
                    THEN i.date END, ',' ORDER BY i.date) AS due
            FROM subscription_issues AS r
            JOIN issues AS i ON i.account_id = r.account_id AND i.issue_id = r.issue_id
            JOIN subscriptions AS w
                ON w.account_id = r.account_id AND w.subscription_id = r.subscription_id
            LEFT JOIN list_downloads AS l
                ON l.account_id = r.account_id AND l.mailing_list_id = r.mailing_list_id
            WHERE r.account_id = :account_id
                AND coalesce(substr(l.date_created, 1, 10), '') <= :day
            GROUP BY r.subscription_id) AS got ON got.subscription_id = s.subscription_id
        WHERE s.account_id = :account_id
            AND (s.cancelled_on IS NULL OR s.cancelled_on > :day)
            AND (u.delete_date IS NULL OR substr(u.delete_date, 1, 10) > :day)
            AND coalesce(s.date_created, '') <= :day) AS each_one
    GROUP BY 1, 2, 3, 4, 5, 6
    """
