"""The protocol of the emulator: that of the server, with an extension that resets a connection."""

import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from masthead.api.http.protocol import HttpProtocol

RESET = "masthead.emulator.reset"
"""The extension, in the ``extensions`` of a request's scope: a function of the type ``Reset``."""

Reset = Callable[[], Awaitable[None]]

_NO_LINGERING = struct.pack("ii", 1, 0)
"""``SO_LINGER`` with a time of 0: closing the socket resets its connection."""


class ResettingProtocol(HttpProtocol):
    """The server's protocol, whose requests can reset their connection."""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: object) -> None:
        async def reset() -> None:
            self.transport.set_write_buffer_limits(0)
            await self.flow.drain()  # what was sent leaves before the reset
            cycle.disconnected = True  # so that uvicorn sends no error in place of the response
            connection = self.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
            self.transport.abort()

        scope: Any = cycle.scope
        scope.setdefault("extensions", {})[RESET] = reset
        super()._start_asgi_task(cycle, app)
