"""Applying a mapping: the rows of a source become rows of one table or of several.

Batches are mapped column by column. A row of the source gives one record for each table. Repeats of
a record within a batch are dropped here; ``store.staged_checks`` drops the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress, repeat
from operator import and_
from pathlib import Path
from typing import NamedTuple

from masthead.contract.records import Table
from masthead.errors import BadInput
from masthead.loading.batches import (
    QUOTED_MAX,
    Batch,
    Said,
    first_repeated,
)
from masthead.loading.checks import SECRET
from masthead.loading.cleaning import BadCell, cleaned, key_text
from masthead.loading.files import REASON
from masthead.loading.mapping import (
    FileMapping,
    Key,
    Source,
    TableMapping,
    columns_of,
    fields_by_name,
    nearest,
)
from masthead.loading.mapping_missing import MissingRecords
from masthead.loading.mapping_values import Column, Value, reader
from masthead.loading.sources import stem_and_format
from masthead.store.natural_keys import NaturalKeys, key_of
from masthead.store.staging import NUMBERS_PER_FILE, Problem

Read = Callable[[str], Value]
Cells = Sequence[str | None]
_Reads = Mapping[str, Read]

_LISTED_MAX = 20
"""The maximum number of columns that a message lists."""


def is_of_workbook(path: Path) -> bool:
    """Return whether a file's name says that it has rejected rows of a workbook."""
    stem, format_ = stem_and_format(path)
    return format_ == "csv" and stem_and_format(Path(stem))[1] == "xlsx"


class MappedFile(NamedTuple):
    """A source file and its mapping; ``label`` and ``mapping_label`` are names in messages."""

    path: Path
    label: str
    said: Said
    mapping: FileMapping
    mapping_label: str

    @property
    def format(self) -> str:
        """The format, from the mapping or from the file's extension."""
        return self.said.format or "csv"

    @property
    def has_types(self) -> bool:
        """Whether the format has numbers of its own, with a decimal point."""
        return self.format in {"ndjson", "xlsx"} or is_of_workbook(self.path)

    @property
    def size(self) -> int:
        """The size in bytes, compressed if the file is."""
        return self.path.lstat().st_size

    @property
    def reject_name(self) -> str:
        """The name of a file of rejected rows, without its ending.

        Rows of ``a.xlsx`` go to ``a.xlsx.csv``, which the same patterns match.
        """
        return self.path.name if self.format == "xlsx" else stem_and_format(self.path)[0]

    @property
    def reject_reason(self) -> str:
        """The name of their last column, which is ignored when they are imported."""
        return REASON

    @property
    def encoding_is_said(self) -> bool:
        """Whether the encoding is given, so that rejected rows are read in it again."""
        return self.mapping.said.encoding is not None

    def column_of(self, problem: Problem) -> str:
        """Return the name of a problem's column in messages, which begins with the source's."""
        part = problem.file % NUMBERS_PER_FILE - 1
        if not 0 <= part < len(self.mapping.tables):
            return problem.column
        table, sources = self.mapping.tables[part]
        source = sources.get(problem.column)
        names = ", ".join(name[:QUOTED_MAX] for name in columns_of(source)) if source else ""
        column = f"{table.name}.{problem.column}"
        return f"{names} ({column})" if names else column

    def header_problems(self, _line: int, header: Sequence[str]) -> list[str]:
        """Return the problems of the names in the header."""
        return self.wrong_columns([name.strip() for name in header], has_all=True)

    def wrong_columns(self, names: Sequence[str], *, has_all: bool) -> list[str]:
        """Return the problems of a source's columns; without ``has_all``, some may be missing."""
        used = self.mapping.columns()
        ignored = {REASON, *self.mapping.ignore}
        if has_all and used and not used.keys() & set(names):
            # This line is not a header and may hold anything, so the message does not show it.
            expected = f"{self.mapping_label} names, such as {next(iter(used))[:QUOTED_MAX]!r}"
            return [f"{self.label}: the first line has none of the columns that {expected}"]
        unused = [name for name in names if name not in used and name not in ignored]
        problems = [
            f"{self.label}: the column {name[:QUOTED_MAX]!r} is used by no table; if it is not "
            f"needed, add it to {self.mapping.place}.ignore in {self.mapping_label}"
            for name in unused[:_LISTED_MAX]
        ]
        if has_all:
            problems += [
                f"{self.mapping_label}: {place}: {self.label} has no column "
                f"{name[:QUOTED_MAX]!r}; {nearest(name, unused or names)}".removesuffix("; ")
                for name, place in used.items()
                if name not in names
            ][:_LISTED_MAX]
        if (twice := first_repeated(name for name in names if name in used)) is not None:
            problems.append(f"{self.label}: the column {twice[:QUOTED_MAX]!r} occurs twice")
        return problems

    def key_of(self, part: int, column: str) -> str | None:
        """Return what the ids of a column identify if they are made from keys, else None."""
        if not 0 <= part < len(self.mapping.tables):
            return None
        source = self.mapping.tables[part].sources.get(column)
        return source.of if isinstance(source, Key) else None


class MappedBatch(NamedTuple):
    """Rows of one table of a mapping: its number there, and how each column's cells are read."""

    part: int
    table: Table
    batch: Batch
    reads: Mapping[str, Read]


