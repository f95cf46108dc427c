"""``masthead serve``, ``demo`` and ``openapi``."""

import ipaddress
import socket
from multiprocessing import get_context

import click
import msgspec

from masthead.api.server import serve
from masthead.cli.demo import DEMO_CREDENTIALS, DEMO_DATABASE, curl_lines, make_demo
from masthead.cli.options import server_settings, setting
from masthead.contract.openapi import document
from masthead.errors import BadUsage
from masthead.server_socket import bind
from masthead.settings import SETTINGS, ServerSettings


@click.command("serve")
@server_settings
def serve_command(settings: ServerSettings) -> None:
    """Serve the ten operations over HTTP until SIGTERM."""
    if bool(settings.certificate) != bool(settings.certificate_key):
        raise BadUsage("give both --certificate and --certificate-key, or neither")
    context = click.get_current_context()
    listener = context.with_resource(bind(settings.host, settings.port))
    base_url = base_url_of(listener, settings.host, is_tls=bool(settings.certificate))
    metrics = None
    if settings.metrics_port is not None:
        metrics = context.with_resource(
            bind("127.0.0.1", settings.metrics_port, setting="metrics_port")
        )

    def ready() -> None:
        if not (settings.behind_proxy or settings.certificate or is_loopback(listener)):
            click.echo(
                "warning: this serves credentials and personal data over plain HTTP "
                "to other machines; put a proxy with TLS in front of it "
                "(--behind-proxy), or give a --certificate",
                err=True,
            )
        if metrics:
            metrics_url = base_url_of(metrics, "127.0.0.1", is_tls=False)
            click.echo(f"metrics for Prometheus on {metrics_url}/metrics")
        click.echo(f"Masthead serves on {base_url}")

    serve(listener, settings, metrics=metrics, ready=ready)


def base_url_of(listener: socket.socket, host: str, *, is_tls: bool) -> str:
    """Return the URL of a server, with its listening port."""
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if is_tls else 'http'}://{shown}:{listener.getsockname()[1]}"


def is_loopback(listener: socket.socket) -> bool:
    """Return whether a server is reachable only from this machine."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


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
    # Imported late: a server of the interface needs neither the console nor the readers' pages.
    from masthead.console.server import serve_console  # noqa: PLC0415
    from masthead.readers.server import serve_readers  # noqa: PLC0415

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


@click.command()
def openapi() -> None:
    """Print the OpenAPI 3.1 description of the interface."""
    click.echo(msgspec.json.format(msgspec.json.encode(document()), indent=2))
