"""Reading import files: which there are, what they hold, and their rows in batches.

A file's name says what it holds: ``subscribers.csv``, ``subscribers.ndjson``, either with ``.gz``
or ``.zst``. Rows come as text, whatever the format; what a value must look like is left to
``checks``.
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
"""The last column of a file of refused rows; ignored when such a file is loaded again."""

BATCH_ROWS = 2_000
ROW_BYTES_MAX = 16 * 1024 * 1024
"""The longest line of NDJSON and the longest row of CSV. A batch has no more rows than that many
bytes hold, or one row."""

CELLS_MAX = 10_000
"""The most cells of a row of CSV, which take more memory than their bytes in the file."""

QUOTED_MAX = 100
"""So many characters of a name that a file has are quoted in a sentence."""

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
    """A file to be loaded. ``label`` is how problems name it."""

    path: Path
    table: Table
    format: str
    label: str

    @property
    def size(self) -> int:
        """The file's size in bytes, as it is on disk."""
        return self.path.stat().st_size


class UnreadableRow(NamedTuple):
    """A row that has no cells to look at: its line, a column to name, and what is wrong."""

    line: int
    column: str
    sentence: str


class Batch(NamedTuple):
    """Rows of a file.

    ``cells[n]`` are the values of ``columns[n]`` as text, empty where missing, None in a row that
    does not have the column; ``lines`` the line on which each row begins. ``done`` is how many
    bytes of the file have been read so far.
    """

    columns: Sequence[str]
    lines: Sequence[int]
    cells: Sequence[Sequence[str | None]]
    unreadable: Sequence[UnreadableRow]
    done: int


def find_files(paths: Sequence[Path]) -> list[InputFile]:
    """Return the import files that ``paths`` (files and folders) name, in a fixed order.

    In a folder, files with other endings are left alone. Raises BadInput for a path that does not
    exist, for a name that says no known table, and where there is nothing to load.
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

    Raises BadInput, naming file and line, where the file itself is broken: its packing, the quotes
    of CSV, a header with an unknown column or without the key, a row of more than 16 MiB or
    10,000 cells.
    """
    with opened(file.path, file.label) as (unpacked, raw):
        read = _read_csv if file.format == ".csv" else _read_ndjson
        yield from read(file, unpacked, raw)


def raw_rows(file: InputFile) -> Iterator[tuple[int, list[str] | bytes]]:
    """Yield each row of a file as it stands there, with its line: cells of CSV, bytes of NDJSON.

    The first row of CSV is its header. Raises BadInput as :func:`read_batches` does.
    """
    with opened(file.path, file.label) as (unpacked, _):
        if file.format == ".csv":
            yield from _csv_rows(file, _Watched(unpacked))
        else:
            yield from _ndjson_lines(file, unpacked)


