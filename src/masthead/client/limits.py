"""How long a request may take, and how much of a response is read (rules, "Client: limits").

The timeouts of httpx2 are for each read from the network, so a service that sends a byte now and
then holds a request for ever. So the connections are made through a backend that lowers each
timeout to what is left of the time of :func:`within`.
"""

# ruff: noqa: ASYNC109 - httpcore2 gives a timeout to each read, by this name

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

__all__ = ["BYTES_MAX", "ERROR_BYTES_MAX", "Body", "Idle", "TooLong", "keep_time", "within"]

BYTES_MAX = 64 * 1024 * 1024
"""The most bytes that are read of a response that is no stream, after decompression."""

ERROR_BYTES_MAX = 64 * 1024
"""The most bytes that are read of an error."""

_end: ContextVar[float | None] = ContextVar("_end", default=None)


class TooLong(ValueError):
    """A response has more bytes than are read."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let all reads and writes of the block end within so many seconds, with a timeout."""
    token = _end.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


class Idle:
    """The time that a stream may take until its next value has arrived.

    What its reader does in between does not count.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left = seconds

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the block, which reads from the network, take no more than what is left."""
        began = time.monotonic()
        with within(self._left):
            yield
        self._left -= time.monotonic() - began

    def restart(self) -> None:
        """Begin anew, since a value has arrived."""
        self._left = self._seconds


class Body:
    """The body of a response that is no stream; raises TooLong if it has more than ``bytes_max``.

    Of an error, the first bytes are enough, so that its status is not lost.
    """

    def __init__(self, response: httpx2.Response, bytes_max: int) -> None:
        self._is_error = response.status_code != httpx2.codes.OK
        self._bytes_max = min(bytes_max, ERROR_BYTES_MAX) if self._is_error else bytes_max
        self._pieces: list[bytes] = []
        self._length = 0

    def add(self, piece: bytes) -> bool:
        """Add a piece; return whether more of the body is wanted."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length <= self._bytes_max:
            return True
        if not self._is_error:
            raise TooLong(f"the response has more than {self._bytes_max:,} bytes")
        return False

    def content(self) -> bytes:
        """Return what was added."""
        return b"".join(self._pieces)[: self._bytes_max]


def keep_time(http: httpx2.Client | httpx2.AsyncClient) -> None:
    """Let :func:`within` hold for a client's connections, also for those by way of a proxy."""
    for transport in (http._transport, *http._mounts.values()):  # noqa: SLF001
        if transport is not None:
            pool: Any = transport._pool  # noqa: SLF001
            # httpx2 has no parameter for it; a version without it would fail here at once.
            backend = pool._network_backend  # noqa: SLF001
            timed = _Backend if isinstance(http, httpx2.Client) else _AsyncBackend
            pool._network_backend = timed(backend)  # noqa: SLF001


def _left(timeout: float | None) -> float | None:
    """Return a timeout, lowered to what is left; raise ReadTimeout if nothing is."""
    end = _end.get()
    if end is None:
        return timeout
    left = end - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("it takes too long")
    return left if timeout is None else min(left, timeout)


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *given: Any, **named: Any
    ) -> httpcore2.NetworkStream:
        return _Stream(self._backend.connect_tcp(host, port, _left(timeout), *given, **named))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _AsyncBackend(httpcore2.AsyncNetworkBackend):
    def __init__(self, backend: httpcore2.AsyncNetworkBackend) -> None:
        self._backend = backend

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *given: Any, **named: Any
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._backend.connect_tcp(host, port, _left(timeout), *given, **named)
        return _AsyncStream(stream)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


class _AsyncStream(httpcore2.AsyncNetworkStream):
    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, _left(timeout))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, _left(timeout))

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._stream.start_tls(ssl_context, server_hostname, _left(timeout))
        return _AsyncStream(stream)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
