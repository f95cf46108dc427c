"""How long an answer takes at a steady rate: half of the most that the server can give.

Requests are due at fixed times, whether or not earlier ones are answered, and the time of an answer
counts from then. Each server is asked at half of its own capacity, which a closed loop finds first;
so the rates differ, and a peer is asked far less often.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.databases import STORES
from benchmarks.machine import GENERATOR_CORE, SERVER_CORE
from benchmarks.peers import PEERS, check_same, paths_of, running_peer
from benchmarks.processes import ask, ask_steadily, running, serving
from benchmarks.publisher import filled, make_files
from benchmarks.questions import PEERS_WORK, questions
from benchmarks.report import Figures, Found, Scale, data, grid, shown
from benchmarks.requests import ORM, OURS, by

SHARE = 0.5
CAPACITY_S_MAX = 2.0
NOTHING = "a server that does nothing"
_WORK = ("order", "list")


class Steady(NamedTuple):
    """What a server is asked for, and how often."""

    title: str
    port: int
    paths: list[str]
    rate: float


def _asked(
    stack: ExitStack, store: str, database: str, files: Path, seconds: float
) -> list[Steady]:
    """Start the servers, and find out how often each is to be asked."""
    log = files.parent / f"{store}-masthead.log"
    ours = stack.enter_context(serving(database, log, core=SERVER_CORE)).port
    peer = next(peer for peer in PEERS if peer.name == ORM)
    theirs = stack.enter_context(running_peer(peer, database, log.with_name(f"{store}-peer.log")))
    of_work = questions(files)
    found = []
    for work in _WORK:
        title = PEERS_WORK[work]
        check_same(peer, work, of_work[title], ours, theirs)
        for who, port, paths in (
            (OURS, ours, of_work[title]),
            (peer.title, theirs, paths_of(peer, work, of_work[title])),
        ):
            # The first answers of a server are slow; they are not what it can give.
            ask(port, paths, min(seconds, CAPACITY_S_MAX))
            capacity = ask(port, paths, min(seconds, CAPACITY_S_MAX)).rate
            found.append(Steady(by(who, title), port, paths, SHARE * capacity))
    return found


def measure(scale: Scale) -> Found:
    """Return how many milliseconds parts of all answers took at most, in each round."""
    found: dict[str, Figures] = {store: {} for store in scale.stores}
    about: dict[str, str] = {}
    with TemporaryDirectory() as name, ExitStack() as stack:
        files = Path(name) / "files"
        make_files(files, scale.subscribers)
        nothing = stack.enter_context(running("bare", "", Path(name) / "bare.log"))
        asked: dict[str, list[Steady]] = {}
        for store in scale.stores:
            database, of_store = stack.enter_context(filled(store, files, core=GENERATOR_CORE))
            about |= of_store
            asked[store] = _asked(stack, store, database, files, scale.seconds)
            most = max(steady.rate for steady in asked[store])
            asked[store].append(Steady(NOTHING, nothing, ["/"], most))
        for _ in range(scale.rounds):
            for store in scale.stores:
                for steady in asked[store]:
                    taken = ask_steadily(steady.port, steady.paths, scale.seconds, steady.rate)
                    for part, figure in taken.items():
                        found[store].setdefault(f"{steady.title}, {part}", []).append(figure)
    tables = [_table(store, asked[store], found[store]) for store in scale.stores]
    rates = {
        store: {steady.title: steady.rate for steady in steadies}
        for store, steadies in asked.items()
    }
    return Found(tables, {**data(found, []), "rates": rates}, about)


def _table(store: str, asked: list[Steady], figures: Figures) -> str:
    parts = [title.rpartition(", ")[2] for title in figures if title.startswith(NOTHING)]
    return grid(
        f"{STORES[store]}: answers that took at most so many ms, median of the rounds "
        "(least to most)",
        ["requests/s", *parts],
        {
            steady.title: [
                f"{steady.rate:,.0f}",
                *(shown(figures[f"{steady.title}, {part}"], 2) for part in parts),
            ]
            for steady in asked
        },
    )
