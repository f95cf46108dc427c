"""The app on servers of ASGI that know nothing of Masthead."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.postgres import free_port
from tests.servers import environment, import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.servers import Store

START_S_MAX = 60
ADDRESSES = 3_000
SERVERS = {
    "uvicorn": ("uvicorn", "--no-server-header", "--no-date-header"),
    "granian": ("granian", "--interface", "asgi"),
}
TARGETS = (
    "/2/accounts/",
    "/2/accounts/1",
    "/2/accounts/2/",
    "/2/subscribers/",
    "/2/subscribers/?last_name=s*",
    "/2/subscribers/authenticate/?login=a@example.org&password=no",
    "/2/subscribers/?nothing=1",
    "/2/customfields/",
    "/2/customfields/1",
    "/2/orders/7",
    "/2/downloadmailinglist/1/",
    "/2/nothing",
    "/1/orders/7",
    "/snapshot?entities=addresses",
    "/snapshot?entities=orders",
    "/digest?entities=addresses",
    "/health",
    "/openapi.json",
    "/docs",
)
PASSING = {"date", "server", "connection", "masthead-changes-through"}


@pytest.fixture(scope="module")
def database(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with answers of every kind."""
    url = store.new_database("other-servers")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
    files = {
        "subscribers": [{"subscriber_id": 1, "email": "a@example.org", "last_name": "Sand"}],
        "addresses": [
            {"address_id": n, "subscriber_id": 1, "city": f"Zürich {n}"}
            for n in range(1, ADDRESSES + 1)
        ],
    }
    paths = write_ndjson(tmp_path_factory.mktemp("other"), files)
    import_files(*paths, account_id="1", database=url)
    return url


@contextmanager
def served(database: str, command: Sequence[str]) -> Iterator[str]:
    """Serve the app with another server; yield its URL."""
    port = str(free_port())
    with subprocess.Popen(
        [sys.executable, "-m", *command, "--port", port, "tests.api.other_server:app"],
        env=environment(database),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            wait_until_it_answers(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            output, _ = process.communicate(timeout=START_S_MAX)
    assert "Traceback" not in output
    assert "Exception ignored" not in output


def wait_until_it_answers(url: str, process: subprocess.Popen[str]) -> None:
    ends_at = time.monotonic() + START_S_MAX
    while True:
        try:
            httpx2.get(f"{url}/openapi.json", trust_env=False)
        except httpx2.TransportError:
            assert process.poll() is None
            assert time.monotonic() < ends_at
        else:
            return


def answers(url: str) -> dict[str, tuple[int, dict[str, str], bytes]]:
    """Return the status, the headers and the body of the answer to each request."""
    found = {}
    with httpx2.Client(base_url=url, auth=("key", "login"), trust_env=False) as client:
        for method in ("GET", "HEAD", "POST"):
            for target in TARGETS:
                answer = client.request(method, target)
                headers = {k: v for k, v in answer.headers.items() if k not in PASSING}
                found[f"{method} {target}"] = answer.status_code, headers, answer.content
        body = client.request("GET", "/2/subscribers/", content=b'[{"last_name": "sand"}]')
        found["a body"] = body.status_code, {}, body.content
        stranger = httpx2.get(f"{url}/2/orders/7", auth=("key", "no"), trust_env=False)
        found["a stranger"] = stranger.status_code, {}, stranger.content
    return found


@pytest.mark.parametrize("server", SERVERS)
def test_the_app_answers_on_any_server_as_it_does_on_our_own(database: str, server: str) -> None:
    """decisions, "Other servers of ASGI"."""
    with serving(database) as own:
        wanted = answers(own.url)
    with served(database, SERVERS[server]) as url:
        found = answers(url)
    for request, answer in wanted.items():
        assert found[request] == answer, request
