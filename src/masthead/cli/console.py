"""``masthead console``."""

import click

from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.console.server import serve
from masthead.server_socket import base_url_of, bind, is_loopback
from masthead.settings import SETTINGS


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
