"""Values of every kind for tests: the texts that a kind accepts, and records made of them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from masthead.contract import kinds
from masthead.contract.encoding import encode, wire_of
from masthead.contract.file_kinds import Range
from masthead.contract.kinds import Kind, Many, Missing
from masthead.contract.passwords import PasswordHash
from masthead.contract.shapes import Field, fields_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

KINDS = {
    "integer": kinds.Integer(),
    "identifier": kinds.Identifier(),
    "text": kinds.Text(),
    "text of five": kinds.Text(5),
    "api key": kinds.Credential(is_user_name=True),
    "api login": kinds.Credential(is_user_name=False),
    "one of": kinds.OneOf("Print", "Digital", "Both"),
    "bool": kinds.Bool(),
    "flag": kinds.Flag(),
    "bit": kinds.Bit(),
    "number": kinds.Number(),
    "decimal text": kinds.DecimalText(),
    "date": kinds.Date(),
    "date and time": kinds.DateTime(),
    "digest": kinds.Digest(),
}
"""One of each kind that stands on the wire."""

_STORABLE = st.characters(codec="utf-8", exclude_characters="\x00")
_DIGITS_15 = 10**15 - 1


def _in_any_letter_case(word: str) -> st.SearchStrategy[str]:
    return st.tuples(*(st.sampled_from((c.lower(), c.upper())) for c in word)).map("".join)


_BOOLEANS = st.sampled_from(("true", "false")).flatmap(_in_any_letter_case) | st.sampled_from("01")


def _decimal(digits: int, places: int) -> str:
    return format(Decimal(digits).scaleb(-places), "f")


_TEXTS: dict[type[Kind], Callable[[Any], st.SearchStrategy[str]]] = {
    kinds.Integer: lambda _: st.integers(-(2**63), 2**63 - 1).map(str),
    Range: lambda kind: (
        st.integers(kind.least, kind.most) | st.sampled_from([kind.instead or kind.least])
    ).map(str),
    kinds.Identifier: lambda _: st.integers(0, 2**63 - 1).map(str),
    kinds.Text: lambda kind: st.text(_STORABLE, min_size=1, max_size=kind.max_length),
    kinds.Credential: lambda kind: st.text(
        _STORABLE.filter(lambda c: c > "\x1f" and c != "\x7f" and c != ":" * kind.is_user_name),
        min_size=1,
    ),
    kinds.OneOf: lambda kind: st.sampled_from(kind.values).flatmap(_in_any_letter_case),
    kinds.Bool: lambda _: _BOOLEANS,
    kinds.Flag: lambda _: _BOOLEANS,
    kinds.Bit: lambda _: _BOOLEANS,
    kinds.Number: lambda _: st.builds(
        _decimal, st.integers(-_DIGITS_15, _DIGITS_15), st.integers(0, 15)
    ),
    kinds.DecimalText: lambda _: st.from_regex(
        r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,9})?", fullmatch=True
    ),
    kinds.Date: lambda _: st.dates().map(str),
    kinds.DateTime: lambda _: st.datetimes().map(lambda time: time.isoformat(" ", "seconds")),
    kinds.Digest: lambda _: st.text("0123456789abcdefABCDEF", min_size=32, max_size=32),
    PasswordHash: lambda _: st.from_regex(r"\$P\$B[./0-9A-Za-z]{30}", fullmatch=True),
}


def texts(kind: Kind) -> st.SearchStrategy[str]:
    """Texts that the kind must accept."""
    return _TEXTS[type(kind)](kind)


def wire_records(shape: type) -> st.SearchStrategy[msgspec.Struct]:
    """Wire forms of records of the shape, with values missing wherever they may be.

    Of the keys that may be absent a record has exactly one, which is checked when it is loaded.
    """
    fields = fields_of(shape)
    either = [at for at, field in enumerate(fields) if field.missing is Missing.ABSENT]

    def loadable(values: tuple[Any, ...]) -> bool:
        return not either or [values[at] is None for at in either].count(False) == 1

    stored = st.tuples(*map(_stored, fields)).filter(loadable)
    return stored.map(lambda values: wire_of(shape)(*values))


def _stored(field: Field) -> st.SearchStrategy[Any]:
    if isinstance(field.kind, Many):
        values: st.SearchStrategy[Any] = st.lists(wire_records(field.kind.shape), max_size=2)
    else:
        values = texts(field.kind).map(field.kind.parse)
    return values if field.missing is Missing.NEVER else st.none() | values


def read(record: Any) -> Any:
    """Return what a client reads from a wire form; numbers as the text that stands there."""
    return json.loads(encode(record), parse_float=str, parse_int=str)


def problems(schema: dict[str, Any], response: object) -> list[str]:
    """Return what a validator finds wrong with the response, formats included."""
    checker = Draft202012Validator.FORMAT_CHECKER
    found = Draft202012Validator(schema, format_checker=checker).iter_errors(response)
    return [f"{error.json_path}: {error.message}" for error in found]
