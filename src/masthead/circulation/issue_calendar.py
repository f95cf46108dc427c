"""The dates of issues that are not planned yet (circulation, "Expiry")."""

from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from itertools import count

_MONTHS = 12
_WEEKS = 52
_DAYS = 365


def date_beyond(last: date, issues_per_year: int, nth: int) -> date:
    """Return the date of the ``nth`` issue after the last planned one; the first is 1.

    Issues are whole months apart if ``issues_per_year`` divides 12, whole weeks if it divides 52,
    and else equal parts of 365 days, rounded down. If a month lacks the day, its last day counts.
    Raises OverflowError past the year 9999.
    """
    if _MONTHS % issues_per_year == 0:
        months = last.year * _MONTHS + last.month - 1 + nth * (_MONTHS // issues_per_year)
        year, month = months // _MONTHS, months % _MONTHS + 1
        if year > date.max.year:
            raise OverflowError("the date is past the year 9999")
        return date(year, month, min(last.day, monthrange(year, month)[1]))
    if _WEEKS % issues_per_year == 0:
        return last + timedelta(weeks=nth * (_WEEKS // issues_per_year))
    return last + timedelta(days=nth * _DAYS // issues_per_year)


def dates_beyond(last: date, issues_per_year: int) -> Iterator[date]:
    """Yield the dates of the issues after the last planned one, up to the year 9999."""
    with suppress(OverflowError):
        for nth in count(1):
            yield date_beyond(last, issues_per_year, nth)
