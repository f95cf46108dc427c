"""Filters that match none of 1,000,000 subscriptions, and their cost to other clients.

Each filter is requested over one connection. Then one client repeats the slowest filter, while
another client looks up orders.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from threading import Event, Thread

from benchmarks.databases import STORES
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, on_core
from benchmarks.processes import Server, serving, timed_get
from benchmarks.publisher import published
from benchmarks.report import Scale, table

FILTERS = {
    "/2/subscriptions/": (
        "copies=9999",
        "issues_left=99999",
        "min_copies=9999",
        "publication_id=999",
        "type=Both&copies=9999",
        "publication_id=3&type=Both&campaign_active=true&copies=3&issues_left=9999",
    ),
    "/2/subscribers/": (
        "email=nobody@nowhere.example",
        "email=zzzz*",
        "last_name=s*&source=nowhere*",
        "first_name=m*&last_name=x*&source=web",
        "email=a*&first_name=z*&last_name=z*",
    ),
}


@contextmanager
def _repeating(server: Server, path: str) -> Iterator[None]:
    """Repeat a request from a separate thread within the block."""
    over = Event()

    def repeat() -> None:
        connection = server.connect()
        while not over.is_set():
            timed_get(connection, path)
        connection.close()

    thread = Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _order_times(server: Server, paths: list[str]) -> str:
    """Return the median and the 99th percentile of order requests over one connection."""
    connection = server.connect()
    times_ms = [1e3 * timed_get(connection, path)[0] for path in paths * 4]
    connection.close()
    return f"{median(times_ms):.2f} (99 %: {quantiles(times_ms, n=100)[98]:.2f})"


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        rows = []
        slowest = (0.0, "")
        with (
            on_core(CLIENT_CORE),
            published(store, scale.subscribers) as data,
            serving(data.database, core=SERVER_CORE) as server,
        ):
            connection = server.connect()
            for path in (f"{path}?{query}" for path, all_ in FILTERS.items() for query in all_):
                timed = [timed_get(connection, path) for _ in range(scale.rounds)]
                time_ms = 1e3 * median(seconds for seconds, _ in timed)
                slowest = max(slowest, (time_ms, path))
                count = timed[0][1].count(b'"subscriber_id"')
                rows.append([f"`{path}`", str(count), f"{time_ms:.1f}"])
            connection.close()
            orders = data.order_paths()
            rows.append(["an order alone", "", _order_times(server, orders)])
            with _repeating(server, slowest[1]):
                rows.append(
                    ["an order beside the slowest of these", "", _order_times(server, orders)]
                )
        yield table([STORES[store], "rows", "median, ms"], rows)
