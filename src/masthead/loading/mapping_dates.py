"""How dates of a mapped file are read, by forms such as ``D.M.YYYY`` (docs/mapping.md)."""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from masthead.loading.batches import QUOTED_MAX
from masthead.loading.month_names import month_of

ISO = "YYYY-MM-DD"
UNIX = "unix"
"""The form of seconds or milliseconds since 1970, as programs write moments."""

DayOfMonth = Literal["first", "last"]

_TOKENS = re.compile(r"YYYY|YY|MMM|MM|M|DD|D|[-/., ]+")
_FIELDS = {
    "YYYY": "(?P<y>[0-9]{4})",
    "YY": "(?P<y>[0-9]{2})",
    "MMM": r"(?P<name>[^\W\d_]{3,12}\.?)",
    "MM": "(?P<m>[0-9]{2})",
    "M": "(?P<m>[0-9]{1,2})",
    "DD": "(?P<d>[0-9]{2})",
    "D": "(?P<d>[0-9]{1,2})",
}
_DAY_IN_WORDS = "(?P<d>[0-9]{1,2})(?:st|nd|rd|th|er|º|°)?"
_TIME = (
    r"(?:(?:T|,? ) ?(?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,][0-9]{1,9})?"
    r"(?:[ \u00a0\u202f]?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<zone>[Zz]|UTC|GMT|(?:UTC|GMT)?[-+][0-9]{2}:?[0-9]{2}))?)?"
)
_CLOCK = re.compile(r"[T,]? *[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?")
_NEEDS_NAMES = "a name of a month needs a form with MMM, such as 'D MMM YYYY'"
_SERIAL = re.compile("[2-7][0-9]{4}")
_NAMED = re.compile(r"[^\W\d_]{3,}")
_MONTH = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{4}")
_SINCE_1970 = re.compile("(?P<unix>[0-9]{9,10})(?:[0-9]{3})?(?:[.][0-9]{1,9})?")
_CENTURY_TURNS_AT = 69
"""Years of two digits are 1969 to 2068, as in POSIX."""

_NOON = 12


class Form(NamedTuple):
    """A form of dates: its pattern, with groups y, m or name, d, time, half and zone, or unix."""

    written: str
    pattern: re.Pattern[str]
    has_day: bool
    look: str
    """The same for forms that the same text can fit."""


@lru_cache(maxsize=100)
def form_of(dates: str) -> Form:
    """Return the form of dates written as ``dates``.

    Raises ValueError, whose message is a sentence, if ``dates`` is no form.
    """
    if dates == UNIX:
        return Form(dates, _SINCE_1970, has_day=True, look=UNIX)
    tokens = _TOKENS.findall(dates)
    parts = [token for token in tokens if token in _FIELDS]
    kinds = sorted(part[0] for part in parts)
    if "".join(tokens) != dates or kinds not in (["D", "M", "Y"], ["M", "Y"]):
        raise ValueError(
            f"{dates[:40]!r} is no order of a date: it has YYYY or YY, MM or M (MMM for a name), "
            "and DD or D once each, with . / - , or spaces between, such as DD.MM.YYYY; "
            "or it is unix"
        )
    if len(tokens) == len(parts) and not {"M", "D", "MMM"}.isdisjoint(parts):
        raise ValueError(f"{dates!r}: without a sign between, months and days are MM and DD")
    fields = _FIELDS | ({"D": _DAY_IN_WORDS} if "MMM" in parts else {})
    pattern = "".join(fields.get(token) or re.escape(token) for token in tokens)
    looks = {"YYYY": "year", "MMM": "name"}
    look = "".join(looks.get(t, "number") if t in _FIELDS else t.strip() or " " for t in tokens)
    return Form(dates, re.compile(pattern + _TIME, re.IGNORECASE), "D" in kinds, look)


def forms_of(dates: Sequence[str]) -> list[Form]:
    """Return the forms of a list. Raises ValueError for two forms that look the same."""
    forms = [form_of(written) for written in dates]
    for n, form in enumerate(forms):
        for other in forms[:n]:
            if form.look == other.look:
                raise ValueError(
                    f"{other.written!r} and {form.written!r} look the same: a date could be read in"
                    " two ways"
                )
    return forms


