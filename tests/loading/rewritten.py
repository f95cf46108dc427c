"""Plain files as another system would write them, and the mapping that reads them back."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from masthead.contract.kinds import (
    Bit,
    Bool,
    Date,
    DateTime,
    DecimalText,
    Flag,
    Identifier,
    Number,
)
from masthead.contract.records import TABLES_BY_NAME
from masthead.loading.mapping import target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from masthead.contract.records import Table
    from masthead.contract.shapes import Field

_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


class Style(NamedTuple):
    """How another system writes its files; ``keys``: ids are texts, such as ``K-17``."""

    separator: str = ";"
    dates: str = "DD.MM.YYYY"
    decimal: str = ","
    yes: str = "ja"
    no: str = "nein"
    keys: bool = False


ALL_COLUMNS = {
    name: [each.name for each in table.columns] for name, table in TABLES_BY_NAME.items()
}


def mapping_of(style: Style, columns: Mapping[str, Collection[str]] = ALL_COLUMNS) -> str:
    """Return the mapping of files that :func:`rewrite` has written, by their tables' columns."""
    lines = []
    for name, header in columns.items():
        table = TABLES_BY_NAME[name]
        lines += [
            "[[files]]",
            f'name = "Quelle {name}"',
            f"separator = {json.dumps(style.separator)}",
            f"dates = {json.dumps(style.dates)}",
            f"decimal = {json.dumps(style.decimal)}",
            f"yes = [{json.dumps(style.yes)}]",
            f"no = [{json.dumps(style.no)}]",
            f"[files.tables.{name}]",
        ]
        for field in table.columns:
            if field.name not in header:
                continue
            source = f'"Spalte {field.name}"'
            if style.keys and is_key(table, field):
                source = f"{{ key = [{source}] }}"
            lines.append(f"{field.name} = {source}")
    return "\n".join(lines) + "\n"


def is_key(table: Table, field: Field) -> bool:
    """Tell whether an id can be made from a key: it is that of a table."""
    return isinstance(field.kind, Identifier) and target_of(table, field.name) is not None


def rewrite(rows: Iterable[list[str]], name: str, style: Style) -> Iterator[list[str]]:
    """Yield the rows of a plain CSV file, its header first, as the other system has them."""
    table = TABLES_BY_NAME[name]
    fields = {field.name: field for field in table.columns}
    found = iter(rows)
    header = next(found)
    yield [f"Spalte {column}" for column in header]
    writers = [_writer(table, fields[column], style) for column in header]
    for row in found:
        yield [write(cell) if cell else cell for write, cell in zip(writers, row, strict=True)]


def _writer(table: Table, field: Field, style: Style) -> Callable[[str], str]:
    if isinstance(field.kind, Date | DateTime):
        return lambda text: _ISO.sub(lambda found: _day(style, *found.groups()), text)
    if isinstance(field.kind, DecimalText | Number):
        return lambda text: text.replace(".", style.decimal)
    if isinstance(field.kind, Bool | Flag | Bit):
        return lambda text: style.yes if text in {"1", "true"} else style.no
    if style.keys and is_key(table, field):
        return lambda text: f"K-{text}"
    return str


def _day(style: Style, year: str, month: str, day: str) -> str:
    return style.dates.replace("YYYY", year).replace("MM", month).replace("DD", day)


def write(rows: Iterable[list[str]], out: object, style: Style) -> None:
    """Write rows as CSV."""
    csv.writer(out, delimiter=style.separator).writerows(rows)  # type: ignore[arg-type]
