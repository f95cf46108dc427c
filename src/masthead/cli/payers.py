"""``masthead payer``: what billing knows about who pays."""

import click

from masthead.books import tax_rates
from masthead.cli.books_options import ID, account_options, books_of, dry_run, say
from masthead.errors import BadUsage


@click.group("payer")
def payer() -> None:
    """Who pays: the subscribers whose orders are invoiced.

    `masthead subscriber find` finds the id of a subscriber.
    """


@payer.command("set")
@click.argument("subscriber_id", type=ID)
@click.option("--vat-id", help="The VAT number of a business in the EU; its digits are checked.")
@click.option("--no-vat-id", "removes_vat_id", is_flag=True, help="Remove the VAT number.")
@dry_run
@account_options
def set_payer(
    subscriber_id: int,
    vat_id: str | None,
    account: int | None,
    database: str,
    *,
    removes_vat_id: bool,
    dry_run: bool,
) -> None:
    """Set or remove the VAT number of a payer.

    An invoice for a business with the VAT number of another EU country than the seller's has no
    tax: the business owes it (reverse charge). It counts for later orders.
    """
    if (vat_id is None) == (not removes_vat_id):
        raise BadUsage("give --vat-id or --no-vat-id")
    books = books_of(account, database)
    say(tax_rates.set_vat_id(books, subscriber_id, vat_id, dry_run=dry_run), dry_run=dry_run)
