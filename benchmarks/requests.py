"""How many answers a second: each operation, peers that know some of them, and the limits of both.

One server process on one core, the load on the other: 16 connections that stay open. All kinds of
work on all stores take turns.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.databases import STORES
from benchmarks.machine import GENERATOR_CORE
from benchmarks.peers import PEERS, check_same, paths_of, running_peer
from benchmarks.processes import Asked, Server, ask, ask_database, body, running, serving
from benchmarks.publisher import filled, make_files
from benchmarks.questions import PEERS_WORK, poll, questions
from benchmarks.report import (
    Aim,
    Figures,
    Found,
    Measured,
    Ratio,
    Row,
    Scale,
    data,
    grid,
    shown,
    table,
)
from benchmarks.servers import LONG_PATH, STATIC_PATH

WORKERS = (1, 2)
OURS = "Masthead"
ORM = "fastapi"
"""The peer by which the aims are set."""

STATIC, BARE = "static answer", "bare loop"
MAILING_LIST, GZIP = "10 mailing list", "10 mailing list in gzip"
POLL, REFUSED = "4 poll that finds nothing", "3 login refused"
ORDER, LIST = PEERS_WORK["order"], PEERS_WORK["list"]
COSTS = {count: f"processor time of one order, workers: {count}, µs" for count in WORKERS}
SHARE = "the smaller share of two workers in that time, %"
_LOOK_UPS = [PEERS_WORK[work] for work in ("order", "answers", "account", "login")]
_NUMBERED = re.compile(r"\d+ [^,]+")
_REFUSED_BODY = b'{"authenticated":false}'

Work = Callable[[], dict[str, float]]
"""Measures once; returns the figures by their titles."""


def by(peer: str, work: str) -> str:
    """Return the title of what a peer, or the bare loop, does of a kind of work."""
    return f"{work}, {peer}"


def _ratios() -> Iterator[Row]:
    for work in _LOOK_UPS:
        yield Ratio(f"{work} / {STATIC}", work, STATIC, {"sqlite": Aim(at_least=0.65)})
    yield Ratio(f"{ORDER} / {BARE}", ORDER, by(BARE, ORDER), {"postgresql": Aim(at_least=0.6)})
    yield Ratio(f"{LIST} / {BARE}", LIST, by(BARE, LIST))
    orm = next(peer.title for peer in PEERS if peer.name == ORM)
    for work in _LOOK_UPS:
        aims = {"sqlite": Aim(at_least=18), "postgresql": Aim(at_least=8)}
        yield Ratio(f"{work} / {orm}", work, by(orm, work), aims)
    yield Ratio(f"{LIST} / {orm}", LIST, by(orm, LIST), dict.fromkeys(STORES, Aim(at_least=8)))
    yield Ratio("processor time, two workers / one", COSTS[2], COSTS[1])


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
        self._store = store
        self._seconds = seconds
        self._questions = questions(files)
        self._database, self.about = stack.enter_context(filled(store, files, core=GENERATOR_CORE))
        log = self.folder / "masthead.log"
        self._port = stack.enter_context(running("masthead", self._database, log))
        asked = {**self._ours(), **self._bare(), **dict(self._peers())}
        self.work: list[Work] = [
            *(partial(rate, title, asking, seconds) for title, asking in asked.items()),
            *self._costs(),
        ]

    def _ours(self) -> dict[str, Callable[[float], Asked]]:
        asked = {STATIC: [STATIC_PATH], **self._questions, POLL: [poll(self._port)]}
        for title, paths in self._questions.items():
            if (body(self._port, paths[0]) == _REFUSED_BODY) != (title == REFUSED):
                raise SystemExit(f"{title}: an unexpected answer to {paths[0]}")
        entries = body(self._port, self._questions[MAILING_LIST][0]).count(b'"subscription_id"')
        self.about["mailing list"] = f"{entries:,} entries"
        gzipped = partial(ask, self._port, self._questions[MAILING_LIST], coding="gzip")
        return {
            **{title: partial(ask, self._port, paths) for title, paths in asked.items()},
            GZIP: gzipped,
        }

    def _bare(self) -> dict[str, Callable[[float], Asked]]:
        return {
            by(BARE, work): partial(ask_database, self._database, self._questions[work])
            for work in (ORDER, LIST)
        }

    def _peers(self) -> Iterator[tuple[str, Callable[[float], Asked]]]:
        for peer in (peer for peer in PEERS if self._store in peer.stores):
            log = self.folder / f"{peer.name}.log"
            port = self._stack.enter_context(running_peer(peer, self._database, log))
            for work, title in PEERS_WORK.items():
                if work in peer.work:
                    check_same(peer, work, self._questions[title], self._port, port)
                    paths = paths_of(peer, work, self._questions[title])
                    yield by(peer.title, title), partial(ask, port, paths)

    def _costs(self) -> Iterator[Work]:
        orders = self._questions[ORDER]
        for workers in WORKERS:
            log = self.folder / f"workers-{workers}.log"
            server = self._stack.enter_context(serving(self._database, log, workers=workers))
            server.wait_until_idle()
            ask(server.port, orders, self._seconds)
            yield partial(cost, server, workers, orders, self._seconds)


def measure(scale: Scale) -> Found:
    """Return how many answers a second come of each kind, on each store, in each round."""
    found: dict[str, Figures] = {store: {} for store in scale.stores}
    limits: Figures = {"short answer": [], "long answer": []}
    with TemporaryDirectory() as name, ExitStack() as stack:
        files = Path(name) / "files"
        make_files(files, scale.subscribers)
        bare = stack.enter_context(running("bare", "", Path(name) / "bare.log"))
        columns = {store: Column(stack, store, files, scale.seconds) for store in scale.stores}
        for _ in range(scale.rounds):
            for store, column in columns.items():
                for measured in column.work:
                    for title, figure in measured().items():
                        found[store].setdefault(title, []).append(figure)
            for title, path in zip(limits, ("/", LONG_PATH), strict=True):
                limits[title].append(ask(bare, [path], scale.seconds).rate)
    for store, figures in found.items():
        if not any(figures[SHARE]):
            raise SystemExit(f"{STORES[store]}: only one of two workers served")
    told = ", ".join(f"{title} {shown(figures)}" for title, figures in limits.items())
    about = {"generator's own limit, requests/s": told}
    for column in columns.values():
        about |= column.about
    return Found(
        list(_tables(found)),
        {**data(found, list(_ratios())), "compared": _compared(found)},
        about,
    )


def _tables(found: dict[str, Figures]) -> Iterator[str]:
    titles = {title for figures in found.values() for title in figures}
    operations = sorted((title for title in titles if _NUMBERED.fullmatch(title)), key=_place)
    rows = [Measured(title) for title in (STATIC, *operations)]
    yield table("requests/s of Masthead: median (least to most)", rows, found)
    for store, of_store in _compared(found).items():
        columns = list(dict.fromkeys(who for rates in of_store.values() for who in rates))
        yield grid(
            f"{STORES[store]}, requests/s: median (least to most)",
            columns,
            {
                work: [shown(rates[who]) if who in rates else "" for who in columns]
                for work, rates in of_store.items()
            },
        )
        yield grid(
            f"{STORES[store]}: so many times as many are Masthead's",
            columns[1:],
            {
                work: [
                    f"{median(rates[OURS]) / median(rates[who]):.2f}" if who in rates else ""
                    for who in columns[1:]
                ]
                for work, rates in of_store.items()
            },
        )
    yield table("ratios of the medians, and the aims", list(_ratios()), found)
    yield table("workers", [*map(Measured, COSTS.values()), Measured(SHARE)], found)


def _compared(found: dict[str, Figures]) -> dict[str, dict[str, Figures]]:
    """Return for each store and kind of work the figures of Masthead and of the others."""
    others = [*(peer.title for peer in PEERS), BARE]
    return {
        store: {
            work: {
                OURS: figures[work],
                **{who: figures[by(who, work)] for who in others if by(who, work) in figures},
            }
            for work in PEERS_WORK.values()
        }
        for store, figures in found.items()
    }


def _place(title: str) -> tuple[int, str]:
    return int(title.partition(" ")[0]), title
