"""From the JSON of the wire to typed records, compiled once per shape.

A record becomes an instance of its shape: integers are ``int``, exact numbers ``Decimal``, dates
``date``, times ``datetime``, and what is missing is None, whether the wire shows null, the empty
string or nothing at all; a list that is missing is empty. Keys that the shape does not have are
passed over (decisions, "Client: reading generously").
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

from masthead.contract.kinds import Many, Missing
from masthead.contract.shapes import Field, fields_of

__all__ = ["NO_NUMBER", "decoder", "read_record", "reader_of"]

Shape = TypeVar("Shape", bound=Struct)

_ID = re.compile(r"[0-9]{1,20}")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)
"""Reads JSON as the functions of this module take it: numbers are int and Decimal.

Beside ValueError and RecursionError it raises InvalidOperation, for a number whose exponent no
Decimal can have: what is wrong with that says :data:`NO_NUMBER`.
"""

NO_NUMBER = "a number in it has an exponent of more than 18 digits"


def read_record(shape: type[Shape], record: Any) -> Shape:
    """Return the record of ``shape`` that a decoded JSON object is.

    Raises ValueError with a sentence that names the field which cannot be read, and the id of the
    record, but not the value, which may be personal.
    """
    try:
        found: Shape = reader_of(shape)(record)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        raise ValueError(_fault(shape, record)) from None
    return found


@cache
def reader_of(shape: type) -> Callable[[Mapping[str, Any]], Any]:
    """Return the function that makes a record of ``shape`` from a decoded JSON object.

    It raises anything where the object is not of that shape: :func:`read_record` explains.
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
    """Return the Python expression of a field of ``record``."""
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


def _fault(shape: type, record: Any) -> str:
    """Say which field of the record cannot be read."""
    if not isinstance(record, dict):
        return f"{shape.__name__}: not a JSON object"
    fields = fields_of(shape)
    name = shape.__name__
    if _ID.fullmatch(found := str(record.get(fields[0].name))):
        name += f" with {fields[0].name} {found}"
    for number, field in enumerate(fields):
        try:
            eval(  # noqa: S307 - our own fields
                _expression(field, number), {f"f{number}": _reader(field), "record": record}
            )
        except KeyError:
            return f"{name}: {field.name} is missing"
        except (ValueError, TypeError, AttributeError, ArithmeticError):
            return f"{name}: {_fault_in(field, record.get(field.name))}"
    raise AssertionError("only a record that cannot be read has a fault")


def _fault_in(field: Field, value: Any) -> str:
    if isinstance(field.kind, Many) and isinstance(value, list):
        for record in value:
            try:
                read_record(field.kind.shape, record)
            except ValueError as fault:
                return f"{field.name}: {fault}"
    return f"{field.name} is not what the interface says: {field.kind.word}"
