"""The day from which the issues of a subscription are due (circulation, "First issue")."""

from masthead.circulation.spans import day_after

__all__ = ["begins_on"]


def begins_on(
    late_start: str,
    newest_closed: str | None,
    first_planned: str | None,
    today: str,
    *,
    before: str | None = None,
) -> str:
    """Return the day on or after which an issue is dated that a subscription gets first.

    All days are ``YYYY-MM-DD``. It begins with the next issue that is not closed, or where
    ``late_start`` is ``current`` with the newest closed one. ``first_planned`` counts where no
    issue is closed. ``before`` is the day from which it was due before a gap: the new one is never
    earlier.
    """
    if newest_closed is None:
        found = min(today, first_planned or today)
    else:
        found = newest_closed if late_start == "current" else day_after(newest_closed)
    return max(found, before or found)
