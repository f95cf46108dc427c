"""What a term has earned, in whole cents (circulation, "Money")."""

from calendar import monthrange
from datetime import date

__all__ = ["earned", "earned_by_months", "last_day_reached", "months_between", "share"]


def earned(cents: int, issues: int, delivered: int) -> int:
    """Return what a term of ``issues`` for ``cents`` has earned after so many deliveries.

    It is rounded down, so that the last delivery takes the remainder.
    """
    return cents * delivered // issues


def share(cents: int, issues: int, nth: int) -> int:
    """Return what the ``nth`` delivery of such a term earns; the first one is 1."""
    return earned(cents, issues, nth) - earned(cents, issues, nth - 1)


def earned_by_months(cents: int, months: int, elapsed: int) -> int:
    """Return what an unlimited term has earned after so many months; all of it after ``months``."""
    return cents * min(max(elapsed, 0), months) // months


def months_between(start: date, end: date) -> int:
    """Return the whole months from one day to another; below 0 if the end is earlier.

    A month is whole on the day of the same number, or on the last day of a month without it: from
    January 31 to February 28 it is one.
    """
    months = (end.year - start.year) * 12 + end.month - start.month
    return months - (start.day > last_day_reached(end))


def last_day_reached(end: date) -> int:
    """Return the highest day of a month that has come by this day of its month."""
    return 31 if end.day == monthrange(end.year, end.month)[1] else end.day
