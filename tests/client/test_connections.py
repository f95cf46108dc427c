"""Connections: kept for the next request, shared, closed, and trusted."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead import AsyncClient, Client
from masthead.errors import ServiceError, ServiceUnreachable
from tests.client.service import Reply, Serve, Service, in_turn, refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.client.flavours import Connect

EVERYTHING = Reply(
    '{"accounts": [], "subscriptions": [], "subscribers": [], "list_downloads": [], '
    '"authenticated": false}'
)


@pytest.mark.parametrize("cookie", ["session=1", "session=\xe9", "a=b; expires=never; path=/2"])
def test_no_cookie_is_sent_back(connect: Connect, serve: Serve, cookie: str) -> None:
    """One that cannot be written would else stop every later request."""
    service = serve(in_turn(Reply(headers={"Set-Cookie": cookie})))
    client = connect(service.url)
    assert client.list_accounts() == client.list_accounts() == []
    assert all("cookie" not in asked.headers for asked in service.asked)


def test_one_connection_serves_all_requests(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(EVERYTHING))
    client = connect(service.url)
    for _ in range(3):
        client.list_accounts()
        list(client.list_subscriptions())
        client.authenticate("ann@example.org", "x")
        list(client.changes("2026-11-21T00:00:00Z", ["listdownloads"]))
    assert len(service.asked) == 12
    assert {asked.connection for asked in service.asked} == {1}


def test_an_error_costs_no_connection(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(refused(404), refused(410), refused(503, Retry_After="0"), EVERYTHING))
    client = connect(service.url, patience_s=5.0)
    for _ in range(2):
        with pytest.raises(ServiceError):
            client.changes("2026-11-21T00:00:00Z")
    assert client.list_accounts() == []
    assert {asked.connection for asked in service.asked} == {1}


def test_masthead_keeps_the_connection_too(
    connect: Connect, serve: Serve, masthead_url: str
) -> None:
    """One login after the other, as a paywall asks."""
    client = connect(masthead_url, "key-golden", "login-golden")
    found = [client.authenticate("mira.lang@example.org", "secret") for _ in range(20)]
    assert all(found)


def test_threads_may_share_a_client(serve: Serve) -> None:
    service = serve(in_turn(EVERYTHING))
    with Client(service.url, "key", "login") as client, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.list_accounts(), range(64)))
    assert answers == [[]] * 64
    assert len({asked.connection for asked in service.asked}) <= 8


def test_tasks_may_share_a_client(serve: Serve) -> None:
    service = serve(in_turn(EVERYTHING))

    async def ask() -> list[object]:
        async with AsyncClient(service.url, "key", "login") as client:
            return await asyncio.gather(*(client.list_accounts() for _ in range(64)))

    assert asyncio.run(ask()) == [[]] * 64


def test_a_closed_client_asks_nothing(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(EVERYTHING))
    client = connect(service.url)
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.list_accounts()
    assert not service.asked


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for loopback that signs itself, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, which makes a certificate")
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-keyout both.pem -out both.pem -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder / "both.pem"


def test_a_certificate_that_is_not_trusted_is_an_error_at_once(
    connect: Connect, certificate: Path
) -> None:
    """rules, "Client: what is tried again": it will not pass."""
    with closing(Service(in_turn(EVERYTHING), certificate)) as service:
        with pytest.raises(ServiceError, match="its certificate is not to be trusted") as caught:
            connect(service.url, patience_s=60.0).list_accounts()
        assert not isinstance(caught.value, ServiceUnreachable)
        assert not service.asked


def test_a_certificate_of_an_authority_of_ones_own(
    connect: Connect, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with closing(Service(in_turn(EVERYTHING), certificate)) as service:
        assert connect(service.url).list_accounts() == []
