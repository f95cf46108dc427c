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
    REASON,
    Batch,
    Cells,
    Said,
    UnreadableRow,
    first_repeated,
)
from masthead.loading.checks import SECRET, fields_by_name
from masthead.loading.cleaning import BadCell, key_text
from masthead.loading.mapping import (
    FileMapping,
    Fixed,
    Key,
    KeyChoice,
    Source,
    TableMapping,
    columns_of,
    nearest,
)
from masthead.loading.mapping_columns import Columns, Rows, kept
from masthead.loading.mapping_missing import MissingRecords
from masthead.loading.mapping_values import Column, Value, reader
from masthead.loading.sources import stem_and_format
from masthead.store.natural_keys import NaturalKeys, key_of
from masthead.store.staging import NUMBERS_PER_FILE, Problem

Read = Callable[[str], Value]
_Reads = Mapping[str, Read]
_Records = tuple[Sequence[int], Sequence[Cells]]
"""The lines of records, and their cells by column."""

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
        column = f"{self.mapping.tables[part].table.name}.{problem.column}"
        names = ", ".join(name[:QUOTED_MAX] for name in self.columns_of(part, problem.column))
        return column if names == problem.column else f"{names} ({column})"

    def columns_of(self, part: int, column: str) -> list[str]:
        """Return the source's columns from which a column of a table comes, or the column."""
        mapped = self.mapping.tables[part] if part < len(self.mapping.tables) else None
        source = mapped and mapped.sources.get(column)
        origins = self.mapping.origins()
        names = [origins.get(name, name) for name in columns_of(source)] if source else []
        return list(dict.fromkeys(names)) or [column]

    def header_problems(self, _line: int, header: Sequence[str]) -> list[str]:
        """Return the problems of the names in the header."""
        return self.wrong_columns([name.strip() for name in header], has_all=True)

    def wrong_columns(self, names: Sequence[str], *, has_all: bool) -> list[str]:
        """Return the problems of a source's columns; without ``has_all``, some may be missing."""
        used = self.mapping.columns()
        parts = self.mapping.origins()
        known = set(map(self.mapping.name_of, names))
        if has_all and used and not used.keys() & known:
            # This line is not a header and may hold anything, so the message does not show it.
            expected = f"{self.mapping_label} names, such as {next(iter(used))[:QUOTED_MAX]!r}"
            problem = f"{self.label}: the {self._header} has none of the columns that {expected}"
            place = f"{self.mapping.place}.header"
            return [f"{problem}; if the names are in another line, say it in {place}"]
        unused = [
            name
            for name in names
            if self.mapping.name_of(name) not in used
            and name != REASON
            and not self.mapping.ignore.has(name)
        ]
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
                if name not in known
            ][:_LISTED_MAX]
        are_used = (name for name in names if self.mapping.name_of(name) in used)
        if (twice := first_repeated(are_used)) is not None:
            problems.append(f"{self.label}: the column {twice[:QUOTED_MAX]!r} occurs twice")
        problems += [
            f"{self.mapping_label}: {self.mapping.place}.split: {self.label} has a column "
            f"{name[:QUOTED_MAX]!r} too: give the part another name"
            for name in names
            if name in parts
        ]
        return problems

    @property
    def _header(self) -> str:
        lines = self.said.header
        return f"header in line {' and '.join(map(str, lines))}" if lines else "first line"

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

    def __init__(self, file: MappedFile, keys: NaturalKeys, time_zone: str) -> None:
        self._file = file
        self._keys = keys
        self._columns = Columns(file.mapping)
        self._texts: dict[str, Cells] = {}
        """The keys that the columns of these rows make: several tables have the same key."""
        self._used = file.mapping.columns().keys()
        self._paths = {
            name[:end] for name in self._used for end, sign in enumerate(name) if sign == "."
        }
        self._exact = {
            name
            for mapped in file.mapping.tables
            for target, source in mapped.sources.items()
            if isinstance(source, Column) and target in SECRET
            for name in source.columns
        }
        self._missing = MissingRecords(file.mapping, self._columns.has_value)
        self._reads = [
            {
                name: reader(
                    fields_by_name(mapped.table)[name],
                    source,
                    file.mapping.writing._replace(time_zone=time_zone),
                    has_types=file.has_types,
                )
                for name, source in mapped.sources.items()
                if isinstance(source, Column)
            }
            for mapped in file.mapping.tables
        ]

    def _is_path(self, name: str) -> bool:
        """Return whether a name is the beginning of paths to values of inner objects."""
        return name in self._paths or self._file.mapping.ignore.has(f"{name}.")

    @property
    def left_out(self) -> int:
        """The number of rows so far that the mapping's ``only`` and ``except`` have left out."""
        return self._columns.left_out

    def batches(self, batch: Batch) -> Iterator[MappedBatch]:
        """Yield the rows of each table, then those that cannot be read or lack a record.

        A row that lacks a record gives none. Raises BadInput if the columns of the file and of the
        mapping differ.
        """
        names = [name.strip() for name in batch.columns]
        if self._file.format == "ndjson":
            # An inner object can be null in some records.
            given = [
                name
                for name, column in zip(names, batch.cells, strict=True)
                if any(column) or not self._is_path(name)
            ]
            if problems := self._file.wrong_columns(given, has_all=False):
                raise BadInput("\n".join(problems))
        cells = {
            name: column if name in self._exact else self._columns.cleaned(column)
            for name, column in zip(names, batch.cells, strict=True)
            if self._file.mapping.name_of(name) in self._used
        }
        rows = self._columns.rows(batch.lines, cells)
        records, missing = self._records(rows)
        if missing:
            lines = {row.line for row in missing}
            records, _ = self._records(kept(rows, [line not in lines for line in rows.lines]))
        for part, (mapped, (lines_of, cells_of)) in enumerate(
            zip(self._file.mapping.tables, records, strict=True)
        ):
            found = Batch(list(mapped.sources), lines_of, cells_of, (), batch.done)
            reads = {**self._reads[part], **self._read_keys(mapped, cells_of)}
            yield MappedBatch(part, mapped.table, found, reads)
        rest = Batch((), (), (), [*batch.unreadable, *rows.problems, *missing], batch.done)
        yield MappedBatch(len(self._reads), self._file.mapping.tables[0].table, rest, {})

    def _records(self, rows: Rows) -> tuple[list[_Records], list[UnreadableRow]]:
        """Return the records of each table, and the rows that lack a record."""
        self._texts.clear()
        count = len(rows.lines)
        records, are_there, are_meant = [], [], []
        for mapped in self._file.mapping.tables:
            meant = self._columns.are_meant(mapped.condition, rows.cells, count) or [True] * count
            is_there, found = self._mapped(rows, meant, mapped)
            records.append(found)
            are_there.append(is_there)
            are_meant.append(meant)
        return records, [*self._missing.rows(rows.lines, rows.cells, are_there, are_meant)]

    def _mapped(
        self, rows: Rows, is_there: list[bool], mapped: TableMapping
    ) -> tuple[list[bool], _Records]:
        """Return which rows have a record of a table, and the records, each of them once.

        Only rows that are meant (``is_there``) can have one.
        """
        count = len(rows.lines)
        by_name = rows.cells
        columns: list[Cells] = []
        for name, source in mapped.sources.items():
            if isinstance(source, Key):
                cells = self._key_texts(source, by_name, count)
            else:
                cells = self._columns.cells_of(source, by_name, count)
            columns.append(cells)
            if name in mapped.table.key:
                is_there = list(map(and_, is_there, self._have_values(source, cells)))
        if columns and not all(is_there):
            columns = [list(compress(cells, is_there)) for cells in columns]
        lines: Sequence[int] = list(compress(rows.lines, is_there))
        keys = [
            c for c, name in zip(columns, mapped.sources, strict=True) if name in mapped.table.key
        ]
        if len(set(zip(*keys, strict=True))) < len(lines):
            records = list(zip(*columns, strict=True))
            first = dict(zip(reversed(records), reversed(lines), strict=True))
            lines = sorted(first.values())
            columns = list(zip(*dict.fromkeys(records), strict=True))
        return is_there, (lines, columns)

    def _have_values(self, source: Source, cells: Cells) -> Iterator[bool]:
        """Yield whether each cell of a key's column has a value after it is read."""
        if isinstance(source, Key):
            return map(bool, cells)
        if source.is_always_there:
            return repeat(True, len(cells))
        return map(self._columns.has_value, cells)

    def _key_texts(self, key: Key, by_name: Mapping[str, Cells], count: int) -> Cells:
        """Return the key of each row: "" if it is empty, None if the row has no such columns."""
        first, *others = (self._choice_texts(each, by_name, count) for each in key.choices)
        for other in others:
            first = [
                one or two or (None if one is None and two is None else "")
                for one, two in zip(first, other, strict=True)
            ]
        return first

    def _choice_texts(self, key: KeyChoice, by_name: Mapping[str, Cells], count: int) -> Cells:
        nothing = [None] * count
        if len(key.parts) == 1:
            texts = self._part_texts(key.parts[0], by_name, count)
        else:
            parts = [
                [part.text] * count if isinstance(part, Fixed) else by_name.get(part) or nothing
                for part in key.parts
            ]
            are_columns = [isinstance(part, str) for part in key.parts]
            rows = list(zip(*parts, strict=True))
            known = {row: self._key_text(row, are_columns) for row in set(rows)}
            texts = [known[row] for row in rows]
        if key.when:
            conditions = zip(*(by_name.get(name) or nothing for name in key.when), strict=True)
            has_value = self._columns.has_value
            texts = [
                text and (text if any(map(has_value, cells)) else "")
                for text, cells in zip(texts, conditions, strict=True)
            ]
        return texts

    def _part_texts(self, part: str | Fixed, by_name: Mapping[str, Cells], count: int) -> Cells:
        if isinstance(part, Fixed):
            return [key_text(part.text)] * count
        if part not in self._texts:
            cells = by_name.get(part) or [None] * count
            known = {cell: self._one_text(cell) for cell in set(cells)}
            self._texts[part] = [known[cell] for cell in cells]
        return self._texts[part]

    def _one_text(self, cell: str | None) -> str | None:
        if cell is None or isinstance(cell, BadCell):
            return cell
        return key_text(self._columns.text(cell))

    def _key_text(self, parts: Sequence[str | None], are_columns: Sequence[bool]) -> str | None:
        """Return the key of the parts: "" if one is empty, None if the row has no such columns."""
        texts = list(map(self._one_text, parts))
        if bad := next((text for text in texts if isinstance(text, BadCell)), None):
            return bad
        if all(texts):
            return key_of(list(filter(None, texts)))
        return None if all(part is None for part in compress(parts, are_columns)) else ""

    def _read_keys(self, mapped: TableMapping, columns: Sequence[Cells]) -> _Reads:
        reads: dict[str, Read] = {}
        for (name, source), cells in zip(mapped.sources.items(), columns, strict=True):
            if isinstance(source, Key):
                # The ids follow the order of the file, so they do not depend on chance.
                keys = (cell for cell in cells if cell and cell.__class__ is not BadCell)
                reads[name] = self._keys.ids_of(source.of, keys).get
        return reads
