"""A report as a workbook: a sheet for its table, or for each part, and one for its sentences."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import IO

from masthead.circulation.tables import Cell, Kind, Part, Report, written
from masthead.loading import xlsx_files
from masthead.loading.xlsx_files import Sheet

_COUNT, _DECIMAL, _SHARE, _DAY, _MONTH = "#,##0", "#,##0.00", "0.0", "yyyy-mm-dd", "yyyy-mm"
_FORMATS = {Kind.TEXT: "", Kind.COUNT: _COUNT, Kind.MONEY: _DECIMAL, Kind.SHARE: _SHARE}
_MONTH_LENGTH = len("2026-11")
_FIRST_YEAR = 1901
"""Spreadsheets have no days before 1900, and count those of its first months differently."""


def write_xlsx(report: Report, out: Path | IO[bytes]) -> None:
    """Write the tables of a report with their totals, and its sentences on the last sheet.

    Numbers are numbers, amounts in units of the currency, and days are days; a month is its first
    day. Raises OSError.
    """
    whole = Part(report.title.partition(" of ")[0], report.columns, report.rows, report.totals)
    tables = [_sheet(part, report) for part in report.parts or (whole,)]
    xlsx_files.write_xlsx([*tables, _about(report)], out)


def _sheet(part: Part, report: Report) -> Sheet:
    head, kinds = report.head_of(part.columns), [column.kind for column in part.columns]
    rows = [tuple(zip(row, kinds, strict=True)) for row in (*part.rows, *part.totals)]
    shown = [[written(*cell) for cell in row] for row in rows]
    columns = list(zip(head, *shown, strict=True))
    return Sheet(
        part.title,
        head,
        [[_value(*cell) for cell in row] for row in rows],
        [_format(kind, cells) for kind, (_, *cells) in zip(kinds, columns, strict=True)],
        [max(map(len, column)) + 2 for column in columns],
    )


def _format(kind: Kind, cells: list[str]) -> str:
    """Return the format of a column's numbers or days; days are months if all cells are."""
    if kind is not Kind.DATE:
        return _FORMATS[kind]
    return _MONTH if {len(cell) for cell in cells if cell} == {_MONTH_LENGTH} else _DAY


def _value(cell: Cell, kind: Kind) -> str | int | Decimal | date | None:
    if cell is None or kind in {Kind.TEXT, Kind.COUNT}:
        return cell
    text = written(cell, kind)
    if kind is not Kind.DATE:
        return Decimal(text)
    try:
        day = date.fromisoformat(f"{text}-01" if len(text) == _MONTH_LENGTH else text)
    except ValueError:
        return text
    return day if day.year >= _FIRST_YEAR else text


def _about(report: Report) -> Sheet:
    def rows() -> Iterator[list[str]]:
        yield [report.title]
        yield [f"as of {report.day}" if report.day else "all that is booked"]
        if report.currency:
            yield [f"amounts in {report.currency}"]
        yield from ([sentence] for sentence in (*report.summary, *report.notes))

    return Sheet("About", ["about this report"], rows(), (), [60])
