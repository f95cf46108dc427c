"""Any response of a service gives a result, or an exception of the one tree, and at once.

The headers that the client reads, and records, with values that make sense, nearly make sense and
make none.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from masthead.client.requests import list_accounts
from masthead.client.responses import status_error
from masthead.contract.shapes import Subscription, fields_of
from masthead.errors import ServiceError, ServiceUnreachable, UnexpectedResponse
from tests.client.flavours import FLAVOURS, connecting
from tests.client.service import Reply, Service, in_turn
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead import Client

EVERYTHING = '{"accounts": [], "subscriptions": [{"subscription_id": 1}], "list_downloads": []}'
LONGEST_WAIT_S = 2**31

_numbers = st.integers() | st.integers(min_value=10**18) | st.just("9" * 5_000)
_days = st.sampled_from(["Mon, ", "Fri,", "Someday, ", ""])
_months = st.sampled_from(["Jan", "Dec", "Smarch", "12"])
_zones = st.sampled_from(["GMT", "-0000", "UT", "", "-2300", "+2359", "+9999999999", "EST", "A"])
_dates = st.one_of(
    st.builds(
        "{}{:02} {} {} {:02}:{:02}:{:02} {}".format,
        _days,
        st.integers(0, 33),
        _months,
        st.sampled_from([0, 1, 9, 70, 99, 1601, 2026, 9999, 10_000, 10**30]),
        *(st.integers(0, 61) for _ in range(3)),
        _zones,
    ),
    st.datetimes().map(lambda moment: f"{moment:%a, %d %b %Y %H:%M:%S GMT}"),
    st.datetimes().map(str),
)
_places = st.one_of(
    st.sampled_from(
        [
            "",
            "?",
            "#",
            "//",
            "///",
            "/2/subscriptions",
            "?after=1;b=2",
            "http://[",
            "http://[::1",
            "http://a]b",
            "http://\xe9\u2100.example".encode("utf-8").decode("latin-1"),
            "http://x:99999999",
            "http://%",
            "http:",
            "mailto:x",
            "?" + "a" * 70_000,
            "?a=%ff&b=%zz&%",
            "\\\\x",
            "..",
            "//user:secret@127.0.0.1",
        ]
    ),
    st.text(st.characters(codec="latin-1", exclude_characters="\r\n\x00"), max_size=30),
)
_links = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["<", "", "<<", ' , <>; rel="next", <']),
    _places,
    st.sampled_from([">", "", ">>"]),
    st.sampled_from([";", "; ", ",", "", ';title="', ";;"]),
    st.sampled_from(
        ['rel="next"', "rel=next", "REL=NEXT", "rel", "rel=", 'rel="next', "rel==next"]
    ),
)
_values = st.one_of(_numbers.map(str), _dates, _places, _links)
_headers = st.dictionaries(
    st.sampled_from(
        [
            *("Retry-After", "Date", "Link", "Location", "Masthead-Changes-Through"),
            *("Content-Type", "Content-Encoding", "Content-Length", "Transfer-Encoding"),
            *("Set-Cookie", "WWW-Authenticate", "Connection"),
        ]
    ),
    _values,
    max_size=3,
)
_statuses = st.sampled_from([200, 201, 204, 301, 303, 308, 304, 401, 404, 410, 429, 503, 599, 999])
_replies = st.builds(Reply, st.just(EVERYTHING), _statuses, _headers)

_values_of_fields = st.sampled_from(
    [
        *("1", '"1"', "-1", "1e5", "1e999", "1E-999999", "1e99999999999999999999", "9" * 5_000),
        *('"1e99999999999"', '"NaN"', '"sNaN"', '"Infinity"', '"1_0"', '"\\u0661"', '"\\ud800"'),
        *('"2024-13-01"', '"0000-00-00"', '"9999-12-31 23:59:59"', '"2024-01-01T00:00:00+99:99"'),
        *("null", "true", "[]", "{}", "[[]]", "[{}]", "[null]", '""', "NaN", "[" * 100_000),
    ]
)
_bodies = st.lists(
    st.tuples(st.sampled_from([field.name for field in fields_of(Subscription)]), _values_of_fields)
).map(lambda fields: ",".join(f'"{name}":{value}' for name, value in fields))

WAYS: list[Callable[[Client], object]] = [
    lambda client: client.list_accounts(),
    lambda client: list(client.list_subscriptions(limit=3)),
    lambda client: list(client.changes("2026-11-21T00:00:00Z", ["listdownloads"])),
    lambda client: list(client.deletions("2026-11-21T00:00:00Z", ["listdownloads"])),
]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A service, which answers as the test says."""
    with ExitStack() as stack:
        found = Service(in_turn(Reply()))
        stack.callback(found.close)
        yield found


@pytest.fixture(params=FLAVOURS)
def client(request: pytest.FixtureRequest, service: Service) -> Iterator[Client]:
    """A client of that service.

    Each test has its own: a body with a status that has none stays on its connection.
    """
    with ExitStack() as stack:
        yield connecting(request.param, stack)(service.url)


@pytest.fixture(params=FLAVOURS)
def hasty_client(request: pytest.FixtureRequest, service: Service) -> Iterator[Client]:
    """A client that waits for nothing: some headers promise more than the service sends."""
    with ExitStack() as stack:
        yield connecting(request.param, stack)(service.url, timeout_s=0.1)


@ONLY_LONG
@settings(max_examples=150, deadline=None)
@given(reply=_replies, ask=st.sampled_from(WAYS))
def test_any_headers_lead_to_a_result_or_to_an_error_of_the_service(
    service: Service, hasty_client: Client, reply: Reply, ask: Callable[[Client], object]
) -> None:
    service.answer = in_turn(reply)
    with suppress(ServiceError):
        ask(hasty_client)


@ONLY_LONG
@settings(max_examples=150, deadline=None)
@given(fields=_bodies)
def test_any_record_is_read_or_is_an_error_of_the_service(
    service: Service, client: Client, fields: str
) -> None:
    body = f'{{"subscription_id": 1, {fields}}}'.replace(", }", "}")
    service.answer = in_turn(Reply(f'{{"subscriptions": [{body}]}}'))
    for ask in (
        lambda: list(client.list_subscriptions()),
        lambda: list(client.changes("2026-11-21", ["subscriptions"])),
    ):
        with suppress(UnexpectedResponse):
            ask()


@given(headers=st.fixed_dictionaries({}, optional={"Retry-After": _values, "Date": _dates}))
def test_any_retry_time_is_ignored_or_can_be_waited(
    headers: dict[str, str],
) -> None:
    """rules, "Client: what is tried again"."""
    request = httpx2.Request("GET", "http://service.example")
    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    failure = status_error(list_accounts(), httpx2.Response(503, headers=sent, request=request))
    assert isinstance(failure, ServiceUnreachable)
    assert failure.retry_after_s is None or 0 <= failure.retry_after_s <= LONGEST_WAIT_S
