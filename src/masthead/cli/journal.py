"""``masthead journal``: export, check, balances."""

from pathlib import Path

import click

from masthead.billing import journal_checks
from masthead.billing.datev import ENCODING, FILE_PREFIX
from masthead.books import journal
from masthead.books.journal import Days, days_between, days_of
from masthead.circulation.tables import lines
from masthead.cli.books_options import Day, account_options, books_of, raw
from masthead.cli.new_files import check_new, replace_option, written
from masthead.contract.printable import counted
from masthead.errors import BadUsage, MastheadError
from masthead.reporting.csv_files import write_rows


@click.group("journal")
def journal_group() -> None:
    """The journal: double entries of every movement of money, for the accountant.

    It has what was invoiced, paid, reversed, credited, written off and earned, with the account
    numbers of `masthead billing settings`. For each month, it agrees with the liability report and
    with the invoices that are not settled.
    """


@journal_group.command("export")
@click.option("--month", metavar="MONTH", help="A month, such as 2026-11.")
@click.option("--from", "first", type=Day(), help="Or the first day.")
@click.option("--until", "last", type=Day(), help="And the last day.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "datev"]),
    default="csv",
    show_default=True,
    help="A row for each line of an entry, or DATEV's format for one account and its contra.",
)
@click.option(
    "--to",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file. For DATEV, its name begins with EXTF_.",
)
@replace_option
@raw
@account_options
def export_command(
    month: str | None,
    first: str | None,
    last: str | None,
    kind: str,
    path: Path,
    account: int | None,
    database: str,
    *,
    replace: bool,
    is_raw: bool,
) -> None:
    """Write the entries of a month, or of some days, to a file.

    Each entry balances: debit is credit. What issues and months earn is one entry for each day and
    publication. The entries of a month that is closed never change. A file for DATEV needs the
    settings datev_consultant and datev_client, and has days of one fiscal year.
    """
    days = _days(month, first, last)
    if kind == "datev" and not path.name.startswith(FILE_PREFIX):
        raise BadUsage(
            f"--to: DATEV reads files whose names begin with {FILE_PREFIX}, such as "
            f"{FILE_PREFIX}{path.stem or 'journal'}.csv"
        )
    check_new(path, replace=replace)
    encoding = ENCODING if kind == "datev" else "utf-8"
    with (
        journal.export(books_of(account, database), days) as found,
        written(path, encoding) as out,
    ):
        if kind == "datev":
            count = sum(1 for line in found.as_datev() if out.write(line.decode(ENCODING))) - 2
        else:
            count = write_rows(found.as_csv(), out, is_raw=is_raw) - 1
    click.echo(f"{path}: {counted(count, 'row')} of the journal, {days.name}")


def _days(month: str | None, first: str | None, last: str | None) -> Days:
    if month is not None and first is None and last is None:
        return days_of(month)
    if month is None and first is not None and last is not None:
        return days_between(first, last)
    raise BadUsage("give --month, or --from and --until")


@journal_group.command("check")
@click.option("--day", type=Day(), help="As of the end of a day. [default: everything]")
@account_options
def check_command(day: str | None, account: int | None, database: str) -> None:
    """Compare the journal with the books, and exit with 1 if they do not agree.

    Deferred is what the liability report has, receivables are the invoices that are not settled,
    prepayments are deposits and credits of payers, and each entry balances.
    """
    checked = journal.check(books_of(account, database), day)
    for line in lines(journal_checks.report(checked)):
        click.echo(line)
    if checked.wrong:
        raise MastheadError(checked.sentence)


@journal_group.command("balances")
@click.option("--day", type=Day(), help="At the end of a day. [default: everything]")
@account_options
def balances_command(day: str | None, account: int | None, database: str) -> None:
    """The balance of each account of the journal."""
    for line in lines(journal.balances(books_of(account, database), day)):
        click.echo(line)
