"""``masthead serve``."""

import click

from masthead.api.server import serve
from masthead.cli.options import server_settings
from masthead.errors import BadUsage
from masthead.server_socket import base_url_of, bind, is_loopback
from masthead.settings import ServerSettings


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
