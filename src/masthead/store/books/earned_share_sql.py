"""What a term has earned by now, as SQL (circulation, "Money").

``masthead.circulation.earned_share`` has the same rules for one term.
"""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from masthead.circulation.earned_share import last_day_reached, month_number

DELIVERED = "(t.issues - t.issues_left)"
"""The number of issues that have come out of the term ``t``, which has an end."""


def earned(done: str, whole: str = "t.issues") -> str:
    """Return the SQL of what the term ``t`` has earned after ``done`` of ``whole`` parts.

    A part is an issue, or a month of an unlimited term.
    """
    # PostgreSQL may evaluate it for terms without deliveries; nullif avoids a division by zero.
    rest = "(t.price - t.allowed - t.spread_earned)"
    more = f"({done} - t.spread_after)"
    return f"""CASE WHEN {done} >= {whole} THEN t.price - t.allowed
        WHEN {done} < t.spread_after
            THEN t.spread_earned * {done} / nullif(t.spread_after, 0)
        WHEN t.spread_parts IS NULL
            THEN t.spread_earned + {rest} * {more} / ({whole} - t.spread_after)
        ELSE t.spread_earned + {rest} * {more} * t.copies / t.spread_parts END"""


def months_served(listed: Sequence[tuple[int, str]]) -> str:
    """Return the SQL of the number of months that the unlimited term ``t`` has been served.

    ``listed`` has id and date of the publication's issues that have a list, by date. The term is
    served from each issue that came out of it until the next issue: the months that become whole in
    that time count, from ``starts_on``. An opening term is also served from ``starts_on`` until the
    first issue. So a time without a delivered issue, such as a suspension, earns nothing.
    """
    first_day = "CAST(substr(t.starts_on, 9, 2) AS BIGINT)"
    days = [(issue_id, date.fromisoformat(day)) for issue_id, day in listed]
    spans = ", ".join(
        f"({issue_id:d}, {month_number(after) - month_number(day):d}, {last_day_reached(day):d}, "
        f"{last_day_reached(after):d})"
        for (issue_id, day), (_, after) in pairwise(days)
    )
    before = "0"
    if days:
        first = days[0][1]
        before = f"""CASE WHEN t.kind = 'opening' AND t.starts_on < '{first}'
            THEN {month_number(first)} - 12 * CAST(substr(t.starts_on, 1, 4) AS BIGINT)
                - CAST(substr(t.starts_on, 6, 2) AS BIGINT)
                - CASE WHEN {first_day} > {last_day_reached(first)} THEN 1 ELSE 0 END
            ELSE 0 END"""
    if not spans:
        return before
    return f"""({before} + coalesce((
        SELECT CAST(sum(v.column2 + CASE WHEN {first_day} > v.column3 THEN 1 ELSE 0 END
            - CASE WHEN {first_day} > v.column4 THEN 1 ELSE 0 END) AS BIGINT)
        FROM subscription_issues AS g JOIN (VALUES {spans}) AS v ON v.column1 = g.issue_id
        WHERE g.account_id = :account_id AND g.term_id = t.term_id), 0))"""
