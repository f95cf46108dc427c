"""``masthead books``: open, show."""

import click

from masthead.circulation.amounts import decimal
from masthead.cli.audit import actor
from masthead.cli.books_options import Day
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.contract.printable import printable
from masthead.errors import BadUsage
from masthead.store import Store
from masthead.store.books.opening import Balance, open_books
from masthead.store.books.operation import opened_on

_ID = click.IntRange(0, 2**63 - 1)
_HEAD = ("publication", "subscriptions", "paid", "free", "unlimited", "unearned")


@click.group("books")
def books() -> None:
    """Who owns an account's data: files that are loaded, or Masthead itself."""


@books.command("open")
@click.option(
    "--dry-run", is_flag=True, help="Check the data and print the balances; change nothing."
)
@click.option(
    "--renew-since",
    type=Day(),
    help="Write to those too who have no issue left, if their last one was since this day.",
)
@setting("account", kind=_ID)
@setting("database")
def open_command(
    renew_since: str | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Keep the account's books here from now on: orders, deliveries, terms and money.

    The command opens all books or none. Each subscription with issues left gets an opening term.
    With --renew-since, a subscription without issues left whose last issue is dated on that day or
    later gets an empty term, so that it gets renewal letters. Afterwards, files with tables that
    operations own are refused.
    """
    store, account_id = _asked(account, database)
    found = open_books(store, account_id, renew_since=renew_since, dry_run=dry_run, by=actor())
    _show(found.balances)
    click.echo(f"issues that count as closed: {found.closed_issues}")
    if renew_since is not None:
        click.echo(f"without an issue left, and to renew since {renew_since}: {found.to_renew}")
    if dry_run:
        click.echo("nothing was changed")
    else:
        click.echo(f"account {account_id} keeps its books here (mode here)")


@books.command("show")
@setting("account", kind=_ID)
@setting("database")
def show_command(account: int | None, database: str) -> None:
    """Say whether the account's books are open, and since when."""
    store, account_id = _asked(account, database)
    day = opened_on(store, account_id)
    if day:
        click.echo(f"account {account_id} keeps its books here since {day} (mode here)")
    else:
        click.echo(f"account {account_id} gets its data from files (mode elsewhere)")


def _asked(account: int | None, database: str) -> tuple[Store, int]:
    if account is None:
        raise BadUsage("name the account with --account")
    return opened(database), account


def _show(balances: list[Balance]) -> None:
    lines = [_HEAD, *map(_line, balances), _line(_total(balances))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *numbers in lines:
        cells = [name.ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
        click.echo("  ".join(cells))


def _line(each: Balance) -> tuple[str, ...]:
    counts = (each.subscriptions, each.paid_issues, each.free_issues, each.unlimited)
    return (printable(each.name), *map(str, counts), decimal(each.unearned))


def _total(balances: list[Balance]) -> Balance:
    numbers = [sum(column) for column in zip(*(each[2:] for each in balances), strict=True)]
    return Balance(0, "in total", *(numbers or [0] * 5))