def date_reader(
    dates: Sequence[str], day: DayOfMonth | None, time_zone: str, *, has_time: bool
) -> Callable[[str], str]:
    """Return a function that reads a day or, if it ``has_time``, a moment.

    It returns the form of plain files, and raises ValueError, whose message completes
    "<value> is". A form without a day means the first or the last ``day`` of the month. A moment
    with a zone is converted to ``time_zone``, a day only from UTC (decisions, "Zones in files").
    """
    forms = forms_of(dates)
    iso = form_of(ISO)
    # Spreadsheets make the first day of a month of a month.
    is_of_months = not any(form.has_day for form in forms)
    if iso.look not in {form.look for form in forms}:
        forms.append(iso)

    def convert(text: str) -> str:
        for form in forms:
            if found := form.pattern.fullmatch(text):
                moment = _moment(found, day)
                if moment is None:
                    break
                if form is iso and is_of_months and day == "last" and moment.day == 1:
                    moment = moment.replace(day=monthrange(moment.year, moment.month)[1])
                if moment.tzinfo and (has_time or not moment.utcoffset()):
                    moment = _in_zone(moment, time_zone)
                local = moment.replace(tzinfo=None)
                return local.isoformat(" ", "seconds") if has_time else local.date().isoformat()
        raise ValueError(_why_not(text, forms, dates))

    return convert


def _in_zone(moment: datetime, time_zone: str) -> datetime:
    try:
        return moment.astimezone(ZoneInfo(time_zone))
    except OverflowError:
        raise ValueError("not a moment that can be converted to the account's time zone") from None


def _moment(found: re.Match[str], day: DayOfMonth | None) -> datetime | None:
    """Return the moment of a match, with its zone if it has one; None if there is none such."""
    groups = found.groupdict()
    if groups.get("unix"):
        return datetime.fromtimestamp(int(groups["unix"]), UTC)
    year = int(groups["y"])
    if len(groups["y"]) == 2:
        year += 1900 if year >= _CENTURY_TURNS_AT else 2000
    month = month_of(groups["name"]) if groups.get("name") else int(groups["m"])
    hour, minute, second = map(int, f"{groups['time'] or '0:00'}:00".split(":")[:3])
    try:
        if half := groups["half"]:
            if not 1 <= hour <= _NOON:
                return None
            hour = hour % _NOON + (_NOON if half in "Pp" else 0)
        if groups.get("d"):
            of_month = int(groups["d"])
        else:
            of_month = monthrange(year, month or 0)[1] if day == "last" else 1
        whole = datetime.combine(date(year, month or 0, of_month), time(hour, minute, second))
        return whole.replace(tzinfo=_zone(groups["zone"])) if groups["zone"] else whole
    except ValueError:
        return None


def _zone(written: str) -> tzinfo:
    digits = re.sub(r"[^-+0-9]", "", written)
    if not digits:
        return UTC
    minutes = int(digits[1:3]) * 60 + int(digits[3:5])
    return timezone(timedelta(minutes=-minutes if digits[0] == "-" else minutes))


def _why_not(text: str, forms: Sequence[Form], dates: Sequence[str]) -> str:
    """Return why a text is not a date, which completes "<value> is"."""
    sentence = f"not a date written {' or '.join(dates)}"
    reason = _reason(text, forms)
    return f"{sentence}: {reason}" if reason else sentence


def _reason(text: str, forms: Sequence[Form]) -> str | None:
    for form in forms:
        if found := form.pattern.fullmatch(text):
            name = found.groupdict().get("name")
            is_unknown = name and not month_of(name)
            what = f"{name!r} is no name of a month that is known"
            return what if is_unknown else "there is no such day or time"
    for form in forms:
        if found := re.match(form.pattern.pattern.removesuffix(_TIME), text, re.IGNORECASE):
            return _reason_after_day(text[found.end() :])
    if text.isdecimal() and (reason := _reason_for_number(text)):
        return reason
    if _NAMED.search(text):
        is_date = any(map(str.isdigit, text))
        return _NEEDS_NAMES if is_date else "if it means that there is none, list it under `empty`"
    if _MONTH.fullmatch(text):
        return "a month without a day needs a form such as 'YYYY-MM', and day = 'last' or 'first'"
    return None


def _reason_for_number(text: str) -> str | None:
    if _SERIAL.fullmatch(text):
        day = date(1899, 12, 30) + timedelta(days=int(text))
        return f"{day} as a number in a spreadsheet: give the column a format of dates there"
    return "seconds since 1970 need the form 'unix'" if _SINCE_1970.fullmatch(text) else None


def _reason_after_day(rest: str) -> str:
    if begin := _CLOCK.match(rest):
        after = rest[begin.end() :].strip()[:QUOTED_MAX]
        return f"{after!r} after the time is neither AM, PM nor a zone such as Z or +02:00"
    return f"{rest.strip()[:QUOTED_MAX]!r} after the day is no time"
