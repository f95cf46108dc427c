"""``masthead accounts``: add, list, show, set, pages, rotate-credentials, rekey, export, remove."""

import csv
import io
import sys
from pathlib import Path
from typing import Any

import click

from masthead.books import Books, page_settings, reader_shop
from masthead.cli.audit import actor
from masthead.cli.durations import Duration
from masthead.cli.options import Command, setting
from masthead.cli.setting_values import logo_in, named_value, setting_line
from masthead.cli.stores import found, made, opened
from masthead.contract.kinds import Bool, Flag
from masthead.contract.moments import format_second
from masthead.contract.printable import counted, printable
from masthead.contract.records import ACCOUNTS
from masthead.errors import BadInput, BadUsage
from masthead.store import Store, partners
from masthead.store import accounts as store_accounts
from masthead.store.account_removal import remove_account
from masthead.store.audit import record_reading
from masthead.store.credentials import ValidCredentials, credentials_of
from masthead.store.secret import Secret

_WITH_OPTIONS_OF_THEIR_OWN = {
    *("account_id", "is_master", "hide_password_md5", "renewal_code_login", "time_zone"),
    *("currency", "keep_password_md5"),
}
_COLUMNS = {column.name: column for column in ACCOUNTS.columns}
_FIELDS = {
    name: column for name, column in _COLUMNS.items() if name not in _WITH_OPTIONS_OF_THEIR_OWN
}
_ID = click.IntRange(0, 2**63 - 1)


@click.group()
def accounts() -> None:
    """The publishers whose data this database has, and their credentials."""


def _account_fields(command: Command) -> Command:
    """Add an option for each field of an account."""
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


