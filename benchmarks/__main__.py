"""Starts the servers, checks that they give the same answers, measures, prints a table."""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import databases, machine
from benchmarks.databases import STORES, fresh, is_postgresql, place, stores_in
from benchmarks.machine import GENERATOR_CORE
from benchmarks.processes import Asked, Server, ask, ask_database, body, running, serving
from benchmarks.publisher import SUBSCRIBERS_MIN, fill, make_files, paths
from benchmarks.report import Figures, Measured, Ratio, Row, report, shown, text
from benchmarks.servers import LONG_PATH, STATIC_PATH

HEAD = "requests/s: median (least to most)"
WORKERS = (1, 2)
COSTS = {count: f"processor time of one order, workers: {count}, µs" for count in WORKERS}
SHARE = "the smaller share of two workers in that time, %"
ROWS: tuple[Row, ...] = (
    Measured("static answer"),
    Measured("one order"),
    Measured("one order, peer"),
    Measured("one order, bare psycopg"),
    Measured("list of 100"),
    Measured("list of 100, peer"),
    Measured("list of 100, bare psycopg"),
    Ratio("one order / static answer", "one order", "static answer"),
    Ratio("one order / peer", "one order", "one order, peer"),
    Ratio("one order / bare psycopg", "one order", "one order, bare psycopg"),
    Ratio("list of 100 / peer", "list of 100", "list of 100, peer"),
    Ratio("list of 100 / bare psycopg", "list of 100", "list of 100, bare psycopg"),
    *(Measured(title) for title in COSTS.values()),
    Ratio("processor time, two workers / one", COSTS[2], COSTS[1]),
    Measured(SHARE),
)

PEERS = ("event-loop", "threads")

Work = Callable[[], dict[str, float]]
"""Measures once; returns the figures by their titles."""


def rate(title: str, asked: Callable[[float], Asked], seconds: float) -> dict[str, float]:
    """Return how many answers a second come."""
    return {title: asked(seconds).rate}


def cost(server: Server, workers: int, orders: list[str], seconds: float) -> dict[str, float]:
    """Return the µs of CPU that one order takes in all processes of ``masthead serve``.

    Of two workers also the share in per cent that the one has in both, who has less to do.
    """
    before = server.cpu_s()
    answers = ask(server.port, orders, seconds).answers
    used = {pid: now - before.get(pid, 0) for pid, now in server.cpu_s().items()}
    figures = {COSTS[workers]: sum(used.values()) / answers * 1e6}
    if workers > 1:
        less, more = sorted(used.values())[-2:]
        figures[SHARE] = 100 * less / (less + more) if more else 0.0
    return figures


class Column:
    """All that is measured on one store."""

    def __init__(self, stack: ExitStack, store: str, files: Path, seconds: float) -> None:
        """Fill a database and start the servers, which run as long as the stack lasts."""
        self.folder = files.parent / store
        self.folder.mkdir()
        self._stack = stack
        self._seconds = seconds
        self._orders, self._lists = paths(files)
        home = stack.enter_context(place(store, core=GENERATOR_CORE))
        self._database = stack.enter_context(fresh(home, "benchmark"))
        fill(self._database, files)
        self.about = databases.described(home)
        self.work = [*self._rates(), *self._costs()]

    def _rates(self) -> list[Work]:
        log = self.folder / "masthead.log"
        ours = self._stack.enter_context(running("masthead", self._database, log))
        peer, told = self._better_peer(ours)
        self.about[f"peer on {STORES[self.folder.name]}"] = told
        asked = {
            "static answer": partial(ask, ours, [STATIC_PATH]),
            "one order": partial(ask, ours, self._orders),
            "one order, peer": partial(ask, peer, self._orders),
            "list of 100": partial(ask, ours, self._lists),
            "list of 100, peer": partial(ask, peer, self._lists),
        }
        if is_postgresql(self._database):
            bare = partial(ask_database, self._database)
            asked["one order, bare psycopg"] = partial(bare, self._orders)
            asked["list of 100, bare psycopg"] = partial(bare, self._lists)
        return [partial(rate, title, asking, self._seconds) for title, asking in asked.items()]

    def _better_peer(self, ours: int) -> tuple[int, str]:
        """Return the port of the peer that gives more answers, and how many each gave."""
        database = self._database.replace("postgresql:", "postgresql+psycopg:")
        ports, rates = {}, {}
        for kind in PEERS:
            log = self.folder / f"peer-{kind}.log"
            ports[kind] = self._stack.enter_context(running("peer", database, log, PEER_IN=kind))
            for path in (*self._orders, *self._lists):
                if body(ours, path) != body(ports[kind], path):
                    raise SystemExit(f"Masthead and the peer answer differently to {path}")
        for kind, port in ports.items():
            rates[kind] = ask(port, self._orders, self._seconds).rate
        better = max(PEERS, key=lambda kind: rates[kind])
        tried = ", ".join(f"{kind} {found:,.0f}" for kind, found in rates.items())
        return ports[better], f"{better} (orders/s in a trial: {tried})"

    def _costs(self) -> Iterator[Work]:
        for workers in WORKERS:
            log = self.folder / f"workers-{workers}.log"
            server = self._stack.enter_context(serving(self._database, log, workers=workers))
            server.wait_until_idle()
            ask(server.port, self._orders, self._seconds)
            yield partial(cost, server, workers, self._orders, self._seconds)


def measure(
    stores: list[str], subscribers: int, rounds: int, seconds: float
) -> tuple[dict[str, Figures], dict[str, str]]:
    """Return the figures of each store, one for each round, and what else a run says.

    All kinds of work on all stores take turns.
    """
    found: dict[str, Figures] = {store: {} for store in stores}
    limits: Figures = {"short answer": [], "long answer": []}
    with TemporaryDirectory() as name, ExitStack() as stack:
        files = Path(name) / "files"
        make_files(files, subscribers)
        bare = stack.enter_context(running("bare", "", Path(name) / "bare.log"))
        columns = {store: Column(stack, store, files, seconds) for store in stores}
        for _ in range(rounds):
            for store, column in columns.items():
                for measured in column.work:
                    for title, figure in measured().items():
                        found[store].setdefault(title, []).append(figure)
            for title, path in zip(limits, ("/", LONG_PATH), strict=True):
                limits[title].append(ask(bare, [path], seconds).rate)
    for store, figures in found.items():
        if not any(figures[SHARE]):
            raise SystemExit(f"{STORES[store]}: only one of two workers served")
    told = ", ".join(f"{title} {shown(figures)}" for title, figures in limits.items())
    about = {"generator's own limit, requests/s": told}
    for column in columns.values():
        about |= column.about
    return found, about


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--subscribers", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    given = parser.parse_args()
    if given.subscribers < SUBSCRIBERS_MIN or given.rounds < 1 or given.seconds <= 0:
        parser.error(f"at least {SUBSCRIBERS_MIN} subscribers, one round, and some time are needed")
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    about = machine.described()
    figures, told = measure(given.stores, given.subscribers, given.rounds, given.seconds)
    command = f"python -m benchmarks {' '.join(sys.argv[1:])}".strip()
    found = report(figures, ROWS, {**told, **about, "command": command})
    print(text(HEAD, ROWS, found))
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
