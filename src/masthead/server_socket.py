"""The socket of a server."""

import ipaddress
import os
import socket

from masthead.errors import BadUsage


def bind(host: str, port: int, *, setting: str = "port") -> socket.socket:
    """Return a socket that listens on ``host`` and ``port`` (0: any free port).

    ``setting`` is the name of the port's setting. Raises BadUsage if the port is in use or the host
    is not an address of this machine.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number and number > 0 else str(error)
        raise BadUsage(
            f"cannot listen at {host}, port {port} ({reason}): is another server running there? "
            "Choose another port",
            code="port_in_use",
            option=setting.replace("_", "-"),
        ) from error
    return listener


def base_url_of(listener: socket.socket, host: str, *, is_tls: bool) -> str:
    """Return the URL of a server, with its listening port."""
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if is_tls else 'http'}://{shown}:{listener.getsockname()[1]}"


def is_loopback(listener: socket.socket) -> bool:
    """Return whether a server is reachable only from this machine."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback
