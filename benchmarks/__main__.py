"""Starts the servers, checks that they give the same answers, measures, prints a table."""

import argparse
import base64
import json
import os
import platform
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.servers import STATIC_PATH

KEY, LOGIN = "benchmark-key", "benchmark-login"
AUTHORIZATION = "Basic " + base64.b64encode(f"{KEY}:{LOGIN}".encode()).decode()
LIST_PATH = "/2/subscriptions/?limit=100"
ORDERS = 500
PACKAGES = ("uvicorn", "starlette", "apsw", "msgspec", "fastapi", "sqlalchemy", "pydantic")


def prepare(folder: Path, subscribers: int) -> str:
    """Make data, load them into a database in ``folder``, and return its URL."""
    database = f"sqlite:///{folder / 'masthead.db'}"
    masthead = [sys.executable, "-m", "masthead"]
    files = str(folder / "files")
    for command in (
        ["generate", files, "--subscribers", str(subscribers)],
        ["accounts", "add", "1", "--api-key", KEY, "--api-login", LOGIN],
        ["import", files, "--account", "1"],
    ):
        environment = os.environ | {"MASTHEAD_DATABASE": database}
        subprocess.run(
            [*masthead, *command], check=True, stdout=subprocess.DEVNULL, env=environment
        )
    return database


@contextmanager
def server(name: str, database: str, folder: Path) -> Iterator[int]:
    """Run a server of ``benchmarks.servers``; give its port."""
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.servers", name],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | {"MASTHEAD_DATABASE": database},
        )
        try:
            assert process.stdout
            yield int(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(timeout=30)


def body(port: int, path: str) -> bytes:
    """Return what a server answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    request.add_header("Authorization", AUTHORIZATION)
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: bytes = answer.read()
    return found


def rate(port: int, paths: list[str], seconds: float) -> float:
    """Return the answers a second that a server gives to ``paths`` in turn."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", str(port), str(seconds), AUTHORIZATION],
        input="\n".join(paths),
        check=True,
        capture_output=True,
        text=True,
        timeout=seconds + 60,
    )
    return float(done.stdout)


def measure(arguments: argparse.Namespace) -> dict[str, list[float]]:
    """Return the rates of each kind of work, one for each round."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        database = prepare(folder, arguments.subscribers)
        ours = stack.enter_context(server("masthead", database, folder))
        peer = stack.enter_context(server("peer", database, folder))
        bare = stack.enter_context(server("bare", database, folder))
        orders = [f"/2/orders/{number}" for number in range(1, ORDERS + 1)]
        for path in (LIST_PATH, *orders):
            assert body(ours, path) == body(peer, path), f"the answers to {path} differ"
        work = {
            "masthead: static answer": (ours, [STATIC_PATH]),
            "masthead: one order": (ours, orders),
            "masthead: list of 100": (ours, [LIST_PATH]),
            "peer: one order": (peer, orders),
            "peer: list of 100": (peer, [LIST_PATH]),
            "generator's own limit": (bare, ["/"]),
        }
        rates: dict[str, list[float]] = {title: [] for title in work}
        for _ in range(arguments.rounds):
            for title, (port, paths) in work.items():
                rates[title].append(rate(port, paths, arguments.seconds))
    return rates


def table(rates: dict[str, list[float]]) -> str:
    """Return the rates as a table of Markdown, with the ratios behind it."""
    medians = {title: statistics.median(found) for title, found in rates.items()}
    lines = ["| work | requests/s (median) | least to most |", "| --- | ---: | ---: |"]
    lines += [
        f"| {title} | {medians[title]:,.0f} | {min(found):,.0f} to {max(found):,.0f} |"
        for title, found in rates.items()
    ]
    ratios = (
        ("one order / static answer", "masthead: one order", "masthead: static answer"),
        ("one order / peer's", "masthead: one order", "peer: one order"),
        ("list of 100 / peer's", "masthead: list of 100", "peer: list of 100"),
    )
    lines += ["", "| ratio | of the medians |", "| --- | ---: |"]
    lines += [f"| {title} | {medians[a] / medians[b]:.2f} |" for title, a, b in ratios]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--subscribers", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    arguments = parser.parse_args()
    rates = measure(arguments)
    cores, python = os.cpu_count(), platform.python_version()
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    machine = f"{platform.machine()}, {cores} cores, Python {python}, {versions}"
    command = f"python -m benchmarks {' '.join(sys.argv[1:])}".strip()
    print(table(rates))
    print(f"\n{machine}\n{command}")
    if arguments.json:
        figures = {"machine": machine, "command": command, "requests_per_second": rates}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
