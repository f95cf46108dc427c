"""The demo: a made-up publisher with ten days of history, and books that opened after it.

It prints a curl line for each operation of the interface.
"""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from shlex import quote as quoted
from tempfile import TemporaryDirectory
from urllib.parse import quote

import click

from masthead.books import Books, opening
from masthead.cli.audit import actor
from masthead.cli.demo_bank import MAPPING, TO_TRY
from masthead.cli.demo_books import OPENED_DAYS_AGO, work_some_weeks
from masthead.cli.demo_readers import DEMO_SITE
from masthead.errors import BadUsage
from masthead.loading.load import load
from masthead.sample_data.demo_history import SAMPLE, write_history
from masthead.store import (
    Store,
    accounts,
    entitlement_keys,
    find_store,
    open_store,
    system_clock,
)
from masthead.store.account_removal import remove_account
from masthead.store.migrations import steps
from masthead.store.sqlite import SqliteStore

DEMO_DATABASE = "sqlite:///masthead-demo.db"
DEMO_CREDENTIALS = ("demo-key", "demo-login")
"""The api_key and the api_login of the demo's account."""

DEMO_OPERATOR = ("demo", "demo-operator")
"""The name and the password of the demo's operator in the console."""

_ACCOUNT_ID = 1
_COMPANY_NAME = "Harbour Lane Press (demo)"
_API_KEY, _API_LOGIN = DEMO_CREDENTIALS
_HOUR_US = 3_600 * 1_000_000
_LAST_NIGHT_HOURS_AGO = 6
_FOUNDED_DAYS_AGO = OPENED_DAYS_AGO + 11
_FEED_DAYS_SHOWN = 2
_ANSWERS = "custom_field_answers"


def make_demo(database: str, readers_url: str) -> None:
    """Load the demo publisher into ``database``, unless it is complete.

    The account's ``master_checkout`` is the page of its readers at ``readers_url``.

    The account gets its credentials last, so the next start completes an interrupted demo. If
    the books were already open, the next start makes the demo again. Raises BadUsage if account
    1 is not the demo's, or the database is not a file.
    """
    with closing(find_store(database)) as store:
        if store.dialect != "sqlite":
            raise BadUsage("the demo keeps its data in a file: give --database sqlite:///FILE")
        if migrated := steps(store.open_to_serve()):
            click.echo(migrated)
        with store.writer() as writer:
            found = {row[0]: row for row in accounts.accounts(writer)}.get(_ACCOUNT_ID)
        if found and _COMPANY_NAME not in found:
            raise BadUsage(
                "account 1 of this database is not the demo's: choose another --database"
            )
        if found and _API_KEY in found:
            _point_to(store, f"{readers_url}/{DEMO_SITE}/")
            return
        click.echo("making the demo publisher …")
        if found and opening.account_of(Books(store, _ACCOUNT_ID)).opened_on:
            remove_account(store, _ACCOUNT_ID, by=actor())
            found = None
        if not found:
            _add_account(database)
        with TemporaryDirectory() as folder:
            answers = _load_nights(database, Path(folder))
            work_some_weeks(database, _ACCOUNT_ID, actor(), _folder_of(database))
            _load(database, answers, days_ago=0)
        entitlement_keys.rotate(store, _ACCOUNT_ID, by=actor())
        # Imported late: `masthead serve` imports this module, and needs no passwords.
        from masthead.store.operators import add_operator  # noqa: PLC0415

        add_operator(store, _ACCOUNT_ID, DEMO_OPERATOR[0], "manager", DEMO_OPERATOR[1], by=actor())
        accounts.set_account(
            store, _ACCOUNT_ID, {"api_key": _API_KEY, "api_login": _API_LOGIN, "api_active": 1}
        )
        _point_to(store, f"{readers_url}/{DEMO_SITE}/")


def _point_to(store: Store, url: str) -> None:
    """Let the account's address for readers be one, if it is another."""
    with store.writer() as writer:
        before = accounts.settings_of(writer, _ACCOUNT_ID)["master_checkout"]
    if before != url:
        accounts.set_account(store, _ACCOUNT_ID, {"master_checkout": url}, by=actor())


