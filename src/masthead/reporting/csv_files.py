"""The table of a report as a CSV file."""

import csv
from collections.abc import Iterable, Sequence
from typing import IO

from masthead.circulation.tables import Report, written
from masthead.loading.export import harmless


def write_csv(report: Report, out: IO[str]) -> None:
    """Write the table of a report with its totals, without formulas for spreadsheets."""
    writer = csv.writer(out)
    writer.writerow(report.head)
    for row in (*report.rows, *report.totals):
        cells = zip(row, report.columns, strict=True)
        writer.writerow(harmless([written(cell, column.kind) for cell, column in cells]))


def write_rows(rows: Iterable[Sequence[str]], out: IO[str], *, is_raw: bool) -> int:
    """Write rows of texts; return how many.

    Unless ``is_raw``, they have no formulas for spreadsheets.
    """
    writer = csv.writer(out)
    count = 0
    for row in rows:
        writer.writerow(row if is_raw else harmless(row))
        count += 1
    return count
