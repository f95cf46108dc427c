"""Starts the servers, checks that they give the same answers, measures, prints a table."""

import argparse
import base64
import csv
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import described
from benchmarks.report import Rates, report, text
from benchmarks.servers import LONG_PATH, STATIC_PATH

KEY, LOGIN = "benchmark-key", "benchmark-login"
AUTHORIZATION = "Basic " + base64.b64encode(f"{KEY}:{LOGIN}".encode()).decode()
PATHS = 500
LIST = 100
SUBSCRIBERS_MIN = 100
COMMAND_S_MAX = 600
SERVER_S_MAX = 30


def prepare(database: str, files: Path, subscribers: int) -> None:
    """Make data in ``files``, and load them into ``database``."""
    for command in (
        ["generate", str(files), "--subscribers", str(subscribers)],
        ["accounts", "add", "1", "--api-key", KEY, "--api-login", LOGIN],
        ["import", str(files), "--account", "1"],
    ):
        subprocess.run(
            [sys.executable, "-m", "masthead", *command],
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"MASTHEAD_DATABASE": database},
            timeout=COMMAND_S_MAX,
        )


def paths(files: Path) -> tuple[list[str], list[str]]:
    """Return the paths of orders, and of lists, that are spread evenly over all there are."""
    orders = _spread(_ids(files / "orders.csv"))
    starts = _spread(_ids(files / "subscriptions.csv")[:-LIST])
    return (
        [f"/2/orders/{number}" for number in orders],
        [f"/2/subscriptions/?limit={LIST}&after={number}" for number in starts],
    )


def _ids(file: Path) -> list[int]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        return sorted(int(row[0]) for row in rows)


def _spread(ids: list[int]) -> list[int]:
    return ids[:: max(1, len(ids) // PATHS)][:PATHS]


@contextmanager
def server(name: str, database: str, log: Path) -> Iterator[int]:
    """Run a server of ``benchmarks.servers`` that logs to a file; give its port."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.servers", name],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"MASTHEAD_DATABASE": database},
        )
        try:
            assert process.stdout
            if not (port := process.stdout.readline()):
                raise SystemExit(f"the server {name} does not start:\n{log.read_text()}")
            yield int(port)
        finally:
            process.terminate()
            try:
                process.wait(SERVER_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()


def body(port: int, path: str) -> bytes:
    """Return what a server answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    request.add_header("Authorization", AUTHORIZATION)
    with urllib.request.urlopen(request, timeout=SERVER_S_MAX) as answer:
        found: bytes = answer.read()
    return found


def rate(port: int, paths: list[str], seconds: float) -> float:
    """Return the answers a second that a server gives to ``paths`` in turn."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", str(port), str(seconds), AUTHORIZATION],
        input="\n".join(paths),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=seconds + SERVER_S_MAX,
    )
    return float(done.stdout)


def measure(subscribers: int, rounds: int, seconds: float) -> Rates:
    """Return the rates of each kind of work, one for each round; the kinds take turns."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        database = f"sqlite:///{folder / 'masthead.db'}"
        prepare(database, folder / "files", subscribers)
        orders, lists = paths(folder / "files")
        ours, peer, bare = (
            stack.enter_context(server(name, database, folder / f"{name}.log"))
            for name in ("masthead", "peer", "bare")
        )
        for path in (*orders, *lists):
            if body(ours, path) != body(peer, path):
                raise SystemExit(f"Masthead and the peer do not give the same answer to {path}")
        work = {
            "static answer, Masthead": (ours, [STATIC_PATH]),
            "one order, Masthead": (ours, orders),
            "one order, peer": (peer, orders),
            "list of 100, Masthead": (ours, lists),
            "list of 100, peer": (peer, lists),
            "short answer, nothing": (bare, ["/"]),
            "long answer, nothing": (bare, [LONG_PATH]),
        }
        rates: Rates = {title: [] for title in work}
        for _ in range(rounds):
            for title, (port, asked) in work.items():
                rates[title].append(rate(port, asked, seconds))
    return rates


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--subscribers", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    arguments = parser.parse_args()
    if arguments.subscribers < SUBSCRIBERS_MIN or arguments.rounds < 1 or arguments.seconds <= 0:
        parser.error(f"at least {SUBSCRIBERS_MIN} subscribers, one round, and some time are needed")
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    about = described()
    rates = measure(arguments.subscribers, arguments.rounds, arguments.seconds)
    about["command"] = f"python -m benchmarks {' '.join(sys.argv[1:])}".strip()
    found = report(rates, about)
    print(text(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
