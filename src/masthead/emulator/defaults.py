"""The default columns of a new record, so that a test gives only its id and its references.

A default is the most common value in a publisher's records (rules, "The records of the emulator").
All other columns are missing, as in an import (reference, "Import files").
"""

from collections.abc import Callable

import msgspec

from masthead.contract.kinds import Identifier
from masthead.contract.moments import date_in, format_second

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CODE_LENGTH = 5

Record = dict[str, msgspec.Raw]
_encode = msgspec.json.encode

_identifier = Identifier()


def id_in(value: msgspec.Raw) -> int:
    """Return the id that an import reads from a JSON value: a number, or a string of digits.

    Raises ValueError if the value is not an id.
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
    """Return a renewal code, the subscriber's id in base 36; None if it is too long."""
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
    """Return a new record, a JSON object, with defaults for its missing columns.

    A value that is not an object stays unchanged; the checks of the import refuse it.
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
    # Join the text, so that the checks see the given part unchanged.
    return record.rstrip().removesuffix(b"}") + b"," + b",".join(members) + b"}"
