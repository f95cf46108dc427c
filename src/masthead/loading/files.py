"""Finding import files, and reading their rows in batches.

The name of a file is that of its table: ``subscribers.csv``, ``subscribers.ndjson``, either with
``.gz`` or ``.zst``. Values are text, whatever the format; ``checks.py`` validates them.
"""

import csv
import io
import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple, cast

import msgspec

from masthead.contract.kinds import (
    Bit,
    Bool,
    DecimalText,
    Flag,
    IdentifierList,
    Integer,
    Kind,
    Number,
    Text,
)
from masthead.contract.records import ACCOUNTS, TABLES_BY_NAME, Table
from masthead.errors import BadInput
from masthead.loading.unpacking import ENDINGS, opened

__all__ = [
    "REASON",
    "Batch",
    "InputFile",
    "UnreadableRow",
    "find_files",
    "raw_rows",
    "read_batches",
    "read_object",
]

REASON = "reason"
"""The last column of a file of rejected rows, ignored when such a file is imported."""

BATCH_ROWS = 2_000
ROW_BYTES_MAX = 16 * 1024 * 1024
"""The maximum size of a line of NDJSON and of a row of CSV. A batch is at most about this large."""

CELLS_MAX = 10_000
"""The maximum number of cells in a row of CSV: cells take more memory than their bytes."""

QUOTED_MAX = 100
"""The maximum number of characters of a column name that a message quotes."""

_FORMATS = (".csv", ".ndjson")
_KNOWN = {table.name: table for table in (*TABLES_BY_NAME.values(), ACCOUNTS)}
_KINDS = {
    table.name: {column.name: column.kind for column in table.columns}
    | ({"password": Text()} if table.name == "subscribers" else {})
    for table in _KNOWN.values()
}

_COLUMNS = {name: {*kinds, REASON} for name, kinds in _KINDS.items()}

csv.field_size_limit(ROW_BYTES_MAX)


class InputFile(NamedTuple):
    """An import file; ``label`` is its name in messages."""

    path: Path
    table: Table
    format: str
    label: str

    @property
    def size(self) -> int:
        """The size in bytes, compressed if the file is."""
        return self.path.stat().st_size


class UnreadableRow(NamedTuple):
    """A row that cannot be split into cells: its line, a column for the message, the problem."""

    line: int
    column: str
    sentence: str


class Batch(NamedTuple):
    """Rows of a file, by column.

    ``cells[n]`` holds the values of ``columns[n]``: text, empty for a missing value, None for a row
    without this column. ``lines`` holds the line number on which each row starts. ``done`` is the
    number of bytes of the file that have been read so far.
    """

    columns: Sequence[str]
    lines: Sequence[int]
    cells: Sequence[Sequence[str | None]]
    unreadable: Sequence[UnreadableRow]
    done: int


def find_files(paths: Sequence[Path]) -> list[InputFile]:
    """Return the import files of ``paths`` (files and folders), sorted by name in each folder.

    Files with other extensions in a folder are ignored. Raises BadInput for a path that does not
    exist, for a name that is not that of a table, and for a folder without import files.
    """
    found = []
    for path in paths:
        if path.is_dir():
            inside = sorted(entry for entry in path.iterdir() if entry.is_file())
            found += [entry for entry in inside if _stem_and_format(entry)[1]]
            if not any(_stem_and_format(entry)[1] for entry in inside):
                raise BadInput(f"{path}: there is no file to load, such as subscribers.csv")
        elif path.is_file():
            found.append(path)
        else:
            raise BadInput(f"{path}: there is no such file or folder")
    names = Counter(path.name for path in found)
    return [_input_file(path, is_alone=names[path.name] == 1) for path in found]


def _stem_and_format(path: Path) -> tuple[str, str]:
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    for format_ in _FORMATS:
        if name.endswith(format_):
            return name.removesuffix(format_), format_
    return name, ""


def _input_file(path: Path, *, is_alone: bool) -> InputFile:
    stem, format_ = _stem_and_format(path)
    if not format_:
        raise BadInput(
            f"{path}: the name ends with none of .csv, .ndjson, and these with .gz, .zst"
        )
    if stem not in _KNOWN:
        nearest = get_close_matches(stem, _KNOWN, n=1, cutoff=0)[0]
        raise BadInput(f"{path}: {stem!r} is nothing to load; the nearest is {nearest!r}")
    return InputFile(path, _KNOWN[stem], format_, path.name if is_alone else str(path))


def read_batches(file: InputFile) -> Iterator[Batch]:
    """Yield the rows of a file in batches of at most 2,000.

    Raises BadInput, with file and line, for broken compression or CSV quotes, a header with an
    unknown column or without the key, and a row of more than 16 MiB or 10,000 cells.
    """
    with opened(file.path, file.label) as (unpacked, raw):
        read = _read_csv if file.format == ".csv" else _read_ndjson
        yield from read(file, unpacked, raw)


