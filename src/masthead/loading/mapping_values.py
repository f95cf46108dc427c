"""How single values of a mapped file are read: dates, numbers, yes and no, listed words.

A value is first converted to the form of a plain file, then read by the kind of its column. All
messages complete the sentence "<value> is …".
"""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
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
from masthead.loading.mapping_dates import ISO, DayOfMonth, date_reader
from masthead.loading.templates import Join
from masthead.loading.words import Replacements

Value = int | str | None
Convert = Callable[[str], str]

_REMEMBERED_MAX = 5_000
_REPEATING = (Date, DateTime, Number, DecimalText)
_CODES = frozenset(("renewal_code", "zip_code"))
_LISTED_MAX = 12
"""The maximum number of words that a message lists."""

_GROUPS = " '\u2019\u00a0\u202f"
"""Thousands separators besides ``.`` or ``,``, whichever is not the decimal sign."""

_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,9})?")


class Writing(NamedTuple):
    """How a source writes its values. ``yes`` and ``no`` are in lower case.

    ``dates`` are the forms of dates, such as ``DD.MM.YYYY``. ``decimal`` is "." or "," if it is
    given. Cells that are in ``empty`` are missing values. ``time_zone`` is that of the account.
    """

    dates: tuple[str, ...] = (ISO,)
    decimal: str | None = None
    currency: str | None = None
    yes: frozenset[str] = frozenset()
    no: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    time_zone: str = "UTC"


class Column(NamedTuple):
    """Columns of the source from which a value comes, or a constant if there are no ``columns``.

    The value is that of the first column that has one, or all of them joined by ``join``.
    ``values`` replaces the words of the source, and lists all of them. ``default`` replaces an
    empty cell. ``dates`` are the forms of dates, and ``day`` is the day of those without one.
    Numbers are multiplied by ``scale``. ``constant`` is the value of each row.
    """

    columns: tuple[str, ...]
    join: Join | None = None
    values: Replacements | None = None
    default: str | None = None
    dates: tuple[str, ...] = ()
    day: DayOfMonth | None = None
    scale: Decimal | None = None
    constant: str = ""

    @property
    def is_always_there(self) -> bool:
        """Whether each row has a value, even if its cells are empty."""
        has_empty = self.values is not None and "" in self.values.exact
        return not self.columns or self.default is not None or has_empty


def reader(
    field: Field, source: Column, writing: Writing, *, has_types: bool = False
) -> Callable[[str], Value]:
    """Return a function that reads a cell of ``source``, which may be empty, for a column.

    It returns the value to store, None if there is none. It raises ValueError, whose message
    completes "<value> is". ``has_types``: the format has numbers of its own, as XLSX and NDJSON do,
    whose decimal sign is a point.
    """
    parse = field.kind.parse
    default = source.default or "" if source.columns else source.constant
    fallback = parse(default) if default else None
    if not source.columns:
        return lambda _: fallback
    convert = _conversion(field, source, writing, has_types=has_types)
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
        if values is not None and (stripped or "" in values.exact):
            text = stripped = _replaced(values, stripped)
            return parse(text) if text else None
        if (word := words.get(stripped.casefold())) is not None:
            return parse(word)
        if not (text if keeps_spaces else stripped):
            return fallback
        return parse(convert(text if keeps_spaces else stripped))

    return _remembering(field.kind, read)


def _replaced(values: Replacements, text: str) -> str:
    found = values.get(text)
    if found is None:
        listed = _listed([*values.exact, *values.patterns])
        raise ValueError(f"not one of the values in the mapping: {listed}")
    return found


def _remembering(kind: Kind, read: Callable[[str], Value]) -> Callable[[str], Value]:
    """Return ``read`` with a cache if values repeat: days and amounts, not ids and text."""
    return lru_cache(_REMEMBERED_MAX)(read) if isinstance(kind, _REPEATING) else read


def _listed(words: Sequence[str]) -> str:
    shown = [word[:40] or '""' for word in words][:_LISTED_MAX]
    return ", ".join(shown) + (", …" if len(words) > _LISTED_MAX else "")


def _words(kind: Kind, writing: Writing) -> dict[str, str]:
    if not isinstance(kind, Bool | Flag | Bit):
        return {}
    return dict.fromkeys(writing.no, "0") | dict.fromkeys(writing.yes, "1")


def _conversion(field: Field, source: Column, writing: Writing, *, has_types: bool) -> Convert:
    kind = field.kind
    if isinstance(kind, Date | DateTime):
        return date_reader(
            source.dates or writing.dates,
            source.day,
            writing.time_zone,
            has_time=isinstance(kind, DateTime),
        )
    if source.scale is not None:
        number = _number_reader(writing.decimal, writing.currency, has_types=has_types)
        return _scaled(number, source.scale, is_whole=isinstance(kind, Integer))
    if isinstance(kind, Bool | Flag | Bit):
        return _yes_or_no(writing) if writing.yes or writing.no else str
    if isinstance(kind, Number | DecimalText) and (writing.decimal or writing.currency):
        return _number_reader(writing.decimal, writing.currency, has_types=has_types)
    if isinstance(kind, Integer):
        return whole
    return without_decimals if field.name in _CODES else str


def _scaled(convert: Convert, scale: Decimal, *, is_whole: bool) -> Convert:
    """Return ``convert`` for numbers that are multiplied by ``scale``."""

    def scaled(text: str) -> str:
        number = convert(text)
        if not _PLAIN_NUMBER.fullmatch(number):
            raise ValueError("not a number")
        product = Decimal(number) * scale
        if is_whole and product == product.to_integral_value():
            product = product.to_integral_value()
        return f"{product:f}"

    return scaled


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
    """Return an amount without the currency before or after it: ``-€5`` and ``-5 €`` are -5."""
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