def _add_account(database: str) -> None:
    founded = partial(_earlier, _FOUNDED_DAYS_AGO * 24 * _HOUR_US)
    with closing(open_store(database, clock=founded)) as store:
        accounts.add_account(
            store,
            {
                "account_id": _ACCOUNT_ID,
                "company_name": _COMPANY_NAME,
                "email": "office@harbour-lane.example",
                "website": "https://harbour-lane.example",
                "api_active": 0,
                "plan": "Premium",
                "currency": "EUR",
            },
        )


def _load_nights(database: str, folder: Path) -> Path:
    """Load the nights before the books are opened; return a folder with answers for last night.

    Files still bring answers when the books are open, so that the change feed has some.
    """
    last = datetime.now(UTC).date() - timedelta(days=OPENED_DAYS_AGO + 1)
    nights = write_history(folder, last_night=last)
    (folder / _ANSWERS).mkdir()
    (nights[-1] / f"{_ANSWERS}.csv").rename(folder / _ANSWERS / f"{_ANSWERS}.csv")
    for nights_ago, night in zip(reversed(range(len(nights))), nights, strict=True):
        _load(database, night, OPENED_DAYS_AGO + nights_ago)
    return folder / _ANSWERS


def _load(database: str, night: Path, days_ago: int) -> None:
    offset = (24 * days_ago + _LAST_NIGHT_HOURS_AGO) * _HOUR_US
    with closing(open_store(database, clock=partial(_earlier, offset))) as store:
        load(store, [night], account_id=_ACCOUNT_ID)


def _folder_of(database: str) -> Path:
    """Return the folder of the demo's database."""
    store = find_store(database)
    return store.path.parent if isinstance(store, SqliteStore) else Path()


def _earlier(offset_us: int) -> int:
    return system_clock() - offset_us


def curl_lines(base_url: str, console_url: str, readers_url: str, database: str) -> str:
    """Return the demo's output: its URLs, its credentials, a curl line for each operation.

    It also shows the commands for its books.
    """
    shown = SAMPLE
    folder = _folder_of(database)
    file, mapping = (quoted(str(folder / name)) for name in (TO_TRY, MAPPING))
    since = datetime.now(UTC) - timedelta(days=_FEED_DAYS_SHOWN)
    entities = "customfields,subscriptions,subscribers,addresses,purchases,listdownloads,orders"
    login = f"login={quote(shown.email)}&password={quote(shown.password)}"
    paths = (
        ("accounts", "/2/accounts/"),
        ("one account", f"/2/accounts/{_ACCOUNT_ID}/"),
        ("login check", f"/2/subscribers/authenticate/?{login}"),
        (
            "change feed",
            f"/2/cdc?changed_since={since:%Y-%m-%dT%H:%M:%S}+00:00&entities={entities}",
        ),
        ("answers", f"/2/customfields/{shown.subscriber_id}"),
        ("custom fields", "/2/customfields/"),
        ("subscriptions", f"/2/subscriptions/?publication_id={shown.publication_id}&limit=3"),
        ("subscribers", "/2/subscribers/?last_name=s*&limit=3"),
        ("one order", f"/2/orders/{shown.order_id}"),
        ("mailing list", f"/2/downloadmailinglist/{shown.mailing_list_id}/"),
    )
    lines = [
        f"Masthead serves on {base_url}",
        f"api_key: {_API_KEY}   api_login: {_API_LOGIN}   to read and try: {base_url}/docs",
        f"The console is on {console_url}",
        f"name: {DEMO_OPERATOR[0]}   password: {DEMO_OPERATOR[1]}",
        f"The readers' pages are on {readers_url}/{DEMO_SITE}/",
        f"email: {shown.email}   password: {shown.password}",
        f"or code: {shown.renewal_code}   postal code: {shown.postal_code}",
        "To work in its books, in another terminal:",
        f"export MASTHEAD_DATABASE={quoted(database)} MASTHEAD_ACCOUNT={_ACCOUNT_ID}",
        "masthead issue list --open",
        f"masthead payment import {file} --map {mapping} --dry-run",
        "",
    ]
    for title, path in paths:
        lines += [f"# {title}", f"curl -u {_API_KEY}:{_API_LOGIN} '{base_url}{path}'"]
    return "\n".join(lines)
