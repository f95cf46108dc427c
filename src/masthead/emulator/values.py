"""A test's records as JSON, with the types that ``masthead.Client`` returns.

They become values of import columns (rules, "The records of the emulator"): a day ``YYYY-MM-DD``, a
time ``YYYY-MM-DD hh:mm:ss``, an amount as text. A time with an offset is converted to UTC, which is
the publisher's time zone; a time without an offset is already in that zone.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from masthead.contract import kinds
from masthead.contract.kinds import Kind
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput

_DIGITS_MAX = 100
"""Longer amounts are written with an exponent, since their digits could fill the memory."""


def as_json(kind: str, records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return records of a kind, such as ``subscribers``, with JSON values.

    Raises BadInput, which names record and column, for a value that no column accepts. The emulator
    makes all other checks.
    """
    table = TABLES_BY_NAME.get(kind)
    columns = {column.name: column.kind for column in table.columns} if table else {}
    return [
        _record(record, columns, f"{kind}, record {number}")
        for number, record in enumerate(records, start=1)
    ]


def _record(record: object, columns: Mapping[str, Kind], place: str) -> dict[str, Any]:
    if not isinstance(record, Mapping):
        raise BadInput(f"{place}: a {type(record).__name__}, where a dict of its columns is needed")
    found = {}
    for name, value in record.items():
        if not isinstance(name, str):
            raise BadInput(f"{place}: a {type(name).__name__}, where a column's name is needed")
        try:
            found[name] = _value(value, columns.get(name))
        except ValueError as reason:
            raise BadInput(f"{place}: {name}: {reason}") from None
    return found


def _value(value: object, kind: Kind | None) -> object:
    """Return the JSON value for a column of a kind; ``kind`` is None if it is not known.

    Raises ValueError for a value of another type, and for an invalid number or time.
    """
    match value:
        case None | str() | int():
            return value
        case float() if isfinite(value):
            return value
        case Decimal() if value.is_finite():
            return f"{value:f}" if abs(value.adjusted()) < _DIGITS_MAX else str(value)
        case float() | Decimal():
            raise ValueError(f"{value} is not a number such as 10.5")
        case datetime():
            return _time(value, kind)
        case date():
            is_time = isinstance(kind, kinds.DateTime)
            return f"{value.isoformat()} 00:00:00" if is_time else value.isoformat()
        case list() | tuple():
            return [_value(one, kind) for one in value]
    raise ValueError(
        f"a value of type {type(value).__name__}: a column takes text, numbers, Decimals, true or "
        "false, dates, times, None, and lists of these"
    )


def _time(value: datetime, kind: Kind | None) -> str:
    """Return a time without fractions of a second, or its day for a column of days."""
    try:
        here = value.astimezone(UTC) if value.tzinfo else value
    except OverflowError:
        raise ValueError("this time is none in UTC, whose years are 1 to 9999") from None
    if isinstance(kind, kinds.Date):
        return here.date().isoformat()
    return here.replace(tzinfo=None).isoformat(" ", "seconds")
