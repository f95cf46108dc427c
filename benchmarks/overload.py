"""How a server behaves with more requests than it can handle, from 1 to 1,000 connections.

Clients send their next request at once, even after a 503: they ignore ``Retry-After``.
"""

from collections.abc import Iterator
from string import ascii_lowercase

from benchmarks.databases import STORES
from benchmarks.load import generate_load
from benchmarks.machine import SERVER_CORE
from benchmarks.processes import serving
from benchmarks.publisher import published
from benchmarks.report import Scale, table

CONNECTIONS = (1, 16, 200, 1_000)
SCANS = [f"/2/subscribers/?last_name={letter}*" for letter in ascii_lowercase]
HEAD = ["asked for", "connections", "200/s", "of the most", "503/s", "median, ms", "99 %, ms"]


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        rows = []
        with (
            published(store, scale.subscribers) as data,
            serving(data.database, core=SERVER_CORE) as server,
        ):
            work = {"one order": data.order_paths(), "list of 100": data.list_paths()}
            for title, paths in {**work, "scan": SCANS}.items():
                generate_load(server.port, paths, scale.seconds)
                loads = {
                    count: generate_load(server.port, paths, scale.seconds, count)
                    for count in CONNECTIONS
                }
                most = max(load.responses_per_s for load in loads.values())
                for count, load in loads.items():
                    share = load.responses_per_s / most
                    figures = (f"{load.responses_per_s:,.0f}", f"{share:.0%}")
                    times = (f"{load.median_ms:,.1f}", f"{load.p99_ms:,.1f}")
                    refusals = f"{load.refusals_per_s:,.0f}"
                    rows.append([title, f"{count:,}", *figures, refusals, *times])
        yield table([f"{STORES[store]}, {HEAD[0]}", *HEAD[1:]], rows)
