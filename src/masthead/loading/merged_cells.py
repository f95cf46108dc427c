"""Merged cells of a sheet: a spreadsheet shows one value for several cells, and keeps it in one.

The others are empty in the file, so the rows would lose the value that everybody sees.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from masthead.loading.cleaning import BadCell
from masthead.loading.package_parts import TooMuchError

_RANGE = re.compile(
    rb"""<(?:\w+:)?mergeCell\s[^<>]*?\bref\s*=\s*["']\$?([A-Z]{1,3})\$?([0-9]{1,7})"""
    rb""":\$?([A-Z]{1,3})\$?([0-9]{1,7})["']"""
)
_LENGTH_MAX = 1_000
"""The maximum length of the tag of a merged cell, in bytes."""

_RANGES_MAX = 100_000
_FREE_STEPS = 1_000_000
_STEPS_A_ROW = 50


class _Range(NamedTuple):
    """Cells that are merged: the first and the last row and column, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int
    name: str


class MergedCells:
    """The merged cells of a sheet, whose rows are then passed in their order."""

    def __init__(self, xml: Iterable[bytes]) -> None:
        """Find the merged cells in the XML of a sheet. Raises TooMuchError."""
        self._by_top: dict[int, list[_Range]] = {}
        self._open: list[_Range] = []
        self._rows = self._steps = 0
        for number, found in enumerate(_ranges(xml)):
            if number == _RANGES_MAX:
                raise TooMuchError(f"has more than {_RANGES_MAX} merged cells")
            self._by_top.setdefault(found.top, []).append(found)

    def filled(self, line: int, row: list[str], width: int) -> list[str]:
        """Return a row in which the empty cells of merged cells are BadCells.

        Only the first ``width`` columns are filled. Merged cells that begin above the first row
        that is passed do not count: they belong to the header. Raises TooMuchError.
        """
        if not self._by_top:
            return row
        new = [
            each for each in self._by_top.get(line, ()) if "".join(row[each.left - 1 : each.left])
        ]
        self._open = [each for each in self._open if each.bottom >= line] + new
        self._rows += 1
        self._steps += len(self._open)
        if self._steps > _FREE_STEPS + _STEPS_A_ROW * self._rows:
            raise TooMuchError("has more merged cells than records have")
        if not self._open:
            return row
        row = row + [""] * (width - len(row))
        for each in self._open:
            for column in range(each.left - 1, min(each.right, width)):
                if not row[column]:
                    row[column] = _covered(each.name)
        return row


def _covered(name: str) -> BadCell:
    return BadCell(
        f"(merged: {name})",
        f"the cells {name} are merged, so only the first one has the value: unmerge them, and fill "
        "in the value of each row",
    )


def _ranges(xml: Iterable[bytes]) -> Iterator[_Range]:
    tail = b""
    for chunk in xml:
        piece = tail + chunk
        end = 0
        for found in _RANGE.finditer(piece) if b"mergeCell" in piece else ():
            end = found.end()
            left, top, right, bottom = (group.decode() for group in found.groups())
            name = f"{left}{top}:{right}{bottom}"
            yield _Range(
                int(top), number_of_column(left), int(bottom), number_of_column(right), name
            )
        tail = piece[max(end, len(piece) - _LENGTH_MAX) :]


@lru_cache(maxsize=20_000)
def number_of_column(letters: str) -> int:
    """Return the number of a column by its letters, from 1 on: 28 for ``AB``."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
