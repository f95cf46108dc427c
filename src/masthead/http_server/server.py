"""The uvicorn server of ``masthead serve`` and the console, and the settings of all servers."""

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from masthead.errors import MastheadError

SETTINGS: dict[str, Any] = {
    "loop": "masthead.http_server.event_loop:Loop",
    "ws": "none",
    "access_log": False,
    "log_config": None,
    "server_header": False,
    "date_header": False,
    "proxy_headers": False,
}
"""The settings of uvicorn that all servers have: Masthead writes the headers and the log itself."""


class Server(uvicorn.Server):
    """The server of a single process; it calls ``ready`` once it accepts requests."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``ready``."""
        await super().startup(sockets)
        self._ready()

    def serve_on(self, listener: socket.socket, what: str) -> None:
        """Serve until a signal ends it. Raises MastheadError if ``what`` cannot start."""
        try:
            self.run(sockets=[listener])
        except SystemExit:
            raise MastheadError(f"{what} could not start: its log says why") from None
