"""The table of a report as a CSV file."""

import csv
from typing import IO

from masthead.circulation.tables import Report, written
from masthead.loading.export import harmless


def write_csv(report: Report, out: IO[str], *, for_spreadsheets: bool = False) -> None:
    """Write the table of a report with its totals; ``for_spreadsheets`` prevents formulas."""
    writer = csv.writer(out)
    writer.writerow(column.name for column in report.columns)
    for row in (*report.rows, *report.totals):
        cells = [written(c, k.kind) for c, k in zip(row, report.columns, strict=True)]
        writer.writerow(harmless(cells) if for_spreadsheets else cells)
