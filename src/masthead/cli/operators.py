"""``masthead operators``."""

import secrets
import sys

import click

from masthead.cli.audit import actor
from masthead.cli.books_options import ID, account_of
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.errors import BadUsage
from masthead.store import accounts, operators
from masthead.store.operators import Role

_ROLE = click.Choice(operators.ROLES)


@click.group("operators")
def operators_group() -> None:
    """The publisher's people who sign in to the console."""


_generate = click.option("--generate", is_flag=True, help="Generate a password, and print it once.")


@operators_group.command("add")
@click.argument("name")
@click.option("--role", type=_ROLE, required=True, help="What the operator may do.")
@_generate
@setting("account", kind=ID)
@setting("database")
def add(name: str, role: Role, account: int | None, database: str, *, generate: bool) -> None:
    """Let NAME sign in to the console for an account.

    The roles: a viewer looks; a clerk takes orders and serves subscribers; finance books payments
    and refunds and reads the log; a manager may do all of this, closes issues, sends renewals and
    gives partners access. The command asks for the password, of at least 10 characters, or reads it
    from standard input if that is no terminal.
    """
    store, account_id = opened(database), account_of(account)
    password = _password(generate=generate)
    operators.add_operator(store, account_id, name, role, password, by=actor())
    click.echo(f"operator {name!r} of account {account_id} was added as {role}")
    if generate:
        click.echo(f"password: {password}")


@operators_group.command("list")
@setting("account", kind=ID)
@setting("database")
def list_(account: int | None, database: str) -> None:
    """List the operators of all accounts, or of one."""
    with opened(database).writer() as connection:
        if account is not None:
            accounts.settings_of(connection, account)
        found = operators.operators_of(connection, account)
    for each in found:
        click.echo(f"account {each.account_id}\t{each.name}\t{each.role}")
    if not found:
        click.echo("no operators: `masthead operators add` adds one")


@operators_group.command("set")
@click.argument("name")
@click.option("--role", type=_ROLE, help="What the operator may do from now on.")
@click.option("--new-password", is_flag=True, help="Ask for a new password, as `add` does.")
@_generate
@setting("account", kind=ID)
@setting("database")
def set_(
    name: str,
    role: Role | None,
    account: int | None,
    database: str,
    *,
    new_password: bool,
    generate: bool,
) -> None:
    """Change the role or the password of NAME, and end all sessions of NAME."""
    if role is None and not (new_password or generate):
        raise BadUsage("say what to change: --role, --new-password or --generate")
    store, account_id = opened(database), account_of(account)
    password = _password(generate=generate) if new_password or generate else None
    operators.set_operator(store, account_id, name, role=role, password=password, by=actor())
    click.echo(f"operator {name!r} of account {account_id} was changed, and is signed out")
    if generate:
        click.echo(f"password: {password}")


@operators_group.command("remove")
@click.argument("name")
@setting("account", kind=ID)
@setting("database")
def remove(name: str, account: int | None, database: str) -> None:
    """Remove the access of NAME at once. The entries of NAME in the audit log stay."""
    account_id = account_of(account)
    operators.remove_operator(opened(database), account_id, name, by=actor())
    click.echo(f"operator {name!r} of account {account_id} was removed, and is signed out")


def _password(*, generate: bool) -> str:
    """Return a password: generated, prompted for, or the first line of standard input."""
    if generate:
        return secrets.token_urlsafe(12)
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return password
    return sys.stdin.readline().rstrip("\n")
