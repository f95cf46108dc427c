"""Starts Masthead's app on other ASGI servers: Granian and Hypercorn."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

import httpx2

from tests.postgres import Port
from tests.servers import as_server, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

START_S_MAX = 60
POLL_S = 0.05
APP = "tests.api.application:app"
SERVERS = {
    "uvicorn": "uvicorn --no-server-header --no-date-header --port {port}",
    "granian": "granian --interface asgi --port {port}",
    "hypercorn": "hypercorn --bind 127.0.0.1:{port}",
}
"""The command line of each."""


class Served(NamedTuple):
    """Where a server responds, as ``tests.servers.Server`` says it."""

    address: tuple[str, int]

    @property
    def url(self) -> str:
        """The beginning of all URLs."""
        host, port = self.address
        return f"http://{host}:{port}"


@contextmanager
def served(database: str, server: str, settings: Mapping[str, str]) -> Iterator[Served]:
    """Serve the app with the server of that name, for as long as the block lasts."""
    port = Port()
    arguments = SERVERS[server].format(port=port.number).split()
    with (
        closing(port),
        subprocess.Popen(
            [sys.executable, "-m", *arguments, APP],
            env={**environment(as_server(database)), **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        found = Served(("127.0.0.1", port.number))
        try:
            _wait_until_it_responds(found, process)
            yield found
        finally:
            process.terminate()
            output, _ = process.communicate(timeout=START_S_MAX)
    assert "Traceback" not in output, output
    assert "Exception ignored" not in output, output


def _wait_until_it_responds(found: Served, process: subprocess.Popen[str]) -> None:
    ends_at = time.monotonic() + START_S_MAX
    with httpx2.Client(base_url=found.url) as client:
        while time.monotonic() < ends_at:
            with suppress(httpx2.TransportError):
                client.get("/openapi.json")
                return
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_S)
                break
    raise AssertionError("it has ended, or does not respond")
