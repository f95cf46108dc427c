"""The change feed at scale: how fast, in how much memory, and at whose cost.

A publisher is made and served with ``masthead serve`` on one core, and ``GET /snapshot`` (the feed
without a lower bound) is read from the other core. The measure of the speed is a bare loop over the
same rows on the server's core: the same queries and the same encoders, with no server, no file and
no socket. A PostgreSQL server is on the reader's core.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import databases
from benchmarks.databases import fresh, place
from benchmarks.machine import GENERATOR_CORE, SERVER_CORE, on_core
from benchmarks.processes import Server, ask, serving
from benchmarks.publisher import ACCOUNT_ID, AUTHORIZATION, fill, make_files, paths
from benchmarks.questions import ENTITY_NAMES, poll
from benchmarks.reader import answered, read
from benchmarks.report import (
    Figures,
    Found,
    Measured,
    Ratio,
    Row,
    Scale,
    both,
    data,
    table,
)
from masthead.api.http.service import Service
from masthead.api.http.temporary_files import Making
from masthead.api.operations.change_feed import Question, opened
from masthead.contract.operations import ENTITIES
from masthead.store import open_store
from masthead.store.keys import Uses
from masthead.store.logins import Limits

EVERYTHING = f"/snapshot?entities={ENTITY_NAMES}"
SLOW_BYTES_PER_S = 100_000
SMALL_SUBSCRIBERS = 1_000
CODINGS = ("identity", "gzip", "zstd")
BARE, FEED = "bare loop, s", "identity, s"
OWN_MEMORY = "growth of RssAnon, MiB"


def _rows(titles: Iterable[str]) -> Iterator[Row]:
    for title in titles:
        if title.endswith("first byte, ms"):
            yield Measured(title, 1, both(at_most=100))
        elif title == OWN_MEMORY:
            yield Measured(title, 1, both(at_most=64))
        else:
            yield Measured(title, 0 if title.endswith("requests/s") else 2)
    yield Ratio("bare loop / feed", BARE, FEED, both(at_least=0.6))


def bare_loop(database: str) -> tuple[float, int]:
    """Return the seconds that the loop takes without a server, and the bytes that it makes.

    The connection is open before, as the server's is.
    """
    store = open_store(database)
    service = Service(
        store,
        store.open_loop_reader(lambda end_turn: end_turn()),
        0,
        limits=Limits(),
        uses=Uses(),
        making=Making(0),
    )
    with store.reader():
        pass
    start = time.perf_counter()
    with opened(Question(service, ACCOUNT_ID, list(ENTITIES), None)) as content:
        size = sum(map(len, content.pieces))
    seconds = time.perf_counter() - start
    store.close()
    return seconds, size


def on_server_core(database: str) -> tuple[float, int]:
    """Run :func:`bare_loop` in a process of its own on the server's core."""
    program = (
        "import sys; from benchmarks.feed import bare_loop; "
        "from benchmarks.machine import SERVER_CORE, pin; pin(SERVER_CORE); "
    )
    done = subprocess.run(
        [sys.executable, "-c", program + "print(*bare_loop(sys.argv[1]))", database],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds, size = done.stdout.split()
    return float(seconds), int(size)


@contextmanager
def read_by_others(server: Server, bytes_per_s: int | None = None) -> Iterator[None]:
    """Let a client read everything, again and again, for as long as the block lasts."""
    limit = [] if bytes_per_s is None else [str(bytes_per_s)]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.reader", str(server.port), EVERYTHING, *limit],
        env=os.environ | {"AUTHORIZATION": AUTHORIZATION},
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout
        process.stdout.readline()
        if bytes_per_s is not None:
            server.wait_until_idle()
        yield
    finally:
        process.kill()
        process.wait()


def speeds(database: str, server: Server, rounds: int) -> Figures:
    """Return the seconds of the bare loop and of each coding; they take turns."""
    found: Figures = {}
    for _ in range(rounds):
        seconds, size = on_server_core(database)
        found.setdefault(BARE, []).append(seconds)
        for coding in CODINGS:
            reading = read(server.port, EVERYTHING, AUTHORIZATION, coding)
            if coding == "identity" and reading.size != size:
                raise SystemExit("the bare loop and the feed do not make the same bytes")
            found.setdefault(f"{coding}, s", []).append(reading.seconds)
            found.setdefault(f"{coding}, first byte, ms", []).append(1000 * reading.first_byte_s)
            found.setdefault(f"{coding}, MB", []).append(reading.size / 1e6)
    return found


def memory(server: Server) -> Figures:
    """Return the MiB by which the server's memory peaks while it answers with everything."""
    peak = dict.fromkeys(("RssAnon", "VmRSS"), 0.0)
    before = {field: server.memory(field) for field in peak}

    def look() -> None:
        for field in peak:
            peak[field] = max(peak[field], server.memory(field) - before[field])

    read(server.port, EVERYTHING, AUTHORIZATION, "identity", look)
    return {f"growth of {field}, MiB": [figure] for field, figure in peak.items()}


def gone(server: Server) -> Figures:
    """Return the seconds of CPU of a whole answer, and of one whose client goes at once."""
    start = _cpu_s(server)
    read(server.port, EVERYTHING, AUTHORIZATION, "identity")
    whole = _cpu_s(server)
    with answered(server.port, EVERYTHING, AUTHORIZATION, "identity") as answer:
        answer.read(1)
    server.wait_until_idle()
    return {
        "CPU of a whole answer, s": [whole - start],
        "CPU of an answer whose client is gone, s": [_cpu_s(server) - whole],
    }


def look_ups(server: Server, files: Path, rounds: int, seconds: float) -> Figures:
    """Return look-ups a second: alone, and while others read everything."""
    orders, _ = paths(files)
    found: Figures = {}
    for _ in range(rounds):
        for title, others in (
            ("alone", nullcontext()),
            ("beside a feed", read_by_others(server)),
            ("beside a client at 100 kB/s", read_by_others(server, SLOW_BYTES_PER_S)),
        ):
            with others:
                figure = ask(server.port, orders, seconds).rate
            found.setdefault(f"one order {title}, requests/s", []).append(figure)
    return found


def empty_polls(server: Server, title: str, rounds: int, seconds: float) -> Figures:
    """Return how many polls a second find nothing."""
    path = poll(server.port)
    figures = [ask(server.port, [path], seconds).rate for _ in range(rounds)]
    return {f"a poll that finds nothing in {title}, requests/s": figures}


def _cpu_s(server: Server) -> float:
    return sum(server.cpu_s().values())


def measure(scale: Scale) -> Found:
    """Return all figures, one for each round; memory and processor time are taken once."""
    found: dict[str, Figures] = {}
    about: dict[str, str] = {}
    with on_core(GENERATOR_CORE):
        for store in scale.stores:
            found[store], told = _measured(store, scale.subscribers, scale.rounds, scale.seconds)
            about |= told
    rows = list(_rows(dict.fromkeys(title for figures in found.values() for title in figures)))
    return Found([table("median (least to most)", rows, found)], data(found, rows), about)


def _measured(
    store: str, subscribers: int, rounds: int, seconds: float
) -> tuple[Figures, dict[str, str]]:
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        home = stack.enter_context(place(store, core=GENERATOR_CORE))
        small = stack.enter_context(fresh(home, "small"))
        big = stack.enter_context(fresh(home, "big"))
        few = stack.enter_context(publisher(small, folder / "small", SMALL_SUBSCRIBERS))
        many = stack.enter_context(publisher(big, folder / "big", subscribers))
        return {
            **memory(many),
            **speeds(big, many, rounds),
            **gone(many),
            **look_ups(many, folder / "big" / "files", rounds, seconds),
            **empty_polls(few, f"{SMALL_SUBSCRIBERS:,} subscribers", rounds, seconds),
            **empty_polls(many, f"{subscribers:,} subscribers", rounds, seconds),
        }, databases.described(home)


@contextmanager
def publisher(database: str, folder: Path, subscribers: int) -> Iterator[Server]:
    """Make a publisher, its files in a new folder, and serve it."""
    folder.mkdir()
    make_files(folder / "files", subscribers)
    fill(database, folder / "files")
    with serving(database, folder / "log", core=SERVER_CORE) as server:
        read(server.port, "/snapshot?entities=listdownloads", AUTHORIZATION, "identity")
        yield server
