"""A small load generator: keep-alive connections that ask as fast as answers come.

Run as a process of its own: ``python -m benchmarks.load PORT SECONDS AUTHORIZATION < paths``. It
prints the number of answers and the seconds that they took, and ends with an error if one was not
200.
"""

import asyncio
import itertools
import sys
import time
from collections.abc import Iterator
from typing import cast

import uvloop

from benchmarks.machine import GENERATOR_CORE, pin

CONNECTIONS = 16


class _Connection(asyncio.Protocol):
    """Sends one request at a time and counts the answers; each has a Content-Length."""

    def __init__(self, requests: Iterator[bytes], deadline: float) -> None:
        self.requests = requests
        self.deadline = deadline
        self.answers = 0
        self.waiting = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(next(self.requests))

    def data_received(self, data: bytes) -> None:
        data = self.waiting + data if self.waiting else data
        end = data.find(b"\r\n\r\n")
        if end < 0:
            self.waiting = data
            return
        length_at = data[:end].lower().find(b"content-length:")
        length = int(data[length_at + 15 : data.index(b"\r", length_at)])
        if len(data) < end + 4 + length:
            self.waiting = data
            return
        self.waiting = b""
        if not data.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(data[:300].decode()))
            self.transport.close()
            return
        self.answers += 1
        if time.perf_counter() < self.deadline:
            self.transport.write(next(self.requests))
        else:
            self.done.set_result(None)
            self.transport.close()

    def connection_lost(self, _reason: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError("the server closed a connection"))


async def _measure(port: int, seconds: float, requests: Iterator[bytes]) -> tuple[int, float]:
    loop = asyncio.get_running_loop()
    start = time.perf_counter()
    connections = []
    for _ in range(CONNECTIONS):
        _, connection = await loop.create_connection(
            lambda: _Connection(requests, start + seconds), "127.0.0.1", port
        )
        connections.append(connection)
    await asyncio.gather(*(connection.done for connection in connections))
    return sum(c.answers for c in connections), time.perf_counter() - start


def main() -> None:
    """Measure, and print the answers and the seconds."""
    port, seconds, authorization = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    pin(GENERATOR_CORE)
    requests = [
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {authorization}\r\n\r\n".encode()
        for path in sys.stdin.read().split()
    ]
    print(*uvloop.run(_measure(port, seconds, itertools.cycle(requests))))


if __name__ == "__main__":
    main()
