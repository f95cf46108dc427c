"""How long a request may take, and how much of a response is read (rules, "Client: limits").

The timeouts of httpx2 apply to each read from the network, so a service that sends single bytes
can hold a request for ever. Therefore the connections use a backend that lowers each timeout to
the time that remains in :func:`within`.
"""

# ruff: noqa: ASYNC109 - httpcore2 passes a timeout of this name to each read

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

BYTES_MAX = 64 * 1024 * 1024
"""The maximum size of a response that is not a stream, after decompression."""

ERROR_BYTES_MAX = 64 * 1024
"""The maximum number of bytes that are read of an error response."""

_end: ContextVar[float | None] = ContextVar("_end", default=None)


class TooLong(ValueError):
    """A response has more bytes than the limit."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit all reads and writes of the block to ``seconds`` together; then they time out."""
    token = _end.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


class Idle:
    """The time that a stream may take until its next value has arrived.

    The time that its reader uses in between does not count.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left = seconds

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Limit the block, which reads from the network, to the remaining time."""
        began = time.monotonic()
        with within(self._left):
            yield
        self._left -= time.monotonic() - began

    def restart(self) -> None:
        """Start the time again, since a value has arrived."""
        self._left = self._seconds


class Body:
    """The body of a response that is not a stream; raises TooLong if it exceeds ``bytes_max``.

    A longer error response is cut off instead, so that its status is not lost.
    """

    def __init__(self, response: httpx2.Response, bytes_max: int) -> None:
        self._is_error = response.status_code != httpx2.codes.OK
        self._bytes_max = min(bytes_max, ERROR_BYTES_MAX) if self._is_error else bytes_max
        self._pieces: list[bytes] = []
        self._length = 0

    def add(self, piece: bytes) -> bool:
        """Add a piece; return whether to read more of the body."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length <= self._bytes_max:
            return True
        if not self._is_error:
            raise TooLong(f"the response has more than {self._bytes_max:,} bytes")
        return False

    def content(self) -> bytes:
        """Return the added pieces."""
        return b"".join(self._pieces)[: self._bytes_max]


def keep_time(http: httpx2.Client | httpx2.AsyncClient) -> None:
    """Apply :func:`within` to a client's connections, including those through a proxy."""
    for transport in (http._transport, *http._mounts.values()):  # noqa: SLF001
        if transport is not None:
            pool: Any = transport._pool  # noqa: SLF001
            # httpx2 has no parameter for the backend; a version without it would fail here.
            backend = pool._network_backend  # noqa: SLF001
            timed = _Backend if isinstance(http, httpx2.Client) else _AsyncBackend
            pool._network_backend = timed(backend)  # noqa: SLF001


def _left(timeout: float | None) -> float | None:
    """Return a timeout, lowered to the remaining time; raise ReadTimeout if none remains."""
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
        try:
            left = _left(timeout)
        except httpcore2.ReadTimeout:
            # httpcore2 closes a stream only if its own start of TLS fails.
            self.close()
            raise
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

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
        try:
            left = _left(timeout)
        except httpcore2.ReadTimeout:
            await self.aclose()
            raise
        stream = await self._stream.start_tls(ssl_context, server_hostname, left)
        return _AsyncStream(stream)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
