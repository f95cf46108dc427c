"""Reading the parts of a decoded TOML file, with a sentence and a place for each mistake."""

import re
from collections.abc import Iterable
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import Struct

from masthead.loading.mapping import SHOWN_MAX, nearest

_WORDS = {
    "str": "text",
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number with a fraction",
    "array": "a list",
    "object": "a table",
}
_EXPECTED = re.compile(r"Expected (`[^`]+`), got (`[^`]+`)")
_AT = re.compile(r" - at `\$(.*)`$")


class Mistakes:
    """The mistakes of a file that is being read: places and sentences, in their order."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, place: str, sentence: str) -> None:
        """Add a mistake."""
        self.found.append(f"{place}: {sentence}")

    def struct(self, form: type[Struct], value: object, place: str) -> Any:
        """Return the correct part of ``value`` as a ``form``; None if a required key is missing."""
        if not isinstance(value, dict):
            self.add(place, "has to be a table")
            return None
        types = get_type_hints(form)
        fields = {field.encode_name: field for field in msgspec.structs.fields(form)}
        required = {name for name, field in fields.items() if field.required}
        found = {}
        for name in [name for name in value if name not in fields]:
            self.add(f"{place}.{quoted(name)}", no_such("key", name, fields))
        for name in [name for name in fields if name in required - value.keys()]:
            self.add(f"{place}.{name}", "missing")
        for name, field in fields.items():
            if name in value:
                type_ = types[field.name]
                try:
                    found[field.name] = msgspec.convert(value[name], type_)
                except msgspec.ValidationError as error:
                    sentence = str(error)
                    at = _AT.search(sentence)
                    inner = at.group(1) if at else ""
                    problem = _translated(_AT.sub("", sentence), type_)
                    self.add(f"{place}.{name}{inner}", problem)
        return form(**found) if {fields[name].name for name in required} <= found.keys() else None


def no_such(what: str, name: str, known: Iterable[str]) -> str:
    """Return that there is no ``what`` of this name, and the nearest one."""
    return f"there is no {what} {name[:SHOWN_MAX]!r}; {nearest(name, known)}"


def quoted(name: str) -> str:
    """Return a name as TOML has it in a place."""
    name = name[:SHOWN_MAX]
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else repr(name)


def _translated(sentence: str, type_: Any) -> str:
    if sentence.startswith("Invalid enum"):
        literal, _ = get_args(type_)
        return f"has to be one of {', '.join(map(repr, get_args(literal)))}"
    found = _EXPECTED.search(sentence)
    if not found:
        return sentence
    expected, got = (group.strip("`").split(" | ") for group in found.groups())
    wanted = " or ".join(_WORDS.get(name, name) for name in expected if name != "null")
    return f"has to be {wanted}, and is {_WORDS.get(got[0], got[0])}"
