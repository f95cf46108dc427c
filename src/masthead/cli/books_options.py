"""What the commands of the books share: options, days, and a connection to read with."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from masthead.circulation.amounts import cents_of
from masthead.cli.options import Command, setting
from masthead.cli.stores import opened
from masthead.errors import BadUsage
from masthead.store import accounts
from masthead.store.database import Connection

__all__ = ["ID", "Amount", "Day", "account_of", "desk", "dry_run", "end_of", "reading"]

ID = click.IntRange(0, 2**63 - 1)

dry_run = click.option(
    "--dry-run", is_flag=True, help="Say what would be done, and change nothing."
)
"""The option of every command that writes."""


class Amount(click.ParamType[int]):
    """An amount of 0 or more with at most two decimals; its value is whole cents."""

    name = "amount"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> int:
        """Return the cents of an amount; raise BadUsage for one with three decimals."""
        if isinstance(value, int):
            return value
        try:
            return cents_of(str(value))
        except ValueError as error:
            raise BadUsage(str(error)) from None


class Day(click.ParamType[str]):
    """A day, such as 2026-11-24."""

    name = "day"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> str:
        """Return the day as it was written; raise BadUsage if there is none of that name."""
        try:
            day = dt.date.fromisoformat(str(value))
        except ValueError:
            day = None
        if day is None or day.isoformat() != value:
            raise BadUsage(f"{value!r} is no day, such as 2026-11-24")
        return str(value)


def desk(command: Command) -> Command:
    """Add the account and the database to a command."""
    return setting("account", kind=ID)(setting("database")(command))


def account_of(account: int | None) -> int:
    """Return the account; raise BadUsage if none was named."""
    if account is None:
        raise BadUsage("say with --account whose subscribers and books these are")
    return account


def end_of(*, dry_run: bool) -> None:
    """Say of a dry run that it was one."""
    if dry_run:
        click.echo("nothing was changed: this was a dry run")


@contextmanager
def reading(database: str, account_id: int) -> Iterator[Connection]:
    """Yield a connection that reads one snapshot of the database, without a limit of time.

    Raises NotFound if there is no such account.
    """
    with opened(database).writer() as connection, connection.read_snapshot():
        accounts.settings_of(connection, account_id)
        yield connection
