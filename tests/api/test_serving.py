"""What the server does beside the ten operations: health, its log, its end, its warning."""

from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.api.callers import Caller
from tests.api.conftest import DATA
from tests.servers import ASGI_ONLY, Store, import_files, serving

if TYPE_CHECKING:
    from tests.api.conftest import House


@pytest.mark.parametrize("path", ["/health", "/health/"])
def test_health_needs_no_credentials(house: House, path: str) -> None:
    """Whether the database answers."""
    response = httpx2.get(house.server.url + path)
    assert response.status_code == 200
    assert response.content == b'{"status":"ok"}'
    assert response.headers["Content-Type"] == "application/json"


@pytest.mark.skipif(ASGI_ONLY in os.environ, reason="uvicorn writes one after the other")
def test_the_head_of_an_answer_comes_with_its_body(house: House) -> None:
    """Both are in one packet, so that a client reads once."""
    with socket.create_connection(house.server.address, timeout=30) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(65_536).endswith(b'\r\n\r\n{"status":"ok"}')


@pytest.fixture(scope="module")
def finished(store: Store) -> tuple[str, int]:
    """What a server that answered a few requests printed, and its exit status."""
    database = store.new_database("finished")
    import_files(DATA / "accounts" / "accounts.csv", account_id=None, database=database)
    with serving(database) as server:
        caller = Caller(server, "key-garden", "login-garden")
        caller.ask("/2/subscribers/", email="private@example.org")
        caller.ask("/2/subscribers/authenticate/", login="private", password="hush-hush")
        caller.ask("/2/orders/987654321")
        caller.close()
        status = server.stop()
        return server.output(), status


def test_the_server_ends_well_when_it_is_told_to(finished: tuple[str, int]) -> None:
    """SIGTERM lets what has begun finish."""
    assert finished[1] in {0, -signal.SIGTERM}
    assert "Traceback" not in finished[0]


def test_the_log_tells_paths_and_statuses_and_no_personal_data(finished: tuple[str, int]) -> None:
    """The line has method, path template, status, duration, account, request id."""
    log = finished[0]
    for private in ("private", "hush-hush", "key-garden", "login-garden", "987654321", "?"):
        assert private not in log
    (order,) = (line for line in log.splitlines() if "/2/orders/{order_id}" in line)
    assert "GET" in order
    assert "404" in order


def test_a_server_that_others_can_reach_warns_of_plain_http(store: Store) -> None:
    """decisions, "Plain HTTP": a warning at start."""
    database = store.new_database("open")
    with serving(database, "--host", "0.0.0.0") as server:
        server.stop()
        warned = server.output()
    assert "HTTP" in warned
    assert "--behind-proxy" in warned
    with serving(database, "--host", "0.0.0.0", "--behind-proxy") as server:
        server.stop()
        assert "--behind-proxy" not in server.output()
