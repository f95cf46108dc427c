"""How long a filter takes that selects nothing among 1,000,000 subscriptions, and who waits for it.

``python -m benchmarks.filters`` asks for each filter in turn, over one connection. Then one client
asks for the slowest of them again and again, while another one asks for orders, which it also does
alone.
"""

import argparse
import http.client
import signal
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks import machine
from benchmarks.databases import STORES, fresh, place, stores_in
from benchmarks.feed import publisher
from benchmarks.publisher import AUTHORIZATION

ROUNDS = 21
ORDERS = 2_000
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


def milliseconds(connection: http.client.HTTPConnection, path: str) -> tuple[float, bytes]:
    """Return how long an answer takes, and its body."""
    start = perf_counter()
    connection.request("GET", path, headers={"Authorization": AUTHORIZATION})
    body = connection.getresponse().read()
    return (perf_counter() - start) * 1_000, body


def slow_of(connection: http.client.HTTPConnection, orders: list[str]) -> tuple[float, float]:
    """Return the median and the 99th percentile of orders, in milliseconds."""
    taken = [milliseconds(connection, path)[0] for path in orders]
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


@contextmanager
def asking(port: int, path: str) -> Iterator[None]:
    """Ask for a path again and again, from a thread of its own, for as long as the block lasts."""
    over = threading.Event()

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while not over.is_set():
            milliseconds(connection, path)
        connection.close()

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.filters", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--subscribers", type=int, default=870_000, help="1,000,000 subscriptions")
    given = parser.parse_args()
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for store in given.stores:
        with (
            TemporaryDirectory() as name,
            place(store) as home,
            fresh(home, "filters") as database,
            publisher(database, Path(name) / "publisher", given.subscribers) as server,
        ):
            print(f"\n| {STORES[store]} | rows | median, ms |\n| --- | ---: | ---: |")
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            slowest = (0.0, "")
            for path, filters in FILTERS.items():
                for asked in filters:
                    found = [milliseconds(connection, f"{path}?{asked}") for _ in range(ROUNDS)]
                    median = statistics.median(taken for taken, _ in found)
                    slowest = max(slowest, (median, f"{path}?{asked}"))
                    rows = found[-1][1].count(b'"subscriber_id"')
                    print(f"| `{path}?{asked}` | {rows} | {median:.1f} |")
            orders = [f"/2/orders/{number}" for number in range(1, ORDERS + 1)]
            alone = slow_of(connection, orders)
            with asking(server.port, slowest[1]):
                beside = slow_of(connection, orders)
            connection.close()
            print(f"| an order alone | | {alone[0]:.2f} (99 %: {alone[1]:.2f}) |")
            print(f"| beside the slowest of these | | {beside[0]:.2f} (99 %: {beside[1]:.2f}) |")
    for title, said in machine.described().items():
        print(f"- {title}: {said}")


if __name__ == "__main__":
    main()
