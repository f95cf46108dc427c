"""A workbook's cells as values, read part by part in bounded memory.

A small file can unpack to hundreds of megabytes, and a tree of objects takes many times as much.
So each part is parsed as a stream. The reader reads only the parts that have cells or say what
cells mean, and refuses at once what no workbook of records needs (rules, "Workbooks").
"""

import posixpath
import re
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import IO

from masthead.errors import BadInput
from masthead.loading.batches import CELLS_MAX, ROW_BYTES_MAX, too_long, too_many_cells
from masthead.loading.cleaning import NO_VALUE, BadCell, formula_error
from masthead.loading.merged_cells import MergedCells, number_of_column
from masthead.loading.package_parts import Part, TooMuchError, check_directory, told
from masthead.loading.workbook_styles import Styles

LINES_MAX = 1_048_576
"""The maximum number of rows in a sheet."""

_COLUMNS_MAX = 16_384
"""The maximum number of columns in a sheet."""

_FREE_PLACES = 10_000_000
_PLACES_AN_ELEMENT = 20
"""The rows of a sheet have at most ``_FREE_PLACES`` places, and this many more for each element of
the sheet. Empty cells between others are places too."""

_STRINGS_MAX = 256 * 1024 * 1024
"""The maximum size of all shared strings in memory, in bytes."""

_LISTED_MAX = 100_000
"""The maximum number of elements in a part that lists others, such as the sheets."""

_QUOTED_FORMULA_MAX = 100
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_COLUMN = re.compile(r"([A-Z]{1,3})[0-9]*")


