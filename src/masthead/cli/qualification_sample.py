"""``masthead qualification sample``: the records that an auditor looks at, with all evidence."""

from pathlib import Path

import click

from masthead.books import audit_report
from masthead.circulation.tables import lines
from masthead.cli.books_options import ID, account_options, books_of
from masthead.cli.report_files import FILE, check_workbook, write_files
from masthead.contract.printable import printable


@click.command("sample")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@click.option(
    "--every",
    "step",
    type=click.IntRange(1, audit_report.EVERY_MAX),
    required=True,
    help="Take every nth record, such as 100.",
)
@click.option(
    "--seed",
    "drawn_by",
    type=click.IntRange(0, audit_report.SEED_MAX - 1),
    help="Draw the first record by this number.  [default: a number that is drawn and printed]",
)
@click.option(
    "--csv",
    "csv_path",
    type=FILE,
    help="Write the sample to this file and not on the terminal.",
)
@click.option(
    "--xlsx",
    "xlsx_path",
    type=FILE,
    help="Write it to this workbook, whose name ends in .xlsx, and not on the terminal.",
)
@account_options
def sample_command(
    issue_id: int,
    step: int,
    drawn_by: int | None,
    csv_path: Path | None,
    xlsx_path: Path | None,
    account: int | None,
    database: str,
) -> None:
    """Print every nth qualified copy of ISSUE with its qualification and all evidence.

    The records are sorted by subscription, over the main list and the gap lists. The first one is
    drawn by a seed, which is printed: the same seed draws the same records again.
    """
    check_workbook(xlsx_path)
    made = audit_report.sample(books_of(account, database), issue_id, step, drawn_by)
    if csv_path is None and xlsx_path is None:
        for line in lines(made.report):
            click.echo(line)
        return
    write_files(made.report, csv_path, xlsx_path)
    for line in made.report.summary:
        click.echo(printable(line))
