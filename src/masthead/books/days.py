"""Days that a person enters, checked against the current day in the account's time zone."""

from masthead.contract.moments import is_day
from masthead.errors import BadInput


def check_past_day(day: str, today: str) -> str:
    """Return the day (``YYYY-MM-DD``); raise BadInput if it is not a day, or later than today."""
    if not day:
        raise BadInput("a day is missing")
    if not is_day(day):
        raise BadInput(f"{day!r} is not a date such as {today}")
    if day > today:
        raise BadInput(f"{day} is still to come; today is {today}")
    return day