class _Strings:
    """Shared strings, as consecutive bytes of UTF-8."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("Q")

    def add(self, text: str) -> None:
        self._bytes += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))
        if len(self._bytes) + 8 * len(self._ends) > _STRINGS_MAX:
            raise TooMuchError(f"has shared strings of more than {_STRINGS_MAX >> 20} MiB")

    def get(self, number: int) -> str:
        """Return a string by its number; raise IndexError if there is none."""
        if number < 0:
            raise IndexError(number)
        start = self._ends[number - 1] if number else 0
        return self._bytes[start : self._ends[number]].decode("utf-8", "surrogatepass")


class Workbook:
    """A workbook: the names of its sheets, and the cells of one.

    Its methods raise BadInput, which begins with ``label``, for a workbook that is too large, and
    other exceptions for a file that is not a workbook.
    """

    def __init__(self, raw: IO[bytes], label: str) -> None:
        self._label = label
        self._packed = check_directory(raw)
        self._archive = zipfile.ZipFile(raw)
        self._names = frozenset(self._archive.namelist())
        self._strings = _Strings()
        self._styles = Styles()
        self.sheets: dict[str, str] = {}
        """The part of each sheet with cells, by the sheet's name, in the order of the sheets."""
        self.hidden: set[str] = set()
        """The names of the sheets that a spreadsheet does not show."""
        with told(label):
            self._read()

    def rows(self, sheet: str) -> Iterator[tuple[int, list[object]]]:
        """Yield the number and the values of each row of a sheet that has a value."""
        part = self._part(self.sheets[sheet])
        with told(self._label):
            yield from _Rows(self._label, part, self._value).rows()

    def merged_cells(self, sheet: str) -> MergedCells:
        """Return the merged cells of a sheet."""
        part = self._part(self.sheets[sheet])
        with told(self._label):
            return MergedCells(part.read())

    def _part(self, name: str) -> Part:
        with told(self._label):
            return Part(self._archive, name, self._packed)

    def _read_list(self, name: str, start: Callable[[str, dict[str, str]], None]) -> None:
        """Read a part that lists other parts."""
        part = self._part(name)
        part.elements_max = min(part.elements_max, _LISTED_MAX)
        part.run(start, _nothing)

    def _read(self) -> None:
        """Read everything but the sheets."""
        book = self._related("", "officeDocument").get("", "xl/workbook.xml")
        by_id = self._related(book, "worksheet")
        found: list[tuple[str, str]] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "sheet":
                ids = (v for k, v in attributes.items() if k.endswith(":id"))
                found.append((attributes.get("name", ""), next(ids, "")))
                if attributes.get("state", "visible") != "visible":
                    self.hidden.add(attributes.get("name", ""))
            elif name == "workbookPr":
                self._styles.is_1904 = attributes.get("date1904", "0") in {"1", "true"}

        self._read_list(book, start)
        for title, id_ in found:
            if (part := by_id.get(id_)) in self._names:
                self.sheets.setdefault(title, str(part))
        for kind, name, read in (
            ("styles", "styles.xml", self._styles.read),
            ("sharedStrings", "sharedStrings.xml", self._read_strings),
        ):
            beside = posixpath.join(posixpath.dirname(book), name)
            part = self._related(book, kind).get("", beside)
            if part in self._names:
                read(self._part(part))

    def _related(self, of: str, kind: str) -> Mapping[str, str]:
        """Return the parts of a kind to which part ``of`` is related, by id; "" has the first."""
        folder, name = posixpath.split(of)
        related = posixpath.join(folder, "_rels", f"{name}.rels")
        if related not in self._names:
            return {}
        found: dict[str, str] = {}

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship" and attributes.get("Type", "").endswith(f"/{kind}"):
                target = posixpath.normpath(posixpath.join("/", folder, attributes["Target"]))[1:]
                found.setdefault("", target)
                found[attributes.get("Id", "")] = target

        self._read_list(related, start)
        return found

    def _read_strings(self, part: Part) -> None:
        text = _Text()

        def start(name: str, _attributes: dict[str, str]) -> None:
            if name == "si":
                text.begin()
            else:
                text.start(name)

        def end(name: str) -> None:
            if name == "si":
                self._strings.add(_unescaped(text.end()))
            else:
                text.stop(name)

        part.run(start, end, text.add)

    def _value(self, cell: "_Cell") -> object:
        """Return the value of a cell; None if it has none."""
        kind, style, text = cell.attributes.get("t", "n"), cell.attributes.get("s", ""), cell.text
        if kind == "inlineStr":
            return cell.inline and _unescaped(cell.inline)
        if not text:
            # Formulas may give empty text; without a value, no program has reckoned them.
            has_none = cell.formula is not None and kind != "str"
            return BadCell(f"={cell.formula}", NO_VALUE) if has_none else None
        if kind == "n":
            return self._styles.value(text, style)
        if kind == "s":
            return self._strings.get(int(text))
        return _READ.get(kind, str)(text)


def _unescaped(text: str) -> str:
    """Return a text whose escapes, such as ``_x000D_``, are characters."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _moment(text: str) -> object:
    from openpyxl.utils import datetime as days  # noqa: PLC0415

    moment: object = days.from_ISO8601(text)  # type: ignore[no-untyped-call]
    return moment


_READ: dict[str, Callable[[str], object]] = {
    "b": lambda text: bool(int(text)),
    "d": _moment,
    "e": formula_error,
}
"""The function by kind of cell that reads its value; other kinds are text."""


class _Text:
    """Collects the text of an element from its ``t``, without its phonetic text."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._is_text = self._is_spoken = False
        self._length = 0

    def begin(self) -> None:
        self._found = []
        self._length = 0

    def start(self, name: str) -> None:
        if name == "t":
            self._is_text = not self._is_spoken
        elif name == "rPh":
            self._is_spoken = True

    def stop(self, name: str) -> None:
        if name == "t":
            self._is_text = False
        elif name == "rPh":
            self._is_spoken = False

    def add(self, text: str) -> None:
        if self._is_text:
            self._length += len(text)
            if self._length > ROW_BYTES_MAX:
                raise TooMuchError(f"has a text of more than {ROW_BYTES_MAX >> 20} MiB")
            self._found.append(text)

    def end(self) -> str:
        return "".join(self._found)


