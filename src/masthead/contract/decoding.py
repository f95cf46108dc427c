"""Decoding of JSON into typed records, compiled once per shape.

A record becomes an instance of its shape. Integers are ``int``, exact numbers ``Decimal``, dates
``date`` and times ``datetime``. A missing value (null, the empty string or no key) is None, a
missing list is empty. Unknown keys are ignored (rules, "Client: reading generously").
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from masthead.contract.kinds import Many, Missing
from masthead.contract.shapes import Field, fields_of

Shape = TypeVar("Shape", bound=Struct)

_ID = re.compile(r"[0-9]{1,20}")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)
"""Decodes JSON for the functions of this module: numbers become int and Decimal.

Raises ValueError, RecursionError, and InvalidOperation for a number whose exponent is too large for
a Decimal; :data:`NO_NUMBER` is the message for that.
"""

NO_NUMBER = "a number in it has an exponent of more than 18 digits"


class OddRecord(ValueError):
    """A record that cannot be read. The message names record and field, but not the value.

    ``record`` is the decoded JSON. ``field`` is the name of the invalid field, with those of the
    lists around it as in ``order_items.sub_total``, or "" if the record is no JSON object.
    ``value`` is what it has. Both may be personal.
    """

    def __init__(self, message: str, shape: type, record: Any, field: str, value: Any) -> None:
        super().__init__(message)
        self.shape = shape
        self.record = record
        self.field = field
        self.value = value


class ReadsRecord(Protocol):
    """A function that reads a record as :func:`read_record` does, or returns None to omit it."""

    def __call__(self, shape: type[Shape], record: Any, /) -> Shape | None:
        """Return the record, or None."""


def read_record(shape: type[Shape], record: Any) -> Shape:
    """Return a record of ``shape`` from a decoded JSON object.

    Raises OddRecord, a ValueError. Its message names the invalid field and the id of the record,
    but not the value, which may be personal.
    """
    try:
        found: Shape = reader_of(shape)(record)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        raise _fault(shape, record) from None
    return found


@cache
def reader_of(shape: type) -> Callable[[Mapping[str, Any]], Any]:
    """Return the function that makes a record of ``shape`` from a decoded JSON object.

    For an invalid object it raises any exception; :func:`read_record` turns it into a ValueError.
    """
    fields = fields_of(shape)
    scope: dict[str, Any] = {f"f{n}": _reader(field) for n, field in enumerate(fields)}
    values = ", ".join(_expression(field, n) for n, field in enumerate(fields))
    source = f"lambda record: shape({values})"
    make: Callable[[Mapping[str, Any]], Any] = eval(  # noqa: S307 - our own fields
        source, scope | {"shape": shape}
    )
    return make


def _reader(field: Field) -> Callable[[Any], Any]:
    if isinstance(field.kind, Many):
        read = reader_of(field.kind.shape)
        return lambda records: [read(record) for record in records]
    return field.kind.read


def _expression(field: Field, number: int) -> str:
    """Return the Python expression that reads a field of ``record``."""
    if field.missing is not Missing.NEVER:
        missing = "None"
    elif isinstance(field.kind, Many):
        missing = "[]"
    elif field.kind.when_missing is not None:
        missing = f"f{number}(0)"
    else:
        return f"f{number}(record['{field.name}'])"
    found = f"(v{number} := record.get('{field.name}'))"
    return f"{missing} if {found} is None or v{number} == '' else f{number}(v{number})"


def _fault(shape: type, record: Any) -> OddRecord:
    """Return the exception that names the first invalid field."""
    if not isinstance(record, dict):
        return OddRecord(f"{shape.__name__}: not a JSON object", shape, record, "", record)
    fields = fields_of(shape)
    name = shape.__name__
    if _ID.fullmatch(found := str(record.get(fields[0].name))):
        name += f" with {fields[0].name} {found}"
    for number, field in enumerate(fields):
        value = record.get(field.name)
        try:
            eval(  # noqa: S307 - our own fields
                _expression(field, number), {f"f{number}": _reader(field), "record": record}
            )
        except KeyError:
            return OddRecord(f"{name}: {field.name} is missing", shape, record, field.name, value)
        except (ValueError, TypeError, AttributeError, ArithmeticError):
            if nested := _fault_in(field, value):
                path = f"{field.name}.{nested.field}" if nested.field else field.name
                sentence = f"{name}: {field.name}: {nested}"
                return OddRecord(sentence, shape, record, path, nested.value)
            sentence = f"{name}: {field.name} is not what the interface says: {field.kind.word}"
            return OddRecord(sentence, shape, record, field.name, value)
    raise AssertionError("only a record that cannot be read has a fault")


def _fault_in(field: Field, value: Any) -> OddRecord | None:
    """Return the exception of the first invalid record in a nested list, None without one."""
    if not isinstance(field.kind, Many) or not isinstance(value, list):
        return None
    for record in value:
        try:
            read_record(field.kind.shape, record)
        except OddRecord as fault:
            return fault
    return None
