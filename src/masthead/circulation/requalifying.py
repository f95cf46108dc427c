"""When readers of a free title are asked to qualify again (qualification, "Requalification").

Efforts are due in the order of their numbers, each fewer days before the end than the one before.
"""

import datetime as dt
from collections.abc import Iterable
from typing import Literal, NamedTuple

from masthead.circulation.effort_order import check_order
from masthead.contract.printable import counted
from masthead.contract.qualification import DAYS_BEFORE_MAX, EFFORTS_MAX
from masthead.errors import BadInput

CONFIRM_DAYS = 90
"""So many days before the end the readers' pages ask a reader to confirm a free title."""

Way = Literal["letter", "email", "telephone"]
"""How an effort reaches a reader."""

WAYS: dict[Way, str] = {
    "letter": "by letter",
    "email": "by email",
    "telephone": "by telephone",
}
"""The ways in words."""


class Effort(NamedTuple):
    """An effort of a publication: how many days before the end it is due, and in which way."""

    publication_id: int
    effort: int
    days_before: int
    way: Way

    @property
    def sentence(self) -> str:
        """When the effort is due, and in which way."""
        return f"effort {self.effort} of publication {self.publication_id} asks {self.when}"

    @property
    def when(self) -> str:
        """When the effort is due, and in which way, without the effort."""
        days = counted(self.days_before, "day")
        return f"{WAYS[self.way]}, {days} before a qualification ends"


class Window(NamedTuple):
    """The qualifications for which an effort is due: those that end from ``first`` to ``last``."""

    effort: Effort
    first: str
    last: str


class Free(NamedTuple):
    """That a subscription is free to a reader who qualifies; ``until`` is the last day.

    ``is_served``: copies come. ``is_to_confirm``: the reader should confirm it now, since it ends
    soon or has ended.
    """

    until: str
    is_served: bool
    is_to_confirm: bool


def free_until(until: str, today: str, *, is_served: bool) -> Free:
    """Return how a qualification stands today; ``is_served``: its class gets copies."""
    ends_soon = until <= _after(today, CONFIRM_DAYS)
    return Free(until, is_served and until >= today, is_served and ends_soon)


def windows(efforts: Iterable[Effort], today: str) -> list[Window]:
    """Return for which qualifications each effort of a publication is due today.

    A qualification gets the last effort that is due for it, so that a late reader gets no earlier
    one. One that has ended gets none.
    """
    found, first = list[Window](), today
    for each in sorted(efforts, key=lambda each: each.effort, reverse=True):
        found.append(Window(each, first, _after(today, each.days_before)))
        first = _after(today, each.days_before + 1)
    return found[::-1]


def check_efforts(efforts: Iterable[Effort]) -> None:
    """Raise BadInput for numbers out of bounds, and unless efforts are due in their order."""
    found = list(efforts)
    for each in found:
        if not 1 <= each.effort <= EFFORTS_MAX:
            raise BadInput(f"an effort has a number from 1 to {EFFORTS_MAX}, not {each.effort}")
        if not 0 <= each.days_before <= DAYS_BEFORE_MAX:
            raise BadInput(
                f"an effort is due 0 to {DAYS_BEFORE_MAX} days before the end, not "
                f"{each.days_before}"
            )
    check_order(
        [(each.effort, each.days_before) for each in found],
        lambda days: f"{counted(days, 'day')} before the end",
    )


def _after(day: str, days: int) -> str:
    return (dt.date.fromisoformat(day) + dt.timedelta(days=days)).isoformat()
