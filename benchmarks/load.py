"""A load generator: each connection sends its next request when a response is complete.

``python -m benchmarks.load PORT CONNECTIONS SECONDS < paths`` prints the fields of ``Load``.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle
from statistics import quantiles
from time import perf_counter
from typing import Any, NamedTuple, cast

import uvloop

from benchmarks.machine import CLIENT_CORE, pin
from benchmarks.processes import REQUEST_TIMEOUT_S
from benchmarks.publisher import AUTHORIZATION

CONNECTIONS = 16
_HEAD_END = b"\r\n\r\n"
_LENGTH = b"\ncontent-length:"
_PAUSE_S = 0.01


class Load(NamedTuple):
    """The result: numbers of responses with 200 and with 503, and the times of the former."""

    responses_per_s: float
    refusals_per_s: float
    median_ms: float
    p99_ms: float


class _Connection(asyncio.Protocol):
    """Sends one request at a time; every response must have a Content-Length."""

    def __init__(self, requests: Iterator[bytes]) -> None:
        self.requests = requests
        self.times_ms: list[float] = []
        self.refusals = 0
        self.ended = asyncio.get_running_loop().create_future()
        self._head = b""
        self._missing_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def start(self, deadline: float) -> None:
        self.deadline = deadline
        self._send()

    def data_received(self, data: bytes) -> None:
        if self._missing_bytes:
            self._missing_bytes -= len(data)
        else:
            self._head += data
            end = self._head.find(_HEAD_END)
            if end < 0:
                return
            head = self._head[: end + 2].lower()
            start = head.index(_LENGTH) + len(_LENGTH)
            length = int(head[start : head.index(b"\r", start)])
            self._missing_bytes = end + len(_HEAD_END) + length - len(self._head)
        if not self._missing_bytes:
            self._completed()

    def _completed(self) -> None:
        now = perf_counter()
        status, self._head = self._head[9:12], b""
        if now > self.deadline:
            self.transport.close()
            return
        if status == b"200":
            self.times_ms.append(1e3 * (now - self._sent_at))
        elif status == b"503":
            self.refusals += 1
        else:
            raise SystemExit(f"a request got {status.decode()}")
        self._send()

    def _send(self) -> None:
        self._sent_at = perf_counter()
        self.transport.write(next(self.requests))

    def connection_lost(self, _reason: Exception | None) -> None:
        if perf_counter() < self.deadline:
            raise SystemExit("the server closed a connection")
        self.ended.set_result(None)


async def _generate(port: int, connections: int, seconds: float, requests: Iterator[bytes]) -> Load:
    loop = asyncio.get_running_loop()
    opened = []
    for _ in range(connections):
        _, connection = await loop.create_connection(
            lambda: _Connection(requests), "127.0.0.1", port
        )
        opened.append(connection)
    deadline = perf_counter() + seconds
    for connection in opened:
        connection.start(deadline)
    await asyncio.gather(*(connection.ended for connection in opened))
    times_ms = [time for connection in opened for time in connection.times_ms]
    parts = quantiles(times_ms, n=100) if len(times_ms) > 1 else [0.0] * 99
    refusals = sum(connection.refusals for connection in opened)
    return Load(len(times_ms) / seconds, refusals / seconds, parts[49], parts[98])


async def look_up(port: int, paths: list[str], ended: asyncio.Future[Any]) -> list[float]:
    """Request the paths in turn over one connection, until ``ended`` is done.

    Returns the milliseconds of each request.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times_ms: list[float] = []
    while not ended.done():
        start = perf_counter()
        writer.write(request(paths[len(times_ms) % len(paths)]))
        head = (await reader.readuntil(_HEAD_END)).lower()
        if not head.startswith(b"http/1.1 200 "):
            raise SystemExit(f"a request got {head[9:12].decode()}")
        await reader.readexactly(int(head.partition(_LENGTH)[2].partition(b"\r")[0]))
        times_ms.append(1e3 * (perf_counter() - start))
        await asyncio.sleep(_PAUSE_S)
    writer.close()
    return times_ms


def generate_load(
    port: int, paths: list[str], seconds: float, connections: int = CONNECTIONS
) -> Load:
    """Send requests for ``paths`` in turn, from a separate process on the clients' core."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", str(port), str(connections), str(seconds)],
        input="\n".join(paths),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=seconds + REQUEST_TIMEOUT_S,
    )
    return Load(*map(float, done.stdout.split()))


def request(path: str) -> bytes:
    """Return the bytes of a request."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {AUTHORIZATION}\r\n\r\n"
    ).encode()


if __name__ == "__main__":
    pin(CLIENT_CORE)
    to_send = cycle([request(path) for path in sys.stdin.read().split()])
    port, connections, seconds = sys.argv[1:]
    print(*uvloop.run(_generate(int(port), int(connections), float(seconds), to_send)))
