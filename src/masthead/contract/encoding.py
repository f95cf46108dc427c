"""Encoding of stored rows as JSON, compiled once per shape.

Each shape gets a msgspec Struct, and a function that creates it from stored values.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from masthead.contract.kinds import Missing
from masthead.contract.shapes import Field, fields_of

_WHEN_MISSING = {Missing.EMPTY: "''", Missing.NULL: "None", Missing.ABSENT: "UNSET"}

encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
"""Return JSON of wire records, or of lists and dicts of them: UTF-8, without spaces."""


@cache
def wire_of(shape: type) -> Callable[..., msgspec.Struct]:
    """Return a function that makes the wire form of one record, for :func:`encode`.

    Its arguments are the stored values in the order of the shape's fields: int, str or None, and
    for a nested list the wire forms of its records.
    """
    fields = fields_of(shape)
    struct = msgspec.defstruct(shape.__name__, [(field.name, Any) for field in fields], gc=False)
    # Numbered names, because fields such as ``type`` shadow other names.
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
