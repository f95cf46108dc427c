"""The day from which the issues of a subscription are due (circulation, "First issue")."""

from masthead.circulation.spans import day_after


def begins_on(
    late_start: str,
    newest_closed: str | None,
    first_planned: str | None,
    today: str,
    *,
    before: str | None = None,
) -> str:
    """Return the earliest date that the first issue of a subscription may have.

    All days are ``YYYY-MM-DD``. The subscription begins with the next issue that is not closed, or
    with the newest closed one if ``late_start`` is ``current``. If no issue is closed,
    ``first_planned`` counts. ``before`` is the day from which issues were due before a gap; the
    result is never earlier.
    """
    if newest_closed is None:
        found = min(today, first_planned or today)
    else:
        found = newest_closed if late_start == "current" else day_after(newest_closed)
    return max(found, before or found)
