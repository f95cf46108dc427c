"""Names and addresses that a file has in one column, or in more than Masthead."""

import re
from collections.abc import Iterator, Sequence

from masthead.circulation.addresses import POSTAL
from masthead.loading.guess_columns import Placed, Values, filled
from masthead.loading.guess_lines import Line, of_column, toml, toml_list

_ALWAYS_THERE = ("country_name", "country_abbreviation", "state")
_NAME = ("first_name", "last_name")
_FORMS_OF_NAMES = (
    ("{last}, {first}", r"[^,]+,[^,]+"),
    ("{first} {last:word}", r"[^,]+\s[^,\s]+"),
    ("{last}", r".*"),
)
_FORMS_OF_ADDRESSES = (
    (
        "{street:no-comma}, {zip:digits} {city:no-comma}",
        r"[^,;]+, ?[0-9]{4,5} [^,;]+",
    ),
    (
        "{street:no-comma}, {city:no-comma}, {state:word} {zip:digits}",
        r"[^,;]+, ?[^,;]+, ?\w+ [0-9]{5}",
    ),
)
_OF_PARTS = {"street": "address", "zip": "zip_code", "city": "city", "state": "state"}


class People:
    """The lines for names and addresses, and the columns that are split for them."""

    def __init__(self, placed: Placed, values: Values, names: Sequence[str]) -> None:
        """Take what the columns are, their values, and the names of all columns of the file."""
        self.splits: list[Line] = []
        self._placed = placed.columns
        self._comments = placed.comments
        self._values = values
        self._taken = set(names)
        self._split_names: dict[str, list[Line]] = {}

    def names(self, group: str) -> list[Line]:
        """Return the lines of a person's name; [] if the file has none for a group."""
        lines = [
            of_column(part, name, self._comments.get(name, ""))
            for part in _NAME
            if (name := self._placed.get(f"{group}subscribers.{part}")) is not None
        ]
        if not lines and (name := self._placed.get(f"{group}name")) is not None:
            if name not in self._split_names:
                self._split_names[name] = self._split_name(name)
            return self._split_names[name]
        return lines

    def _split_name(self, name: str) -> list[Line]:
        cells = filled(self._values[name])
        forms = [
            form
            for n, (form, pattern) in enumerate(_FORMS_OF_NAMES)
            if any(_first_form(cell) == n for cell in cells)
        ]
        if forms == ["{last}"] or not forms:
            return [of_column("last_name", name, "GUESS: a whole name?")]
        first, last = self._part("first"), self._part("last")
        templates = [f.replace("{first", f"{{{first}").replace("{last", f"{{{last}") for f in forms]
        self._split(name, templates, "a whole name; organisations have no first name")
        return [
            Line("first_name", toml(first), "GUESS: a part of a name"),
            Line("last_name", toml(last), "GUESS: a part of a name"),
        ]

    def _part(self, name: str) -> str:
        """Return the name of a part that no column has."""
        while name in self._taken:
            name += "_part"
        self._taken.add(name)
        return name

    def _split(self, name: str, templates: Sequence[str], comment: str) -> None:
        source = toml(templates[0]) if len(templates) == 1 else toml_list(templates)
        self.splits.append(Line(toml(name), source, f"GUESS: {comment}", name))

    def groups(self) -> Iterator[str]:
        """Yield the beginnings of targets that have an address: the one for copies first."""
        for group in ("shipping ", "", "billing "):
            if any(f"{group}addresses.{part}" in self._placed for part in POSTAL[:3]):
                yield group

    def address(self, group: str) -> tuple[list[Line], list[str]]:
        """Return the lines of an address, and the columns of which one has a value if it exists."""
        columns = {
            part: name
            for part in POSTAL
            if (name := self._placed.get(f"{group}addresses.{part}")) is not None
        }
        lines = [
            of_column(part, name, self._comments.get(name, "")) for part, name in columns.items()
        ]
        more = [
            name
            for part in ("house", "second")
            if (name := self._placed.get(f"{group}{part}")) is not None
        ]
        when = [name for part, name in columns.items() if part not in _ALWAYS_THERE] or [
            *columns.values()
        ]
        street = columns.get("address")
        if street is not None and more and not re.search("[{}]", "".join([street, *more])):
            joined = Line("address", f"{{ join = {toml(self._template(group, street))} }}")
            lines = [joined if line.target == "address" else line for line in lines]
            when += more
        elif street is not None and {"city", "zip_code"}.isdisjoint(columns):
            lines = self._split_address(street, lines)
        return lines, when

    def _template(self, group: str, street: str) -> str:
        parts = [f"{{{street}}}"]
        if (house := self._placed.get(f"{group}house")) is not None:
            parts.append(f" {{{house}}}")
        if (second := self._placed.get(f"{group}second")) is not None:
            parts.append(f", {{{second}}}")
        return "".join(parts)

    def _split_address(self, name: str, lines: list[Line]) -> list[Line]:
        cells = filled(self._values[name])
        for form, pattern in _FORMS_OF_ADDRESSES:
            if cells and all(re.fullmatch(pattern, cell) for cell in cells):
                names = {part: self._part(part) for part in _OF_PARTS if f"{{{part}" in form}
                for part, own in names.items():
                    form = form.replace(f"{{{part}", f"{{{own}")  # noqa: PLW2901
                self._split(name, [form], "an address in one line")
                found = [
                    Line(_OF_PARTS[part], toml(own), "GUESS: a part of an address")
                    for part, own in names.items()
                ]
                return [*(line for line in lines if line.target != "address"), *found]
        return lines


def _first_form(cell: str) -> int:
    return next(
        n
        for n, (_, pattern) in enumerate(_FORMS_OF_NAMES)
        if re.fullmatch(pattern, cell, re.DOTALL)
    )
