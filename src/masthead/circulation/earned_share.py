"""What a term has earned, in whole cents (circulation, "Money")."""

from calendar import monthrange
from datetime import date
from typing import NamedTuple


class Spread(NamedTuple):
    """How the money of a term is spread over its issues, or the months of an unlimited one.

    ``allowed`` cents were given back and are never earned. The first ``after`` issues earned
    ``earned`` cents. The rest of the money is spread over what was left then: ``parts``, which are
    issues times copies; each issue takes ``copies`` of them. If ``parts`` is None, all issues left
    earn the same.
    """

    allowed: int = 0
    after: int = 0
    earned: int = 0
    parts: int | None = None
    copies: int = 1


EVENLY = Spread()
"""Every issue earns the same, from the first one on."""


def earned(cents: int, whole: int, done: int, spread: Spread = EVENLY) -> int:
    """Return what a term for ``cents`` has earned after ``done`` of ``whole`` issues or months.

    The result is rounded down, so that the last issue or month takes the remainder.
    """
    if done >= whole:
        return cents - spread.allowed
    done = max(done, 0)
    if done < spread.after:
        return spread.earned * done // spread.after
    rest = cents - spread.allowed - spread.earned
    more = done - spread.after
    if spread.parts is None:
        return spread.earned + rest * more // (whole - spread.after)
    return spread.earned + rest * more * spread.copies // spread.parts


def share(cents: int, issues: int, nth: int, spread: Spread = EVENLY) -> int:
    """Return the cents that the ``nth`` delivery of a term earns; the first delivery is 1."""
    return earned(cents, issues, nth, spread) - earned(cents, issues, nth - 1, spread)


def month_number(day: date) -> int:
    """Return the number of a day's month, counted from the beginning of the calendar."""
    return day.year * 12 + day.month


def last_day_reached(end: date) -> int:
    """Return the highest day of the month that ``end`` reaches.

    A month is whole on the day with the same number, or on the last day of a shorter month: from
    January 31 to February 28 is one month.
    """
    return 31 if end.day == monthrange(end.year, end.month)[1] else end.day
