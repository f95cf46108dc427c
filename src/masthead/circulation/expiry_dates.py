"""When a subscription ends, as expected while it has issues left (circulation, "Expiry")."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import chain, islice
from typing import NamedTuple

from masthead.circulation.issue_calendar import dates_beyond

_DAY = timedelta(days=1)


class Range(NamedTuple):
    """A range of days, both ends included; ``end`` is None if it is not known."""

    start: date
    end: date | None = None


class Calendar(NamedTuple):
    """The dates of a publication's issues in ascending order, and its issues per year.

    ``listed`` issues are closed and have a list, ``earlier`` ones are closed and have none,
    ``coming`` ones are planned and not closed.
    """

    listed: Sequence[date]
    coming: Sequence[date]
    issues_per_year: int
    earlier: Sequence[date] = ()

    @property
    def dates(self) -> list[date]:
        """The dates of all known issues, in ascending order."""
        return sorted([*self.earlier, *self.listed, *self.coming])

    def beyond(self) -> Iterator[date]:
        """Yield the dates after the last known issue."""
        return dates_beyond(self.dates[-1], self.issues_per_year)

    def after_closed(self) -> Iterator[date]:
        """Yield the dates of issues that are not closed: the planned ones and those beyond."""
        return chain(self.coming, self.beyond())


def covers(ranges: Iterable[Range], day: date) -> bool:
    """Return whether one of the ranges includes the day."""
    return any(each.start <= day and (each.end is None or day <= each.end) for each in ranges)


def date_expired(
    calendar: Calendar,
    left: int,
    begins_on: date | None,
    *,
    received: Sequence[date] = (),
    suspensions: Sequence[Range] = (),
) -> date | None:
    """Return the day before the first issue that the subscription will not get.

    ``left`` is its issues left; -1 (unlimited) returns None. ``received`` has the dates of the
    issues that it got. Closed issues that a gap list would bring use up the issues left first. If
    no issue is left, the result is the day before the issue after the last received one, or before
    the issue with which it would have begun. Also returns None if no issue is known, or if its
    beginning is not known.
    """
    if left < 0 or not calendar.dates:
        return None
    if left:
        if begins_on is None:
            return None
        missed = [
            day
            for day in calendar.listed
            if day >= begins_on and day not in received and not covers(suspensions, day)
        ]
        return with_issues_left(calendar, left, begins_on, missed, suspensions)
    if received:
        return day_before_next(calendar, max(received))
    return begins_on and day_before_next(calendar, begins_on - _DAY)


def with_issues_left(
    calendar: Calendar,
    left: int,
    begins_on: date,
    missed: Sequence[date],
    suspensions: Sequence[Range],
) -> date:
    """Return the expiry of a subscription with issues left.

    ``missed`` are the closed issues that a gap list would bring. A suspension counts for coming
    issues only if it has an end.
    """
    ended = [each for each in suspensions if each.end is not None]
    coming = (day for day in calendar.after_closed() if day >= begins_on and not covers(ended, day))
    return _day_before(islice(chain(missed, coming), left, None))


def day_before_next(calendar: Calendar, after: date) -> date:
    """Return the day before the first issue that is later than ``after``."""
    known = (day for day in calendar.dates if day > after)
    return _day_before(chain(known, (day for day in calendar.beyond() if day > after)))


def _day_before(days: Iterator[date]) -> date:
    """Return the day before the first of these days; the end of the calendar if there is none."""
    first = next(days, None)
    return date.max if first is None else first - _DAY
