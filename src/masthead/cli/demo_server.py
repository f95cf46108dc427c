"""``masthead demo``: the demo publisher, its console and its readers' pages."""

import socket
from multiprocessing import get_context

import click

from masthead.api.server import serve
from masthead.cli.demo import DEMO_CREDENTIALS, DEMO_DATABASE, curl_lines, make_demo
from masthead.cli.options import setting
from masthead.console.server import serve_console
from masthead.errors import BadUsage
from masthead.readers.server import serve_readers
from masthead.server_socket import base_url_of, bind
from masthead.settings import SETTINGS, ServerSettings


@click.command()
@setting("port")
@setting("console_port")
@click.option(
    "--readers-port",
    type=click.IntRange(0, 65_535),
    default=8003,
    show_default=True,
    help="TCP port of the readers' pages.",
)
@click.option(
    "--database",
    envvar=SETTINGS["database"].variable,
    show_envvar=True,
    default=DEMO_DATABASE,
    show_default=True,
    help=SETTINGS["database"].meaning,
)
def demo(port: int, console_port: int, readers_port: int, database: str) -> None:
    """Make a demo publisher of 2,000 subscribers, and serve it on this machine only.

    Its console and its readers' pages are separate processes that end with this one. Each takes any
    free port if its own is in use. A second start keeps the data.
    """
    context = click.get_current_context()
    listener = context.with_resource(bind("127.0.0.1", port))
    of_console = context.with_resource(_bound_near(console_port))
    of_readers = context.with_resource(_bound_near(readers_port))
    base_url, console_url, readers_url = (
        base_url_of(each, "127.0.0.1", is_tls=False) for each in (listener, of_console, of_readers)
    )
    make_demo(database, readers_url)
    for own, target, more in (
        (of_console, serve_console, ()),
        (of_readers, serve_readers, (readers_url,)),
    ):
        with own:
            get_context("spawn").Process(
                target=target, args=(own, database, *more), daemon=True
            ).start()
    serve(
        listener,
        ServerSettings(database=database),
        demo=DEMO_CREDENTIALS,
        ready=lambda: click.echo(curl_lines(base_url, console_url, readers_url, database)),
    )


def _bound_near(port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine, or on any that is free."""
    try:
        return bind("127.0.0.1", port)
    except BadUsage:
        return bind("127.0.0.1", 0)
