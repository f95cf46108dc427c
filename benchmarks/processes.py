"""The processes that are measured, started and ended: servers, and what asks them."""

import json
import os
import re
import select
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import cpu_s, pin, tree
from benchmarks.publisher import AUTHORIZATION

SERVER_S_MAX = 30
LOOK_EVERY_S = 1
PEAK_EVERY_S = 0.02
IDLE_CPU_S = 0.05
_SERVES = re.compile(r"Masthead serves on http://127\.0\.0\.1:(\d+)")


class Server(NamedTuple):
    """A running ``masthead serve``."""

    pid: int
    port: int

    def memory(self, field: str) -> float:
        """Return a field of the process's status, such as ``RssAnon``, in MiB."""
        return memory(self.pid, field)

    def cpu_s(self) -> dict[int, float]:
        """Return the seconds of CPU that each of its processes has used."""
        return {pid: cpu_s(pid) for pid in tree(self.pid)}

    def wait_until_idle(self) -> None:
        """Return when its processes have next to nothing to do."""
        used = -1.0
        while (now := sum(self.cpu_s().values())) - used > IDLE_CPU_S:
            used = now
            time.sleep(LOOK_EVERY_S)


class Asked(NamedTuple):
    """How many answers came in how many seconds."""

    answers: int
    seconds: float

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds


class Finished(NamedTuple):
    """How a command of Masthead went, which has ended with 0."""

    seconds: float
    peak_mib: float
    printed: str


def finished(*arguments: str, **environment: str) -> Finished:
    """Run ``masthead`` to its end."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "masthead", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    peak = 0.0
    ended = os.pidfd_open(process.pid)
    try:
        while not select.select([ended], [], [], PEAK_EVERY_S)[0]:
            peak = max(peak, memory(process.pid, "VmHWM"))
    finally:
        os.close(ended)
    seconds = time.perf_counter() - start
    printed, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"masthead {arguments[0]} ended with {process.returncode}")
    return Finished(seconds, peak, printed)


def memory(pid: int, field: str) -> float:
    """Return a field of a process's status in MiB; 0 of one that has ended."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


@contextmanager
def serving(
    database: str, log: Path, *, workers: int = 1, core: int | None = None
) -> Iterator[Server]:
    """Run ``masthead serve``, on one core if that is given, for as long as the block lasts."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "masthead", "serve", "--port", "0"),
                *("--database", database, "--workers", str(workers)),
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            if core is not None:
                pin(core, process.pid)
            assert process.stdout
            for line in process.stdout:
                if found := _SERVES.search(line):
                    yield Server(process.pid, int(found[1]))
                    break
            else:
                raise SystemExit(f"the server does not start:\n{log.read_text()}")
        finally:
            _end(process)


@contextmanager
def running(name: str, database: str, log: Path, **environment: str) -> Iterator[int]:
    """Run a server of ``benchmarks.servers`` that logs to a file; give its port."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.servers", name],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"MASTHEAD_DATABASE": database} | environment,
        )
        try:
            assert process.stdout
            if not (port := process.stdout.readline()):
                raise SystemExit(f"the server {name} does not start:\n{log.read_text()}")
            yield int(port)
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(SERVER_S_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def body(port: int, path: str) -> bytes:
    """Return what a server answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    request.add_header("Authorization", AUTHORIZATION)
    with urllib.request.urlopen(request, timeout=SERVER_S_MAX) as answer:
        found: bytes = answer.read()
    return found


def ask(port: int, paths: list[str], seconds: float, coding: str = "") -> Asked:
    """Ask a server for ``paths`` in turn, as fast as it answers, in a coding that it accepts."""
    answers, taken = _printed("benchmarks.load", str(port), paths, seconds, coding).split()
    return Asked(int(answers), float(taken))


def ask_steadily(port: int, paths: list[str], seconds: float, rate: float) -> dict[str, float]:
    """Ask a server for ``paths`` in turn, so many times a second.

    Returns for each part of all answers the milliseconds that they took at most.
    """
    printed = _printed("benchmarks.steady", str(port), paths, seconds, str(rate))
    found: dict[str, float] = json.loads(printed)
    return found


def ask_database(database: str, paths: list[str], seconds: float) -> Asked:
    """Ask a database for what the answers to ``paths`` need, with nothing between."""
    answers, taken = _printed("benchmarks.bare", database, paths, seconds).split()
    return Asked(int(answers), float(taken))


def _printed(program: str, of: str, paths: list[str], seconds: float, *more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", program, of, str(seconds), AUTHORIZATION, *more],
        input="\n".join(paths),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=seconds + SERVER_S_MAX,
    )
    return done.stdout