class _Watched(io.BufferedIOBase):
    """The bytes of a CSV file on their way to its reader, counted since a row began.

    A row may have any number of lines, and the reader holds all of them. So it is stopped here,
    before it has more of a row than may be; pieces are small, and a row's end is seen in time.
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
    """A row has more bytes than may be."""


def _csv_rows(file: InputFile, watched: _Watched) -> Generator[tuple[int, list[str]], None, None]:
    source = cast("IO[bytes]", watched)
    text = io.TextIOWrapper(source, "utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.reader(text, strict=True)
    line = 1
    try:
        for row in reader:
            watched.row_bytes = 0
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
        # Else the file would be closed with the wrapper, before its position was last asked for.
        text.detach()


def _too_long(file: InputFile, line: int) -> BadInput:
    return BadInput(
        f"{file.label}:{line}: longer than {ROW_BYTES_MAX >> 20} MiB, the most that a row may have"
    )


def _read_csv(file: InputFile, unpacked: IO[bytes], raw: IO[bytes]) -> Iterator[Batch]:
    watched = _Watched(unpacked)
    with closing(_csv_rows(file, watched)) as rows:
        yield from _batches_of_csv(file, rows, watched, raw)


def _batches_of_csv(
    file: InputFile, rows: Iterator[tuple[int, list[str]]], watched: _Watched, raw: IO[bytes]
) -> Iterator[Batch]:
    header_line, header = next(rows, (1, []))
    _check_columns(file, header_line, header)
    width = len(header)
    kept = [n for n, name in enumerate(header) if name != REASON]
    columns = [header[n] for n in kept]
    lines: list[int] = []
    good: list[list[str]] = []
    unreadable: list[UnreadableRow] = []

    def batch() -> Batch:
        cells = list(zip(*good, strict=True)) if good else [()] * width
        return Batch(columns, lines, [cells[n] for n in kept], unreadable, raw.tell())

    for line, row in rows:
        if len(row) == width:
            lines.append(line)
            good.append(row)
        else:
            sentence = f"has {len(row)} cells where the header has {width}"
            unreadable.append(UnreadableRow(line, "row", sentence))
        if len(lines) + len(unreadable) == BATCH_ROWS or watched.batch_bytes > ROW_BYTES_MAX:
            yield batch()
            lines, good, unreadable = [], [], []
            watched.batch_bytes = 0
    yield batch()


def _check_columns(file: InputFile, line: int, columns: Sequence[str]) -> None:
    """Raise BadInput where a column is unknown or named twice, or where the key is not complete."""
    sentence = _wrong_columns(file.table, columns)
    if twice := _first_twice(columns):
        sentence = sentence or f"the column {twice} occurs twice"
    if sentence:
        raise BadInput(f"{file.label}:{line}: {sentence}")


def _wrong_columns(table: Table, columns: Iterable[str]) -> str | None:
    """Return what is wrong with the names of columns, None where nothing is."""
    known = _COLUMNS[table.name]
    if not known.issuperset(columns):
        name = next(name for name in columns if name not in known)[:QUOTED_MAX]
        nearest = get_close_matches(name, _KINDS[table.name], n=1, cutoff=0)[0]
        return f"there is no column {name!r} in {table.name}; the nearest is {nearest!r}"
    return _wrong_set(table.name, frozenset(columns))


def _first_twice(names: Iterable[str]) -> str | None:
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
    """A JSON number with a fraction, as it was written."""

    __slots__ = ()


_decode = msgspec.json.Decoder(float_hook=_JsonNumber).decode
_KEY_BEFORE_SPACE = (b'" ', b'"\t', b'"\r')
_TRUE_OR_FALSE = (Bool, Flag, Bit)
_NUMBERS = (*_TRUE_OR_FALSE, Integer, Number, DecimalText, IdentifierList)


def _read_ndjson(file: InputFile, unpacked: IO[bytes], raw: IO[bytes]) -> Iterator[Batch]:
    # A password and a digest fill the same column, so rows that have the one or the other go apart.
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
    """Return a line of NDJSON as the cells that CSV would have, by column."""
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
    """Raise ValueError where the object has a key twice, of which the decoder has kept the last."""
    # Mostly no text in it looks like the end of a key, and counting tells.
    if text.count(b'":') == len(record) and not any(end in text for end in _KEY_BEFORE_SPACE):
        return
    pairs = json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)
    if twice := _first_twice(name for name, _ in pairs):
        raise ValueError(f"the key {twice[:QUOTED_MAX]} occurs twice")


def _text_of(kind: Kind, value: object) -> str:
    """Return a JSON value as the text that a cell of CSV would hold."""
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


def _as_written(number: str) -> msgspec.Raw:
    return msgspec.Raw(number.encode())


_decode_as_written = msgspec.json.Decoder(float_hook=_as_written).decode


def read_object(text: bytes) -> dict[str, object]:
    """Return a line of NDJSON as an object, or as ``{"raw": …}`` where it is none.

    Encoded again, its numbers are as they were written.
    """
    try:
        found = _decode_as_written(text.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    return {"raw": text.decode("utf-8", "backslashreplace").rstrip("\r\n")}
