"""Reading a sheet of an XLSX workbook, row by row."""

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import NoneType
from typing import IO, Any

from masthead.errors import BadInput
from masthead.loading.batches import (
    BATCH_ROWS,
    QUOTED_MAX,
    ROW_BYTES_MAX,
    Batch,
    Said,
    UnreadableRow,
)
from masthead.loading.cleaning import BadCell, ShownNumber, formula_error, is_error
from masthead.loading.package_parts import told
from masthead.loading.regular_files import open_regular
from masthead.loading.table_place import rows_of_table
from masthead.loading.unpacking import FREE_BYTES, GROWTH_MAX
from masthead.loading.workbook import Workbook

UNPACKED_MAX = 512 * 1024 * 1024
"""The maximum size of all parts of a workbook, which is a zip file, in bytes."""

_DIGITS = 15
"""The digits of a number that spreadsheets keep and show; further digits of a double are noise."""

_NO_WORKBOOK = (
    "not an XLSX workbook that can be read: one with a password and the older .xls must be saved "
    "as .xlsx without a password"
)


def xlsx_batches(path: Path, label: str, said: Said) -> Iterator[Batch]:
    """Yield the rows in batches; a row's line is its number in the sheet.

    Raises BadInput as :func:`xlsx_rows` does.
    """
    with _opened(path, label) as raw:
        book, sheet = _sheet(raw, label, said)
        with _understood(label):
            merged = book.merged_cells(sheet)
        rows = rows_of_table(_rows(book, sheet, label), label, said)
        _, header = next(rows, (1, []))
        kept = [n for n, name in enumerate(header) if name]
        columns = [header[n] for n in kept]
        lines: list[int] = []
        good: list[list[str]] = []
        unreadable: list[UnreadableRow] = []
        waiting = 0

        def batch() -> Batch:
            cells = list(zip(*good, strict=True)) if good else [()] * len(columns)
            return Batch(columns, lines, cells, unreadable, raw.tell())

        for line, row in rows:
            problem = _problem(header, row)
            with told(label):
                row = merged.filled(line, row, len(header))  # noqa: PLW2901
            if problem:
                unreadable.append(UnreadableRow(line, *problem))
            else:
                lines.append(line)
                good.append([row[n] if n < len(row) else "" for n in kept])
            waiting += sum(map(len, row))
            if len(lines) + len(unreadable) == BATCH_ROWS or waiting > ROW_BYTES_MAX:
                yield batch()
                lines, good, unreadable = [], [], []
                waiting = 0
        yield batch()


def xlsx_rows(path: Path, label: str, said: Said) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row that is not blank; the first row is the header.

    Raises BadInput for a file that is not a workbook, a workbook that is too large when it is
    unpacked, a sheet that does not exist, and a row of more than 10,000 cells.
    """
    with _opened(path, label) as raw:
        header: list[str] = []
        book, sheet = _sheet(raw, label, said)
        for line, row in rows_of_table(_rows(book, sheet, label), label, said):
            header = header or row
            yield line, row + [""] * (len(header) - len(row))


def sheets_of(path: Path, label: str) -> dict[str, bool]:
    """Return the sheets of a workbook in their order, each with whether it is hidden.

    Raises BadInput as :func:`xlsx_rows` does.
    """
    with _opened(path, label) as raw, _understood(label):
        book = Workbook(raw, label)
        return {name: name in book.hidden for name in book.sheets}


def _first_sheet(book: Workbook) -> str:
    """Return the first sheet that is not hidden, or the first one of all."""
    return next((name for name in book.sheets if name not in book.hidden), next(iter(book.sheets)))


@contextmanager
def _opened(path: Path, label: str) -> Iterator[IO[bytes]]:
    with open_regular(path) as raw:
        try:
            with zipfile.ZipFile(raw) as parts:
                size = sum(part.file_size for part in parts.infolist())
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise BadInput(f"{label}: {_NO_WORKBOOK} ({type(error).__name__})") from error
        packed = os.fstat(raw.fileno()).st_size
        if size > UNPACKED_MAX or (size > FREE_BYTES and size > GROWTH_MAX * packed):
            raise BadInput(
                f"{label}: unpacks to {size >> 20} MiB, which no workbook of records does: the "
                f"most is {UNPACKED_MAX >> 20} MiB, and {GROWTH_MAX} times its size"
            )
        raw.seek(0)
        yield raw


def _sheet(raw: IO[bytes], label: str, said: Said) -> tuple[Workbook, str]:
    """Return the workbook and the name of its sheet to read."""
    with _understood(label):
        book = Workbook(raw, label)
        if not book.sheets:
            raise BadInput(f"{label}: has no sheet with cells")
        name = _first_sheet(book) if said.sheet is None else said.sheet
        if name not in book.sheets:
            known = ", ".join(map(repr, book.sheets))[:QUOTED_MAX]
            raise BadInput(f"{label}: has no sheet {name!r}; there is {known}")
        return book, name


def _rows(book: Workbook, sheet: str, label: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row of a sheet that is not blank."""
    with _understood(label):
        for line, values in book.rows(sheet):
            cells = [_TEXTS.get(type(value), str)(value) for value in values]
            while cells and not cells[-1]:
                cells.pop()
            if any(map(str.strip, cells)):
                yield line, cells


@contextmanager
def _understood(label: str) -> Iterator[None]:
    """Raise BadInput for any exception of a broken workbook."""
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        # A parser may raise any exception for a broken workbook, and its message may quote secrets.
        raise BadInput(f"{label}: {_NO_WORKBOOK} ({type(error).__name__})") from error


def _number(value: float) -> str:
    return f"{Decimal(f'{value:.{_DIGITS}g}').normalize() + 0:f}"


def _moment(value: datetime) -> str:
    return str(_to_second(value)).removesuffix(" 00:00:00")


def _duration(value: timedelta) -> str:
    minutes, seconds = divmod(round(value.total_seconds()), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _to_second(value: datetime) -> datetime:
    """Return the nearest second: a sheet has times as fractions of days, which are not exact."""
    rounded = value.replace(microsecond=0)
    return rounded + timedelta(seconds=1) if value.microsecond >= 500_000 else rounded


_TEXTS: dict[type, Callable[[Any], str]] = {
    NoneType: lambda _: "",
    str: lambda value: formula_error(value) if is_error(value) else value,
    BadCell: lambda value: value,
    ShownNumber: lambda value: value,
    bool: lambda value: "true" if value else "false",
    float: _number,
    datetime: _moment,
    time: lambda value: value.isoformat("seconds"),
    timedelta: _duration,
}
"""The function by type that writes a cell as NDJSON or CSV has it; others as Python has them."""


def _problem(header: list[str], row: list[str]) -> tuple[str, str] | None:
    """Return the column and the problem of a row that is not a record, None for a record."""
    for n, cell in enumerate(row):
        if cell and (n >= len(header) or not header[n]):
            return "row", f"has the value {cell[:QUOTED_MAX]!r} in a column without a name"
    return None
