"""The emulator answers byte for byte what a server answers that has the same records."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import httpx2
import pytest

from masthead.emulator import MastheadServer
from masthead.emulator.publisher import API_KEY, API_LOGIN
from tests.api.conftest import DATA
from tests.servers import import_files, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Without subscribers, who are shown with the time of their load.
ALL = "customfields,subscriptions,addresses,purchases,listdownloads,orders"
OWN_TIME = {"date", "masthead-changes-through"}
REQUESTS = [
    ("GET", "/2/customfields/"),
    ("GET", "/2/customfields/1"),
    ("GET", "/2/subscriptions/"),
    ("GET", "/2/subscriptions/?limit=1"),
    ("GET", "/2/subscriptions/?limt=1"),
    ("GET", "/2/subscribers?last_name=*"),
    ("GET", "/2/subscribers/authenticate/?login=a&password=b"),
    ("GET", "/2/orders/1"),
    ("GET", "/2/orders/999"),
    ("GET", "/2/downloadmailinglist/1/?download=true"),
    ("GET", f"/snapshot?entities={ALL}"),
    ("GET", f"/digest?entities={ALL}"),
    ("GET", "/2/cdc?changed_since=2001-01-01T00:00:00Z"),
    ("GET", "/2/cdc?entities=orders"),
    ("HEAD", "/2/orders/1"),
    ("POST", "/2/orders/1"),
    ("GET", "/3/orders/1"),
    ("GET", "/openapi.json"),
    ("GET", "/manual/testing"),
    ("GET", f"/2/orders/1?{'x' * 60_000}"),
]
CREDENTIALS = ((API_KEY, API_LOGIN), (API_LOGIN, API_KEY), ("a", "b"), None)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The base URLs of an emulator and of a server with the same records."""
    folder: Path = tmp_path_factory.mktemp("same")
    database = f"sqlite:///{folder}/same.db"
    keys = ("--api-key", API_KEY, "--api-login", API_LOGIN)
    masthead("accounts", "add", 1, *keys, database=database)
    import_files(DATA / "golden", account_id="1", database=database)
    with serving(database) as server, MastheadServer(DATA / "golden") as emulator:
        yield emulator.base_url, server.url


def test_a_response_of_the_emulator_is_that_of_a_server(
    pair: tuple[str, str], subtests: pytest.Subtests
) -> None:
    """decisions, "The emulator": no imitation."""
    with httpx2.Client() as client:
        for (method, path), auth in product(REQUESTS, CREDENTIALS):
            with subtests.test(method=method, path=path[:40], auth=auth):
                assert_same(pair, [client.request(method, url + path, auth=auth) for url in pair])


def assert_same(pair: tuple[str, str], found: list[httpx2.Response]) -> None:
    """Assert that the two responses differ in nothing but the URL of their server and the time."""
    shown = [
        (
            response.status_code,
            {name: value for name, value in response.headers.items() if name not in OWN_TIME},
            response.content.replace(url.encode(), b"URL"),
        )
        for url, response in zip(pair, found, strict=True)
    ]
    assert shown[0] == shown[1]
    assert OWN_TIME & found[0].headers.keys() == OWN_TIME & found[1].headers.keys()
