"""The import files of Masthead's own tables: finding them, and checking their columns.

A file is named after its table: ``subscribers.csv``, ``.tsv``, ``.ndjson`` or ``.jsonl``,
each also with ``.gz`` or ``.zst``, or ``.xlsx``. Values are text in each format;
``checks.py`` validates them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from masthead.contract.file_kinds import IdentifierList
from masthead.contract.kinds import (
    Bit,
    Bool,
    DateTime,
    DecimalText,
    Flag,
    Integer,
    Kind,
    Number,
)
from masthead.contract.passwords import FILE_COLUMNS
from masthead.contract.records import ACCOUNTS, TABLES_BY_NAME, Table
from masthead.errors import BadInput
from masthead.loading.batches import NOTHING_SAID, QUOTED_MAX, REASON, Batch, Said
from masthead.loading.checks import SECRET, fields_by_name
from masthead.loading.ndjson import JsonNumber, UnreadableValue
from masthead.loading.regular_files import check_name, check_regular
from masthead.loading.sources import FORMATS, source_batches, stem_and_format
from masthead.store.staging import Problem

_HEADER_PROBLEMS_MAX = 20
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_KNOWN = {table.name: table for table in (*TABLES_BY_NAME.values(), ACCOUNTS)}
_KINDS = {
    table.name: {name: field.kind for name, field in fields_by_name(table).items()}
    for table in _KNOWN.values()
}

_REASONS = {
    name: f"reject_{REASON}" if REASON in kinds else REASON for name, kinds in _KINDS.items()
}
"""The column of rejected rows that a load ignores, by table: no column of the table itself."""

_COLUMNS = {name: {*kinds, _REASONS[name]} for name, kinds in _KINDS.items()}
_TRUE_OR_FALSE = (Bool, Flag, Bit)
_NUMBERS = (*_TRUE_OR_FALSE, Integer, Number, DecimalText, IdentifierList)


class InputFile(NamedTuple):
    """An import file; ``label`` is its name in messages."""

    path: Path
    table: Table
    format: str
    label: str
    said: Said = NOTHING_SAID

    @property
    def reject_name(self) -> str:
        """The name of a file of rejected rows, without its ending."""
        return self.table.name

    @property
    def reject_reason(self) -> str:
        """The name of their last column, which is ignored when they are imported."""
        return _REASONS[self.table.name]

    @staticmethod
    def column_of(problem: Problem) -> str:
        """Return the name of a problem's column in messages."""
        return problem.column

    @property
    def encoding_is_said(self) -> bool:
        """Whether the encoding is given, so that rejected rows are read in it again."""
        return False

    @property
    def size(self) -> int:
        """The size in bytes, compressed if the file is."""
        return self.path.lstat().st_size

    def header_problems(self, line: int, header: Sequence[str]) -> list[str]:
        """Return the problems of the names in the header; messages show its ``line``."""
        return [f"{self.label}:{line}: {sentence}" for sentence in _wrong_header(self, header)]


def find_files(paths: Sequence[Path]) -> list[InputFile]:
    """Return the import files of ``paths`` (files and folders), sorted by name in each folder.

    Files with other extensions in a folder are ignored. Raises BadInput for a path that does not
    exist, for a name that is not a table's, for a folder without import files, and for a link
    or a device (:func:`check_regular`).
    """
    found = found_in(paths, lambda path: bool(stem_and_format(path)[1]))
    return [input_file(path, label) for path, label in found]


def found_in(paths: Sequence[Path], is_wanted: Callable[[Path], bool]) -> list[tuple[Path, str]]:
    """Return the files of ``paths`` with their names in messages, as :func:`find_files` does.

    Files of a folder are ignored unless ``is_wanted`` returns True.
    """
    found = []
    for path in paths:
        if path.is_dir():
            inside = sorted(e for e in path.iterdir() if e.is_symlink() or not e.is_dir())
            wanted = [entry for entry in inside if is_wanted(entry)]
            if not wanted:
                raise BadInput(f"{path}: there is no file to load, such as subscribers.csv")
            found += wanted
        elif path.is_symlink() or path.exists():
            found.append(path)
        else:
            raise BadInput(f"{path}: there is no such file or folder")
    for path in found:
        check_name(path)
        check_regular(path)
    names = Counter(path.name for path in found)
    return [(path, path.name if names[path.name] == 1 else str(path)) for path in found]


def input_file(path: Path, label: str) -> InputFile:
    """Return a file that is named after its table. Raises BadInput for another name."""
    stem, format_ = stem_and_format(path)
    if not format_:
        raise BadInput(
            f"{path}: the name ends with none of {', '.join(FORMATS)}; all but .xlsx may "
            "be packed, with .gz or .zst. An older workbook (.xls) has to be saved as .xlsx; any "
            "other file of another system needs a mapping",
            code="needs_mapping",
        )
    if stem not in _KNOWN:
        nearest = get_close_matches(stem, _KNOWN, n=1, cutoff=0)[0]
        raise BadInput(
            f"{path}: {stem!r} is nothing to load; the nearest is {nearest!r}. A file of another "
            "system needs a mapping",
            code="needs_mapping",
        )
    return InputFile(path, _KNOWN[stem], format_, label)


