"""The header ``Date``: one in every response, in HTTP's form, and right."""

from __future__ import annotations

import http.client
import re
import socket
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.api.callers import ENTITIES, basic
from tests.long import ON_BOTH

if TYPE_CHECKING:
    from tests.api.callers import Caller
    from tests.api.conftest import House, Publisher
    from tests.api.other_servers import Served
    from tests.servers import Server

IMF_FIXDATE = re.compile(
    r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-3]\d "
    r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} [0-2]\d:[0-5]\d:[0-6]\d GMT"
)
"""The one form that may be sent (RFC 9110 section 5.6.7)."""


def answers(
    server: Server | Served, request: bytes, *, method: str = "GET"
) -> tuple[int, list[str]]:
    """Send exactly these bytes; return the status and each ``Date`` of the response."""
    with socket.create_connection(server.address, timeout=30) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        response.read()
        return response.status, [
            value for name, value in response.getheaders() if name.lower() == "date"
        ]


def assert_dated(
    server: Server | Served, request: bytes, status: int, *, method: str = "GET"
) -> datetime:
    """Assert that the response has one date, of a time between request and answer; return it."""
    before = datetime.now(UTC).replace(microsecond=0)
    found, dates = answers(server, request, method=method)
    after = datetime.now(UTC)
    assert found == status
    (date,) = dates
    assert IMF_FIXDATE.fullmatch(date)
    moment = parsedate_to_datetime(date)
    assert f"{moment:%a, %d %b %Y %H:%M:%S} GMT" == date
    assert before <= moment <= after
    return moment


def request(caller: Caller, target: str, *, method: str = "GET", authorization: str = "") -> bytes:
    credentials = authorization or basic(caller.api_key, caller.api_login)
    return (
        f"{method} {target} HTTP/1.1\r\nHost: masthead.test\r\nConnection: close\r\n"
        f"Authorization: {credentials}\r\n\r\n"
    ).encode()


def ago(**parts: float) -> str:
    return (datetime.now(UTC) - timedelta(**parts)).strftime("%Y-%m-%dT%H:%M:%SZ")


def feed(since: str) -> str:
    return f"/2/cdc?changed_since={since}&entities={','.join(ENTITIES)}"


TARGETS = [
    ("/2/accounts/", 200),
    ("/2/subscriptions/", 200),
    ("/2/orders/71", 200),
    ("/2/downloadmailinglist/81/", 200),
    ("/snapshot?entities=subscribers", 200),
    ("/health", 200),
    ("/docs", 200),
    ("/2/subscriptions/?type=Paper", 400),
    ("/2/orders/987654321", 404),
    ("/2/downloadmailinglist/987654321/", 404),
    ("/nothing", 404),
    (feed("2020-01-01T00:00:00Z"), 410),
    (feed("9999-12-31T23:59:59Z"), 400),
    (feed("yesterday"), 400),
]


def test_every_response_has_one_date(golden: Caller, subtests: pytest.Subtests) -> None:
    """RFC 9110 section 6.6.1."""
    for (target, status), method in product(TARGETS, ("GET", "HEAD")):
        with subtests.test(target=target, method=method):
            asked = request(golden, target, method=method)
            assert_dated(golden.server, asked, status, method=method)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("days", [1, -0.002])
def test_every_response_of_the_feed_has_one_date(golden: Caller, days: float, method: str) -> None:
    """rules, "Change feed": with changes and without."""
    asked = request(golden, feed(ago(days=days)), method=method)
    assert_dated(golden.server, asked, 200, method=method)


def test_answers_to_other_methods_and_to_strangers_have_one_date(golden: Caller) -> None:
    """RFC 9110 section 6.6.1."""
    server = golden.server
    assert_dated(server, request(golden, "/2/accounts/", method="DELETE"), 405)
    assert_dated(server, request(golden, "/2/accounts/", method="BREW"), 405)
    stranger = basic("nobody", "nothing")
    assert_dated(server, request(golden, "/2/accounts/", authorization=stranger), 403)
    assert_dated(server, b"GET /2/accounts/ HTTP/1.1\r\nHost: a\r\n\r\n", 401)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"GET /2/accounts/ HTTP/1.1\r\nHost a\r\n\r\n", 400),
        (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nX-Filler: " + b"a" * 40_000 + b"\r\n\r\n", 431),
    ],
)
def test_an_answer_to_what_is_not_http_has_one_date(house: House, sent: bytes, status: int) -> None:
    """rules, "Error body": those of the server itself are like the others."""
    assert_dated(house.server, sent, status)


def test_a_response_to_a_body_that_is_too_large_has_one_date(golden: Caller) -> None:
    """rules, "Statuses": 413."""
    head = request(golden, "/2/subscriptions/").removesuffix(b"\r\n")
    head += b"Content-Type: application/json\r\nContent-Length: 20000\r\n\r\n"
    assert_dated(golden.server, head + b" " * 20_000, 413)


def test_each_response_on_one_connection_has_a_date_of_its_own(golden: Caller) -> None:
    """Of the feed and of others in turn: none is handed on."""
    for target in ("/2/orders/71", feed(ago(days=1)), "/2/orders/71", "/nothing"):
        response = golden.ask(target)
        assert len(response.headers.get_list("date")) == 1


@ON_BOTH
def test_a_client_that_goes_by_the_date_misses_nothing(publisher: Publisher) -> None:
    """rules, "Change feed": it asks too early rather than too late."""
    caller = publisher.caller
    for number in range(100, 104):
        dates = []
        for target in (feed(ago(minutes=1)), feed(ago(minutes=-3)), "/snapshot?entities=orders"):
            asked = request(caller, target)
            dates.append(assert_dated(caller.server, asked, 200))
        publisher.load(subscribers=[{"subscriber_id": number}])
        for date in dates:
            since = date.strftime("%Y-%m-%dT%H:%M:%SZ")
            rows = caller.read("/2/cdc", changed_since=since, entities="subscribers")
            assert str(number) in {row["subscriber_id"] for row in rows["subscribers"]}
