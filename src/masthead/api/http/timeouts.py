"""How long a connection may go on without getting anywhere.

Requests that do not come to their end are given up, and answers that nobody reads (decisions,
"Requests that come slowly" and "Answers that nobody reads").

Every second all connections of a worker are looked at, so that none needs a timer of its own.
"""

import socket
import struct
from asyncio import AbstractEventLoop, Transport
from typing import Protocol, cast
from weakref import WeakSet

from uvicorn.server import ServerState

__all__ = ["REQUEST_S_MAX", "STALL_S_MAX", "Watched", "acknowledged", "cut", "probe", "watch"]

REQUEST_S_MAX = 20
"""So long may a request take to come, from its first byte (or from the connection) to its last."""

STALL_S_MAX = 60
"""So long may a client take nothing of the answer that waits for it."""

LOOK_EVERY_S = 1
_TCP_INFO = getattr(socket, "TCP_INFO", None)
_BYTES_ACKED = slice(120, 128)
"""Where Linux has ``tcpi_bytes_acked`` in its ``struct tcp_info``."""
_TCP_CLOSED = bytes([7])
"""What is in the first byte of that struct, the state, where the connection has ended."""
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_NO_LINGERING = struct.pack("ii", 1, 0)

_watched: WeakSet[ServerState] = WeakSet()


class Watched(Protocol):
    """A connection that is looked at every second."""

    def look(self, now: float) -> None:
        """End what has gone on for too long; ``now`` is the event loop's time."""


def watch(state: ServerState, loop: AbstractEventLoop) -> None:
    """Look at all connections of a server every second, for as long as there are any."""
    if state not in _watched:
        _watched.add(state)
        loop.call_later(LOOK_EVERY_S, _look, state, loop)


def _look(state: ServerState, loop: AbstractEventLoop) -> None:
    for connection in cast("list[Watched]", list(state.connections)):
        connection.look(loop.time())
    if state.connections:
        loop.call_later(LOOK_EVERY_S, _look, state, loop)
    else:
        _watched.discard(state)


def acknowledged(transport: Transport) -> int:
    """Return a number that changes whenever the client has taken some of what was sent to it.

    On Linux it is the number of bytes that the client's system has acknowledged. What waits in the
    transport does not tell: of a slow client's answer the system's own buffer takes megabytes, and
    asks for more only when a third of them is gone. Elsewhere it is all that there is.
    """
    information = _tcp_info(transport, _BYTES_ACKED.stop)
    if len(information) == _BYTES_ACKED.stop:
        return int.from_bytes(information[_BYTES_ACKED], "little")
    return -transport.get_write_buffer_size()


def probe(transport: Transport, http_version: str) -> None:
    """Find out whether a client that has ended its side waits for an answer, or has gone.

    Only what is sent to it tells: its system resets the connection where nobody is left, which the
    event loop does not see while it neither reads nor writes. Any client of HTTP/1.1 takes a 100
    for nothing (RFC 9110 section 15.2).
    """
    if _tcp_info(transport, 1) == _TCP_CLOSED:
        transport.abort()
    elif http_version == "1.1":
        transport.write(_CONTINUE)


def _tcp_info(transport: Transport, size: int) -> bytes:
    """Return the first bytes of Linux's ``struct tcp_info`` of a connection; fewer, or none, else.

    Older kernels have a shorter one, and other systems and other kinds of sockets have none.
    """
    found = transport.get_extra_info("socket")
    if _TCP_INFO is None or found is None or found.family == socket.AF_UNIX:
        return b""
    information: bytes = found.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, size)
    return information


def cut(transport: Transport) -> None:
    """End a connection at once; the system too forgets what the client has not taken."""
    if (found := transport.get_extra_info("socket")) is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
    transport.abort()
