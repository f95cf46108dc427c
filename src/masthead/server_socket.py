"""The socket of a server."""

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