def _checked(_context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Return the text of an option after the check of the column with the same name."""
    if text is not None:
        try:
            _COLUMNS[str(option.name)].kind.parse(text)
        except ValueError as error:
            raise BadUsage(f"{option.opts[0]}: {error}") from error
    return text


def _logins(command: Command) -> Command:
    """Add the options for logins, which are not fields of the interface."""
    command = click.option(
        "--time-zone",
        metavar="NAME",
        callback=_checked,
        help="Time zone that decides what today is, such as Europe/Berlin. A new account has UTC.",
    )(command)
    command = click.option(
        "--currency",
        metavar="CODE",
        callback=_checked,
        help="Currency of all amounts by its code, such as EUR. A new account has USD.",
    )(command)
    command = click.option(
        "--renewal-code-login",
        type=click.Choice(["on", "off"]),
        callback=lambda _context, _option, value: value and value == "on",
        help="Whether a renewal code with a postal code is a login.",
    )(command)
    command = click.option(
        "--keep-password-md5/--no-keep-password-md5",
        default=None,
        help="Fill password_md5 too when a reader sets a password, for partners that compare it.",
    )(command)
    return click.option(
        "--hide-password-md5/--show-password-md5",
        default=None,
        help="Leave password_md5 empty in all responses.",
    )(command)


def _values(given: dict[str, Any]) -> dict[str, int | str | None]:
    """Return the columns of the given options, validated as in a file; "" removes a value."""
    values: dict[str, int | str | None] = {}
    for name, value in given.items():
        if isinstance(value, bool):
            values[name] = int(value)
        elif value == "":
            values[name] = None
        elif value is not None:
            try:
                values[name] = _FIELDS[name].kind.parse(value) if name in _FIELDS else value
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
    store = made(database)
    store_accounts.add_account(store, {"account_id": account_id, **_values(given)}, by=actor())
    _show(store, account_id)


@accounts.command("list")
@setting("database")
def list_(database: str) -> None:
    """List all accounts: id, name, and whether their API is active."""
    with opened(database).writer() as connection:
        rows = store_accounts.accounts(connection)
        for account_id, company_name, _, _, active, api_active, *_ in rows:
            state = "active" if active and api_active else "inactive"
            click.echo(f"{account_id}\t{printable(company_name or '')}\t{state}")


@accounts.command()
@click.argument("account_id", type=_ID)
@setting("database")
def show(account_id: int, database: str) -> None:
    """Show every field of an account, its credentials included."""
    _show(opened(database), account_id)


def _show(store: Store, account_id: int) -> None:
    with store.writer() as connection:
        shown = list(store_accounts.settings_of(connection, account_id).items())
    current, *former = credentials_of(store, account_id) or [ValidCredentials(None, None)]
    shown.append(("last_used", _second(current.used_at)))
    for one in former:
        shown.append(("former_credentials_until", _second(one.ends_at)))
        shown.append(("former_credentials_last_used", _second(one.used_at)))
    for name, value in shown:
        click.echo(f"{name}: {'' if value is None else printable(value)}")


def _second(at_us: int | None) -> str | None:
    return None if at_us is None else format_second(at_us)


@accounts.command("set")
@click.argument("account_id", type=_ID)
@_account_fields
@_logins
@click.option(
    "--page",
    "pages",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the readers' pages, such as site=tide; `masthead accounts pages` lists "
    "them. An empty value gives the default again. Once for each setting.",
)
@click.option(
    "--page-logo",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the logo of the readers' pages from this file: .png, .jpg or .svg, 256 KiB at most.",
)
@setting("database")
def set_(
    account_id: int, database: str, pages: tuple[str, ...], page_logo: Path | None, **given: Any
) -> None:
    """Change fields of an account, or settings of its pages; an empty value removes one."""
    values = _values(given)
    of_pages = dict(named_value(each, "site=tide") for each in pages)
    if page_logo is not None:
        of_pages["logo"] = logo_in(page_logo)
    if not (values or of_pages):
        raise BadUsage("say what to change: `masthead accounts set --help` lists the fields")
    store = opened(database)
    if of_pages:
        done = page_settings.set_values(Books(store, account_id, actor()), of_pages)
        click.echo(done.sentence, err=bool(values))
    if values:
        store_accounts.set_account(store, account_id, values, by=actor())
        _show(store, account_id)


@accounts.command("pages")
@click.argument("account_id", type=_ID)
@setting("database")
def pages_command(account_id: int, database: str) -> None:
    """List the settings of an account's readers' pages, with their meanings.

    `masthead accounts set ACCOUNT_ID --page NAME=VALUE` changes one. The pages exist once the
    account has a `site`.
    """
    for each in page_settings.listing(Books(opened(database), account_id)):
        click.echo(setting_line(each))


@accounts.command("shop-key")
@click.argument("account_id", type=_ID)
@setting("database")
def shop_key(account_id: int, database: str) -> None:
    """Print the key with which links from the readers' pages to the shop are signed.

    The shop checks the signature of a link with it: the HMAC-SHA256 of the query without the
    signature, in hexadecimal digits. The key is 64 of them, and secret. It follows from the secret
    key of the database. The audit log records the reading.
    """
    store = opened(database)
    record_reading(store, actor(), "the key of the shop was printed", account_id=account_id)
    click.echo(reader_shop.key_of(store, account_id))


@accounts.command("rotate-credentials")
@click.argument("account_id", type=_ID)
@click.option(
    "--overlap",
    type=Duration(),
    default="0h",
    help="For how long the old credentials work beside the new ones: 24h, 30m, 7d.",
)
@setting("database")
def rotate_credentials(account_id: int, database: str, overlap: int) -> None:
    """Give an account new random credentials; the old ones end at once, or after an overlap."""
    store = opened(database)
    store_accounts.rotate_credentials(store, account_id, overlap_us=overlap * 1_000_000, by=actor())
    _show(store, account_id)


@accounts.command()
@click.option(
    "--old-key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File of the secret key that is to be replaced.",
)
@click.option(
    "--lost",
    is_flag=True,
    help="The old key is lost: give all accounts new credentials, and end all mandates.",
)
@setting("database")
def rekey(old_key: Path | None, database: str, *, lost: bool) -> None:
    """Encrypt all credentials with a new secret key; then restart all servers.

    The IBANs of mandates are encrypted with it too. Without the old key they cannot be read any
    more, so the mandates end: the payers have to sign other ones. The credentials of partners end
    with either option, since the database has only hashes of them: rotate those.

    The new key is the one in MASTHEAD_SECRET_KEY, or in the file beside an embedded database, which
    is created if it does not exist. If the command was interrupted, run it again: it does the rest,
    and gives no account new credentials twice.
    """
    if bool(old_key) == lost:
        raise BadUsage("give the old key with --old-key FILE, or --lost if it is lost")
    old = Secret(old_key, variable=None) if old_key else None
    store = found(database)
    count = store_accounts.rekey(store, old, by=actor())
    if count is None:
        click.echo(
            f"nothing to do: all credentials are sealed with the key in {store.secret.where} "
            "already; `masthead accounts show` shows an account's, `rotate-credentials` gives "
            "it new ones"
        )
        return
    credentials = "new credentials" if lost else "their credentials sealed again"
    click.echo(f"{count} {'account has' if count == 1 else 'accounts have'} {credentials}")
    if ended := partners.count_partners(store):
        click.echo(
            f"the credentials of {counted(ended, 'partner')} have ended: `masthead partners "
            "rotate` gives new ones"
        )


@accounts.command("export")
@setting("database")
def export(database: str) -> None:
    """Print all accounts with their credentials, as the file that `masthead import` reads."""
    columns = list(_COLUMNS)
    store = opened(database)
    record_reading(store, actor(), "all accounts and their credentials were written out")
    with store.writer() as connection:
        ids = [row[0] for row in store_accounts.accounts(connection)]
        rows = [store_accounts.settings_of(connection, account_id) for account_id in ids]
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    click.echo(file.getvalue().encode(), nl=False)


@accounts.command("remove")
@click.argument("account_id", type=_ID)
@click.option("--yes", is_flag=True, help="Do not ask.")
@setting("database")
def remove(account_id: int, database: str, *, yes: bool) -> None:
    """Remove an account with all its data and credentials, permanently.

    Asks for the name of the account, or for its number if it has no name. The audit log keeps its
    entries. Backups are unchanged.
    """
    store = opened(database)
    with store.writer() as connection:
        values = store_accounts.settings_of(connection, account_id)
    if not yes:
        if not sys.stdin.isatty():
            raise BadUsage("this cannot be undone: give --yes to run it without a question")
        named, what = values["company_name"], "name"
        if not named:
            named, what = account_id, "number"
        click.echo(f"All data of account {account_id} will be removed. It cannot be undone.")
        if click.prompt(f"Type the {what} of the account, {named}", prompt_suffix=": ") != str(
            named
        ):
            raise BadInput(f"that is not the {what} of the account: nothing was removed")
    removed = remove_account(store, account_id, by=actor())
    width = max(map(len, removed), default=0)
    for name, count in removed.items():
        click.echo(f"{name:<{width}}  {count} removed")
    click.echo(f"account {account_id} was removed")
