"""From a stored row to the bytes of the wire, compiled once per shape.

A shape becomes a msgspec Struct whose fields have the wire's types, and a function that builds it
from the stored values. Nothing walks the declaration per row.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from masthead.contract.kinds import Missing
from masthead.contract.shapes import Field, fields_of

__all__ = ["encode", "wire_of"]

_WHEN_MISSING = {Missing.EMPTY: "''", Missing.NULL: "None", Missing.ABSENT: "UNSET"}

encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
"""Return the JSON of wire records, lists and dicts of them: UTF-8, not escaped, no spaces."""


@cache
def wire_of(shape: type) -> Callable[..., msgspec.Struct]:
    """Return a function that makes the wire form of one record of ``shape``.

    Its arguments are the stored values in the order of the shape's fields: int, str or None, and
    for a nested list the wire forms of its records. What it returns goes to :func:`encode`.
    """
    fields = fields_of(shape)
    struct = msgspec.defstruct(shape.__name__, [(field.name, Any) for field in fields], gc=False)
    # ``order`` and ``type`` are fields, so the arguments are named by position.
    names = [f"v{position}" for position in range(len(fields))]
    values = map(_expression, fields, names)
    source = f"lambda {', '.join(names)}: struct({', '.join(values)})"
    scope = {"struct": struct, "UNSET": msgspec.UNSET, "Raw": msgspec.Raw}
    make: Callable[..., msgspec.Struct] = eval(source, scope)  # noqa: S307 - our own fields
    return make


def _expression(field: Field, name: str) -> str:
    written = field.kind.write(name)
    if field.missing is Missing.NEVER or (field.missing is Missing.NULL and written == name):
        return written
    return f"{_WHEN_MISSING[field.missing]} if {name} is None else {written}"