class Mapper:
    """Maps the batches of one file."""

    def __init__(self, file: MappedFile, keys: NaturalKeys) -> None:
        self._file = file
        self._keys = keys
        self._empty = file.mapping.writing.empty | {""}
        self._used = file.mapping.columns().keys()
        self._exact = {
            source.column
            for _, sources in file.mapping.tables
            for name, source in sources.items()
            if isinstance(source, Column) and name in SECRET
        }
        self._missing = MissingRecords(file.mapping, self._has_value)
        self._reads = [
            {
                name: reader(
                    fields_by_name(table)[name],
                    source,
                    file.mapping.writing,
                    has_types=file.has_types,
                )
                for name, source in sources.items()
                if isinstance(source, Column)
            }
            for table, sources in file.mapping.tables
        ]

    def batches(self, batch: Batch) -> Iterator[MappedBatch]:
        """Yield the rows of each table, then those that cannot be read or lack a record.

        Raises BadInput if the columns of the file and of the mapping differ.
        """
        names = [name.strip() for name in batch.columns]
        if self._file.format == "ndjson" and (
            problems := self._file.wrong_columns(names, has_all=False)
        ):
            raise BadInput("\n".join(problems))
        cells = {
            name: column if name in self._exact else cleaned(column, self._empty)
            for name, column in zip(names, batch.cells, strict=True)
            if name in self._used
        }
        are_there = []
        for part, mapped in enumerate(self._file.mapping.tables):
            is_there, found = self._mapped(batch, cells, mapped, self._reads[part])
            are_there.append(is_there)
            yield MappedBatch(part, mapped.table, *found)
        unread = [*batch.unreadable, *self._missing.rows(batch.lines, cells, are_there)]
        rest = Batch((), (), (), unread, batch.done)
        yield MappedBatch(len(self._reads), self._file.mapping.tables[0].table, rest, {})

    def _mapped(
        self, batch: Batch, by_name: Mapping[str, Cells], mapped: TableMapping, reads: _Reads
    ) -> tuple[list[bool], tuple[Batch, _Reads]]:
        """Return which rows have a record of a table, and the records, each of them once."""
        count = len(batch.lines)
        is_there = [True] * count
        columns: list[Cells] = []
        for name, source in mapped.sources.items():
            if isinstance(source, Key):
                cells = self._key_texts(source, by_name, count)
            else:
                cells = self._cells(source, by_name, count)
            columns.append(cells)
            if name in mapped.table.key:
                is_there = list(map(and_, is_there, self._have_values(source, cells)))
        if columns and not all(is_there):
            columns = [list(compress(cells, is_there)) for cells in columns]
        lines: Sequence[int] = list(compress(batch.lines, is_there))
        keys = [
            c for c, name in zip(columns, mapped.sources, strict=True) if name in mapped.table.key
        ]
        if len(set(zip(*keys, strict=True))) < len(lines):
            rows = list(zip(*columns, strict=True))
            first = dict(zip(reversed(rows), reversed(lines), strict=True))
            lines = sorted(first.values())
            columns = list(zip(*dict.fromkeys(rows), strict=True))
        return is_there, (
            Batch(list(mapped.sources), lines, columns, (), batch.done),
            {**reads, **self._read_keys(mapped, columns)},
        )

    @staticmethod
    def _cells(source: Column, by_name: Mapping[str, Cells], count: int) -> Cells:
        if source.column is None:
            return [""] * count
        cells = by_name.get(source.column) or [None] * count
        return cells if source.default is None else [cell or "" for cell in cells]

    def _have_values(self, source: Source, cells: Cells) -> Iterator[bool]:
        """Yield whether each cell of a key's column has a value after it is read."""
        if isinstance(source, Key):
            return map(bool, cells)
        if source.column is None or source.default is not None or "" in (source.values or ()):
            return repeat(True, len(cells))
        return map(self._has_value, cells)

    def _has_value(self, cell: str | None) -> bool:
        return cell is not None and cell.strip() not in self._empty

    def _key_texts(self, key: Key, by_name: Mapping[str, Cells], count: int) -> Cells:
        """Return the key of each row: "" if it is empty, None if the row has no such columns."""
        nothing = [None] * count
        if len(key.columns) == 1:
            cells = by_name.get(key.columns[0]) or nothing
            known_cells = {cell: self._one_text(cell) for cell in set(cells)}
            texts = [known_cells[cell] for cell in cells]
        else:
            rows = list(zip(*(by_name.get(name) or nothing for name in key.columns), strict=True))
            known = {parts: self._key_text(parts) for parts in set(rows)}
            texts = [known[parts] for parts in rows]
        if key.when:
            conditions = zip(*(by_name.get(name) or nothing for name in key.when), strict=True)
            texts = [
                text and (text if any(map(self._has_value, cells)) else "")
                for text, cells in zip(texts, conditions, strict=True)
            ]
        return texts

    def _one_text(self, cell: str | None) -> str | None:
        if cell is None:
            return None
        text = cell.strip()
        if text in self._empty:
            return ""
        return cell if isinstance(cell, BadCell) else key_text(text)

    def _key_text(self, parts: Sequence[str | None]) -> str | None:
        texts = list(map(self._one_text, parts))
        if bad := next((text for text in texts if isinstance(text, BadCell)), None):
            return bad
        if any(texts):
            return key_of([text or "" for text in texts])
        return None if all(part is None for part in parts) else ""

    def _read_keys(self, mapped: TableMapping, columns: Sequence[Cells]) -> _Reads:
        reads: dict[str, Read] = {}
        for (name, source), cells in zip(mapped.sources.items(), columns, strict=True):
            if isinstance(source, Key):
                # The ids follow the order of the file, so they do not depend on chance.
                keys = (cell for cell in cells if cell and not isinstance(cell, BadCell))
                reads[name] = self._keys.ids_of(source.of, keys).get
        return reads
