"""What expires with each issue: how many subscriptions have it as their last one.

Rules: circulation, "Expiry" and "Reports". The dates of issues that are not planned yet follow from
the publication's issues per year; these issues have no name.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import takewhile
from typing import NamedTuple

from masthead.circulation.issue_calendar import dates_beyond
from masthead.circulation.tables import Chart, Column, Kind, Report, Row, Series, number_of
from masthead.contract.moments import in_words
from masthead.contract.printable import listed

_EARLIER = "earlier issues"
_NEVER = "never (unlimited)"
_NOT_PLANNED = "(not planned)"
_LISTED_MAX = 4


class Schedule(NamedTuple):
    """A publication's issues: names by date, issues per year, and the newest closed one's date.

    ``newest`` is None if no issue is closed.
    """

    publication: str
    names: Mapping[date, str]
    issues_per_year: int
    newest: date | None = None


class Expiring(NamedTuple):
    """Subscriptions of a publication that expire on the same day; None for unlimited ones.

    ``campaign`` counts those that take part in the renewal campaign.
    """

    publication_id: int
    expires: date | None
    subscriptions: int
    copies: int
    campaign: int


def expiries(title: str, expiring: Iterable[Expiring], schedules: Mapping[int, Schedule]) -> Report:
    """Return what expires with each issue from the newest closed one on.

    One row counts all subscriptions that expired with earlier issues, and one the unlimited ones.
    An issue is the last one of subscriptions that expire on its date or later, and before the date
    of the next issue. The chart groups issues by month, so that a weekly's chart stays readable,
    and has a bar of length 0 for a month without an expiry.
    """
    rows: list[Row] = []
    bars: dict[int, Counter[str]] = {}
    totals: Counter[str] = Counter()
    by_publication: dict[int, list[Expiring]] = {}
    for each in expiring:
        by_publication.setdefault(each.publication_id, []).append(each)
    for publication_id, found in sorted(by_publication.items()):
        schedule = schedules[publication_id]
        counted = _by_issue(found, schedule)
        for (place, day), counts in sorted(counted.items()):
            name = (_EARLIER, schedule.names.get(day, _NOT_PLANNED), _NEVER)[place]
            shown = day.isoformat() if place == _DATED else ""
            rows.append((schedule.publication, name, shown, *counts))
            totals.update(dict(zip(_MEASURES, counts, strict=True)))
            if place == _DATED:
                bars.setdefault(publication_id, Counter())[shown[:_MONTH]] += counts[1]
    columns = (
        Column("publication", Kind.TEXT),
        Column("last issue", Kind.TEXT),
        Column("date", Kind.DATE),
        *map(Column, _MEASURES),
    )
    total: Row = ("all", "", "", *(totals[measure] for measure in _MEASURES))
    months = _between({month for copies in bars.values() for month in copies})
    series = (
        Series(schedules[each].publication, tuple(copies[month] for month in months))
        for each, copies in bars.items()
    )
    chart = Chart(months, tuple(series), "copies")
    return Report(title, columns, tuple(rows), (total,), chart, _summary(rows, months))


def _between(months: set[str]) -> tuple[str, ...]:
    """Return all months from the first to the last one, those without an expiry too."""
    if not months:
        return ()
    first, last = (int(month[:4]) * 12 + int(month[5:]) - 1 for month in (min(months), max(months)))
    return tuple(f"{each // 12:04}-{each % 12 + 1:02}" for each in range(first, last + 1))


def _summary(rows: Sequence[Row], months: Sequence[str]) -> tuple[str, ...]:
    earlier = sum(int(row[3] or 0) for row in rows if row[1] == _EARLIER)
    never = sum(int(row[3] or 0) for row in rows if row[1] == _NEVER)
    by_month = Counter[str]()
    for row in rows:
        if row[2]:
            by_month[str(row[2])[:_MONTH]] += int(row[3] or 0)
    dated = sum(by_month.values())
    said = []
    if dated:
        most = max(by_month, key=lambda month: (by_month[month], month))
        said.append(
            f"{number_of(dated, 'subscription expires', 'subscriptions expire')} with an issue "
            f"that has a date; in {in_words(most)} {by_month[most]:,}, which no month exceeds."
        )
    else:
        said.append("No subscription expires with an issue that has a date.")
    if earlier:
        said.append(f"{number_of(earlier, 'has', 'have')} expired with earlier issues.")
    if never:
        said.append(f"{number_of(never, 'is', 'are')} unlimited.")
    none = [in_words(month) for month in months if not by_month[month]]
    if len(none) > _LISTED_MAX:
        said.append(
            f"In {len(none)} of the months from {in_words(months[0])} to {in_words(months[-1])}, "
            "none expires."
        )
    elif none:
        said.append(f"No subscription expires in {listed(none, 'or')}.")
    return tuple(said)


_MEASURES = ("subscriptions", "copies", "in the campaign")
_DATED = 1
_MONTH = len("2026-01")


def _by_issue(
    expiring: Sequence[Expiring], schedule: Schedule
) -> dict[tuple[int, date], tuple[int, int, int]]:
    """Return counts by place (earlier 0, an issue 1, never 2) and the date of the last issue."""
    days = sorted(schedule.names)
    latest = max((each.expires for each in expiring if each.expires), default=date.min)
    if days:
        beyond = dates_beyond(days[-1], schedule.issues_per_year)
        days += takewhile(lambda day: day <= latest < date.max, beyond)
    first = bisect_left(days, schedule.newest) if schedule.newest else 0
    counted: dict[tuple[int, date], tuple[int, int, int]] = {}
    for each in expiring:
        if each.expires is None:
            key = (2, date.max)
        else:
            place = bisect_right(days, each.expires) - 1
            key = (_DATED, days[place]) if place >= first else (0, date.min)
        before = counted.get(key, (0, 0, 0))
        counted[key] = (
            before[0] + each.subscriptions,
            before[1] + each.copies,
            before[2] + each.campaign,
        )
    return counted
