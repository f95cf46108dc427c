"""The measured processes: servers, and commands of Masthead."""

import os
import re
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from tempfile import TemporaryFile
from typing import NamedTuple

from benchmarks.machine import memory_mib, pin
from benchmarks.publisher import AUTHORIZATION
from tests.servers import as_server

STOP_TIMEOUT_S = 30
REQUEST_TIMEOUT_S = 120
_MEMORY_EVERY_S = 0.02
_MASTHEAD = ("masthead", "serve", "--port", "0")
_ERRORS_MAX = 100
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")


class Server(NamedTuple):
    """A running server."""

    pid: int
    port: int

    def connect(self) -> HTTPConnection:
        """Return a connection to the server."""
        return HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_TIMEOUT_S)

    def get(self, path: str) -> bytes:
        """Return the body of a response, over a new connection."""
        connection = self.connect()
        try:
            return timed_get(connection, path)[1]
        finally:
            connection.close()


class Finished(NamedTuple):
    """The seconds and peak memory of a command, and its output."""

    seconds: float
    peak_mib: float
    printed: str


def timed_get(
    connection: HTTPConnection, path: str, authorization: str = AUTHORIZATION, status: int = 200
) -> tuple[float, bytes]:
    """Return the seconds and the body of a response; another status ends the program."""
    start = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": authorization})
    response = connection.getresponse()
    body = response.read()
    seconds = time.perf_counter() - start
    if response.status != status:
        raise SystemExit(f"{path}: {response.status} {body[:200].decode()}")
    return seconds, body


@contextmanager
def serving(
    database: str, *command: str, core: int | None = None, environment: Mapping[str, str] = {}
) -> Iterator[Server]:
    """Run ``masthead serve``, or ``python -m`` another command, within the block.

    The server prints its address when it is ready. Masthead logs in to ``database`` as the role of
    servers; other commands log in as the URL says. The log goes to a temporary file, and its last
    errors are printed if the block fails.
    """
    is_ours = not command or command[-1] == "masthead"
    with TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *(command or _MASTHEAD)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ
            | {"MASTHEAD_DATABASE": as_server(database) if is_ours else database, **environment},
        )
        try:
            if core is not None:
                pin(core, process.pid)
            assert process.stdout
            for line in process.stdout:
                if address := _ADDRESS.search(line):
                    yield Server(process.pid, int(address[1]))
                    break
            else:
                log.seek(0)
                raise SystemExit(f"the server does not start:\n{log.read()}")
        except BaseException:
            log.seek(0)
            print(*deque(map(str.rstrip, filter(_is_bad, log)), _ERRORS_MAX), sep="\n")
            raise
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _is_bad(line: str) -> bool:
    return "level='info'" not in line and '"level":"info"' not in line


def finished(*arguments: str) -> Finished:
    """Run a command of Masthead to its end; it must succeed."""
    start = time.perf_counter()
    with TemporaryFile("w+") as output:
        process = subprocess.Popen([sys.executable, "-m", "masthead", *arguments], stdout=output)
        peak_mib = 0.0
        end = os.pidfd_open(process.pid)
        try:
            while not select.select([end], [], [], _MEMORY_EVERY_S)[0]:
                peak_mib = max(peak_mib, memory_mib(process.pid, "VmHWM"))
        finally:
            os.close(end)
        seconds = time.perf_counter() - start
        if process.wait():
            raise SystemExit(f"masthead {arguments[0]} ended with {process.returncode}")
        output.seek(0)
        return Finished(seconds, peak_mib, output.read())
