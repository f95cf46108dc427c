"""How many answers a server gives the more it is asked, and what becomes of the others.

``python -m benchmarks.overload``: clients that ask again as soon as they have an answer, be it 503:
ruder than any that waits as `Retry-After` tells it to.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple, cast

import uvloop

from benchmarks import machine
from benchmarks.answers import Answer, request
from benchmarks.databases import STORES, fresh, place, stores_in
from benchmarks.machine import GENERATOR_CORE, SERVER_CORE, pin
from benchmarks.processes import SERVER_S_MAX, serving
from benchmarks.publisher import AUTHORIZATION, fill, make_files, paths

CONNECTIONS = (1, 16, 200, 1_000)
SCANS = [f"/2/subscribers/?last_name={letter}*" for letter in "abcdefghijklmnopqrstuvwxyz"]
HEAD = (
    "| store | asked for | connections | answers/s | of the most | 503/s | median, ms | 99 %, ms |"
)


class Seen(NamedTuple):
    """What one measurement gave."""

    answers_per_s: float
    refusals_per_s: float
    median_ms: float
    slow_ms: float


class _Client(asyncio.Protocol):
    """Asks for one thing after another until the time is over."""

    def __init__(self, requests: Iterator[bytes]) -> None:
        self.requests = requests
        self.deadline = 0.0
        self.took: list[float] = []
        self.refusals = 0
        self.answer = Answer()
        self.asked_at = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def begin(self, deadline: float) -> None:
        self.deadline = deadline
        self._ask()

    def data_received(self, data: bytes) -> None:
        if not self.answer.take(data):
            return
        if perf_counter() > self.deadline:
            self.transport.close()
            return
        status = self.answer.head[9:12]
        if status == b"200":
            self.took.append(perf_counter() - self.asked_at)
        elif status == b"503":
            self.refusals += 1
        else:
            raise SystemExit(f"a request got {status.decode()}")
        self._ask()

    def _ask(self) -> None:
        self.asked_at = perf_counter()
        self.transport.write(next(self.requests))

    def connection_lost(self, _reason: Exception | None) -> None:
        self.done.set_result(None)


async def _load(port: int, asked: list[str], connections: int, seconds: float) -> Seen:
    requests = cycle(request(path, AUTHORIZATION) for path in asked)
    loop = asyncio.get_running_loop()
    clients = []
    for _ in range(connections):
        _, client = await loop.create_connection(lambda: _Client(requests), "127.0.0.1", port)
        clients.append(client)
    deadline = perf_counter() + seconds
    for client in clients:
        client.begin(deadline)
    await asyncio.gather(*(client.done for client in clients))
    took = sorted(1e3 * one for client in clients for one in client.took) or [0.0]
    parts = quantiles(took, n=100) if len(took) > 1 else took * 99
    refusals = sum(client.refusals for client in clients)
    return Seen(len(took) / seconds, refusals / seconds, parts[49], parts[98])


def load(port: int, asked: list[str], connections: int, seconds: float) -> Seen:
    """Ask a server from a process of its own; return what came back."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.overload", "--load", f"{port},{connections},{seconds}"],
        input="\n".join(asked),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=seconds + SERVER_S_MAX,
    )
    return Seen(*map(float, done.stdout.split()))


def measure(store: str, subscribers: int, seconds: float) -> Iterator[str]:
    """Yield the lines of a store's table."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        make_files(folder / "files", subscribers)
        home = stack.enter_context(place(store, core=GENERATOR_CORE))
        database = stack.enter_context(fresh(home, "overload"))
        fill(database, folder / "files")
        server = stack.enter_context(serving(database, folder / "log", core=SERVER_CORE))
        orders, lists = paths(folder / "files")
        for title, asked in (("one order", orders), ("list of 100", lists), ("scan", SCANS)):
            load(server.port, asked, CONNECTIONS[1], seconds)
            seen = {count: load(server.port, asked, count, seconds) for count in CONNECTIONS}
            most = max(one.answers_per_s for one in seen.values())
            for count, one in seen.items():
                yield (
                    f"| {STORES[store]} | {title} | {count:,} | {one.answers_per_s:,.0f} "
                    f"| {one.answers_per_s / most:.0%} | {one.refusals_per_s:,.0f} "
                    f"| {one.median_ms:,.1f} | {one.slow_ms:,.1f} |"
                )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overload", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--subscribers", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    parser.add_argument("--load", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.load:
        port, connections, seconds = given.load.split(",")
        pin(GENERATOR_CORE)
        asked = sys.stdin.read().split()
        print(*uvloop.run(_load(int(port), asked, int(connections), float(seconds))))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for name, told in machine.described().items():
        print(f"{name}: {told}")
    print(f"\n{HEAD}\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for store in given.stores:
        for line in measure(store, given.subscribers, given.seconds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
