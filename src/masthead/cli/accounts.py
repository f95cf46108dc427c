"""``masthead accounts``: add, list, show, set, rotate-key, export."""

import csv
import sys
from typing import Any

import click

from masthead.cli.options import Command, setting
from masthead.contract.kinds import Bool, Flag
from masthead.contract.records import ACCOUNTS
from masthead.errors import BadUsage
from masthead.store import accounts as store_accounts
from masthead.store import open_store

__all__ = ["accounts"]

_FIELDS = {
    column.name: column
    for column in ACCOUNTS.columns
    if column.name not in {"account_id", "is_master"}
}
_ID = click.IntRange(0, 2**63 - 1)


@click.group()
def accounts() -> None:
    """The publishers whose data this is, and their credentials."""


def _account_fields(command: Command) -> Command:
    """Give a command an option for each field of an account, as the interface names it."""
    for name, column in reversed(_FIELDS.items()):
        flag = name.replace("_", "-")
        if isinstance(column.kind, Bool | Flag):
            option = click.option(f"--{flag}/--no-{flag}", name, default=None)
        else:
            option = click.option(f"--{flag}", name, metavar=column.kind.word.upper())
        command = option(command)
    return click.option(
        "--master/--no-master", "is_master", default=None, help="May see all accounts."
    )(command)


def _logins(command: Command) -> Command:
    """Give a command the options for what is no field of the interface: how readers log in."""
    command = click.option(
        "--renewal-code-login",
        type=click.Choice(["on", "off"]),
        callback=lambda _context, _option, value: value and value == "on",
        help="Whether a renewal code with a postal code is a login.",
    )(command)
    return click.option(
        "--hide-password-md5/--show-password-md5",
        default=None,
        help="Leave the digest of passwords out of all answers.",
    )(command)


def _values(given: dict[str, Any]) -> dict[str, int | str | None]:
    """Return the columns that options named, checked as in a file; "" takes a value away."""
    values: dict[str, int | str | None] = {}
    for name, value in given.items():
        if isinstance(value, bool):
            values[name] = int(value)
        elif value == "":
            values[name] = None
        elif value is not None:
            try:
                values[name] = _FIELDS[name].kind.parse(value)
            except ValueError as error:
                raise BadUsage(f"--{name.replace('_', '-')}: {error}") from error
    return values


@accounts.command()
@click.argument("account_id", type=_ID)
@_account_fields
@_logins
@setting("database")
def add(account_id: int, database: str, **given: Any) -> None:
    """Add an account, with random credentials, and show it."""
    store = open_store(database)
    store_accounts.add_account(store, {"account_id": account_id, **_values(given)})
    _show(database, account_id)


@accounts.command("list")
@setting("database")
def list_(database: str) -> None:
    """List all accounts: id, name, and whether their API is active."""
    with open_store(database).writer() as found:
        for account_id, company_name, _, _, active, api_active, *_ in store_accounts.accounts(
            found
        ):
            state = "active" if active and api_active else "inactive"
            click.echo(f"{account_id}\t{company_name or ''}\t{state}")


@accounts.command()
@click.argument("account_id", type=_ID)
@setting("database")
def show(account_id: int, database: str) -> None:
    """Show every field of an account, its credentials included."""
    _show(database, account_id)


def _show(database: str, account_id: int) -> None:
    with open_store(database).writer() as found:
        values = store_accounts.settings_of(found, account_id)
    for name, value in values.items():
        click.echo(f"{name}: {'' if value is None else value}")


@accounts.command("set")
@click.argument("account_id", type=_ID)
@_account_fields
@_logins
@setting("database")
def set_(account_id: int, database: str, **given: Any) -> None:
    """Change fields of an account; an empty value takes one away."""
    values = _values(given)
    if not values:
        raise BadUsage("say what to change: `masthead accounts set --help` lists the fields")
    store_accounts.set_account(open_store(database), account_id, values)
    _show(database, account_id)


@accounts.command("rotate-key")
@click.argument("account_id", type=_ID)
@setting("database")
def rotate_key(account_id: int, database: str) -> None:
    """Give an account new random credentials; the old ones end at once."""
    store_accounts.rotate_key(open_store(database), account_id)
    _show(database, account_id)


@accounts.command("export")
@setting("database")
def export(database: str) -> None:
    """Print all accounts, their credentials included, as the file that `masthead import` reads."""
    columns = [column.name for column in ACCOUNTS.columns]
    with open_store(database).writer() as found:
        ids = [row[0] for row in store_accounts.accounts(found)]
        rows = [store_accounts.settings_of(found, account_id) for account_id in ids]
    writer = csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