class _Cell:
    """What a cell has: its attributes, its value, its own text, and its formula."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self.attributes = attributes
        self.text: str | None = None
        self.inline: str | None = None
        self.formula: str | None = None


class _Rows:
    """The rows of a sheet."""

    def __init__(
        self,
        label: str,
        part: Part,
        value: Callable[[_Cell], object],
    ) -> None:
        self._label = label
        self._part = part
        self._value = value
        self._ready: list[tuple[int, list[object]]] = []
        self._line = 0
        self._column = 0
        self._count = 0
        self._places = 0
        self._length = 0
        self._row: list[object] = []
        self._cell = _Cell({})
        self._pieces: list[str] | None = None
        self._of_inline: _Text | None = None

    def rows(self) -> Iterator[tuple[int, list[object]]]:
        for _ in self._part.parse(self._start, self._end, self._add):
            yield from self._ready
            self._ready.clear()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._count += 1
            if self._count > _COLUMNS_MAX:
                raise too_many_cells(self._label, self._line, self._count)
            self._cell = _Cell(attributes)
        elif name in {"v", "f"}:
            self._pieces = []
        elif name == "row":
            line = int(float(attributes["r"])) if "r" in attributes else self._line + 1
            if line > LINES_MAX:
                raise BadInput(
                    f"{self._label}: has more than {LINES_MAX} rows, the most of a sheet"
                )
            if line <= self._line:
                raise ValueError("rows that are not in their order")
            self._line = line
            self._column = self._count = self._length = 0
            self._row = []
        elif name == "is":
            self._of_inline = _Text()
        elif self._of_inline:
            self._of_inline.start(name)

    def _add(self, text: str) -> None:
        if self._pieces is not None:
            self._lengthen(len(text))
            self._pieces.append(text)
        elif self._of_inline:
            self._of_inline.add(text)

    def _lengthen(self, by: int) -> None:
        self._length += by
        if self._length > ROW_BYTES_MAX:
            raise too_long(self._label, self._line)

    def _end(self, name: str) -> None:
        if name == "v":
            self._cell.text = "".join(self._pieces or ())
            self._pieces = None
        elif name == "f":
            self._cell.formula = "".join(self._pieces or ())[:_QUOTED_FORMULA_MAX]
            self._pieces = None
        elif name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
        elif name == "is" and self._of_inline:
            self._cell.inline = self._of_inline.end()
            self._of_inline = None
        elif self._of_inline:
            self._of_inline.stop(name)

    def _end_cell(self) -> None:
        cell = self._cell
        place = cell.attributes.get("r")
        self._column = _column_of(place) if place else self._column + 1
        value = self._value(cell)
        if value is None:
            return
        if isinstance(value, str):
            self._lengthen(len(value))
        if self._column > _COLUMNS_MAX:
            raise too_many_cells(self._label, self._line, self._column)
        row = self._row
        if self._column > len(row):
            row.extend([None] * (self._column - len(row)))
        row[self._column - 1] = value

    def _end_row(self) -> None:
        if not self._row:
            return
        if len(self._row) > CELLS_MAX and self._row[-1] != "":
            raise too_many_cells(self._label, self._line, len(self._row))
        self._places += len(self._row)
        if self._places > _FREE_PLACES + _PLACES_AN_ELEMENT * self._part.elements:
            raise TooMuchError("has more empty cells than records have")
        self._ready.append((self._line, self._row))


def _column_of(place: str) -> int:
    """Return the number of the column of ``AB7``; raise ValueError if it has none."""
    found = _COLUMN.fullmatch(place.upper())
    if found is None:
        raise ValueError("a cell without a place")
    return number_of_column(found.group(1))


def _nothing(_name: str) -> None:
    """Do nothing at the end of an element."""
