"""Strict JSON: finds what RFC 8259 forbids or advises against."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple


class Json(NamedTuple):
    """A decoded text, and what is wrong with it although it can be decoded."""

    value: Any
    faults: Sequence[str]


class _Decoder(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__(
            object_pairs_hook=self._object, parse_float=Decimal, parse_constant=_no_constant
        )
        self.repeats = 0

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        self.repeats += len(pairs) - len(found)
        return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def read(content: bytes) -> Json:
    """Return the value of a JSON text; raise ValueError, without the text, if it is invalid."""
    decoder = _Decoder()
    try:
        value = decoder.decode(content.decode())
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except (ValueError, ArithmeticError, RecursionError):
        raise ValueError("it is not JSON") from None
    return Json(value, _faults(decoder, value))


def beginning_of(content: bytes) -> dict[str, list[Any]]:
    """Return the records at the beginning of a feed that was not read completely.

    The body is an object of arrays. The records end where the body cannot be read.
    """
    text = content.decode(errors="ignore")
    decoder = _Decoder()
    found: dict[str, list[Any]] = {}
    try:
        at = _after(text, 0, "{")
        while True:
            key, at = decoder.raw_decode(text, _after(text, at, ""))
            at = _after(text, _after(text, at, ":"), "[")
            records = found.setdefault(key, [])
            while text[at] != "]":
                record, at = decoder.raw_decode(text, at)
                at = _after(text, at, "")
                at = at if text[at] == "]" else _after(text, at, ",")
                records.append(record)
            at = _after(text, _after(text, at, "]"), ",")
    except (ValueError, IndexError, ArithmeticError, RecursionError):
        return found


def _after(text: str, at: int, wanted: str) -> int:
    """Return the position after a character and the space around it; raises ValueError."""
    while text[at] in " \t\r\n":
        at += 1
    if not text.startswith(wanted, at):
        raise ValueError("not the body of a feed")
    at += len(wanted)
    while text[at] in " \t\r\n":
        at += 1
    return at


def _faults(decoder: _Decoder, value: Any) -> list[str]:
    faults = []
    if decoder.repeats:
        faults.append("an object has the same member twice")
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        faults.append("an escape such as \\ud800 is half of a character, which no text can hold")
    except RecursionError:
        faults.append("it is nested too deeply")
    return faults


def type_of(value: Any) -> str:
    """Return the JSON name of a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a JSON boolean"
    if isinstance(value, int | Decimal):
        return "a JSON number"
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    return "an array" if isinstance(value, list) else "an object"
