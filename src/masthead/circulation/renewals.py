"""When a renewal letter is due (circulation, "Renewals").

A publication has numbered efforts, each with the issues left at which it is due: 3 is before the
term ends, 0 with the last issue, -2 two issues after it. The statements of ``store.books.renewing``
do the same for all subscriptions at once.
"""

from collections.abc import Collection
from typing import NamedTuple

__all__ = ["Effort", "due_effort"]


class Effort(NamedTuple):
    """An effort: its number, and the issues left at which it is due."""

    effort: int
    issues_left: int


def due_effort(
    efforts: Collection[Effort], sent: Collection[int], issues_left: int
) -> Effort | None:
    """Return the effort that is due now, or None.

    ``sent`` are the efforts that were sent for the present term. ``issues_left`` is negative by the
    issues that were closed after the last one received. It is always the lowest effort that was not
    sent, whatever the points of later ones: efforts go in order, one at a time.
    """
    following = [each for each in efforts if each.effort not in sent]
    effort = min(following, default=None)
    return effort if effort and issues_left <= effort.issues_left else None
