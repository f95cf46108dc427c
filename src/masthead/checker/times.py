"""Whether the feed's windows fit ``modified_date``, in any time zone.

The interface gives the field neither a form nor a time zone. So only what no time zone explains is
a difference (rules, "Checker: what `modified_date` proves").
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

_FIELD = "modified_date"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.*")
_WESTERNMOST, _EASTERNMOST = timedelta(hours=-12), timedelta(hours=14)
_SLACK = timedelta(minutes=70)
"""For clocks that differ, and for a change to summer time in between."""

_OVERLAP = timedelta(days=1)
"""How much earlier a feed may begin than requested: up to a day in Masthead's own feed."""

_Record = dict[str, Any]


class Window(NamedTuple):
    """The feed's changes since a time: the subscribers by their ids."""

    since: datetime
    shown: dict[str, _Record]


def no_zone_fits(windows: Sequence[Window], before: Window, after: Window, now: datetime) -> bool:
    """Tell whether no time zone of `modified_date` explains what the windows show.

    ``before`` and ``after`` are longer windows, requested before and after the others. A subscriber
    with the same time in both did not change meanwhile, so a window must show the subscriber if the
    change is within the window. A window must not show a subscriber who changed before it began.
    """
    steady = {
        key: one
        for key, one in before.shown.items()
        if key in after.shown and one.get(_FIELD) == after.shown[key].get(_FIELD)
    }
    earliest = min(before.since, after.since) - _OVERLAP + _WESTERNMOST
    latest = now + _EASTERNMOST + _SLACK
    for has_zone in (True, False):
        low, high = (timedelta(), timedelta()) if has_zone else (_WESTERNMOST, _EASTERNMOST)
        for since, shown in windows:
            left_out = (one for key, one in steady.items() if key not in shown)
            later = _times(left_out, has_zone, earliest, latest)
            sooner = _times(shown.values(), has_zone, earliest, latest)
            low = max([low, *(time - since - _SLACK for time in later)])
            high = min([high, *(time - since + _SLACK + _OVERLAP for time in sooner)])
        if low > high:
            return True
    return False


def time_of(record: _Record) -> datetime | None:
    """Return when a subscriber changed, as if a time without a zone were UTC; None if unknown."""
    return _time(record.get(_FIELD), has_zone=True) or _time(record.get(_FIELD), has_zone=False)


def _times(
    records: Iterable[_Record], has_zone: bool, earliest: datetime, latest: datetime
) -> list[datetime]:
    """Return the times with a zone, or those without a zone as if they were UTC.

    Times outside the last days are left out: they may be placeholders.
    """
    found = (_time(one.get(_FIELD), has_zone) for one in records)
    return [time for time in found if time is not None and earliest <= time <= latest]


def _time(text: Any, has_zone: bool) -> datetime | None:
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        time = datetime.fromisoformat(text)
        if (time.tzinfo is not None) is not has_zone:
            return None
        return time.astimezone(UTC) if has_zone else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
