"""What a mapping says: how files of another system become rows of Masthead's tables.

``mapping_toml.py`` reads it, ``mapping_rows.py`` applies it. The format is described in
``docs/mapping.md``.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from masthead.contract.records import Table
from masthead.loading.batches import NOTHING_SAID, Said
from masthead.loading.mapping_values import Column, Writing
from masthead.loading.templates import Split
from masthead.loading.words import Words

SHOWN_MAX = 100
"""The maximum number of characters of a name that a message quotes."""


class Fixed(NamedTuple):
    """A part of a key that is the same in each row."""

    text: str


class KeyChoice(NamedTuple):
    """The parts of a key: columns and fixed texts.

    A row has no such key if all of its columns are empty, or all columns of ``when``.
    """

    parts: tuple[str | Fixed, ...]
    when: tuple[str, ...] = ()


class Key(NamedTuple):
    """An id made from the first of the ``choices`` that a row has.

    ``of`` names what the id identifies, in general a table.
    """

    choices: tuple[KeyChoice, ...]
    of: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values are parts of the key."""
        names = (part for choice in self.choices for part in choice.parts if isinstance(part, str))
        return tuple(dict.fromkeys(names))

    @property
    def when(self) -> tuple[str, ...]:
        """The columns one of which has a value if the row has the key; none: it always has."""
        if all(choice.when for choice in self.choices):
            return tuple(dict.fromkeys(name for choice in self.choices for name in choice.when))
        return ()


Source = Column | Key


class Condition(NamedTuple):
    """The rows that count: by column, the words that a cell has to be, and those it must not."""

    only: Mapping[str, Words]
    excepted: Mapping[str, Words]

    def columns(self) -> tuple[str, ...]:
        """Return the columns that are compared."""
        return (*self.only, *self.excepted)


ALWAYS = Condition(MappingProxyType({}), MappingProxyType({}))


class Each(NamedTuple):
    """The items of a row, each of which counts as a row.

    They are in columns whose names differ by a number, or in one cell with ``between`` between
    them. ``name`` is the name of these columns with ``*`` for the number, or that of the cell's.
    """

    name: str
    between: str | None = None

    def item_of(self, column: str) -> tuple[str, str] | None:
        """Return the digits of the number in a column's name, and the name with ``*`` for it."""
        if self.between is not None:
            return None
        before, _, after = self.name.partition("*")
        found = re.fullmatch(f"{re.escape(before)}([0-9]{{1,9}})({re.escape(after)}.*)", column)
        return (found[1], f"{before}*{found[2]}") if found else None


class TableMapping(NamedTuple):
    """A record of a table for each row, and where each of its columns comes from.

    ``place`` is its place in the TOML. Rows that ``condition`` leaves out have no such record.
    """

    table: Table
    sources: Mapping[str, Source]
    place: str
    condition: Condition = ALWAYS


class FileMapping(NamedTuple):
    """How the files whose name matches ``pattern`` are read; ``place`` is its place in the TOML.

    ``splits`` has the columns whose cells are split, each with its templates. Their parts are
    columns for the ``tables`` and the conditions.
    """

    place: str
    pattern: str
    writing: Writing
    tables: tuple[TableMapping, ...]
    ignore: Words
    said: Said = NOTHING_SAID
    splits: Mapping[str, tuple[Split, ...]] = MappingProxyType({})
    condition: Condition = ALWAYS
    each: Each | None = None

    def matches(self, names: Iterable[str]) -> bool:
        """Return whether the pattern matches one of a file's names."""
        return any(fnmatchcase(name, self.pattern) for name in names)

    def used(self) -> dict[str, str]:
        """Return the columns and parts of cells that are used, with the place of the first use."""
        used: dict[str, str] = {}
        for name in self.condition.columns():
            word = "only" if name in self.condition.only else "except"
            used.setdefault(name, f"{self.place}.{word}")
        for mapped in self.tables:
            for target, source in mapped.sources.items():
                for name in columns_of(source):
                    used.setdefault(name, f"{mapped.place}.{target}")
            for name in mapped.condition.columns():
                used.setdefault(name, mapped.place)
        return used

    def columns(self) -> dict[str, str]:
        """Return the columns of the source that are used, with the place of the first use."""
        parts = self.origins()
        found = {name: place for name, place in self.used().items() if name not in parts}
        if self.each and self.each.between is not None:
            found.setdefault(self.each.name, f"{self.place}.each")
        return found | {name: f"{self.place}.split" for name in self.splits if name not in found}

    def name_of(self, column: str) -> str:
        """Return the name by which a mapping uses a column, with ``*`` for the number of an item.

        It is the column's own name unless ``each`` has the column.
        """
        item = self.each and self.each.item_of(column)
        return item[1] if item else column

    def origins(self) -> dict[str, str]:
        """Return the parts of cells by name, each with the column that is split."""
        return {
            name: column
            for column, splits in self.splits.items()
            for split in splits
            for name in split.names
        }


def columns_of(source: Source) -> tuple[str, ...]:
    """Return the columns of the source from which a column of a table comes."""
    if isinstance(source, Key):
        conditions = (name for choice in source.choices for name in choice.when)
        return tuple(dict.fromkeys((*source.columns, *conditions)))
    return source.columns


def target_of(table: Table, column: str) -> str | None:
    """Return the name of the table whose id a column holds, None if it holds no id of Masthead."""
    if column in table.references:
        return table.references[column]
    return table.name if column == table.key[0] else None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``the nearest is 'x'``, or "" if nothing is known."""
    found = get_close_matches(name[:SHOWN_MAX], list(known), n=1, cutoff=0)
    return f"the nearest is {found[0][:SHOWN_MAX]!r}" if found else ""
