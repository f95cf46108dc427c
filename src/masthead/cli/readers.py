"""``masthead readers``."""

import re

import click

from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.errors import BadUsage
from masthead.readers.app import ReadersSettings
from masthead.readers.server import serve
from masthead.server_socket import base_url_of, bind, is_loopback
from masthead.store.logins import Limits

_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+")


@click.command("readers")
@setting("host")
@click.option(
    "--port",
    "listen_port",
    type=click.IntRange(0, 65_535),
    default=8003,
    show_default=True,
    envvar="MASTHEAD_READERS_PORT",
    show_envvar=True,
    help="TCP port of the readers' pages; 0 takes any that is free.",
)
@setting("readers_url")
@setting("behind_proxy")
@setting("login_failures")
@setting("account_failures")
@setting("log_format")
@setting("database")
def readers_command(
    host: str,
    listen_port: int,
    readers_url: str | None,
    login_failures: int,
    account_failures: int,
    log_format: str,
    database: str,
    *,
    behind_proxy: bool,
) -> None:
    """Serve the readers' pages until SIGTERM: what readers do without calling.

    Each account whose pages have a site is served under its name, such as /tide/. Links in mails
    begin with --readers-url, which a server behind a proxy needs: the name in a request is never
    used, since a stranger can send any.
    """
    if readers_url is not None and not _ORIGIN.fullmatch(readers_url := readers_url.rstrip("/")):
        raise BadUsage(
            f"{readers_url!r} is not an address such as https://readers.example.org, without a path"
        )
    if behind_proxy and readers_url is None:
        raise BadUsage("behind a proxy, give --readers-url: the address that readers use")
    listener = click.get_current_context().with_resource(bind(host, listen_port))
    base_url = base_url_of(listener, host, is_tls=False)
    store = opened(database)
    store.check_readers_role()

    def ready() -> None:
        if not (behind_proxy or is_loopback(listener)):
            click.echo(
                "warning: the readers' pages send passwords and personal data over plain HTTP to "
                "other machines; put a proxy with TLS in front of it (--behind-proxy)",
                err=True,
            )
        click.echo(f"The readers' pages are on {base_url}")

    settings = ReadersSettings(
        readers_url or base_url,
        Limits(login_failures, account_failures),
        behind_proxy=behind_proxy,
    )
    serve(listener, store, settings, log_format=log_format, ready=ready)
