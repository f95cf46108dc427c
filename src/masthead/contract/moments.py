"""Times in requests and responses, as microseconds since 1970 in UTC."""

import re
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from email.utils import formatdate
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MINUTE_US = 60 * 1_000_000
_MONTH_CHARACTERS = len("2026-11")
_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"(?:Z|([+\- ])([01][0-9]|2[0-3]):?([0-5][0-9]))?"
)
_AMERICAN = re.compile(
    r"([0-9]{1,2}/[0-9]{1,2}/[0-9]{4}) ([0-9]{1,2}:[0-9]{2}:[0-9]{2})[ \u202f](AM|PM)"
)


def is_day(text: str) -> bool:
    """Return whether a text is a day that exists, as ``YYYY-MM-DD``."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def parse_moment(text: str) -> int:
    """Return the time in microseconds, rounded down.

    Accepts ISO 8601, also with a space for the ``+`` of the offset or without offset (UTC), and
    ``M/D/YYYY h:mm:ss AM`` (UTC) (rules, "`changed_since` in other forms"). Raises ValueError.
    """
    if found := _ISO.fullmatch(text):
        day, time, fraction, sign, hours, minutes = found.groups()
        moment = _microseconds(datetime.fromisoformat(f"{day} {time}+00:00"))
        moment += int((fraction or "")[:6].ljust(6, "0"))
        if sign:
            offset = (int(hours) * 60 + int(minutes)) * _MINUTE_US
            moment += offset if sign == "-" else -offset
        return moment
    if found := _AMERICAN.fullmatch(text):
        written = " ".join([*found.groups(), "+0000"])
        return _microseconds(datetime.strptime(written, "%m/%d/%Y %I:%M:%S %p %z"))
    raise ValueError(f"{text!r} is not a time")


def format_moment(moment_us: int) -> str:
    """Return ``YYYY-MM-DDThh:mm:ss.ffffff+00:00``."""
    return f"{_EPOCH + moment_us * _MICROSECOND:%Y-%m-%dT%H:%M:%S.%f}+00:00"


@lru_cache(maxsize=64)
def format_second(moment_us: int) -> str:
    """Return ``YYYY-MM-DD hh:mm:ss`` in UTC."""
    return f"{datetime.fromtimestamp(moment_us // 1_000_000, UTC):%Y-%m-%d %H:%M:%S}"


def date_in(time_zone: str, moment_us: int) -> str:
    """Return the date of the moment in a time zone, ``YYYY-MM-DD``."""
    # In whole seconds: a float of microseconds can be rounded up into the next day.
    return f"{datetime.fromtimestamp(moment_us // 1_000_000, _zone(time_zone)):%Y-%m-%d}"


def second_in(time_zone: str, moment_us: int) -> str:
    """Return the time of the moment in a time zone, ``YYYY-MM-DD hh:mm:ss``."""
    return f"{datetime.fromtimestamp(moment_us // 1_000_000, _zone(time_zone)):%Y-%m-%d %H:%M:%S}"


def moment_of(time_zone: str, second: str) -> int:
    """Return the moment of a time of :func:`second_in`, in microseconds since 1970.

    When clocks are set back, an hour has each time twice: it is the later one.
    """
    local = datetime.fromisoformat(second).replace(tzinfo=_zone(time_zone), fold=1)
    return int(local.timestamp()) * 1_000_000


@lru_cache(maxsize=1_000)
def _zone(name: str) -> ZoneInfo:
    """Return the time zone. Python itself caches only eight of them, and reads others again."""
    return ZoneInfo(name)


def check_time_zone(name: str) -> None:
    """Raise ValueError, with the nearest name, unless this is a time zone of IANA's database."""
    names = available_timezones() - {"localtime"}  # on some systems, a link to the local zone
    if name not in names:
        nearest = get_close_matches(name, sorted(names), n=1, cutoff=0)[0]
        raise ValueError(f"{name!r} is no time zone; the nearest is {nearest!r}")


def in_words(text: str) -> str:
    """Return a day or a month in words: ``24 November 2026``, ``November 2026``; others as is."""
    try:
        if len(text) == _MONTH_CHARACTERS:
            return f"{date.fromisoformat(f'{text}-01'):%B %Y}"
        found = date.fromisoformat(text)
    except ValueError:  # a loaded value that is not a day
        return text
    return f"{found.day} {found:%B %Y}"


def is_only_day(name: str | None, day: str) -> bool:
    """Return whether a name says no more than a day: it is empty, or the day itself."""
    return not name or name in {day, in_words(day)}


def with_day(name: str, date: str) -> str:
    """Return the name of an issue and its day, once: ``May (1 May 2027)``, ``1 May 2027``."""
    day = in_words(date)
    if is_only_day(name, date):
        return day
    return name if not day or day in name else f"{name} ({day})"


def http_date(moment_us: int) -> str:
    """Return an HTTP date (RFC 9110 section 5.6.7)."""
    return _http_date(moment_us // 1_000_000)


@lru_cache(maxsize=8)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
