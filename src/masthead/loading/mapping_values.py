"""How single values of a mapped file are read: dates, numbers, yes and no, listed words.

A value is first converted to the form of a plain file, then read by the kind of its column. All
messages complete the sentence "<value> is …".
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, time
from functools import lru_cache
from hashlib import md5
from typing import NamedTuple

from masthead.contract.kinds import (
    Bit,
    Bool,
    Date,
    DateTime,
    DecimalText,
    Flag,
    Integer,
    Kind,
    Number,
    Text,
)
from masthead.contract.shapes import Field
from masthead.loading.cleaning import whole, without_decimals

Value = int | str | None
Convert = Callable[[str], str]

_REMEMBERED_MAX = 5_000
_REPEATING = (Date, DateTime, Number, DecimalText)
_CODES = frozenset(("renewal_code", "zip_code"))
_LISTED_MAX = 12
"""The maximum number of words that a message lists."""

_DAY_TOKENS = re.compile(r"YYYY|YY|MM|M|DD|D|[-/. ]+")
_DIGITS = {
    "YYYY": "(?P<y>[0-9]{4})",
    "YY": "(?P<y>[0-9]{2})",
    "MM": "(?P<m>[0-9]{2})",
    "M": "(?P<m>[0-9]{1,2})",
    "DD": "(?P<d>[0-9]{2})",
    "D": "(?P<d>[0-9]{1,2})",
}
_TIME = r"(?:(?:[T ] ?)(?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,][0-9]{1,9})?)?"
_CENTURY_TURNS_AT = 69
"""Years of two digits are 1969 to 2068, as in POSIX."""

ISO = "YYYY-MM-DD"
_GROUPS = " '\u2019\u00a0\u202f"
"""Thousands separators besides ``.`` or ``,``, whichever is not the decimal sign."""


class Writing(NamedTuple):
    """How a source writes its values. ``yes`` and ``no`` are in lower case.

    ``dates`` is the order of a day, such as ``DD.MM.YYYY``. ``decimal`` is "." or "," if it is
    given. Cells that are in ``empty`` are missing values.
    """

    dates: str = ISO
    decimal: str | None = None
    currency: str | None = None
    yes: frozenset[str] = frozenset()
    no: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()


class Column(NamedTuple):
    """A column of the source, or a constant if ``column`` is None.

    ``values`` replaces the words of the source. It lists all of them, unless there is a
    ``default``, which also replaces an empty cell. ``constant`` is the value of each row.
    """

    column: str | None
    values: Mapping[str, str] | None = None
    default: str | None = None
    dates: str | None = None
    constant: str = ""


@lru_cache(maxsize=100)
def day_pattern(dates: str) -> re.Pattern[str]:
    """Return the pattern of days written as ``dates``, with groups y, m, d and time.

    Raises ValueError if ``dates`` is not an order of a day.
    """
    tokens = _DAY_TOKENS.findall(dates)
    parts = [token for token in tokens if token in _DIGITS]
    one_each = sorted(part[0] for part in parts) == ["D", "M", "Y"]
    if "".join(tokens) != dates or not one_each:
        raise ValueError(
            f"{dates[:40]!r} is no order of a date: it has YYYY or YY, MM or M, and DD or D once "
            "each, with . / - or spaces between, such as DD.MM.YYYY"
        )
    if len(tokens) < 5 and not {"M", "D"}.isdisjoint(parts):
        raise ValueError(f"{dates!r}: without a sign between, months and days are MM and DD")
    day = "".join(_DIGITS.get(token) or re.escape(token) for token in tokens)
    return re.compile(day + _TIME)


def reader(
    field: Field, source: Column, writing: Writing, *, has_types: bool = False
) -> Callable[[str], Value]:
    """Return a function that reads a cell of ``source``, which may be empty, for a column.

    It returns the value to store, None if there is none. It raises ValueError, whose message
    completes "<value> is". ``has_types``: the format has numbers of its own, as XLSX and NDJSON do,
    whose decimal sign is a point.
    """
    parse = _digest if field.name == "password" else field.kind.parse
    default = source.constant if source.column is None else source.default or ""
    fallback = parse(default) if default else None
    if source.column is None:
        return lambda _: fallback
    convert = _conversion(field, writing, source.dates or writing.dates, has_types=has_types)
    words = _words(field.kind, writing)
    values = source.values
    keeps_spaces = isinstance(field.kind, Text)

    if values is None and not words and not writing.empty:
        strip = str if keeps_spaces else str.strip

        def read_plainly(text: str) -> Value:
            text = strip(text)
            if not text:
                return fallback
            return parse(convert(text))

        return _remembering(field.kind, read_plainly)

    def read(text: str) -> Value:
        stripped = text.strip()
        if stripped in writing.empty:
            text = stripped = ""
        if values is not None and (stripped or "" in values):
            text = stripped = _replaced(values, stripped, source.default)
            return parse(text) if text else None
        if (word := words.get(stripped.casefold())) is not None:
            return parse(word)
        if not (text if keeps_spaces else stripped):
            return fallback
        return parse(convert(text if keeps_spaces else stripped))

    return _remembering(field.kind, read)


def _replaced(values: Mapping[str, str], text: str, default: str | None) -> str:
    found = values.get(text, default)
    if found is None:
        raise ValueError(f"not one of the values in the mapping: {_listed(values)}")
    return found


def _remembering(kind: Kind, read: Callable[[str], Value]) -> Callable[[str], Value]:
    """Return ``read`` with a cache if values repeat: days and amounts, not ids and text."""
    return lru_cache(_REMEMBERED_MAX)(read) if isinstance(kind, _REPEATING) else read


def _listed(words: Mapping[str, str]) -> str:
    shown = [word[:40] or '""' for word in words][:_LISTED_MAX]
    return ", ".join(shown) + (", …" if len(words) > _LISTED_MAX else "")


def _digest(password: str) -> str:
    Text().parse(password)
    return md5(password.encode(), usedforsecurity=False).hexdigest()


def _words(kind: Kind, writing: Writing) -> dict[str, str]:
    if not isinstance(kind, Bool | Flag | Bit):
        return {}
    return dict.fromkeys(writing.no, "0") | dict.fromkeys(writing.yes, "1")


def _conversion(field: Field, writing: Writing, dates: str, *, has_types: bool) -> Convert:
    kind = field.kind
    if isinstance(kind, Date | DateTime):
        return _date_reader(dates, has_time=isinstance(kind, DateTime))
    if isinstance(kind, Number | DecimalText) and (writing.decimal or writing.currency):
        return _number_reader(writing.decimal, writing.currency, has_types=has_types)
    if isinstance(kind, Integer):
        return whole
    if field.name in _CODES:
        return without_decimals
    if isinstance(kind, Bool | Flag | Bit) and (writing.yes or writing.no):
        return _yes_or_no(writing)
    return lambda text: text


def _date_reader(dates: str, *, has_time: bool) -> Convert:
    patterns = [day_pattern(dates), day_pattern(ISO)]

    def convert(text: str) -> str:
        found = next((match for p in patterns if (match := p.fullmatch(text))), None)
        try:
            if not found:
                raise ValueError
            year = found["y"]
            if len(year) == 2:
                year = f"{19 if int(year) >= _CENTURY_TURNS_AT else 20}{year}"
            day = date(int(year), int(found["m"]), int(found["d"]))
            hour, minute, second = f"{found['time'] or '0:00'}:00".split(":")[:3]
            moment = time(int(hour), int(minute), int(second))
        except ValueError:
            raise ValueError(f"not a date written {dates}") from None
        return f"{day.isoformat()} {moment:%H:%M:%S}" if has_time else day.isoformat()

    return convert


def _number_reader(decimal: str | None, currency: str | None, *, has_types: bool) -> Convert:
    sign = decimal or "."
    if has_types and decimal == ",":
        pattern = re.compile(r"-?[0-9]+(?:[.,][0-9]+)?")
    elif decimal:
        group = f"[{re.escape(_GROUPS + ('.' if sign == ',' else ','))}]"
        pattern = re.compile(
            rf"-?(?:[0-9]{{1,3}}({group})[0-9]{{3}}(?:\1[0-9]{{3}})*|[0-9]+)"
            rf"(?:{re.escape(sign)}[0-9]+)?"
        )
    else:
        pattern = re.compile(r".*", re.DOTALL)

    def convert(text: str) -> str:
        if currency:
            text = _without(currency, text)
        found = pattern.fullmatch(text)
        if not found:
            raise ValueError(f"not a number whose decimal sign is {sign!r}")
        if found.re.groups and found.group(1):
            text = text.replace(found.group(1), "")
        return text.replace(sign, ".") if decimal else text

    return convert


def _without(currency: str, text: str) -> str:
    """Return an amount without the currency before or behind it: ``-€5`` and ``-5 €`` are -5."""
    is_negative = text.startswith("-")
    amount = text[is_negative:].strip().removeprefix(currency).removesuffix(currency).strip()
    return f"-{amount}" if is_negative else amount


def _yes_or_no(writing: Writing) -> Convert:
    def convert(text: str) -> str:
        if text.casefold() in {"true", "false", "1", "0"}:
            return text
        yes, no = (", ".join(sorted(words)) for words in (writing.yes, writing.no))
        raise ValueError(f"neither yes ({yes or 'true, 1'}) nor no ({no or 'false, 0'})")

    return convert
