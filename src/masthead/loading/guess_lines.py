"""The lines of a guessed mapping, as TOML."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Line(NamedTuple):
    """A line of a mapping; ``source`` is TOML, and ``name`` the one column that it names, if any.

    Lines that are not certain have a ``comment``.
    """

    target: str
    source: str
    comment: str = ""
    name: str = ""


class Guess(NamedTuple):
    """The guess for one file.

    ``ignore`` has the columns that are not loaded, each with a comment. ``splits`` has columns
    whose parts become columns. A table can have several records, each with its lines.
    """

    settings: list[Line]
    ignore: list[tuple[str, str]]
    splits: list[Line]
    tables: dict[str, list[list[Line]]]


def written(guess: Guess) -> str:
    """Return the entry of a mapping."""
    lines = ["[[files]]", *map(_line, guess.settings)]
    if guess.ignore:
        lines.append("ignore = [  # columns that are not loaded")
        lines += [
            f"    {toml(name)},{'  # ' if comment else ''}{comment}"
            for name, comment in guess.ignore
        ]
        lines.append("]")
    if guess.splits:
        lines += ["", "[files.split]", *map(_line, guess.splits)]
    for name, records in guess.tables.items():
        heading = f"[files.tables.{name}]" if len(records) == 1 else f"[[files.tables.{name}]]"
        for columns in records:
            lines += ["", heading, *map(_line, columns)]
    return "\n".join(lines) + "\n"


def _line(line: Line) -> str:
    return f"{line.target} = {line.source}{'  # ' if line.comment else ''}{line.comment}"


def of_column(target: str, name: str, comment: str = "") -> Line:
    """Return the line of a column that comes from one column as it is."""
    return Line(target, toml(name), comment, name)


def toml(text: str) -> str:
    """Return text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_list(texts: Iterable[str]) -> str:
    """Return texts as a TOML list of strings."""
    return f"[{', '.join(map(toml, texts))}]"


def key(columns: Sequence[str], *, of: str = "", when: Sequence[str] = ()) -> str:
    """Return the source of an id made from columns and, if ``of`` is given, from that constant."""
    parts = [*map(toml, columns), *([f"{{ constant = {toml(of)} }}"] if of else [])]
    condition = f", when = {toml_list(when)}" if when else ""
    return f"{{ key = [{', '.join(parts)}]{condition} }}"
