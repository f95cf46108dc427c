"""The day to which money is booked (circulation, "Money").

All days are texts, ``YYYY-MM-DD``, in the account's time zone. Nothing is booked into a month that
has ended, so reports of that month stay true. ``store.books.earning`` has the same rules in SQL,
``_BOOKED_ON`` and ``_OPEN_DAY``, for many terms at once.
"""

from collections.abc import Iterable

_MONTH = len("YYYY-MM")


def open_day(day: str, today: str) -> str:
    """Return ``day``, or ``today`` if the month of ``day`` has ended by then."""
    return today if day[:_MONTH] < today[:_MONTH] else day


def taken_back(cents: int, earned: Iterable[tuple[str, int]], today: str) -> list[tuple[str, int]]:
    """Return the days on which ``cents`` of earned revenue are taken back, each with its cents.

    ``earned`` is what was booked, by day. Revenue booked after today is taken back on its own day,
    the latest day first, so that it is not owed until then. The rest is taken back today.
    """
    found = []
    for day, booked in sorted(earned, reverse=True):
        part = min(booked, cents)
        if day > today and part > 0:
            found.append((day, part))
            cents -= part
    return [*found, (today, cents)] if cents else found
