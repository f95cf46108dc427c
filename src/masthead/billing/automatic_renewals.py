"""When a renewal is announced, and when its order is made (billing, "Automatic renewal").

The order is made some days before the last issue of a subscription closes, and the announcement
goes out some days before that. A subscription's last issue is the last one dated on or before its
``date_expired``.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from masthead.circulation.issue_calendar import dates_beyond

WAITS_DAYS = 30
"""The days that an announced renewal waits at least for what keeps it from being ordered."""


class Coming(NamedTuple):
    """An issue that is not closed: its date, and the day on which it closes."""

    day: date
    closes_on: date


class Plan(NamedTuple):
    """The issues of a publication that are planned and not closed, and its issues per year.

    ``coming`` has each issue's date and, if that is known, the day on which it closes; the dates
    ascend. ``newest`` is the date of the publication's last known issue, closed or not.
    """

    coming: Sequence[tuple[date, date | None]]
    newest: date
    issues_per_year: int

    def issues(self) -> Iterator[Coming]:
        """Yield the issues that are not closed: the planned ones, and those beyond the plan.

        Issues close in the order of their dates, so none closes before an earlier one. An issue
        without a closing day closes on its date.
        """
        least = date.min
        for day, closes_on in self.coming:
            least = max(least, closes_on or day)
            yield Coming(day, least)
        for day in dates_beyond(self.newest, self.issues_per_year):
            least = max(least, day)
            yield Coming(day, least)


class Schedule(NamedTuple):
    """How many days before the last issue closes the order is made, and the announcement before.

    They are the settings ``renewal_days`` and ``renewal_notice_days``.
    """

    order_days: int
    notice_days: int


def first_not_due(plan: Plan, schedule: Schedule, today: date) -> date | None:
    """Return the date of the first issue that is too far away for an announcement today.

    A renewal is due for an announcement if ``date_expired`` is before this date: then the last
    issue closes in ``order_days`` + ``notice_days`` or less. None means that each issue is near.
    """
    until = _later(today, schedule.order_days + schedule.notice_days)
    return next((each.day for each in plan.issues() if each.closes_on > until), None)


def renews_on(plan: Plan, schedule: Schedule, expired: date, today: date) -> date:
    """Return the day on which the order is made, if the renewal is announced today.

    ``expired`` is the subscription's ``date_expired``. It is ``order_days`` before the last issue
    closes, but ``notice_days`` after the announcement at the earliest.
    """
    earliest = _later(today, schedule.notice_days)
    last = _last(plan.issues(), expired)
    if last is None:
        return earliest
    return max(earliest, last.closes_on - min(timedelta(schedule.order_days), _since(last)))


def is_too_late(schedule: Schedule, announced_for: date, today: date) -> bool:
    """Return whether a renewal that could not be ordered on its day is not ordered any more.

    It waits as long as the notice, and at least :data:`WAITS_DAYS`, such as for the payment of the
    last term.
    """
    return today > _later(announced_for, max(schedule.notice_days, WAITS_DAYS))


def _last(issues: Iterable[Coming], expired: date) -> Coming | None:
    """Return the last issue dated on or before a day; None if the last one is closed already."""
    last = None
    for each in issues:
        if each.day > expired:
            break
        last = each
    return last


def _since(issue: Coming) -> timedelta:
    return issue.closes_on - date.min


def _later(day: date, days: int) -> date:
    return day + min(timedelta(days), date.max - day)


def copies_of(
    bundle_id: int,
    ordered_bundle_id: int | None,
    ordered_copies: int | None,
    term_copies: int,
    line_copies: int,
) -> int:
    """Return how many copies of a bundle a renewal orders.

    They are those of the last order, if that was of the same bundle. Otherwise they are as many as
    give the copies of the last term, rounded down, and at least one. ``line_copies`` are the copies
    that one of the bundle gives.
    """
    if ordered_copies is not None and ordered_bundle_id == bundle_id:
        return ordered_copies
    return max(1, term_copies // line_copies)


def each_of(cents: int, copies: int) -> int:
    """Return the price of one of several copies, so that all cost no more than was announced."""
    return cents // copies
