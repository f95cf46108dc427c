"""Files of qualifications: of web forms, call centres and fairs, each with its own days.

A file has columns of its own, or those that a mapping names. Loading the same file again changes
nothing (decisions, "Qualifications from files").
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from masthead.books.qualification_files import AnswerCell, FileRow
from masthead.circulation.addresses import POSTAL
from masthead.circulation.ordering import Person
from masthead.contract.kinds import Identifier, Text
from masthead.contract.printable import printable, single_spaced
from masthead.errors import BadInput
from masthead.loading.cleaning import BadCell, ShownNumber, cleaned, whole, without_decimals
from masthead.loading.mapping_dates import ISO, date_reader
from masthead.loading.order_files import Problem, listed
from masthead.loading.regular_files import check_name
from masthead.loading.sources import headed_batches

EVIDENCE = "evidence_"
"""What the columns of evidence begin with; the rest is the name of the value."""

ANSWER = "answer_"
"""What the column of a field begins with whose name is that of another column."""

_PERSON = ("subscriber_id", "renewal_code", "email", "first_name", "last_name", *POSTAL)
COLUMNS = (
    *("qualified_on", "request_type", "taken_by", "type", "external_reference"),
    *_PERSON,
)
"""The columns of a file beside those of the form's fields and of evidence."""

_CODES = {"external_reference", "renewal_code", "zip_code"}
_SEVERAL = "|"
_HEADER = 1


class FileMapping(Struct, forbid_unknown_fields=True, frozen=True):
    """How a file of others is read: a small TOML file.

    ``columns`` has the name in the file of each own column, field of the form or value of evidence;
    other columns of the file are ignored. ``dates`` is how days are written, such as
    ``DD.MM.YYYY``. ``request_type`` and ``taken_by`` are those of a file without such columns.
    ``values`` has, for each column, what its values mean. ``separator`` stands between several
    answers in a cell, if the question takes several.
    """

    columns: dict[str, str]
    dates: str = ISO
    request_type: str = ""
    taken_by: str = ""
    values: dict[str, dict[str, str]] = {}
    separator: str = _SEVERAL


OWN = FileMapping({})
"""The mapping of a file whose columns have the own names."""


def read_mapping(path: Path) -> FileMapping:
    """Return the mapping in a file. Raises BadInput, with the place, if it is not one."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8-sig")), FileMapping)
        date_reader([found.dates], None, "UTC", has_time=False)
    except (UnicodeDecodeError, RecursionError):
        raise BadInput(f"{path}: is not a TOML file in UTF-8") from None
    except (ValueError, msgspec.ValidationError) as error:
        raise BadInput(f"{path}: {printable(error)}") from None
    if not found.columns or not found.separator:
        raise BadInput(f"{path}: it names no columns, or an empty separator")
    return found


def read_qualifications(path: Path, mapping: FileMapping | None = None) -> list[FileRow]:
    """Return the rows of a file. Raises BadInput, with file and line, for all that is wrong."""
    if not path.exists():
        raise BadInput(f"{path}: there is no such file")
    check_name(path)
    reading = _Reading(path, mapping)
    rows = [*reading.rows()]
    if reading.problems:
        raise listed(reading.problems)
    return rows


class _Reading:
    """The reading of one file; ``problems`` are what is wrong so far."""

    def __init__(self, path: Path, mapping: FileMapping | None) -> None:
        self.problems: list[Problem] = []
        self._path = path
        self._is_mapped = mapping is not None
        self._mapping = mapping or OWN
        self._named = {theirs: own for own, theirs in self._mapping.columns.items()}
        self._day: Callable[[str], str] = date_reader(
            [self._mapping.dates], None, "UTC", has_time=False
        )

    def rows(self) -> Iterator[FileRow]:
        """Yield the rows that can be read."""
        for line, cells in self._cells():
            row: dict[str, str] = {}
            for name, cell in cells.items():
                try:
                    row[name] = self._value(name, cell)
                except ValueError as error:
                    self._problem(line, name, str(error))
            yield self._row(line, row)

    def _problem(self, line: int, column: str, sentence: str) -> None:
        self.problems.append(Problem(self._path.name, line, column, sentence))

    def _cells(self) -> Iterator[tuple[int, dict[str, str]]]:
        checked = False
        for batch in headed_batches(self._path, self._path.name):
            if not checked:
                checked = True
                for own, theirs in self._mapping.columns.items():
                    if theirs not in batch.columns:
                        self._problem(_HEADER, theirs[:100], f"missing: {own} comes from it")
            for bad in batch.unreadable:
                self._problem(bad.line, bad.column, bad.sentence)
            named = self._named if self._is_mapped else {name: name for name in batch.columns}
            columns = {
                named[name]: cleaned(cells)
                for name, cells in zip(batch.columns, batch.cells, strict=True)
                if name in named
            }
            for number, line in enumerate(batch.lines):
                yield (
                    line,
                    {name: cell for name, cells in columns.items() if (cell := cells[number])},
                )

    def _value(self, name: str, cell: str) -> str:
        if isinstance(cell, BadCell):
            raise ValueError(cell.sentence)
        if isinstance(cell, ShownNumber) and name == "subscriber_id":
            cell = cell.number
        if name == "subscriber_id":
            return str(Identifier().parse(whole(cell)))
        if name in _CODES:
            cell = without_decimals(cell)
        meant = str(cell)
        if name in COLUMNS or name.startswith(EVIDENCE):  # else: see _answers
            meant = self._mapping.values.get(name, {}).get(cell, meant)
        if name == "qualified_on":
            try:
                return self._day(meant)
            except ValueError as error:
                raise ValueError(f"{meant} is {error}") from None
        return Text().parse(meant)

    def _row(self, line: int, row: dict[str, str]) -> FileRow:
        mapping = self._mapping
        person = Person(
            int(row["subscriber_id"]) if "subscriber_id" in row else None,
            row.get("email", ""),
            row.get("first_name", ""),
            row.get("last_name", ""),
            address={name: row[name] for name in POSTAL if name in row},
            renewal_code=row.get("renewal_code", ""),
        )
        evidence = {n.removeprefix(EVIDENCE): v for n, v in row.items() if n.startswith(EVIDENCE)}
        answers = [
            self._cell(name, text)
            for name, text in row.items()
            if name not in COLUMNS and not name.startswith(EVIDENCE)
        ]
        return FileRow(
            line,
            person,
            row.get("qualified_on", ""),
            row.get("request_type", mapping.request_type),
            answers,
            row.get("taken_by", mapping.taken_by) or None,
            evidence,
            row.get("type"),
            single_spaced(row.get("external_reference", "")) or None,
        )

    def _cell(self, name: str, text: str) -> AnswerCell:
        values = self._mapping.values.get(name, {})
        parts = [part.strip() for part in text.split(self._mapping.separator)]
        field = name.removeprefix(ANSWER)
        if field not in COLUMNS and not field.startswith(EVIDENCE):
            field = name
        return AnswerCell(
            field, values.get(text, text), [values.get(part, part) for part in parts if part]
        )


def problems_of(path: Path, refused: Mapping[int, tuple[str, str]]) -> BadInput:
    """Return the exception for rows that are refused: by line, the column and a sentence."""
    return listed([Problem(path.name, line, *found) for line, found in refused.items()])
