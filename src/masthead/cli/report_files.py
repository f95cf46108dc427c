"""The files of a report: a table as CSV, and a workbook, which only their owner may read."""

from pathlib import Path

import click

from masthead.circulation.tables import Report
from masthead.errors import BadUsage
from masthead.private_files import make_file, new_file
from masthead.reporting.csv_files import write_csv
from masthead.reporting.xlsx_files import write_xlsx

FILE = click.Path(path_type=Path, dir_okay=False)


def check_workbook(path: Path | None) -> None:
    """Raise BadUsage unless the name of the workbook, if there is one, ends in .xlsx."""
    if path and path.suffix.lower() != ".xlsx":
        raise BadUsage(f"--xlsx: the name of {path} must end in .xlsx")


def write_files(made: Report, csv_path: Path | None, xlsx_path: Path | None) -> None:
    """Write a report to the files that were asked for, in place of existing ones.

    Raises OSError.
    """
    if csv_path:
        with new_file(csv_path) as out:
            write_csv(made, out)
    if xlsx_path:
        make_again(xlsx_path)
        write_xlsx(made, xlsx_path)


def make_again(path: Path) -> None:
    """Make an empty file that only its owner may read, in place of an existing one.

    Raises OSError if the existing one cannot be removed.
    """
    path.unlink(missing_ok=True)
    make_file(path)
