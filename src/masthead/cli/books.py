"""``masthead books``: open, show."""

from collections.abc import Sequence

import click

from masthead.books import opening
from masthead.books.opening import Balance
from masthead.circulation.amounts import decimal
from masthead.cli.books_options import Day, account_options, books_of, say
from masthead.contract.printable import printable

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
@account_options
def open_command(
    renew_since: str | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Keep the account's books here from now on: orders, deliveries, terms and money.

    The command opens all books or none. Each subscription with issues left gets an opening term.
    With --renew-since, a subscription without issues left whose last issue is dated on that day or
    later gets an empty term, so that it gets renewal letters. Afterwards, files with tables that
    operations own are refused.
    """
    opened = opening.open_books(
        books_of(account, database), renew_since=renew_since, dry_run=dry_run
    )
    _show(opened.balances)
    say(opened, dry_run=dry_run)


@books.command("show")
@account_options
def show_command(account: int | None, database: str) -> None:
    """Say whether the account's books are open, and since when."""
    asked = books_of(account, database)
    day = opening.account_of(asked).opened_on
    if day:
        click.echo(f"account {asked.account_id} keeps its books here since {day} (mode here)")
    else:
        click.echo(f"account {asked.account_id} gets its data from files (mode elsewhere)")


def _show(balances: Sequence[Balance]) -> None:
    lines = [_HEAD, *map(_line, balances), _line(_total(balances))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *numbers in lines:
        cells = [name.ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
        click.echo("  ".join(cells))


def _line(each: Balance) -> tuple[str, ...]:
    counts = (each.subscriptions, each.paid_issues, each.free_issues, each.unlimited)
    return (printable(each.name), *map(str, counts), decimal(each.unearned))


def _total(balances: Sequence[Balance]) -> Balance:
    numbers = [sum(column) for column in zip(*(each[2:] for each in balances), strict=True)]
    return Balance(0, "in total", *(numbers or [0] * 5))
