"""``masthead console`` and ``operators``."""

import secrets
import sys

import click

from masthead.cli.audit import actor
from masthead.cli.books_options import ID, account_of
from masthead.cli.options import setting
from masthead.cli.serving import base_url_of, is_loopback
from masthead.cli.stores import opened
from masthead.console.server import serve
from masthead.errors import BadUsage
from masthead.server_socket import bind
from masthead.settings import SETTINGS
from masthead.store import operators
from masthead.store.operators import Role

_ROLE = click.Choice(operators.ROLES)


@click.command("console")
@setting("host")
@click.option(
    "--port",
    "listen_port",
    type=click.IntRange(0, 65_535),
    default=SETTINGS["console_port"].default,
    show_default=True,
    envvar=SETTINGS["console_port"].variable,
    show_envvar=True,
    help=SETTINGS["console_port"].meaning,
)
@setting("behind_proxy")
@setting("log_format")
@setting("database")
def console_command(
    host: str, listen_port: int, log_format: str, database: str, *, behind_proxy: bool
) -> None:
    """Serve the console, for the publisher's own people, until SIGTERM.

    The console is a process of its own, which may write to the database. Serve it on this machine
    only, or behind a proxy with TLS (--behind-proxy). `masthead operators add` adds people who may
    sign in.
    """
    listener = click.get_current_context().with_resource(bind(host, listen_port))
    base_url = base_url_of(listener, host, is_tls=False)
    store = opened(database)

    def ready() -> None:
        if not (behind_proxy or is_loopback(listener)):
            click.echo(
                "warning: the console sends passwords and personal data over plain "
                "HTTP to other machines; put a proxy with TLS in front of it "
                "(--behind-proxy)",
                err=True,
            )
        click.echo(f"The console is on {base_url}")

    serve(listener, store, log_format=log_format, behind_proxy=behind_proxy, ready=ready)


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
