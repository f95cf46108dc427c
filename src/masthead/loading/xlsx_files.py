"""Workbooks for spreadsheets, of which mail files and reports are made.

Numbers and days stay numbers and days. A text stays a text, also if it looks like a formula (rules,
"Exports for spreadsheets").
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import date
from decimal import Decimal
from itertools import repeat
from pathlib import Path
from typing import IO, Any, NamedTuple

from masthead.loading.export import is_formula

_NOT_IN_XLSX = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_WHOLE_MAX = 10**15
"""Spreadsheets keep 15 digits of a number, so longer numbers are written as texts."""

_WIDTH_MIN, _WIDTH_MAX = 8, 60


class Sheet(NamedTuple):
    """A sheet: its name, its columns, and its rows of texts, numbers and days, which are read once.

    ``formats`` are those of the columns, such as ``#,##0``, and ``widths`` are in characters; both
    may be left out. The caller chooses a name of at most 31 letters, digits and spaces.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    formats: Sequence[str] = ()
    widths: Sequence[int] = ()


def write_xlsx(sheets: Iterable[Sheet], out: Path | IO[bytes]) -> int:
    """Write a workbook of the sheets, row by row; return how many rows they have in all.

    The header of a sheet is not counted, and stays in view. Raises OSError.
    """
    # Imported only here, since the import is slow.
    from openpyxl import Workbook  # noqa: PLC0415
    from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415

    count = 0
    with closing(Workbook(write_only=True)) as book:
        for each in sheets:
            sheet = book.create_sheet(each.name)
            sheet.freeze_panes = "A2"
            for number, width in enumerate(each.widths, 1):
                shown = min(max(width, _WIDTH_MIN), _WIDTH_MAX)
                sheet.column_dimensions[get_column_letter(number)].width = shown
            sheet.append(each.columns)
            for row in each.rows:
                cells = []
                for value, form in zip(row, each.formats or repeat(""), strict=False):
                    kept: Any = _kept(value)
                    cell = WriteOnlyCell(sheet, kept)
                    if isinstance(kept, str):
                        cell.data_type = "s"
                        cell.quotePrefix = is_formula(kept)
                    elif form:
                        cell.number_format = form
                    cells.append(cell)
                sheet.append(cells)
                count += 1
        book.save(out)
    return count


def _kept(value: str | int | Decimal | date | None) -> str | int | Decimal | date | None:
    """Return a value as a cell can have it."""
    if isinstance(value, str):
        return _NOT_IN_XLSX.sub("", value)
    return str(value) if isinstance(value, int) and abs(value) >= _WHOLE_MAX else value