def read_batches(file: InputFile, *, allow_truncated: bool = False) -> Iterator[Batch]:
    """Yield the rows of a file in batches of at most 2,000, with columns of its table.

    Raises BadInput as :func:`source_batches` does, and for a header with an unknown column or
    without the key.
    """

    def to_cells(record: dict[str, object]) -> dict[str, str]:
        record.pop(file.reject_reason, None)
        if wrong := _wrong_columns(file.table, record):
            raise ValueError(wrong)
        return {name: _text_of(kinds[name], name, value) for name, value in record.items()}

    kinds = _KINDS[file.table.name]
    is_first = True
    for batch in source_batches(
        file.path, file.label, file.said, to_cells=to_cells, allow_truncated=allow_truncated
    ):
        if file.format == "ndjson":
            yield batch
            continue
        if is_first and (wrong := file.header_problems(1, batch.columns)):
            raise BadInput("\n".join(wrong))
        is_first = False
        kept = _without(file.reject_reason, batch)
        yield _with_times(kept, kinds) if file.format == "xlsx" else kept


def _with_times(batch: Batch, kinds: dict[str, Kind]) -> Batch:
    """Write the days of a workbook as midnights where the column has times."""
    cells = list(batch.cells)
    for n, name in enumerate(batch.columns):
        if isinstance(kinds[name], DateTime):
            cells[n] = [f"{c} 00:00:00" if c and _DAY.fullmatch(c) else c for c in cells[n]]
    return batch._replace(cells=cells)


def _without(reason: str, batch: Batch) -> Batch:
    if reason not in batch.columns:
        return batch
    kept = [n for n, name in enumerate(batch.columns) if name != reason]
    columns = [batch.columns[n] for n in kept]
    return batch._replace(columns=columns, cells=[batch.cells[n] for n in kept])


def _wrong_header(file: InputFile, columns: Sequence[str]) -> list[str]:
    """Return all problems of a header: unknown and repeated columns, an incomplete key."""
    known = _COLUMNS[file.table.name]
    if columns and not known.intersection(columns):
        # This line is not a header and may hold anything, so the message does not show it.
        first, *_ = file.table.key
        return [f"the first line has no column of {file.table.name}, such as {first}"]
    wrong = [_unknown(file.table, name) for name in columns if name not in known]
    twice = [name for name, count in Counter(columns).items() if count > 1 and name in known]
    wrong += [f"the column {name} occurs twice" for name in twice]
    if sentence := _wrong_set(file.table.name, frozenset(known.intersection(columns))):
        wrong.append(sentence)
    if (more := len(wrong) - _HEADER_PROBLEMS_MAX) > 0:
        wrong[_HEADER_PROBLEMS_MAX:] = [f"and {more} more problems of the header"]
    return wrong


def _wrong_columns(table: Table, columns: Iterable[str]) -> str | None:
    """Return the problem of the column names, None if there is none."""
    known = _COLUMNS[table.name]
    if not known.issuperset(columns):
        return _unknown(table, next(name for name in columns if name not in known))
    return _wrong_set(table.name, frozenset(columns))


def _unknown(table: Table, name: str) -> str:
    name = name[:QUOTED_MAX]
    nearest = get_close_matches(name, _KINDS[table.name], n=1, cutoff=0)[0]
    return f"there is no column {name!r} in {table.name}; the nearest is {nearest!r}"


@lru_cache(maxsize=1_000)
def _wrong_set(name_of_table: str, columns: frozenset[str]) -> str | None:
    table = _KNOWN[name_of_table]
    for name in table.key:
        if name not in columns:
            return f"the column {name} is missing, the key of {table.name}"
    if "password" in columns and (other := columns.intersection(FILE_COLUMNS[1:])):
        return f"there is both a password and a {min(other)}: one of them is enough"
    return None


def _text_of(kind: Kind, column: str, value: object) -> str:
    """Return a JSON value as the text of a CSV cell. Raises UnreadableValue."""
    if isinstance(value, str) and not isinstance(value, JsonNumber):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        if not isinstance(kind, _TRUE_OR_FALSE):
            raise UnreadableValue(column, "true or false, where another value is expected")
        return "true" if value else "false"
    if isinstance(value, int | JsonNumber):
        if not isinstance(kind, _NUMBERS):
            sentence = "a number, where text is expected: put it into quotes"
            if column not in SECRET:
                sentence = f"{str(value)[:QUOTED_MAX]} is {sentence}"
            raise UnreadableValue(column, sentence)
        return str(value)
    if isinstance(value, list) and isinstance(kind, IdentifierList):
        return "|".join(_text_of(kind, column, item) for item in value)
    raise UnreadableValue(column, "a nested value, where a single one is expected")
