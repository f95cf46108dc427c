"""The database goes away and comes back: 503 in time, then full service, without a restart.

Stopped, it refuses connections; frozen, it takes them and never answers (rules, "A database
that does not answer").
"""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
import pytest

from masthead.store.postgresql import CONNECTIONS_MAX
from tests.api.callers import basic, error_of
from tests.cli.running import lines_until
from tests.long import ONLY_LONG
from tests.postgresql.service import (
    ACCOUNT,
    ALL,
    API_KEY,
    API_LOGIN,
    DEADLINE_SECONDS,
    PASSWORD,
    RETURN_SECONDS_MAX,
    Client,
    feed_since,
    fill,
    locked,
    moment,
    new_database,
    outage,
    requests,
    session,
    wait_until,
)
from tests.servers import AS_INSTALLED, SERVES, STOP_SECONDS_MAX, as_server, environment, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres import Cluster
    from tests.servers import Server

KINDS = ("stopped", "frozen")
MORE_THAN_THERE_ARE_CONNECTIONS = CONNECTIONS_MAX + 10
each_outage = pytest.mark.parametrize("kind", KINDS)

PURCHASES = 150_000
HEALTH_CLIENTS = 300
DRAINS_FOR_A_SECOND = """
from masthead.api import server
from masthead.cli import main

server.DRAIN_S_MAX = 1
main()
"""


