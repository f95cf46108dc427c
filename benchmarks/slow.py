"""What slow clients cost the others: 500 connections that send or read next to nothing.

``python -m benchmarks.slow``: they come one by one over half of the time, and all the while another
client asks for orders one after the other. Fails where 99 of its 100 answers do not come within a
second. (What 500 clients cost that all ask at once is told by ``benchmarks.overload``.)
"""

import argparse
import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple, cast

import uvloop

from benchmarks import machine
from benchmarks.databases import STORES, fresh, place, stores_in
from benchmarks.machine import GENERATOR_CORE, SERVER_CORE, pin
from benchmarks.processes import Server, serving
from benchmarks.publisher import AUTHORIZATION, fill, make_files, paths

CONNECTIONS = 500
DROP_EVERY_S = 5
BETWEEN_S = 0.01
P99_S_MAX = 1.0
_RECEIVED_AT_ONCE = 4_096
_COMMON = f"Host: x\r\nAuthorization: {AUTHORIZATION}\r\n".encode()
_LIST = b"GET /2/subscriptions/?limit=100 HTTP/1.1\r\n" + _COMMON + b"\r\n"
KINDS = {
    "none": (b"", b""),
    "heads": (b"GET /2/accounts/ HTTP/1.1\r\n" + _COMMON, b"X-Drop: 1\r\n"),
    "bodies": (b"GET /2/accounts/ HTTP/1.1\r\n" + _COMMON + b"Content-Length: 9999\r\n\r\n", b" "),
    "lists not read": (_LIST * 5, b""),
    "feeds not read": (
        b"GET /snapshot?entities=subscriptions,addresses HTTP/1.1\r\n" + _COMMON + b"\r\n",
        b"",
    ),
}
"""What each slow client sends at first, and what it sends drop by drop."""


class Seen(NamedTuple):
    """What the other client saw, and what was left of the slow ones."""

    answers: int
    median_ms: float
    slow_ms: float
    worst_ms: float
    hung_up_on: int
    server_mib: float


class _Slow(asyncio.Protocol):
    """A client that reads nothing; it knows when it was hung up on."""

    def __init__(self) -> None:
        self.is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, _reason: Exception | None) -> None:
        self.is_over = True


async def _slow_client(port: int, start: bytes, *, reads: bool) -> _Slow:
    loop = asyncio.get_running_loop()
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVED_AT_ONCE)
    connection.setblocking(False)
    await loop.sock_connect(connection, ("127.0.0.1", port))
    _, client = await loop.create_connection(_Slow, sock=connection)
    if not reads:
        client.transport.pause_reading()
    client.transport.write(start)
    return client


async def _drip(clients: list[_Slow], drop: bytes) -> None:
    while drop:
        await asyncio.sleep(DROP_EVERY_S)
        for client in clients:
            if not client.is_over:
                client.transport.write(drop)


async def _measure(server: Server, kind: str, asked: list[str], seconds: float) -> Seen:
    start, drop = KINDS[kind]
    clients: list[_Slow] = []

    async def arrive() -> None:
        for _ in range(CONNECTIONS if start else 0):
            clients.append(await _slow_client(server.port, start, reads=bool(drop)))
            await asyncio.sleep(seconds / 2 / CONNECTIONS)

    arriving = asyncio.create_task(arrive())
    dripping = asyncio.create_task(_drip(clients, drop))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    took: list[float] = []
    end = perf_counter() + seconds
    while perf_counter() < end:
        path = asked[len(took) % len(asked)]
        begun = perf_counter()
        writer.write(f"GET {path} HTTP/1.1\r\n".encode() + _COMMON + b"\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(f"a request got {head[9:12].decode()}")
        at = head.lower().index(b"content-length:") + len("content-length:")
        await reader.readexactly(int(head[at : head.index(b"\r", at)]))
        took.append(1e3 * (perf_counter() - begun))
        await asyncio.sleep(BETWEEN_S)
    await arriving
    dripping.cancel()
    with suppress(asyncio.CancelledError):
        await dripping
    for client in clients:
        client.transport.abort()
    writer.close()
    parts = quantiles(took, n=100)
    over = sum(client.is_over for client in clients)
    return Seen(len(took), parts[49], parts[98], max(took), over, server.memory("RssAnon"))


def measure(store: str, subscribers: int, seconds: float, tell: Callable[[str], None]) -> bool:
    """Tell the lines of a store's table; return whether all others were answered in time."""
    is_fine = True
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        make_files(folder / "files", subscribers)
        home = stack.enter_context(place(store, core=GENERATOR_CORE))
        database = stack.enter_context(fresh(home, "slow"))
        fill(database, folder / "files")
        orders, _ = paths(folder / "files")
        for kind in KINDS:
            log = folder / "log"
            with serving(database, log, core=SERVER_CORE) as server:
                seen = uvloop.run(_measure(server, kind, orders, seconds))
            is_fine = is_fine and seen.slow_ms < 1e3 * P99_S_MAX
            tell(
                f"| {STORES[store]} | {kind} | {seen.answers:,} | {seen.median_ms:,.1f} "
                f"| {seen.slow_ms:,.1f} | {seen.worst_ms:,.1f} | {seen.hung_up_on} "
                f"| {seen.server_mib:,.0f} |"
            )
    return is_fine


def main() -> None:
    """Measure, and print the table; exit with 1 where the others had to wait."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--subscribers", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=40, help="of each measurement")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    pin(GENERATOR_CORE)
    for name, told in machine.described().items():
        print(f"{name}: {told}")
    print(
        f"\n| store | {CONNECTIONS} slow | answers | median, ms | 99 %, ms | worst, ms "
        "| hung up on | server, MiB |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    results = [
        measure(store, given.subscribers, given.seconds, lambda line: print(line, flush=True))
        for store in given.stores
    ]
    if not all(results):
        sys.exit("the others had to wait")


if __name__ == "__main__":
    main()
