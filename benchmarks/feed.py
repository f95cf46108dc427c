"""The change feed at scale: how fast, in how much memory, and at whose cost.

``python -m benchmarks.feed`` makes a publisher, serves it with ``masthead serve`` on one core,
reads ``GET /snapshot`` (the feed without a lower bound) from the other core, and prints one table.
The measure of the speed is a bare loop over the same rows on the server's core: the same queries
and the same encoders, with no server, no file and no socket.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote

from benchmarks.__main__ import AUTHORIZATION, paths, prepare, rate
from benchmarks.machine import GENERATOR_CORE, SERVER_CORE, described, pin
from benchmarks.reader import answered, read
from masthead.api.changes import Question, begin
from masthead.api.operation import Service
from masthead.contract.operations import ENTITIES
from masthead.store import open_store

ENTITY_NAMES = ",".join(entity.name for entity in ENTITIES)
EVERYTHING = f"/snapshot?entities={ENTITY_NAMES}"
SLOW_BYTES_PER_S = 100_000
SMALL_SUBSCRIBERS = 1_000
LOOK_EVERY_S = 1
IDLE_CPU_S = 0.05
CODINGS = ("identity", "gzip", "zstd")
Figures = dict[str, list[float]]
"""The figures of each round, by what was measured and in what."""

SERVES = re.compile(r"Masthead serves on http://127\.0\.0\.1:(\d+)")
CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Server(NamedTuple):
    """A running ``masthead serve``."""

    pid: int
    port: int

    def memory(self, field: str) -> float:
        """Return a field of the process's status, such as ``RssAnon``, in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
        assert found
        return int(found[1]) / 1024

    def cpu_s(self) -> float:
        """Return the seconds of CPU that the process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS_PER_S

    def wait_until_idle(self) -> None:
        """Return when the process has next to nothing to do."""
        used = -1.0
        while self.cpu_s() - used > IDLE_CPU_S:
            used = self.cpu_s()
            time.sleep(LOOK_EVERY_S)


@contextmanager
def serving(database: str, log: Path) -> Iterator[Server]:
    """Run the server on its core for as long as the block lasts."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "masthead", "serve", "--port", "0", "--database", database],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            pin(SERVER_CORE, process.pid)
            assert process.stdout
            for line in process.stdout:
                if found := SERVES.search(line):
                    yield Server(process.pid, int(found[1]))
                    break
            else:
                raise SystemExit(f"the server does not start:\n{log.read_text()}")
        finally:
            process.terminate()
            process.wait()


def bare_loop(database: str) -> tuple[float, int]:
    """Return the seconds that the loop takes without a server, and the bytes that it makes."""
    store = open_store(database)
    service = Service(store, store.open_reader(), 0)
    start = time.perf_counter()
    content = begin(Question(service, 1, list(ENTITIES), None))
    with content.source:
        size = sum(map(len, content.pieces))
    return time.perf_counter() - start, size


def on_server_core(database: str) -> tuple[float, int]:
    """Run :func:`bare_loop` in a process of its own on the server's core."""
    program = (
        "import sys; from benchmarks.feed import bare_loop, pin, SERVER_CORE; pin(SERVER_CORE); "
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
        found.setdefault("bare loop, s", []).append(seconds)
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
    start = server.cpu_s()
    read(server.port, EVERYTHING, AUTHORIZATION, "identity")
    whole = server.cpu_s()
    with answered(server.port, EVERYTHING, AUTHORIZATION, "identity") as answer:
        answer.read(1)
    server.wait_until_idle()
    return {
        "CPU of a whole answer, s": [whole - start],
        "CPU of an answer whose client is gone, s": [server.cpu_s() - whole],
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
                figure = rate(server.port, orders, seconds)
            found.setdefault(f"one order {title}, requests/s", []).append(figure)
    return found


def empty_polls(server: Server, title: str, rounds: int, seconds: float) -> Figures:
    """Return how many polls a second find nothing."""
    with answered(server.port, EVERYTHING, AUTHORIZATION, "identity") as answer:
        since = quote(str(answer.headers["Masthead-Changes-Through"]))
    path = f"/2/cdc?changed_since={since}&entities={ENTITY_NAMES}"
    figures = [rate(server.port, [path], seconds) for _ in range(rounds)]
    return {f"a poll that finds nothing in {title}, requests/s": figures}


def measure(subscribers: int, rounds: int, seconds: float) -> Figures:
    """Return all figures, one for each round."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        small = Path(name) / "small"
        big = Path(name) / "big"
        few = stack.enter_context(publisher(small, SMALL_SUBSCRIBERS))
        many = stack.enter_context(publisher(big, subscribers))
        return {
            **memory(many),
            **speeds(_database(big), many, rounds),
            **gone(many),
            **look_ups(many, big / "files", rounds, seconds),
            **empty_polls(few, f"{SMALL_SUBSCRIBERS:,} subscribers", rounds, seconds),
            **empty_polls(many, f"{subscribers:,} subscribers", rounds, seconds),
        }


@contextmanager
def publisher(folder: Path, subscribers: int) -> Iterator[Server]:
    """Make a publisher in a new folder and serve it."""
    folder.mkdir()
    prepare(_database(folder), folder / "files", subscribers)
    with serving(_database(folder), folder / "log") as server:
        read(server.port, "/snapshot?entities=listdownloads", AUTHORIZATION, "identity")
        yield server


def _database(folder: Path) -> str:
    return f"sqlite:///{folder / 'masthead.db'}"


def text(found: Figures, about: dict[str, str]) -> str:
    """Return the table of all figures, and below it what they depend on."""
    lines = ["| what | median | least | most |", "| --- | ---: | ---: | ---: |"]
    for title, figures in found.items():
        cells = (statistics.median(figures), min(figures), max(figures))
        lines.append(f"| {title} | " + " | ".join(f"{figure:,.2f}" for figure in cells) + " |")
    lines += ["", *(f"{name}: {value}" for name, value in about.items())]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.feed", description=__doc__)
    parser.add_argument("--subscribers", type=int, default=175_000, help="1,000,000 records")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each rate")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    arguments = parser.parse_args()
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    about = described()
    pin(GENERATOR_CORE)
    found = measure(arguments.subscribers, arguments.rounds, arguments.seconds)
    print(text(found, about))
    if arguments.json:
        arguments.json.write_text(json.dumps({"about": about, "figures": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
