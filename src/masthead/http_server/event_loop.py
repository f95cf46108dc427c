"""The server's event loop: uvloop's, with two limits on the connections that it accepts.

A TLS handshake has the timeout of a request (rules, "Requests that come slowly"). The last free
file descriptors are not used for connections (rules, "Out of file descriptors").
"""

import resource
import socket
from asyncio import BaseProtocol, BaseTransport, Protocol, Transport
from collections.abc import Callable
from typing import Any, cast

import uvloop

from masthead.http_server.timeouts import REQUEST_S_MAX
from masthead.log import LogThrottle, get_logger

_RESERVED = 16
"""File descriptors that are reserved for responses: database files, temporary files."""

_log = get_logger()


class Loop(uvloop.Loop):
    """An event loop whose servers apply the limits."""

    async def create_server(
        self, protocol_factory: Callable[[], BaseProtocol], *args: Any, **kwargs: Any
    ) -> Any:
        """Return uvloop's server; it closes new connections while too few descriptors are free."""
        descriptors = _Descriptors(self.time)
        if kwargs.get("ssl"):
            kwargs["ssl_handshake_timeout"] = REQUEST_S_MAX

        def protocol() -> BaseProtocol:
            return protocol_factory() if descriptors.are_free() else _Refusal()

        return await super().create_server(protocol, *args, **kwargs)


class _Refusal(Protocol):
    """Closes its connection immediately."""

    def connection_made(self, transport: BaseTransport) -> None:
        cast("Transport", transport).abort()


class _Descriptors:
    """Checks for free file descriptors, and logs at most once a minute that there are too few.

    ``time`` returns seconds.
    """

    def __init__(self, time: Callable[[], float]) -> None:
        self._seldom = LogThrottle(time)
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._limit = limit
        self._highest = float("inf") if limit == resource.RLIM_INFINITY else limit - _RESERVED

    def are_free(self) -> bool:
        """Return whether more than the reserve is free: the system assigns the lowest number."""
        try:
            with socket.socket() as probe:
                if probe.fileno() < self._highest:
                    return True
        except OSError:
            pass
        if self._seldom.is_due():
            _log.error(
                "connections are refused: too few file descriptors are free", limit=self._limit
            )
        return False
