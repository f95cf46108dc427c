"""``masthead order import``: files of orders."""

from collections.abc import Sequence
from pathlib import Path

import click

from masthead.circulation.amounts import decimal
from masthead.circulation.ordering import RefusedOrder
from masthead.cli.audit import actor
from masthead.cli.books_options import account_of, desk, dry_run, end_of
from masthead.cli.hints import with_hint
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.contract.printable import counted
from masthead.loading.order_files import (
    PROBLEMS_SHOWN_MAX,
    OrderRows,
    Problem,
    listed,
    read_orders,
)
from masthead.store.books import ordering, similar_readers
from masthead.store.books.operation import Operation, operation

__all__ = ["import_"]

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=_FILE, metavar="FILE…")
@setting("allow_truncated")
@dry_run
@desk
def import_(
    paths: tuple[Path, ...],
    account: int | None,
    database: str,
    *,
    allow_truncated: bool,
    dry_run: bool,
) -> None:
    """Load files of orders, CSV or NDJSON, such as a web shop's export: all of them or none.

    A row is an item: external_reference, bundle_id or product_id, price and tax where they differ
    from the catalogue; new, first_issue, subscription_id (the one that is extended), gift (1 or 0).
    Rows with the same reference are one order. Who pays: subscriber_id or renewal_code, or email,
    first_name, last_name, company, address, city, state, zip_code, country_name,
    country_abbreviation. Who gets it, if somebody else does: the same with recipient_ before each.
    Of the order: paid (1 or 0), payment_type, fulfilled, notes, import_name, channel_id.

    Who is new and looks like a reader who is there is loaded, and listed in the end with what that
    reader has: `masthead subscriber merge` makes one of the two.

    An order that is there already is not taken again, so a file can be loaded again and again; one
    that is marked as paid meanwhile is then paid. The same reference with other content is refused.
    """
    account_id = account_of(account)
    orders, problems = read_orders(paths, allow_truncated=allow_truncated)
    placed: list[ordering.Placed] = []
    unsure: list[tuple[OrderRows, ordering.Newcomer]] = []
    with operation(opened(database), account_id, actor(), dry_run=dry_run) as books:
        results = ordering.place_many(books, [each.order for each in orders])
        for each, result in zip(orders, results, strict=True):
            if isinstance(result, RefusedOrder):
                problems.append(_problem(each, result))
            else:
                placed.append(result)
                unsure += [(each, one) for one in result.newcomers]
        if problems:
            raise listed(problems)
        ordering.finish(books, placed)
        newcomers = _newcomers(books, unsure)
        new = [each for each in placed if not each.is_known]
        paid = [each for each in placed if each.is_known and each.was_paid]
        if new or paid:
            cents = sum(each.cents for each in new)
            books.say(
                f"{len(new)} orders of {decimal(cents)} were added, {len(paid)} that were there "
                "were paid"
            )
    _tell(new, paid, placed)
    if unsure:
        click.echo(f"new readers who look like one who is there: {len(unsure)}")
        _list(newcomers, len(unsure), "readers")
    if not new and not paid:
        click.echo("nothing changed")
    end_of(dry_run=dry_run)


def _tell(
    new: Sequence[ordering.Placed],
    paid: Sequence[ordering.Placed],
    placed: Sequence[ordering.Placed],
) -> None:
    ended = [each for each in placed if each.was_ended]
    click.echo(
        f"{counted(len(new), 'order')} added, {len(paid)} that were there paid, "
        f"{len(placed) - len(new) - len(paid)} there already and unchanged"
    )
    lines = [one.sentence for one in ended]
    _list(lines[:PROBLEMS_SHOWN_MAX], len(lines), "orders")


def _list(lines: Sequence[str], count: int, what: str) -> None:
    for line in lines:
        click.echo(line)
    if count > len(lines):
        click.echo(f"and {count - len(lines)} more such {what}")


def _newcomers(
    books: Operation, unsure: Sequence[tuple[OrderRows, ordering.Newcomer]]
) -> list[str]:
    """Return a line for each reader whom an order has added and who looks like another one."""
    shown = unsure[:PROBLEMS_SHOWN_MAX]
    ids = {one.subscriber_id for _, each in shown for one in each.resembling}
    has = similar_readers.described(books, ids)
    lines = []
    for rows, each in shown:
        column = "subscriber_id" if each.item is None else "recipient_subscriber_id"
        like = "; ".join(f"{has[one.subscriber_id]} ({one.why})" for one in each.resembling)
        said = f"{each.name} looks like {like}"
        lines.append(str(Problem(rows.label, rows.lines[each.item or 0], column, said)))
    return lines


def _problem(rows: OrderRows, error: RefusedOrder) -> Problem:
    return Problem(rows.label, rows.lines[error.item or 0], error.field, with_hint(error))
