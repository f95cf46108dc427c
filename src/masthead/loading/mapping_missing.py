"""Rows of a mapped file that lack a record which they should give.

A row without a value for a table's key has no record of that table. This is right if the row has no
data for the table: a customer without an address. If it has such data, or if the file is about that
table, the key is missing, and a complete load would remove the key's record (rules, "Flat rows").
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from masthead.contract.records import Table
from masthead.loading.batches import QUOTED_MAX, Cells, UnreadableRow
from masthead.loading.checks import fields_by_name
from masthead.loading.mapping import (
    FileMapping,
    Key,
    Source,
    TableMapping,
    columns_of,
)


class MissingRecords:
    """Finds the rows of one file that lack a record; a table is its number in the mapping."""

    def __init__(self, mapping: FileMapping, has_value: Callable[[str | None], bool]) -> None:
        self._tables = mapping.tables
        self._has_value = has_value
        self._columns = [*mapping.used()]
        self._values_of = [
            {name for source in mapped.sources.values() for name in _values(source)}
            for mapped in mapping.tables
        ]
        self._origins = mapping.origins()
        self._subjects = subjects(mapping.tables)
        self._joins = [_joined(mapped, mapping.tables) for mapped in mapping.tables]
        self._needed_by = [_needing(mapped, mapping.tables) for mapped in mapping.tables]
        self._only_in = cache(self._only_in_uncached)

    def rows(
        self,
        lines: Sequence[int],
        by_name: Mapping[str, Cells],
        are_there: Sequence[Sequence[bool]],
        are_meant: Sequence[Sequence[bool]],
    ) -> Iterator[UnreadableRow]:
        """Yield the rows that lack a record; ``are_there`` says by table which rows have one.

        ``are_meant`` says by table which rows its condition counts; others lack none.
        """
        if all(map(all, are_there)):
            return
        by_row = zip(zip(*are_there, strict=True), zip(*are_meant, strict=True), strict=True)
        for row, (has, is_meant) in enumerate(by_row):
            if has != is_meant and (sentence := self._sentence(row, by_name, has, is_meant)):
                yield UnreadableRow(lines[row], "row", sentence)

    def _sentence(
        self, row: int, by_name: Mapping[str, Cells], has: Sequence[bool], is_meant: Sequence[bool]
    ) -> str | None:
        """Return the problem of a row that lacks records of some tables, None if it is right."""

        def given(name: str) -> bool:
            cells = by_name.get(name)
            return cells is not None and self._has_value(cells[row])

        lacking = tuple(
            n
            for n, is_there in enumerate(has)
            if is_meant[n] and not is_there and not self._is_left_out(n, given)
        )
        if (any(has) and not lacking) or not any(map(given, self._columns)):
            return None
        if not any(has):
            keys = self._empty((name for n in range(len(has)) for name in self._keys_of(n)), given)
            return f"gives no record, since {keys} empty: fill in the key, or remove the line"
        found = next(self._contradictions(lacking, has, given), None)
        if found is None:
            return None
        part, why = found
        name = self._tables[part].table.name
        keys = self._empty(self._keys_of(part), given)
        return (
            f"gives no record of {name}, since {keys} empty, but "
            f"{why}: fill in the key, or remove the line if it is no record; if a row may have no "
            f"record of {name}, say with `when` or `except` which columns tell so"
        )

    def _contradictions(
        self, lacking: tuple[int, ...], has: Sequence[bool], given: Callable[[str], bool]
    ) -> Iterator[tuple[int, str]]:
        """Yield the lacking tables of which the row should give a record, and why."""
        # A value that is in no record of the row belongs to a missing record.
        for name, part in self._only_in(lacking):
            if given(name):
                yield part, f"{self._origins.get(name, name)[:QUOTED_MAX]} has a value"
        for part in lacking:
            joined = {
                table.name: None
                for other, table, columns in self._joins[part]
                if has[other] and any(map(given, columns))
            }
            if len(joined) > 1:
                yield part, f"it joins a record of {' and '.join(joined)}"
        there = {self._tables[n].table.name for n, is_there in enumerate(has) if is_there}
        for part in lacking:
            if (name := self._tables[part].table.name) in self._subjects - there:
                yield part, f"the file is about {name}"
            for other, columns in self._needed_by[part]:
                if has[other] and not any(map(given, columns)):
                    yield part, f"the row gives a record of {self._tables[other].table.name}"

    def _is_left_out(self, part: int, given: Callable[[str], bool]) -> bool:
        """Return whether the columns of a key's ``when`` say that there is no record."""
        table, sources = self._tables[part][:2]
        conditions = [
            source.when
            for name in table.key
            if isinstance(source := sources[name], Key) and source.when
        ]
        return any(not any(map(given, when)) for when in conditions)

    def _only_in_uncached(self, lacking: tuple[int, ...]) -> list[tuple[str, int]]:
        """Return the columns that only the ``lacking`` tables use, each with its first table."""
        others = set().union(*(v for n, v in enumerate(self._values_of) if n not in lacking))
        return [
            (name, next(n for n in lacking if name in self._values_of[n]))
            for name in self._columns
            if name not in others and any(name in self._values_of[n] for n in lacking)
        ]

    def _empty(self, columns: Iterable[str], given: Callable[[str], bool]) -> str:
        """Return the columns without a value, and the verb: "Abo is", "Kunde, Titel are"."""
        empty = (self._origins.get(name, name) for name in columns if not given(name))
        names = [name[:QUOTED_MAX] for name in dict.fromkeys(empty)]
        return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"

    def _keys_of(self, part: int) -> tuple[str, ...]:
        """Return the columns from which the key of a table comes."""
        table, sources = self._tables[part][:2]
        return tuple(column for name in table.key for column in _values(sources[name]))


def key_columns(mapping: FileMapping) -> frozenset[str]:
    """Return the columns from which the keys of the tables come."""
    origins = mapping.origins()
    return frozenset(
        origins.get(column, column)
        for mapped in mapping.tables
        for name in mapped.table.key
        for column in _values(mapped.sources[name])
    )


def subjects(tables: Sequence[TableMapping]) -> frozenset[str]:
    """Return the tables that a file is about: those to which no other table of its entry refers."""
    named = {
        target
        for table, *_ in tables
        for target in table.references.values()
        if target != table.name
    }
    return frozenset(mapped.table.name for mapped in tables) - named


def _values(source: Source) -> tuple[str, ...]:
    """Return the columns whose values a record gets; ``when`` only decides whether it exists."""
    return source.columns if isinstance(source, Key) else columns_of(source)


def _joined(
    mapped: TableMapping, tables: Sequence[TableMapping]
) -> list[tuple[int, Table, tuple[str, ...]]]:
    """Return the tables that a table refers to by columns of the source, with these columns."""
    return [
        (number, other.table, _values(source))
        for column, target in mapped.table.references.items()
        if (source := mapped.sources.get(column)) is not None and _values(source)
        for number, other in enumerate(tables)
        if other.table.name == target
    ]


def _needing(
    mapped: TableMapping, tables: Sequence[TableMapping]
) -> list[tuple[int, tuple[str, ...]]]:
    """Return the tables whose records need one of ``mapped``, by these columns of its key."""
    keys = {column for name in mapped.table.key for column in _values(mapped.sources[name])}
    return [
        (number, _values(source))
        for number, other in enumerate(tables)
        for column, source in other.sources.items()
        if other.table.references.get(column) == mapped.table.name
        and fields_by_name(other.table)[column].is_required
        and keys.intersection(_values(source))
    ]