def raw_rows(file: InputFile) -> Iterator[tuple[int, list[str] | bytes]]:
    """Yield each row with its line number, unparsed: the cells of CSV, the bytes of NDJSON.

    The first row of CSV is the header. Raises BadInput as :func:`read_batches` does.
    """
    with opened(file.path, file.label) as (unpacked, _):
        if file.format == ".csv":
            yield from _csv_rows(file, _LimitedReader(unpacked))
        else:
            yield from _ndjson_lines(file, unpacked)


class _LimitedReader(io.BufferedIOBase):
    """Counts the bytes of a CSV row while it is read, and stops a row that is too long.

    A row can span any number of lines, all of which csv.reader keeps in memory.
    """

    def __init__(self, unpacked: IO[bytes]) -> None:
        self._unpacked = cast("io.BufferedReader", unpacked)
        self.row_bytes = 0
        self.batch_bytes = 0

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        data = self._unpacked.read1(size)
        self.row_bytes += len(data)
        self.batch_bytes += len(data)
        if self.row_bytes > ROW_BYTES_MAX:
            raise _TooLongError
        return data


class _TooLongError(Exception):
    """A row is longer than the limit."""


def _csv_rows(
    file: InputFile, limited: _LimitedReader
) -> Generator[tuple[int, list[str]], None, None]:
    source = cast("IO[bytes]", limited)
    text = io.TextIOWrapper(source, "utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.reader(text, strict=True)
    line = 1
    try:
        for row in reader:
            limited.row_bytes = 0
            if len(row) > CELLS_MAX:
                raise BadInput(
                    f"{file.label}:{line}: has {len(row)} cells, and a row may have {CELLS_MAX}"
                )
            if row:
                yield line, row
            line = reader.line_num + 1
    except _TooLongError:
        raise _too_long(file, line) from None
    except csv.Error as error:
        if "field limit" in str(error):
            raise _too_long(file, line) from None
        raise BadInput(f"{file.label}:{line}: not CSV as RFC 4180 has it: {error}") from error
    finally:
        # The wrapper must not close the file: its position is still needed.
        text.detach()


def _too_long(file: InputFile, line: int) -> BadInput:
    return BadInput(
        f"{file.label}:{line}: longer than {ROW_BYTES_MAX >> 20} MiB, the most that a row may have"
    )


def _read_csv(file: InputFile, unpacked: IO[bytes], raw: IO[bytes]) -> Iterator[Batch]:
    limited = _LimitedReader(unpacked)
    lines: list[int] = []
    good: list[list[str]] = []
    unreadable: list[UnreadableRow] = []

    def batch() -> Batch:
        cells = list(zip(*good, strict=True)) if good else [()] * len(header)
        return Batch(columns, lines, [cells[n] for n in kept], unreadable, raw.tell())

    with closing(_csv_rows(file, limited)) as rows:
        header_line, header = next(rows, (1, []))
        _check_columns(file, header_line, header)
        kept = [n for n, name in enumerate(header) if name != REASON]
        columns = [header[n] for n in kept]
        for line, row in rows:
            if len(row) == len(header):
                lines.append(line)
                good.append(row)
            else:
                sentence = f"has {len(row)} cells where the header has {len(header)}"
                unreadable.append(UnreadableRow(line, "row", sentence))
            if len(lines) + len(unreadable) == BATCH_ROWS or limited.batch_bytes > ROW_BYTES_MAX:
                yield batch()
                lines, good, unreadable = [], [], []
                limited.batch_bytes = 0
        yield batch()


def _check_columns(file: InputFile, line: int, columns: Sequence[str]) -> None:
    """Raise BadInput for an unknown or repeated column, and for an incomplete key."""
    sentence = _wrong_columns(file.table, columns)
    if twice := _first_repeated(columns):
        sentence = sentence or f"the column {twice} occurs twice"
    if sentence:
        raise BadInput(f"{file.label}:{line}: {sentence}")


def _wrong_columns(table: Table, columns: Iterable[str]) -> str | None:
    """Return the problem of the column names, None if there is none."""
    known = _COLUMNS[table.name]
    if not known.issuperset(columns):
        name = next(name for name in columns if name not in known)[:QUOTED_MAX]
        nearest = get_close_matches(name, _KINDS[table.name], n=1, cutoff=0)[0]
        return f"there is no column {name!r} in {table.name}; the nearest is {nearest!r}"
    return _wrong_set(table.name, frozenset(columns))


def _first_repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


@lru_cache(maxsize=1_000)
def _wrong_set(name_of_table: str, columns: frozenset[str]) -> str | None:
    table = _KNOWN[name_of_table]
    for name in table.key:
        if name not in columns:
            return f"the column {name} is missing, the key of {table.name}"
    if {"password", "password_md5"} <= columns:
        return "there is both a password and a password_md5: one of them is enough"
    return None


class _JsonNumber(str):
    """A JSON number with a fraction, as text."""

    __slots__ = ()


_decode = msgspec.json.Decoder(float_hook=_JsonNumber).decode
_KEY_BEFORE_SPACE = (b'" ', b'"\t', b'"\r')
_TRUE_OR_FALSE = (Bool, Flag, Bit)
_NUMBERS = (*_TRUE_OR_FALSE, Integer, Number, DecimalText, IdentifierList)


def _read_ndjson(file: InputFile, unpacked: IO[bytes], raw: IO[bytes]) -> Iterator[Batch]:
    # password and password_md5 fill the same column, so their rows are in separate batches.
    good: dict[bool, dict[int, dict[str, str]]] = {False: {}, True: {}}
    unreadable: list[UnreadableRow] = []
    waiting = waiting_bytes = 0

    def batches() -> Iterator[Batch]:
        for records in good.values():
            columns = list(dict.fromkeys(chain.from_iterable(records.values())))
            cells = [[record.get(name) for record in records.values()] for name in columns]
            yield Batch(columns, list(records), cells, (), raw.tell())
        yield Batch((), (), (), unreadable, raw.tell())

    for line, text in _ndjson_lines(file, unpacked):
        if not text.strip():
            continue
        record = _read_record(file.table, line, text)
        if isinstance(record, UnreadableRow):
            unreadable.append(record)
        else:
            good["password" in record][line] = record
        waiting += 1
        waiting_bytes += len(text)
        if waiting == BATCH_ROWS or waiting_bytes > ROW_BYTES_MAX:
            yield from batches()
            good, unreadable = {False: {}, True: {}}, []
            waiting = waiting_bytes = 0
    yield from batches()


def _ndjson_lines(file: InputFile, unpacked: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    line = 0
    while text := unpacked.readline(ROW_BYTES_MAX):
        line += 1
        if len(text) == ROW_BYTES_MAX:
            raise _too_long(file, line)
        yield line, text


def _read_record(table: Table, line: int, text: bytes) -> dict[str, str] | UnreadableRow:
    """Return the cells of a line of NDJSON by column, as CSV would have them."""
    column = "row"
    try:
        text = text.removeprefix(BOM_UTF8)
        record = _decode(text)
        if not isinstance(record, dict):
            return UnreadableRow(line, column, "not a JSON object")
        _check_keys(text, record)
        record.pop(REASON, None)
        if wrong := _wrong_columns(table, record):
            return UnreadableRow(line, column, wrong)
        cells = {}
        for column, value in record.items():
            cells[column] = _text_of(_KINDS[table.name][column], value)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return UnreadableRow(line, column, f"not valid JSON: {error}")
    except RecursionError:
        return UnreadableRow(line, column, "nested too deeply")
    except ValueError as error:
        return UnreadableRow(line, column, str(error))
    return cells


def _check_keys(text: bytes, record: dict[str, object]) -> None:
    """Raise ValueError for a repeated key; the decoder has kept only the last one."""
    # The usual case, without parsing again: as many ends of keys as keys.
    if text.count(b'":') == len(record) and not any(end in text for end in _KEY_BEFORE_SPACE):
        return
    pairs = json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)
    if twice := _first_repeated(name for name, _ in pairs):
        raise ValueError(f"the key {twice[:QUOTED_MAX]} occurs twice")


def _text_of(kind: Kind, value: object) -> str:
    """Return a JSON value as the text of a CSV cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        if not isinstance(kind, _TRUE_OR_FALSE):
            raise ValueError("true or false, where another value is expected")
        return "true" if value else "false"
    if isinstance(value, int | _JsonNumber):
        if not isinstance(kind, _NUMBERS):
            raise ValueError("a number, where text is expected: put it into quotes")
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list) and isinstance(kind, IdentifierList):
        return "|".join(_text_of(kind, item) for item in value)
    raise ValueError("a nested value, where a single one is expected")


def _unchanged_number(number: str) -> msgspec.Raw:
    return msgspec.Raw(number.encode())


_decode_unchanged = msgspec.json.Decoder(float_hook=_unchanged_number).decode


def read_object(text: bytes) -> dict[str, object]:
    """Return a line of NDJSON as an object, or ``{"raw": …}`` if it is not an object.

    Encoded again, its numbers have their original form.
    """
    try:
        found = _decode_unchanged(text.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    return {"raw": text.decode("utf-8", "backslashreplace").rstrip("\r\n")}
