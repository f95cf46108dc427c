"""``masthead order import``: files of orders."""

from pathlib import Path

import click

from masthead.books import order_files, orders
from masthead.circulation.ordering import RefusedOrder
from masthead.cli.books_options import account_options, books_of, dry_run, end_of
from masthead.cli.hints import with_hint
from masthead.cli.newcomers import echo_first, echo_newcomers, likeness
from masthead.cli.options import setting
from masthead.loading.order_files import (
    PROBLEMS_SHOWN_MAX,
    OrderRows,
    Problem,
    listed,
    read_orders,
)

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=_FILE, metavar="FILE…")
@setting("allow_truncated")
@dry_run
@account_options
def import_(
    paths: tuple[Path, ...],
    account: int | None,
    database: str,
    *,
    allow_truncated: bool,
    dry_run: bool,
) -> None:
    """Load files of orders, CSV or NDJSON, such as a web shop's export: all of them or none.

    A row is an item. Its columns are external_reference, bundle_id or product_id, copies (1
    by default), price and tax of one copy if they differ from the catalogue, new, first_issue,
    subscription_id (the subscription to extend) and gift (1 or 0). Rows with the same reference are
    one order. The payer has the columns subscriber_id or renewal_code, or email, first_name,
    last_name, company, address, city, state, zip_code, country_name, country_abbreviation. Another
    recipient has the same columns, each with recipient_ before its name. The order has the columns
    paid (1 or 0), payment_type, payment_reference, fulfilled, notes, import_name, channel_id.

    A new reader who looks like an existing one is loaded, and listed at the end with what the
    existing reader has: `masthead subscriber merge` merges the two.

    An existing order is not taken twice, so the same file can be loaded repeatedly. If the file
    says that an existing order is paid now, its payment is booked. The same reference with other
    content is refused.
    """
    found, problems = read_orders(paths, allow_truncated=allow_truncated)
    try:
        done = order_files.place_many(
            books_of(account, database),
            [each.order for each in found],
            described_max=PROBLEMS_SHOWN_MAX,
            dry_run=dry_run or bool(problems),
        )
    except order_files.RefusedOrders as error:
        problems += [_problem(found[number], each) for number, each in error.refused]
        raise listed(problems) from None
    if problems:
        raise listed(problems)
    click.echo(done.sentence)
    echo_first([each.sentence for each in done.ended], "orders")
    echo_newcomers([_newcomer(found[number], each) for number, each in done.newcomers])
    end_of(dry_run=dry_run)


def _newcomer(rows: OrderRows, newcomer: orders.Newcomer) -> str:
    """Return a line about a reader whom an order has added and who looks like another reader."""
    column = "subscriber_id" if newcomer.item is None else "recipient_subscriber_id"
    said = likeness(newcomer.name, newcomer.resembling)
    return str(Problem(rows.label, rows.lines[newcomer.item or 0], column, said))


def _problem(rows: OrderRows, error: RefusedOrder) -> Problem:
    return Problem(rows.label, rows.lines[error.item or 0], error.field, with_hint(error))
