"""``masthead payer``: what billing knows about who pays."""

from pathlib import Path

import click

from masthead.billing import payer_statements
from masthead.books import payer_details, payer_statement, tax_rates
from masthead.circulation.tables import lines
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.errors import BadUsage
from masthead.private_files import new_file
from masthead.reporting.csv_files import write_csv


@click.group("payer")
def payer() -> None:
    """Who pays: the subscribers whose orders are invoiced.

    `masthead subscriber find` finds the id of a subscriber.
    """


@payer.command("set")
@click.argument("subscriber_id", type=ID)
@click.option("--vat-id", help="The VAT number of a business in the EU; its digits are checked.")
@click.option("--no-vat-id", "removes_vat_id", is_flag=True, help="Remove the VAT number.")
@click.option(
    "--by-email/--no-by-email",
    default=None,
    help="Whether invoices, reminders and letters go by email; else on paper.",
)
@dry_run
@account_options
def set_payer(
    subscriber_id: int,
    vat_id: str | None,
    account: int | None,
    database: str,
    *,
    removes_vat_id: bool,
    by_email: bool | None,
    dry_run: bool,
) -> None:
    """Set or remove the VAT number of a payer, or how the payer gets documents.

    An invoice for a business with the VAT number of another EU country than the seller's has no
    tax: the business owes it (reverse charge). It counts for later orders.

    Documents go by email to the address of the subscriber: those that are made from now on.
    """
    if (vat_id is not None) + removes_vat_id + (by_email is not None) != 1:
        raise BadUsage("give one of --vat-id, --no-vat-id, --by-email and --no-by-email")
    books = books_of(account, database)
    if by_email is not None:
        done = payer_details.deliver(books, subscriber_id, by_email=by_email, dry_run=dry_run)
        say(done, dry_run=dry_run)
        return
    say(tax_rates.set_vat_id(books, subscriber_id, vat_id, dry_run=dry_run), dry_run=dry_run)


@payer.command("statement")
@click.argument("subscriber_id", type=ID)
@click.option("--from", "first", type=Day(), help="The first day, with the balance before it.")
@click.option("--to", "last", type=Day(), help="The last day.")
@click.option(
    "--csv",
    "csv_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the lines to this file.",
)
@account_options
def statement_command(
    subscriber_id: int,
    first: str | None,
    last: str | None,
    csv_path: Path | None,
    account: int | None,
    database: str,
) -> None:
    """The statement of a payer: invoices, payments and what is open, line by line.

    Each line has the balance after it: above 0 is owed, below 0 is the payer's credit. An invoice
    has its day, a payment its value date.
    """
    books = books_of(account, database)
    made = payer_statements.report(payer_statement.statement(books, subscriber_id, first, last))
    for line in lines(made):
        click.echo(line)
    if csv_path is not None:
        with new_file(csv_path) as out:
            write_csv(made, out)
