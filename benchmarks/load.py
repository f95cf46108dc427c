"""A small load generator: keep-alive connections that ask as fast as answers come.

``python -m benchmarks.load PORT SECONDS AUTHORIZATION CODING < paths`` is a process of its own. It
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

from benchmarks.answers import Answer, request
from benchmarks.machine import GENERATOR_CORE, pin

CONNECTIONS = 16


class _Connection(asyncio.Protocol):
    """Sends one request at a time and counts the answers."""

    def __init__(self, requests: Iterator[bytes], deadline: float) -> None:
        self.requests = requests
        self.deadline = deadline
        self.answers = 0
        self.answer = Answer()
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(next(self.requests))

    def data_received(self, data: bytes) -> None:
        if not self.answer.take(data):
            return
        if not self.answer.is_ok:
            self.done.set_exception(RuntimeError(self.answer.head.decode()))
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
    port, seconds, authorization, coding = sys.argv[1:]
    pin(GENERATOR_CORE)
    requests = [request(path, authorization, coding) for path in sys.stdin.read().split()]
    print(*uvloop.run(_measure(int(port), float(seconds), itertools.cycle(requests))))


if __name__ == "__main__":
    main()
