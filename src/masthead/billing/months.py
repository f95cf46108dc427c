"""Months of the books, ``2026-11``: which day belongs to which, and which are closed.

Rule: billing, "Month end".
"""

from datetime import date, timedelta

from masthead.contract.moments import is_day
from masthead.errors import BadInput

_MONTH = len("2026-11")
_DECEMBER = 12
_YEAR_IN_ID = 100


def month_of(day: str) -> str:
    """Return the month of a day."""
    return day[:_MONTH]


def month_after(month: str) -> str:
    """Return the next month."""
    year, number = map(int, month.split("-"))
    year, number = (year + 1, 1) if number == _DECEMBER else (year, number + 1)
    return f"{year:04}-{number:02}"


def first_day(month: str) -> str:
    """Return the first day of a month."""
    return f"{month}-01"


def last_day(month: str) -> str:
    """Return the last day of a month."""
    return (date.fromisoformat(first_day(month_after(month))) - timedelta(1)).isoformat()


def month_id(month: str) -> int:
    """Return the number of a month as ``closed_months`` has it: 202611."""
    return int(month.replace("-", ""))


def month_named(number: int) -> str:
    """Return the month of such a number."""
    return f"{number // _YEAR_IN_ID:04}-{number % _YEAR_IN_ID:02}"


def check_month(text: str) -> str:
    """Return the text; raise BadInput if it is not a month."""
    if len(text) != _MONTH or not is_day(f"{text}-01"):
        raise BadInput(f"{text!r} is not a month such as 2026-11")
    return text


def check_day(text: str) -> str:
    """Return the text; raise BadInput if it is not a day."""
    if not is_day(text):
        raise BadInput(f"{text!r} is not a day such as 2026-11-24")
    return text


def first_open_day(begun_on: str, last_closed: str | None) -> str:
    """Return the first day to which an account books: that on which billing began, or later.

    ``last_closed`` is the latest closed month, None if none is closed.
    """
    return begun_on if last_closed is None else first_day(month_after(last_closed))
