"""The app on ASGI servers that know nothing of Masthead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.api.other_servers import SERVERS, served
from tests.long import ONLY_LONG, SHORT_ON_SQLITE
from tests.servers import import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from tests.servers import Store

ADDRESSES = 3_000
AN_HOUR_AGO = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
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
    f"/deletions?entities=addresses,orders&changed_since={AN_HOUR_AGO}",
    "/health",
    "/openapi.json",
    "/docs",
)
PASSING = {"date", "masthead-changes-through"}
OF_THE_SERVER = {"server", "connection", "transfer-encoding"}
"""Headers that are the server's own (RFC 9110 section 7.6.1)."""


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


def answers(url: str) -> dict[str, tuple[int, dict[str, str], bytes]]:
    """Return the status, the headers and the body of the response to each request."""
    found = {}
    with httpx2.Client(base_url=url, auth=("key", "login")) as client:
        for method in ("GET", "HEAD", "POST"):
            for target in TARGETS:
                response = client.request(method, target)
                headers = {
                    k: v for k, v in response.headers.items() if k not in PASSING | OF_THE_SERVER
                }
                found[f"{method} {target}"] = response.status_code, headers, response.content
        body = client.request("GET", "/2/subscribers/", content=b'[{"last_name": "sand"}]')
        found["a body"] = body.status_code, {}, body.content
        stranger = httpx2.get(f"{url}/2/orders/7", auth=("key", "no"))
        found["a stranger"] = stranger.status_code, {}, stranger.content
    return found


@ONLY_LONG
@SHORT_ON_SQLITE
@pytest.mark.parametrize("server", SERVERS)
def test_the_app_answers_on_any_server_as_it_does_on_our_own(database: str, server: str) -> None:
    """decisions, "Other servers of ASGI"."""
    with serving(database) as own:
        wanted = answers(own.url)
    with served(database, server, {}) as other:
        found = answers(other.url)
    for request, response in wanted.items():
        assert found[request] == response, request
