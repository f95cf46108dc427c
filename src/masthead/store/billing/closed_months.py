"""Closed months, and the days to which an account that bills books (billing, "Month end").

An account without billing books by the calendar: ``circulation.booking_day``. The functions leave
the queued rows of an operation queued.
"""

from typing import NamedTuple

from masthead.billing.months import first_open_day as first_open_day_after
from masthead.billing.months import month_id, month_named
from masthead.errors import MastheadError
from masthead.store.billing.settings import begun_on
from masthead.store.books.operation import Operation, Reading

_MONTH = len("2026-11")
_FIRST = "first_open_day"
"""A memory of an operation, since it asks for each entry of a bank's statement."""


class OpenDays(NamedTuple):
    """From which day on an account books; what is dated before ``since`` is booked to ``instead``.

    Both are compared as texts: ``since`` is a day, or a month.
    """

    since: str
    instead: str

    def day_for(self, day: str) -> str:
        """Return the day to which something of ``day`` is booked."""
        return self.instead if day[: len(self.since)] < self.since else day


def check_bills(reading: Reading) -> str:
    """Return the day on which the account began billing; raise MastheadError if it does not."""
    day = begun_on(reading)
    if day is None:
        raise MastheadError(
            f"account {reading.account_id} does not bill its orders",
            code="billing_not_begun",
            account=reading.account_id,
        )
    return day


def last_closed(reading: Reading) -> str | None:
    """Return the latest closed month, such as ``2026-11``; None if none is closed."""
    found = reading.direct.value_as(
        int,
        "SELECT max(month_id) FROM closed_months WHERE account_id = :account_id",
        account_id=reading.account_id,
    )
    return None if found is None else month_named(found)


def closed_on(reading: Reading, month: str) -> str | None:
    """Return the day on which a month was closed, None if it is open."""
    return reading.direct.value_as(
        str,
        """
        SELECT closed_on FROM closed_months
        WHERE account_id = :account_id AND month_id = :month_id
        """,
        account_id=reading.account_id,
        month_id=month_id(month),
    )


def open_days(reading: Reading) -> OpenDays:
    """Return from which day on the account books.

    In an account that bills, a month is open until it is closed, and everything before billing
    began is closed. In others, a month is open until it has ended.
    """
    begun = begun_on(reading)
    if begun is None:
        return OpenDays(reading.today[:_MONTH], reading.today)
    memory = reading.memory(_FIRST)
    if begun not in memory:
        memory[begun] = first_open_day_after(begun, last_closed(reading))
    return OpenDays(memory[begun], memory[begun])


def first_open_day(reading: Reading, day: str) -> str:
    """Return the day to which something of ``day`` is booked: itself, or the first open day."""
    return open_days(reading).day_for(day)


def close_month(change: Operation, month: str) -> None:
    """Mark a month as closed today."""
    change.add("closed_months", month_id=month_id(month), closed_on=change.today)
    change.memory(_FIRST).clear()
