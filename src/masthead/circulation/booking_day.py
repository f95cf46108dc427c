"""The day to which money is booked (circulation, "Money").

All days are texts, ``YYYY-MM-DD``, in the account's time zone. What has been told of a month that
has ended stays true: nothing is booked into it any more. ``store.books.earning`` has the same in
SQL, ``_BOOKED_ON`` and ``_OPEN_DAY``, for many terms at once.
"""

from collections.abc import Iterable

__all__ = ["open_day", "taken_back"]

_MONTH = len("YYYY-MM")


def open_day(day: str, today: str) -> str:
    """Return ``day``, or ``today`` if the month of ``day`` has ended by then."""
    return today if day[:_MONTH] < today[:_MONTH] else day


def taken_back(cents: int, earned: Iterable[tuple[str, int]], today: str) -> list[tuple[str, int]]:
    """Return the days to which it is booked that so many cents were not earned, and how many.

    ``earned`` is what was booked, by day. What stands ahead of today is taken back there, the
    latest day first, so that it is not owed until then; all else today.
    """
    found = []
    for day, booked in sorted(earned, reverse=True):
        part = min(booked, cents)
        if day > today and part > 0:
            found.append((day, part))
            cents -= part
    return [*found, (today, cents)] if cents else found
