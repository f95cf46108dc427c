"""The columns of a mapped file: those of the source, the parts of split cells, and conditions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from masthead.loading.batches import QUOTED_MAX, Cells, UnreadableRow
from masthead.loading.checks import with_value
from masthead.loading.cleaning import BadCell, cleaned
from masthead.loading.mapping import Condition, FileMapping
from masthead.loading.mapping_items import with_items
from masthead.loading.mapping_values import Column
from masthead.loading.templates import Split
from masthead.loading.words import Words


class Rows(NamedTuple):
    """Rows by column; ``lines`` has their lines, and ``problems`` are those that were left out."""

    lines: Sequence[int]
    cells: Mapping[str, Cells]
    problems: Sequence[UnreadableRow] = ()


class Columns:
    """Makes the cells that the tables of one file use."""

    def __init__(self, mapping: FileMapping) -> None:
        self._mapping = mapping
        self.left_out = 0
        """The number of rows that the condition of the mapping has left out."""
        self.empty = mapping.writing.empty | {""}
        conditions = [mapping.condition, *(mapped.condition for mapped in mapping.tables)]
        self._compared = {name for condition in conditions for name in condition.columns()}

    def cleaned(self, cells: Cells) -> Cells:
        """Return cleaned cells; those that stand for a missing value are "" (``cleaning``)."""
        found = cleaned(cells, self.empty)
        words = self._mapping.writing.empty
        if words.isdisjoint(found):
            return found
        return ["" if cell in words else cell for cell in found]

    def rows(self, lines: Sequence[int], cells: Mapping[str, Cells]) -> Rows:
        """Return the rows that count, with the parts of their cells as further columns.

        The parts of a cell that cannot be split are BadCells. A row is left out, and is a problem,
        if a condition depends on a cell that cannot be read.
        """
        rows = Rows(lines, cells)
        if self._mapping.each:
            rows = Rows(*with_items(lines, cells, self._mapping.each, self.has_value))
        if self._mapping.splits:
            parts = self._parts_of_cells(rows.cells, len(rows.lines))
            rows = Rows(rows.lines, {**rows.cells, **parts})
        if self._compared:
            rows = self._readable(rows)
        are_meant = self.are_meant(self._mapping.condition, rows.cells, len(rows.lines))
        if are_meant is None:
            return rows
        self.left_out += are_meant.count(False)
        return kept(rows, are_meant)

    def are_meant(
        self, condition: Condition, cells: Mapping[str, Cells], count: int
    ) -> list[bool] | None:
        """Return which rows meet a condition, None if all do."""
        are_meant = None
        for columns, is_wanted in ((condition.only, True), (condition.excepted, False)):
            for name, words in columns.items():
                found = self._are_of(words, cells.get(name), count)
                if not is_wanted:
                    found = [not is_of for is_of in found]
                both = zip(are_meant or [True] * count, found, strict=True)
                are_meant = [before and now for before, now in both]
        return None if are_meant is None or all(are_meant) else are_meant

    def cells_of(self, source: Column, cells: Mapping[str, Cells], count: int) -> Cells:
        """Return the text of each row from which a column is read; None: the row lacks it."""
        if not source.columns:
            return [""] * count
        if len(source.columns) == 1 and source.join is None:
            found = cells.get(source.columns[0]) or [None] * count
        else:
            nothing = [None] * count
            several = list(zip(*(cells.get(n) or nothing for n in source.columns), strict=True))
            one_of = self._first if source.join is None else self._joining(source.join.text)
            known = {some: one_of(some) for some in set(several)}
            found = [known[some] for some in several]
        return found if source.default is None else [cell or "" for cell in found]

    def text(self, cell: str | None) -> str:
        """Return a cell without spaces at its ends, "" if it has no value."""
        text = (cell or "").strip()
        return "" if text in self.empty else text

    def has_value(self, cell: str | None) -> bool:
        """Return whether a cell has a value."""
        return cell is not None and cell.strip() not in self.empty

    def _first(self, cells: Sequence[str | None]) -> str | None:
        found = next(filter(self.has_value, cells), None)
        return ("" if any(cell is not None for cell in cells) else None) if found is None else found

    def _joining(
        self, join: Callable[[Sequence[str]], str]
    ) -> Callable[[Sequence[str | None]], str | None]:
        def joined(cells: Sequence[str | None]) -> str | None:
            if all(cell is None for cell in cells):
                return None
            if bad := next((cell for cell in cells if isinstance(cell, BadCell)), None):
                return bad
            return join(list(map(self.text, cells)))

        return joined

    def _are_of(self, words: Words, cells: Cells | None, count: int) -> list[bool]:
        if cells is None:
            return [words.has("")] * count
        known = {cell: words.has(self.text(cell)) for cell in set(cells)}
        return [known[cell] for cell in cells]

    def _readable(self, rows: Rows) -> Rows:
        problems = {
            row: UnreadableRow(line, name[:QUOTED_MAX], cell.sentence)
            for name in self._compared
            for row, (line, cell) in enumerate(
                zip(rows.lines, rows.cells.get(name) or [None] * len(rows.lines), strict=True)
            )
            if isinstance(cell, BadCell)
        }
        if not problems:
            return rows
        readable = kept(rows, [row not in problems for row in range(len(rows.lines))])
        return readable._replace(problems=list(problems.values()))

    def _parts_of_cells(self, cells: Mapping[str, Cells], count: int) -> dict[str, Cells]:
        found: dict[str, Cells] = {}
        for column, splits in self._mapping.splits.items():
            names = dict.fromkeys(name for split in splits for name in split.names)
            whole = cells.get(column) or [None] * count
            known = {cell: self._parts(cell, splits, names) for cell in set(whole)}
            for name in names:
                found[name] = [known[cell][name] for cell in whole]
        return found

    def _parts(
        self, cell: str | None, splits: Sequence[Split], names: Iterable[str]
    ) -> Mapping[str, str | None]:
        """Return the parts of a cell by name."""
        if cell is None or isinstance(cell, BadCell):
            return dict.fromkeys(names, cell)
        text = self.text(cell)
        if not text:
            return dict.fromkeys(names, "")
        sentence = f"is not written {' or '.join(_templates(splits))}"
        try:
            for split in splits:
                if (parts := split.parts(text)) is not None:
                    return dict.fromkeys(names, "") | dict(zip(split.names, parts, strict=True))
        except ValueError as error:
            sentence = str(error)
        return dict.fromkeys(names, BadCell(text, with_value(text, sentence)))


def _templates(splits: Sequence[Split]) -> Iterator[str]:
    return (repr(split.template[:QUOTED_MAX]) for split in splits)


def kept(rows: Rows, are_kept: Sequence[bool]) -> Rows:
    """Return some of the rows."""
    return Rows(
        list(compress(rows.lines, are_kept)),
        {name: list(compress(cells, are_kept)) for name, cells in rows.cells.items()},
        rows.problems,
    )
