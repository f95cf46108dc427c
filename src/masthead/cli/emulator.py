"""``masthead emulator``."""

import ipaddress
from pathlib import Path

import click

from masthead.cli.options import setting
from masthead.emulator.publisher import API_KEY, API_LOGIN
from masthead.emulator.serving import emulate
from masthead.server_socket import bind


@click.command()
@setting("from", kind=click.Path(exists=True, file_okay=False, path_type=Path))
@setting("host")
@setting("port")
@setting("control_host")
@setting("control_port")
@setting("end_with_input")
def emulator(
    host: str,
    port: int,
    control_host: str,
    control_port: int,
    end_with_input: bool,
    **others: Path | None,
) -> None:
    """Serve a temporary publisher for tests, which can be changed while it runs.

    Its data are lost when it ends. The control port adds, changes and removes records, moves the
    clock and lets requests fail; GET / of this port lists what it can do.
    """
    context = click.get_current_context()
    listener = context.with_resource(bind(host, port))
    control_listener = context.with_resource(
        bind(control_host, control_port, setting="control_port")
    )
    base_url = _url(host, listener.getsockname()[1])
    control_url = _url(control_host, control_listener.getsockname()[1])
    is_loopback = ipaddress.ip_address(control_listener.getsockname()[0]).is_loopback

    def ready() -> None:
        if not is_loopback:
            click.echo(
                "warning: all who can reach the control port can change this "
                "publisher and read its requests, without credentials",
                err=True,
            )
        click.echo(f"api_key: {API_KEY}   api_login: {API_LOGIN}")
        click.echo(f"the control port is {control_url}")
        click.echo(f"Masthead serves on {base_url}")

    emulate(
        listener,
        control_listener,
        files=others["from"],  # `from` cannot be a parameter name in Python
        base_url=base_url,
        is_loopback=is_loopback,
        ends_with_input=end_with_input,
        ready=ready,
    )


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
