"""The change feed compared with a bare loop: throughput, time to the first byte, memory.

One core reads ``GET /snapshot`` (the feed without a lower bound), and the other core serves it. The
bare loop runs on the server's core: it reads and encodes the same rows, without a server, a file or
a socket. Both must produce the same number of bytes.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from benchmarks.databases import STORES
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, memory_mib, on_core, pin
from benchmarks.processes import Server, serving
from benchmarks.publisher import ACCOUNT_ID, AUTHORIZATION, published
from benchmarks.report import Budget, Figures, Scale, add, ratio, shown, table
from masthead.api.operations.change_feed import records
from masthead.contract.encoding import encode
from masthead.contract.operations import ENTITIES
from masthead.store import open_store

ENTITY_NAMES = ",".join(entity.name for entity in ENTITIES)
SNAPSHOT = f"/snapshot?entities={ENTITY_NAMES}"
CODINGS = ("identity", "gzip", "zstd")
BARE, FEED, MEMORY = "bare loop, s", "identity, s", "growth of the server's memory, MiB"
BUDGETS = {
    MEMORY: Budget(at_most=64),
    **{f"{coding}, first byte, ms": Budget(at_most=100) for coding in CODINGS},
}
_BUFFER_BYTES = 1_048_576
_BATCH_RECORDS = 500
_ALL_COMMITS = 0


class Read(NamedTuple):
    """Seconds to the first and last byte of a body, and its length."""

    first_byte_s: float
    seconds: float
    size: int


def read(server: Server, coding: str, each: Callable[[], None] = lambda: None) -> Read:
    """Read a snapshot; ``each`` is called after each part of it."""
    buffer = bytearray(_BUFFER_BYTES)
    start = time.perf_counter()
    connection = server.connect()
    headers = {"Authorization": AUTHORIZATION, "Accept-Encoding": coding}
    connection.request("GET", SNAPSHOT, headers=headers)
    response = connection.getresponse()
    size = len(response.read(1))
    first_byte_s = time.perf_counter() - start
    while count := response.readinto(buffer):
        size += count
        each()
    seconds = time.perf_counter() - start
    connection.close()
    if response.status != 200:
        raise SystemExit(f"{SNAPSHOT}: {response.status}")
    return Read(first_byte_s, seconds, size)


def bare_loop(database: str) -> tuple[float, int]:
    """Return the seconds for reading and encoding, and the number of bytes of the body."""
    store = open_store(database)
    with store.reader() as connection:
        connection.set_tenant(ACCOUNT_ID)
        start = time.perf_counter()
        size = len("{}") + len(",") * (len(ENTITIES) - 1)
        with connection.snapshot():
            for entity in ENTITIES:
                size += len(f'"{entity.key}":[]')
                found = records(entity, connection, ACCOUNT_ID, _ALL_COMMITS)
                lengths = []
                while batch := list(islice(found, _BATCH_RECORDS)):
                    lengths.append(len(encode(batch)) - len("[]"))
                size += sum(lengths) + max(0, len(lengths) - 1)
        seconds = time.perf_counter() - start
    store.close()
    return seconds, size


def _bare_loop_on_server_core(database: str) -> tuple[float, int]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.feed", database],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds, size = done.stdout.split()
    return float(seconds), int(size)


def _memory_growth_mib(server: Server) -> float:
    """Return by how much the server's peak memory grows during a response."""
    before = memory_mib(server.pid, "RssAnon")
    peak = before

    def look() -> None:
        nonlocal peak
        peak = max(peak, memory_mib(server.pid, "RssAnon"))

    read(server, "identity", look)
    return peak - before


def _one_round(database: str, server: Server) -> dict[str, float]:
    seconds, size = _bare_loop_on_server_core(database)
    figures = {BARE: seconds}
    for coding in CODINGS:
        response = read(server, coding)
        if coding == "identity" and response.size != size:
            raise SystemExit(f"the bare loop made {size} bytes, the feed {response.size}")
        figures[f"{coding}, s"] = response.seconds
        figures[f"{coding}, first byte, ms"] = 1e3 * response.first_byte_s
        figures[f"{coding}, MB"] = response.size / 1e6
    return figures


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        found: Figures = {}
        with (
            on_core(CLIENT_CORE),
            published(store, scale.subscribers) as data,
            serving(data.database, core=SERVER_CORE) as server,
        ):
            server.get("/2/accounts/")
            found[MEMORY] = [_memory_growth_mib(server)]
            for _ in range(scale.rounds):
                add(found, _one_round(data.database, server))
        yield table(
            ["", STORES[store]],
            [
                *([title, shown(each, 2, BUDGETS.get(title))] for title, each in found.items()),
                ["bare loop / feed", ratio(found[BARE], found[FEED], Budget(at_least=0.6))],
            ],
        )


if __name__ == "__main__":
    pin(SERVER_CORE)
    print(*bare_loop(sys.argv[1]))
