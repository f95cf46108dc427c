"""``masthead billing``: begin to bill, its settings, tax rates and shipping prices."""

from pathlib import Path

import click

from masthead.billing.printed import Goods
from masthead.billing.tax import ShippingPrice, TaxRate, percent_of, percent_text
from masthead.books import billing_settings, closed_months, tax_rates
from masthead.circulation.amounts import in_currency
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.cli.options import Amount
from masthead.cli.setting_values import logo_in, named_value, setting_line
from masthead.contract.printable import printable
from masthead.contract.subscription_types import TYPES


@click.group("billing")
def billing() -> None:
    """Bill orders: invoices, tax rates, shipping prices.

    First name the seller with `masthead billing settings`, add the tax rates, then begin. From then
    on each order with a price makes an invoice. The books of the account have to be open.
    """


@billing.command("settings")
@click.argument("settings", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--logo",
    "logo_file",
    type=click.Path(path_type=Path),
    help="Take the logo from this file: .png, .jpg or .svg, 256 KiB at most.",
)
@dry_run
@account_options
def settings_command(
    settings: tuple[str, ...],
    logo_file: Path | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """List the settings of billing, or change some.

    For example, seller_name="Tide Press" seller_country=DE seller_iban=DE89370400440532013000. A
    name without a value, such as seller_bic=, gives a setting its default again. A change counts
    for later invoices.

    An invoice needs seller_name, seller_street, seller_city, seller_country, and seller_vat_id or
    seller_tax_number. With prices_with_tax=yes, readers of all countries pay the same, and what is
    net follows from the tax rate of their country; with no, tax is added. The settings that begin
    with `journal.` are the account numbers of your accountant.
    """
    books = books_of(account, database)
    values = dict(named_value(each, "due_days=30") for each in settings)
    if logo_file is not None:
        values["logo"] = logo_in(logo_file)
    if values:
        say(billing_settings.set_values(books, values, dry_run=dry_run), dry_run=dry_run)
        return
    for each in billing_settings.show(books):
        click.echo(setting_line(each))
    begun = billing_settings.begun_on(books)
    click.echo(f"billing began on {begun}" if begun else "billing has not begun", err=True)


@billing.command("begin")
@dry_run
@account_options
def begin(account: int | None, database: str, *, dry_run: bool) -> None:
    """Begin to bill: from now on each order with a price makes an invoice.

    The journal begins with what readers have paid and not yet received. Orders of before are
    invoiced only where you ask for it. Billing cannot be ended.
    """
    say(billing_settings.begin(books_of(account, database), dry_run=dry_run), dry_run=dry_run)


@billing.command("close")
@click.argument("month")
@dry_run
@account_options
def close_command(month: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Close a MONTH that has ended, such as 2026-11: nothing is booked into it any more.

    Months are closed in their order, and never opened again. What comes later is booked to the
    first day that is open. The command prints what was open, paid in advance and deferred at the
    end of the month, and closes nothing while the journal and the books do not agree.
    """
    done = closed_months.close(books_of(account, database), month, dry_run=dry_run)
    for note in done.notes:
        click.echo(printable(f"note: {note}"))
    say(done, dry_run=dry_run)


@billing.group("rates")
def rates() -> None:
    """Tax rates by country, state and goods: print, digital, product, shipping.

    The rate of an order's line is that of the reader's country on the day of the order. Where no
    rate is set, the tax of the bundle stands, and shipping has the rate of print.
    """


@rates.command("add")
@click.argument("country")
@click.argument("goods", type=click.Choice(tax_rates.GOODS))
@click.argument("percent")
@click.option("--from", "begins_on", type=Day(), required=True, help="The day it begins.")
@click.option("--state", help="Only for this state of the country, as in addresses: TX.")
@dry_run
@account_options
def add_rate(
    country: str,
    goods: Goods,
    percent: str,
    begins_on: str,
    state: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add a tax rate, such as in DE print 7 --from 2026-01-01.

    COUNTRY is a code with two letters. A rate counts until one of the same country, state and goods
    begins; orders that were taken keep theirs.
    """
    rate = TaxRate(country, state, goods, percent_of(percent), begins_on)
    say(tax_rates.add_rate(books_of(account, database), rate, dry_run=dry_run), dry_run=dry_run)


@rates.command("list")
@account_options
def list_rates(account: int | None, database: str) -> None:
    """List the tax rates with the days on which they begin and end."""
    found = tax_rates.rates(books_of(account, database))
    for rate, until in found:
        place = f"{rate.country} {printable(rate.state)}" if rate.state else rate.country
        click.echo(
            f"{rate.rate_id}\t{place}\t{rate.goods}\t{percent_text(rate.percent)}\t"
            f"{_days(rate.begins_on, until)}"
        )
    if not found:
        click.echo("no tax rate is set: the tax of each bundle stands", err=True)


def _days(begins_on: str, until: str | None) -> str:
    return f"from {begins_on} until before {until}" if until else f"from {begins_on} on"


@rates.command("remove")
@click.argument("rate_id", type=ID)
@dry_run
@account_options
def remove_rate(rate_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Remove a tax rate that has not begun. Another one replaces a rate that has."""
    books = books_of(account, database)
    say(tax_rates.remove_rate(books, rate_id, dry_run=dry_run), dry_run=dry_run)


@billing.group("shipping")
def shipping() -> None:
    """Shipping prices by the country of the reader and the type of what is ordered.

    An order pays the price once for each copy that it orders of a bundle's line, not for each
    issue, on a line of its own. An order with a price of its own pays no shipping beside it.
    """


@shipping.command("add")
@click.argument("type_", metavar="TYPE", type=click.Choice(TYPES, case_sensitive=False))
@click.argument("price", type=Amount())
@click.option("--country", help="Code of the country; all others if not given.")
@click.option("--from", "begins_on", type=Day(), required=True, help="The day it begins.")
@dry_run
@account_options
def add_shipping_price(
    type_: str,
    price: int,
    country: str | None,
    begins_on: str,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add a shipping price, such as in Print 12.00 --country AT --from 2026-01-01.

    With prices_with_tax=yes, it is with tax. It counts until one of the same type and country
    begins.
    """
    books = books_of(account, database)
    added = ShippingPrice(country, type_, price, begins_on)
    say(tax_rates.add_shipping_price(books, added, dry_run=dry_run), dry_run=dry_run)


@shipping.command("list")
@account_options
def list_shipping_prices(account: int | None, database: str) -> None:
    """List the shipping prices with the days on which they begin and end."""
    books = books_of(account, database)
    found = tax_rates.shipping_prices(books)
    currency = books.currency
    for price, until in found:
        click.echo(
            f"{price.shipping_price_id}\t{price.type}\t{price.country or 'all others'}\t"
            f"{in_currency(price.cents, currency)}\t{_days(price.begins_on, until)}"
        )
    if not found:
        click.echo("no shipping price is set: orders pay none", err=True)


@shipping.command("remove")
@click.argument("price_id", type=ID)
@dry_run
@account_options
def remove_shipping_price(
    price_id: int, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Remove a shipping price that has not begun. Another one replaces a price that has."""
    books = books_of(account, database)
    say(tax_rates.remove_shipping_price(books, price_id, dry_run=dry_run), dry_run=dry_run)
