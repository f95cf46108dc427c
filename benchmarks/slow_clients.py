"""What 500 connections that send or read almost nothing cost another client.

They connect during the first half of the time, while another client looks up orders. Fails if the
99th percentile of its times is over a second.
"""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from statistics import quantiles
from typing import cast

import uvloop

from benchmarks.databases import STORES
from benchmarks.load import look_up, request
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, memory_mib, on_core
from benchmarks.processes import Server, serving
from benchmarks.publisher import published
from benchmarks.report import Scale, table

CONNECTIONS = 500
DRIP_EVERY_S = 5
P99_MS_MAX = 1_000
_BUFFER_BYTES = 4_096
_OPEN_HEAD = request("/2/accounts/").removesuffix(b"\r\n")
SLOW: dict[str, tuple[bytes, bytes]] = {
    "none": (b"", b""),
    "heads": (_OPEN_HEAD, b"X-Drop: 1\r\n"),
    "bodies": (_OPEN_HEAD + b"Content-Length: 9999\r\n\r\n", b" "),
    "lists not read": (request("/2/subscriptions/?limit=100") * 5, b""),
    "feeds not read": (request("/snapshot?entities=subscriptions,addresses"), b""),
}
"""What each slow client sends first, and then every five seconds."""

HEAD = ["orders", "median, ms", "99 %, ms", "worst, ms", "closed by the server", "server, MiB"]


class _SlowClient(asyncio.Protocol):
    """Reads nothing; records whether the server has closed the connection."""

    def __init__(self) -> None:
        self.is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, _reason: Exception | None) -> None:
        self.is_closed = True


async def _slow_client(port: int, start: bytes, *, reads: bool) -> _SlowClient:
    loop = asyncio.get_running_loop()
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    connection.setblocking(False)
    await loop.sock_connect(connection, ("127.0.0.1", port))
    _, client = await loop.create_connection(_SlowClient, sock=connection)
    if not reads:
        client.transport.pause_reading()
    client.transport.write(start)
    return client


async def _measure(server: Server, kind: str, paths: list[str], seconds: float) -> list[float]:
    """Return the figures of a table row."""
    start, drip = SLOW[kind]
    clients: list[_SlowClient] = []

    async def arrive() -> None:
        for _ in range(CONNECTIONS if start else 0):
            clients.append(await _slow_client(server.port, start, reads=bool(drip)))
            await asyncio.sleep(seconds / 2 / CONNECTIONS)

    async def send_drips() -> None:
        while drip:
            await asyncio.sleep(DRIP_EVERY_S)
            for client in clients:
                if not client.is_closed:
                    client.transport.write(drip)

    arriving, dripping = asyncio.create_task(arrive()), asyncio.create_task(send_drips())
    ended = asyncio.create_task(asyncio.sleep(seconds))
    times_ms = await look_up(server.port, paths, ended)
    await arriving
    dripping.cancel()
    with suppress(asyncio.CancelledError):
        await dripping
    for client in clients:
        client.transport.abort()
    parts = quantiles(times_ms, n=100)
    closed = sum(client.is_closed for client in clients)
    mib = memory_mib(server.pid, "RssAnon")
    return [len(times_ms), parts[49], parts[98], max(times_ms), closed, mib]


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    failed = []
    for store in scale.stores:
        rows = []
        with on_core(CLIENT_CORE), published(store, scale.subscribers) as data:
            paths = data.order_paths()
            for kind in SLOW:
                with serving(data.database, core=SERVER_CORE) as server:
                    figures = uvloop.run(_measure(server, kind, paths, scale.seconds))
                rows.append([kind, *(f"{figure:,.1f}" for figure in figures)])
                if figures[2] > P99_MS_MAX:
                    failed.append(f"{STORES[store]}, {kind}")
        yield table([f"{STORES[store]}, {CONNECTIONS} slow", *HEAD], rows)
    if failed:
        raise SystemExit(f"99 % took more than {P99_MS_MAX} ms: {'; '.join(failed)}")
