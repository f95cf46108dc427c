"""Rows of a mapped file that lack a record which they should give.

A row without a value for a table's key has no record of that table. This is right if the row has no
data for the table: a customer without an address. If it has such data, the key is missing, and a
complete load would remove the key's record (rules, "Flat rows").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from masthead.contract.records import Table
from masthead.loading.batches import QUOTED_MAX, UnreadableRow
from masthead.loading.mapping import FileMapping, Key, Source, TableMapping, columns_of

Cells = Sequence[str | None]
_NO_RECORD = "gives no record, since the columns of all keys are empty"


class MissingRecords:
    """Finds the rows of one file that lack a record; a table is its number in the mapping."""

    def __init__(self, mapping: FileMapping, has_value: Callable[[str | None], bool]) -> None:
        self._tables = mapping.tables
        self._has_value = has_value
        self._columns = [*mapping.columns()]
        self._values_of = [
            {name for source in mapped.sources.values() for name in _values(source)}
            for mapped in mapping.tables
        ]
        self._joins = [_joined(mapped, mapping.tables) for mapped in mapping.tables]
        self._only_in = cache(self._only_in_uncached)

    def rows(
        self,
        lines: Sequence[int],
        by_name: Mapping[str, Cells],
        are_there: Sequence[Sequence[bool]],
    ) -> Iterator[UnreadableRow]:
        """Yield the rows that lack a record; ``are_there`` says by table which rows have one."""
        if all(map(all, are_there)):
            return
        for row, has in enumerate(zip(*are_there, strict=True)):
            if not all(has) and (sentence := self._sentence(row, by_name, has)):
                yield UnreadableRow(lines[row], "row", sentence)

    def _sentence(self, row: int, by_name: Mapping[str, Cells], has: Sequence[bool]) -> str | None:
        """Return the problem of a row that lacks records of some tables, None if it is right."""

        def given(name: str) -> bool:
            cells = by_name.get(name)
            return cells is not None and self._has_value(cells[row])

        if not any(has):
            return _NO_RECORD if any(map(given, self._columns)) else None
        lacking = tuple(
            n for n, is_there in enumerate(has) if not is_there and not self._is_left_out(n, given)
        )
        # A value that is in no record of the row belongs to a missing record.
        for name, part in self._only_in(lacking):
            if given(name):
                return self._of_table(part, f"{name[:QUOTED_MAX]} has a value")
        for part in lacking:
            joined = [
                table
                for other, table, columns in self._joins[part]
                if has[other] and any(map(given, columns))
            ]
            if len(joined) > 1:
                named = " and ".join(table.name for table in joined)
                return self._of_table(part, f"it joins a record of {named}")
        return None

    def _is_left_out(self, part: int, given: Callable[[str], bool]) -> bool:
        """Return whether the columns of a key's ``when`` say that there is no record."""
        table, sources = self._tables[part]
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

    def _of_table(self, part: int, why: str) -> str:
        table, sources = self._tables[part]
        keys = ", ".join(
            column[:QUOTED_MAX] for name in table.key for column in columns_of(sources[name])
        )
        return (
            f"gives no record of {table.name}, since {keys} is empty, but {why}; if there is none, "
            "say with `when` which columns tell so"
        )


def _values(source: Source) -> tuple[str, ...]:
    """Return the columns whose values a record gets; ``when`` only decides whether it exists."""
    return source.columns if isinstance(source, Key) else columns_of(source)


def _joined(
    mapped: TableMapping, tables: Sequence[TableMapping]
) -> list[tuple[int, Table, tuple[str, ...]]]:
    """Return the tables that a table refers to by columns of the source, with these columns."""
    numbers = {table.name: n for n, (table, _) in enumerate(tables)}
    return [
        (numbers[target], tables[numbers[target]].table, _values(source))
        for column, target in mapped.table.references.items()
        if target in numbers
        and (source := mapped.sources.get(column)) is not None
        and _values(source)
    ]