@pytest.fixture(scope="module")
def database(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database that holds the small publisher."""
    url = new_database(cluster, "outages")
    fill(url, tmp_path_factory.mktemp("small"))
    return url


@pytest.fixture(scope="module")
def server(database: str) -> Iterator[Server]:
    """A server of that database."""
    with serving(database, module=AS_INSTALLED) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A client whom the server has answered all that there is."""
    with Client(server) as client:
        wait_until(client.is_fully_served)
        yield client


@pytest.fixture(scope="module")
def long(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database whose purchases are so many that their feed takes seconds."""
    url = new_database(cluster, "long")
    fill(url, tmp_path_factory.mktemp("long"))
    with session(url) as connection:
        connection.execute(
            """
            INSERT INTO purchases (account_id, purchase_id, subscriber_id, notes, commit_id)
            SELECT %s, number, 1, repeat('Tide ', 50), 2 FROM generate_series(2, %s) AS number
            """,
            [ACCOUNT, PURCHASES],
        )
    return url


def traceback_in(output: str) -> str:
    """Return the first traceback of a log and what follows, or nothing."""
    _, word, rest = output.partition("Traceback")
    return word + rest


def many(count: int = 32) -> list[str]:
    """Return so many targets, of all kinds."""
    targets = list(requests().values())
    return [targets[number % len(targets)] for number in range(count)]


# Meanwhile


@each_outage
def test_a_request_of_any_kind_gets_503_in_time(
    cluster: Cluster, client: Client, kind: str
) -> None:
    with outage(cluster, kind):
        for response in client.ask_at_once(requests().values()):
            response.assert_unavailable()


@ONLY_LONG
@each_outage
def test_many_requests_at_once_get_503_in_time_again_and_again(
    cluster: Cluster, client: Client, kind: str
) -> None:
    with outage(cluster, kind):
        for _ in range(2):
            for response in client.ask_at_once(many()):
                response.assert_unavailable()


@each_outage
def test_what_needs_no_database_is_answered(
    cluster: Cluster, server: Server, client: Client, kind: str
) -> None:
    with outage(cluster, kind), httpx2.Client(base_url=server.url) as anyone:
        client.ask_at_once(many())
        # Each request that needs the database gets 503.
        assert anyone.get("/openapi.json").status_code == 200
        assert "credentials" in error_of(anyone.get("/2/orders/1"), 401)
        assert "path" in error_of(anyone.get("/2/nothing"), 404)


def test_requests_for_health_use_a_bounded_number_of_threads(
    cluster: Cluster, database: str
) -> None:
    """rules, "A database that does not answer": anybody may ask, without credentials."""

    def threads(server: Server) -> int:
        return len(list(Path(f"/proc/{server.process_id}/task").iterdir()))

    health = b"GET /health HTTP/1.1\r\nHost: masthead.test\r\nConnection: close\r\n\r\n"
    with (
        serving(database, module=AS_INSTALLED) as server,
        Client(server) as client,
        ExitStack() as stack,
    ):
        wait_until(client.is_fully_served)
        before = threads(server)
        with outage(cluster, "frozen"):
            clients = [
                stack.enter_context(socket.create_connection(server.address, DEADLINE_SECONDS))
                for _ in range(HEALTH_CLIENTS)
            ]
            for one in clients:
                one.sendall(health)
            assert {one.recv(12) for one in clients} == {b"HTTP/1.1 503"}
            assert threads(server) - before <= 2
        wait_until(client.is_fully_served, RETURN_SECONDS_MAX)


# The return


@each_outage
def test_service_is_whole_again_in_time_without_a_restart_or_a_secret_in_the_log(
    cluster: Cluster, client: Client, server: Server, kind: str
) -> None:
    with outage(cluster, kind):
        client.ask_at_once(many())
    wait_until(client.is_fully_served, RETURN_SECONDS_MAX)
    for _ in range(3):
        assert {response.status for response in client.ask_at_once(many())} == {200}
    assert server._process.poll() is None
    assert len(SERVES.findall(server.output())) == 1
    assert "database unavailable" in server.output()
    assert PASSWORD not in server.output()
    assert traceback_in(server.output()) == ""


def test_connections_that_ended_while_they_were_idle_cost_no_request(
    cluster: Cluster, client: Client, database: str
) -> None:
    with locked(database, "LOCK TABLE orders"):
        client.ask_at_once(["/2/orders/1"] * CONNECTIONS_MAX)
    wait_until(client.is_fully_served)
    cluster.stop()
    cluster.start()
    answers = client.ask_at_once(["/2/orders/1"] * CONNECTIONS_MAX)
    assert {response.status for response in answers} == {200}


# Time limits


def test_a_statement_that_takes_too_long_is_503_and_others_are_answered(
    client: Client, database: str
) -> None:
    since = moment(hours=-1)
    poll = feed_since(since, "orders")
    waiting = ["/2/orders/1", f"/snapshot?entities={ALL}", poll]
    others = ["/2/subscriptions/", "/2/subscribers/", "/health", feed_since(since, "addresses")]

    def are_others_answered() -> bool:
        return {response.status for response in client.ask_at_once(others)} == {200}

    with locked(database, "LOCK TABLE orders"):
        for response in client.ask_at_once(waiting):
            response.assert_unavailable()
        assert are_others_answered()
        for _ in range(2):
            for response in client.ask_at_once([poll] * MORE_THAN_THERE_ARE_CONNECTIONS):
                response.assert_unavailable()
        # Their statements end soon after them, and no connection is lost to others.
        wait_until(are_others_answered, RETURN_SECONDS_MAX)
    assert {response.status for response in client.ask_at_once(waiting)} == {200}


# Long responses


class Download:
    """A long response, read from a socket as it comes."""

    def __init__(self, address: tuple[str, int], target: str = f"/snapshot?entities={ALL}") -> None:
        """Ask, and return once the response has begun."""
        self._socket = socket.create_connection(address, timeout=DEADLINE_SECONDS)
        head = f"GET {target} HTTP/1.1\r\nHost: masthead.test\r\nConnection: close\r\n"
        credentials = f"Authorization: {basic(API_KEY, API_LOGIN)}\r\n\r\n"
        self._socket.sendall((head + credentials).encode())
        self.received = bytearray(self._socket.recv(1_000))
        assert self.received.startswith(b"HTTP/1.1 200 OK\r\n")

    @property
    def is_complete(self) -> bool:
        """Whether the last chunk has come."""
        return self.received.endswith(b"\r\n0\r\n\r\n")

    def read_until_nothing_comes(self) -> None:
        """Read on until nothing has come for a while."""
        self._socket.settimeout(0.5)
        with suppress(TimeoutError):
            self.read_to_the_end()
        self._socket.settimeout(DEADLINE_SECONDS)

    def read_to_the_end(self) -> None:
        """Read all that still comes."""
        with suppress(ConnectionResetError):
            while piece := self._socket.recv(1_000_000):
                self.received += piece

    def text(self) -> bytes:
        """Return the body without the lengths of its chunks."""
        chunks = []
        start = self.received.index(b"\r\n\r\n") + 4
        while start < len(self.received):
            begun = self.received.index(b"\r\n", start) + 2
            end = begun + int(self.received[start:begun], 16)
            chunks.append(self.received[begun:end])
            start = end + 2
        return b"".join(chunks)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def test_a_feed_goes_on_when_a_frozen_database_does(cluster: Cluster, long: str) -> None:
    with (
        serving(long, module=AS_INSTALLED) as server,
        closing(Download(server.address)) as download,
    ):
        with outage(cluster, "frozen"):
            download.read_until_nothing_comes()
            assert not download.is_complete
        download.read_to_the_end()
        assert download.is_complete
        assert download.text().count(b'"purchase_id"') == PURCHASES


def test_a_feed_whose_database_stays_frozen_breaks_off(cluster: Cluster, long: str) -> None:
    """rules, "A database that does not answer"; this server waits for a second."""
    with (
        serving(long, module="tests.postgresql.impatient") as server,
        closing(Download(server.address)) as download,
        outage(cluster, "frozen"),
    ):
        download.read_to_the_end()
        assert not download.is_complete
        wait_until(lambda: "response broken off" in server.output())
        assert "silent for 1 seconds" in server.output()


def test_a_feed_whose_database_ends_breaks_without_its_last_chunk(
    cluster: Cluster, long: str
) -> None:
    with serving(long, module=AS_INSTALLED) as server:
        with closing(Download(server.address)) as download:
            with outage(cluster, "stopped"):
                download.read_to_the_end()
            assert not download.is_complete
            for secret in (b"Traceback", b"psycopg", PASSWORD.encode()):
                assert secret not in download.received
        with Client(server) as client:
            wait_until(client.is_fully_served, RETURN_SECONDS_MAX)
        assert PASSWORD not in server.output()


# The end of a server


def test_a_server_ends_in_time_while_its_database_is_frozen(
    cluster: Cluster, database: str
) -> None:
    """rules, "End on SIGTERM"."""
    with serving(database, module=AS_INSTALLED) as server, Client(server) as client:
        wait_until(client.is_fully_served)
        with outage(cluster, "frozen"):
            client.ask_at_once(many())
            assert server.stop() == 0
        assert traceback_in(server.output()) == ""


def test_a_feed_that_a_frozen_database_holds_up_is_given_up_when_the_time_to_drain_is_over(
    cluster: Cluster, long: str
) -> None:
    """rules, "End on SIGTERM"; this server has a second of it."""
    with subprocess.Popen(
        [sys.executable, "-c", DRAINS_FOR_A_SECOND, "serve", "--port", "0"],
        env=environment(as_server(long)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            found = SERVES.search(lines_until(process, "Masthead serves on")[-1])
            assert found
            url = urlsplit(found[1])
            with closing(Download((str(url.hostname), int(url.port or 0)))) as download:
                with outage(cluster, "frozen"):
                    download.read_until_nothing_comes()
                    process.terminate()
                    assert process.wait(STOP_SECONDS_MAX) == 0
                download.read_to_the_end()
                assert not download.is_complete
            assert PASSWORD not in process.communicate()[0]
        finally:
            process.kill()
