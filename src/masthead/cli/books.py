"""``masthead books``: open, undo, show."""

from collections.abc import Container, Sequence
from typing import Literal

import click

from masthead.books import opening
from masthead.books.opening import Balance, Choices, NextIssue
from masthead.circulation.amounts import decimal
from masthead.cli.books_options import Day, account_options, books_of, say
from masthead.cli.books_options import dry_run as dry_run_option
from masthead.contract.printable import counted, printable
from masthead.contract.subscription_types import TYPES, SubscriptionType

_HEAD = ("publication", "subscriptions", "paid", "free", "unlimited")
_NEXT = (
    *("publication", "next issue", "readers", "copies", "printed", "held"),
    *("sent last", "readers", "copies"),
)


@click.group("books")
def books() -> None:
    """Who owns an account's data: files that are loaded, or Masthead itself."""


@books.command("open")
@click.option(
    "--dry-run", is_flag=True, help="Check the data and print the balances; change nothing."
)
@click.option(
    "--issues-from-dates",
    is_flag=True,
    help="Where `issues` is empty, count the issues up to `date_expired`.",
)
@click.option(
    "--paid",
    type=click.Choice(["all", "none"]),
    help="Whether issues are paid where neither `paid_issues_left` nor `unearned_revenue` says so.",
)
@click.option(
    "--cancelled",
    type=click.Choice(["serve", "end"]),
    help="Whether cancelled subscriptions get the issues that are left, or have none left.",
)
@click.option(
    "--copies",
    type=click.IntRange(1, 1_000_000),
    help="The copies of subscriptions without any.",
)
@click.option("--type", "type_", type=click.Choice(TYPES), help="The type of those without one.")
@click.option(
    "--renew-since",
    type=Day(),
    help="Write to those too who have no issue left, if their last one was since this day.",
)
@account_options
def open_command(
    *,
    dry_run: bool,
    issues_from_dates: bool,
    paid: Literal["all", "none"] | None,
    cancelled: Literal["serve", "end"] | None,
    copies: int | None,
    type_: SubscriptionType | None,
    renew_since: str | None,
    account: int | None,
    database: str,
) -> None:
    """Keep the account's books here from now on: orders, deliveries, terms and money.

    The command opens all books or none. Each subscription with issues left gets an opening term.
    Subscriptions that cannot be taken as they are, such as those with a date and no issues, are
    named by kind, and nothing is opened until the data are corrected or options say how to take
    them. --dry-run prints the balances, and what the next issue would be beside what was sent last.
    With --renew-since, a subscription without issues left whose last issue is dated on that day or
    later gets an empty term, so that it gets renewal letters. Afterwards, files with tables that
    operations own are refused. Until something is done in the books, `masthead books undo` undoes
    the opening; after that, nothing does.
    """
    opened = opening.open_books(
        books_of(account, database),
        Choices(issues_from_dates, paid, cancelled, copies, type_),
        renew_since=renew_since,
        dry_run=dry_run,
    )
    _show(
        [
            (*_HEAD, f"unearned {opened.currency}"),
            *map(_line, opened.balances),
            _line(_total(opened.balances)),
        ]
    )
    if opened.next_issues:
        click.echo()
        _show([_NEXT, *map(_next_line, opened.next_issues)], texts=(0, 1, 6))
        for each in opened.next_issues:
            for reason, count in each.held.items():
                held = counted(count, "subscription")
                click.echo(f"{printable(each.publication)}: {held} held: {reason}")
        click.echo()
    for note in opened.notes:
        click.echo(printable(f"note: {note}"))
    say(opened, dry_run=dry_run)
    if not dry_run:
        click.echo("`masthead books undo` undoes this, until something is done in the books")


@books.command("undo")
@dry_run_option
@account_options
def undo(account: int | None, database: str, *, dry_run: bool) -> None:
    """Undo the opening of the books, for as long as nothing was done in them.

    Orders, closed issues, letters and changes of terms or money prevent it. Load the files again
    afterwards: until then, subscriptions have the values that the opening gave them.
    """
    done = opening.undo_opening(books_of(account, database), dry_run=dry_run)
    say(done, dry_run=dry_run)


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


def _show(lines: Sequence[Sequence[str]], texts: Container[int] = (0,)) -> None:
    """Print a table, whose columns ``texts`` are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            text.ljust(width) if column in texts else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells))


def _next_line(each: NextIssue) -> tuple[str, ...]:
    counts = (each.readers, each.copies, each.printed, sum(each.held.values()))
    last = ("-", "", "") if each.last is None else each.last
    names = printable(each.publication), printable(each.issue)
    return (*names, *map(str, counts), *(printable(str(value)) for value in last))


def _line(each: Balance) -> tuple[str, ...]:
    counts = (each.subscriptions, each.paid_issues, each.free_issues, each.unlimited)
    return (printable(each.name), *map(str, counts), decimal(each.unearned))


def _total(balances: Sequence[Balance]) -> Balance:
    numbers = [sum(column) for column in zip(*(each[2:] for each in balances), strict=True)]
    return Balance(0, "in total", *(numbers or [0] * 5))
