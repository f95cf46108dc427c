"""What Masthead takes beside time: to start, in memory, and on the disk."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.databases import size
from benchmarks.machine import children, tree
from benchmarks.peers import PEERS, Peer, paths_of, running_peer
from benchmarks.processes import ask, body, memory, serving
from benchmarks.publisher import filled, make_files
from benchmarks.questions import PEERS_WORK, poll, questions
from benchmarks.report import Figures, Found, Measured, Row, Scale, data, table
from benchmarks.requests import ORM, OURS

IMPORT = "import of `masthead.api.app` alone, s"
FIELDS = {"VmRSS": "resident memory", "RssAnon": "memory of its own"}
MOMENTS = ("at rest", "after load")
FILES, GZIPPED = "the CSV files", "the CSV files in gzip"
_IMPORTED = re.compile(r"\| +(\d+) \| masthead\.api\.app$", re.MULTILINE)
_ORM = next(peer for peer in PEERS if peer.name == ORM)
_WHO = (OURS, _ORM.title)


def _rows() -> Iterator[Row]:
    for who in _WHO:
        yield Measured(_start(who), 2)
    yield Measured(IMPORT, 2)
    for moment in MOMENTS:
        for field in FIELDS.values():
            for who in _WHO:
                yield Measured(_memory(who, field, moment))
    for what in (OURS, FILES, GZIPPED):
        yield Measured(_disk(what))


def _start(who: str) -> str:
    return f"{who}: from the start to the first answer, s"


def _memory(who: str, field: str, moment: str) -> str:
    return f"{who}: {field} {moment}, MiB"


def _disk(what: str) -> str:
    return f"{what}: MB for 1,000,000 subscriptions"


@contextmanager
def _ours(database: str, log: Path) -> Iterator[int]:
    with serving(database, log) as server:
        yield server.port


def _in_memory(pids: list[int], who: str, moment: str) -> dict[str, float]:
    return {
        _memory(who, title, moment): sum(memory(pid, field) for pid in pids)
        for field, title in FIELDS.items()
    }


def one_round(
    database: str, log: Path, asked: dict[str, list[str]], seconds: float, peer: Peer | None
) -> dict[str, float]:
    """Start a server, ask it for all that it knows, and return what it took."""
    who = peer.title if peer else OURS
    known = (
        {
            work: paths_of(peer, work, asked[title])
            for work, title in PEERS_WORK.items()
            if work in peer.work
        }
        if peer
        else asked
    )
    before = set(children(os.getpid()))
    start = perf_counter()
    with running_peer(peer, database, log) if peer else _ours(database, log) as port:
        body(port, next(iter(known.values()))[0])
        found = {_start(who): perf_counter() - start}
        started = set(children(os.getpid())) - before
        pids = [pid for child in started for pid in tree(child)]
        found |= _in_memory(pids, who, MOMENTS[0])
        for paths in known.values():
            ask(port, paths, seconds / len(known))
        if not peer:
            ask(port, [poll(port)], seconds / len(known))
        return found | _in_memory(pids, who, MOMENTS[1])


def import_s() -> float:
    """Return the seconds that the import of the app takes, by Python's own count."""
    program = [sys.executable, "-X", "importtime", "-c", "import masthead.api.app"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    found = _IMPORTED.search(done.stderr)
    assert found
    return int(found[1]) / 1e6


def _on_disk(database: str, files: Path, subscriptions: int) -> Figures:
    """Return the sizes, for a million subscriptions, of what was measured with some of them."""
    plain = sum(file.stat().st_size for file in files.iterdir())
    packed = 0
    for file in files.iterdir():
        target = files.parent / "packed.gz"
        with file.open("rb") as source, gzip.open(target, "wb") as to:
            shutil.copyfileobj(source, to)
        packed += target.stat().st_size
    sizes = {OURS: size(database), FILES: plain, GZIPPED: packed}
    return {_disk(what): [taken / subscriptions] for what, taken in sizes.items()}


def measure(scale: Scale) -> Found:
    """Return what was taken, in each round; sizes are taken once."""
    found: dict[str, Figures] = {store: {} for store in scale.stores}
    about: dict[str, str] = {}
    with TemporaryDirectory() as name, ExitStack() as stack:
        files = Path(name) / "files"
        make_files(files, scale.subscribers)
        asked = questions(files)
        with (files / "subscriptions.csv").open("rb") as lines:
            subscriptions = sum(1 for _ in lines) - 1
        databases = {}
        for store in scale.stores:
            databases[store], of_store = stack.enter_context(filled(store, files))
            about |= of_store
            found[store] = _on_disk(databases[store], files, subscriptions)
        # What only the first start has to do, such as to read files from the disk, is not told.
        for number in range(scale.rounds + 1):
            for store, database in databases.items():
                figures = {IMPORT: import_s()}
                for peer in (None, _ORM):
                    log = Path(name) / "log"
                    figures |= one_round(database, log, asked, scale.seconds, peer)
                for title, figure in figures.items() if number else ():
                    found[store].setdefault(title, []).append(figure)
    rows = list(_rows())
    about["subscriptions"] = f"{subscriptions:,}; sizes are scaled up from them"
    return Found(
        [table("what it takes: median (least to most)", rows, found)], data(found, rows), about
    )
