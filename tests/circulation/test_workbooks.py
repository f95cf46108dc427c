"""A report as a workbook (circulation, "Reports"): what a spreadsheet gets to reckon with."""

from __future__ import annotations

import io
from datetime import datetime
from typing import TYPE_CHECKING

from openpyxl import load_workbook

from masthead.circulation.tables import Chart, Column, Kind, Part, Report
from masthead.reporting.xlsx_files import write_xlsx

if TYPE_CHECKING:
    from openpyxl import Workbook

COLUMNS = (
    Column("name", Kind.TEXT),
    Column("day", Kind.DATE),
    Column("copies"),
    Column("owed", Kind.MONEY),
    Column("rate %", Kind.SHARE),
)
ROWS = (
    ("=1+1", "2026-02-28", 1234, 123456, 125),
    ("\x01-a", "2026-03", 10**15, -5, None),
    ("Tide", "1899-01-01", None, None, 0),
)
TOTALS = (("all", "never", 2, 0, 1000),)
REPORT = Report(
    "Rates of Tide",
    COLUMNS,
    ROWS,
    TOTALS,
    Chart((), (), "copies"),
    summary=("2 copies.",),
    notes=("=not a formula",),
    day="2026-03-31",
    currency="EUR",
)


def written(report: Report) -> Workbook:
    out = io.BytesIO()
    write_xlsx(report, out)
    return load_workbook(out)


def shown(value: object) -> object:
    return f"day {value:%Y-%m-%d}" if isinstance(value, datetime) else value


def test_numbers_and_days_stay_what_they_are() -> None:
    """A number of more than 15 digits is a text, since a spreadsheet would change it."""
    book = written(REPORT)
    assert book.sheetnames == ["Rates", "About"]
    sheet = book["Rates"]
    assert [[shown(cell.value) for cell in row] for row in sheet.iter_rows()] == [
        ["name", "day", "copies", "owed EUR", "rate %"],
        ["=1+1", "day 2026-02-28", 1234, 1234.56, 12.5],
        ["-a", "day 2026-03-01", str(10**15), -0.05, None],
        ["Tide", "1899-01-01", None, None, 0],
        ["all", "never", 2, 0, 100],
    ]
    first = next(sheet.iter_rows(min_row=2))
    assert [cell.data_type for cell in first] == ["s", "d", "n", "n", "n"]
    formats = [cell.number_format for cell in first]
    assert formats == ["General", "yyyy-mm-dd", "#,##0", "#,##0.00", "0.0"]
    assert sheet.freeze_panes == "A2"


def test_no_text_is_a_formula_even_after_it_was_edited() -> None:
    """rules, "Exports for spreadsheets"."""
    book = written(REPORT)
    marked = [cell.quotePrefix for cell in book["Rates"]["A"]]
    assert marked == [False, True, True, False, False]
    last = book["About"]["A"][-1]
    assert (last.value, last.data_type, last.quotePrefix) == ("=not a formula", "s", True)


def test_the_last_sheet_says_what_was_counted() -> None:
    rows = [cell.value for cell in written(REPORT)["About"]["A"]]
    assert rows == [
        "about this report",
        "Rates of Tide",
        "as of 2026-03-31",
        "amounts in EUR",
        "2 copies.",
        "=not a formula",
    ]


def test_each_part_has_its_own_sheet_and_columns_of_months_show_months() -> None:
    month = Part("Months", (Column("month", Kind.DATE),), (("2026-03",),))
    book = written(REPORT._replace(parts=(month, month._replace(title="More"))))
    assert book.sheetnames == ["Months", "More", "About"]
    assert book["Months"]["A2"].number_format == "yyyy-mm"
