"""What the commands of the books share: options and days."""

from typing import Any

import click

from masthead.books import Books, Outcome, opening
from masthead.cli.audit import actor
from masthead.cli.options import Command, setting
from masthead.cli.stores import opened
from masthead.contract.moments import is_day
from masthead.contract.printable import printable
from masthead.errors import BadUsage

ID = click.IntRange(0, 2**63 - 1)

dry_run = click.option("--dry-run", is_flag=True, help="Print what would be done; change nothing.")
"""The option of all commands that write."""

raw = click.option(
    "--raw",
    "is_raw",
    is_flag=True,
    help="Write text exactly as it is stored, for a program. Otherwise an apostrophe stands before "
    "each text that a spreadsheet would run as a formula.",
)
"""The option of commands that write files which people open (rules, "Exports for spreadsheets")."""


class Day(click.ParamType[str]):
    """A day, such as 2026-11-24."""

    name = "day"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> str:
        """Return the day as it was given; raise BadUsage if it is not a date."""
        if not is_day(str(value)):
            raise BadUsage(f"{value!r} is not a day such as 2026-11-24")
        return str(value)


def account_options(command: Command) -> Command:
    """Add the account and database options to a command."""
    return setting("account", kind=ID)(setting("database")(command))


def account_of(account: int | None) -> int:
    """Return the account; raise BadUsage if none was given."""
    if account is None:
        raise BadUsage("name the account with --account")
    return account


def books_of(account: int | None, database: str) -> Books:
    """Return the books of the account; changes are in the name of the user who runs the command.

    Raises BadUsage if no account was given, and MastheadError if there is no database.
    """
    return Books(opened(database), account_of(account), actor())


def why_history(books: Books) -> str:
    """Return why an order is history (``store.books.earlier_orders``)."""
    is_open = opening.account_of(books).opened_on is not None
    return "before the books" if is_open else "the books are kept elsewhere"


def end_of(*, dry_run: bool) -> None:
    """Print that a dry run changed nothing."""
    if dry_run:
        click.echo("nothing was changed: this was a dry run")


def say(done: Outcome, *, dry_run: bool) -> None:
    """Print what an operation of the books did, and whether it was a dry run."""
    click.echo(printable(done.sentence))
    end_of(dry_run=dry_run)
