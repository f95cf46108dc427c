"""``masthead qualification sample``: the records that an auditor looks at, with all evidence."""

from pathlib import Path

import click

from masthead.books import audit_report
from masthead.circulation.tables import lines
from masthead.cli.books_options import ID, account_options, books_of
from masthead.contract.printable import printable
from masthead.private_files import new_file
from masthead.reporting.csv_files import write_csv


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
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the sample to this file and not on the terminal.",
)
@account_options
def sample_command(
    issue_id: int,
    step: int,
    drawn_by: int | None,
    csv_path: Path | None,
    account: int | None,
    database: str,
) -> None:
    """Print every nth qualified copy of ISSUE with its qualification and all evidence.

    The records are sorted by subscription, over the main list and the gap lists. The first one is
    drawn by a seed, which is printed: the same seed draws the same records again.
    """
    made = audit_report.sample(books_of(account, database), issue_id, step, drawn_by)
    if csv_path is None:
        for line in lines(made.report):
            click.echo(line)
        return
    with new_file(csv_path) as out:
        write_csv(made.report, out)
    for line in made.report.summary:
        click.echo(printable(line))
