"""``masthead serve``, ``demo`` and ``openapi``."""

import ipaddress
import socket

import click
import msgspec

from masthead.api.http.rate_limit import RATE_MAX
from masthead.api.server import Serving, bind, serve
from masthead.cli.demo import DEMO_DATABASE, curl_lines, make_demo
from masthead.cli.options import setting
from masthead.contract.openapi import document
from masthead.errors import BadUsage
from masthead.log import LOG_FORMATS
from masthead.settings import SETTINGS
from masthead.store.logins import Limits

__all__ = ["demo", "openapi", "serve_command"]

_PORT = click.IntRange(0, 65_535)
_DAY_S = 86_400


@click.command("serve")
@setting("database")
@setting("read_database")
@setting("host")
@setting("port", kind=_PORT)
@setting("workers", kind=click.IntRange(1))
@setting("feed_overlap", kind=click.IntRange(0, _DAY_S))
@setting("login_failures", kind=click.IntRange(0))
@setting("account_failures", kind=click.IntRange(0))
@setting("rate_limit", kind=click.IntRange(0, RATE_MAX))
@setting("temporary_space", kind=click.IntRange(1))
@setting("behind_proxy")
@setting("certificate")
@setting("certificate_key")
@setting("log_format", kind=click.Choice(list(LOG_FORMATS)))
@setting("metrics_port", kind=_PORT)
def serve_command(
    database: str,
    read_database: str | None,
    host: str,
    port: int,
    *,
    workers: int,
    feed_overlap: int,
    login_failures: int,
    account_failures: int,
    rate_limit: int,
    temporary_space: int,
    behind_proxy: bool,
    certificate: str | None,
    certificate_key: str | None,
    log_format: str,
    metrics_port: int | None,
) -> None:
    """Serve the ten operations over HTTP until SIGTERM."""
    if bool(certificate) != bool(certificate_key):
        raise BadUsage("give both --certificate and --certificate-key, or neither")
    context = click.get_current_context()
    listener = context.with_resource(bind(host, port))
    base_url = _base_url(listener, host, is_tls=bool(certificate))
    metrics = None
    if metrics_port is not None:
        flag = SETTINGS["metrics_port"].flag
        metrics = context.with_resource(bind("127.0.0.1", metrics_port, flag=flag))

    def ready() -> None:
        if not (behind_proxy or certificate or _is_loopback(listener)):
            click.echo(
                "warning: this serves credentials and personal data over plain HTTP to other "
                "machines; let a proxy speak TLS (--behind-proxy), or give a --certificate",
                err=True,
            )
        if metrics:
            metrics_url = _base_url(metrics, "127.0.0.1", is_tls=False)
            click.echo(f"numbers for Prometheus on {metrics_url}/metrics")
        click.echo(f"Masthead serves on {base_url}")

    serve(
        listener,
        Serving(
            database,
            read_database=read_database,
            workers=workers,
            feed_overlap=feed_overlap,
            rate_limit=rate_limit,
            temporary_space=temporary_space,
            limits=Limits(login_failures, account_failures),
            certificate=(certificate, certificate_key) if certificate and certificate_key else None,
            log_format=log_format,
        ),
        metrics=metrics,
        ready=ready,
    )


def _base_url(listener: socket.socket, host: str, *, is_tls: bool) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if is_tls else 'http'}://{shown}:{listener.getsockname()[1]}"


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


@click.command()
@setting("port", kind=_PORT)
@click.option(
    "--database",
    envvar=SETTINGS["database"].variable,
    show_envvar=True,
    default=DEMO_DATABASE,
    show_default=True,
    help=SETTINGS["database"].meaning,
)
def demo(port: int, database: str) -> None:
    """Make a demo publisher of 2,000 subscribers, and serve it on this machine only.

    A second start keeps its data.
    """
    listener = click.get_current_context().with_resource(bind("127.0.0.1", port))
    base_url = _base_url(listener, "127.0.0.1", is_tls=False)
    make_demo(database)
    serve(listener, Serving(database), ready=lambda: click.echo(curl_lines(base_url)))


@click.command()
def openapi() -> None:
    """Print the OpenAPI 3.1 description of the interface."""
    click.echo(msgspec.json.format(msgspec.json.encode(document()), indent=2))
