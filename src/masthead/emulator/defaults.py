"""What a new record has beside what was given, so that its id and its references are enough.

A default is what most records of a publisher have (rules, "The records of the emulator"). All
other columns are missing, as in an import (reference, "Import files").
"""

from collections.abc import Callable

import msgspec

from masthead.contract.kinds import Identifier
from masthead.contract.moments import date_in, format_second

__all__ = ["id_in", "with_defaults"]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CODE_LENGTH = 5

Record = dict[str, msgspec.Raw]
_encode = msgspec.json.encode

_identifier = Identifier()


def id_in(value: msgspec.Raw) -> int:
    """Return the id that a JSON value is for an import: a number, or its digits in a string.

    Raises ValueError if it is none.
    """
    try:
        return _identifier.parse(str(msgspec.json.decode(value, type=int | str)))
    except msgspec.DecodeError as reason:
        raise ValueError(str(reason)) from None


def _today(_record: Record, now: int) -> str:
    return date_in("UTC", now)


def _now(_record: Record, now: int) -> str:
    return format_second(now)


def _code(record: Record, _now: int) -> str | None:
    """Return a renewal code of the subscriber's id in base 36; None if it is too long."""
    try:
        number, code = id_in(record["subscriber_id"]), ""
    except (KeyError, ValueError):
        return None
    while number:
        number, digit = divmod(number, len(_DIGITS))
        code = _DIGITS[digit] + code
    return code.rjust(_CODE_LENGTH, "0") if len(code) <= _CODE_LENGTH else None


Default = str | int | bool | Callable[[Record, int], str | None]

_DEFAULTS: dict[str, dict[str, Default]] = {
    "subscribers": {"renewal_code": _code},
    "subscriptions": {"type": "Print", "copies": 1, "issues": 12, "date_created": _today},
    "issues": {"date": _today},
    "custom_fields": {"type": "text"},
    "custom_field_options": {"active": True},
    "orders": {"order_date": _now},
    "list_downloads": {"status": "Complete", "date_created": _now},
    "mailing_list_entries": {"type": "Print", "copies": 1},
}


def with_defaults(table: str, record: bytes, now: int) -> bytes:
    """Return a new record, a JSON object, with the defaults of the columns that it lacks.

    What is no object stays as it is, for the checks of the import to refuse.
    """
    try:
        given = msgspec.json.decode(record, type=Record)
    except msgspec.DecodeError:
        return record
    members = []
    for name, default in _DEFAULTS.get(table, {}).items():
        value = default(given, now) if callable(default) else default
        if name not in given and value is not None:
            members.append(_encode(name) + b":" + _encode(value))
    if not (given and members):
        return record
    # As text, so that the checks see the given part as it was given.
    return record.rstrip().removesuffix(b"}") + b"," + b",".join(members) + b"}"
