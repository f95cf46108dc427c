"""What is tried again, and when; and what is not."""

from __future__ import annotations

import pickle
import re
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import httpx2
import pytest
from tenacity import RetryCallState, Retrying

from masthead.client.requests import list_accounts
from masthead.client.responses import LONGEST_WAIT_S, retry_policy, status_error
from masthead.errors import (
    BadInput,
    MastheadError,
    ServiceError,
    ServiceUnreachable,
    TooManyRequests,
    TooOld,
    UnexpectedResponse,
)
from tests.client.service import HANGS_UP, SAYS_NOTHING, Reply, Serve, in_turn, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead import Client
    from tests.client.flavours import Connect

AT_ONCE = {"Retry_After": "0"}


def ask_once(client: Client) -> object:
    """Make a request whose answer is read at once."""
    return client.list_accounts()


def ask_for_a_page(client: Client) -> object:
    """Make a request for a page of a list."""
    return list(client.list_subscriptions())


def ask_for_the_feed(client: Client) -> object:
    """Make a request whose answer is read piece by piece."""
    return list(client.changes("2026-11-21T00:00:00Z", ["listdownloads"]))


each_way = pytest.mark.parametrize("ask", [ask_once, ask_for_a_page, ask_for_the_feed])
GOOD = Reply('{"accounts": [], "subscriptions": [], "list_downloads": []}')


def in_http(moment: datetime) -> str:
    """Return a moment as the headers of HTTP write it."""
    return format_datetime(moment, usegmt=True)


@each_way
@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_pass_is_tried_again(
    connect: Connect, serve: Serve, ask: Callable[[Client], object], status: int
) -> None:
    """rules, "Client: what is tried again"."""
    service = serve(in_turn(refused(status, **AT_ONCE), refused(status, **AT_ONCE), GOOD))
    assert ask(connect(service.url, patience_s=5.0)) == []
    assert len(service.asked) == 3


@each_way
def test_each_retry_is_logged(
    connect: Connect,
    serve: Serve,
    ask: Callable[[Client], object],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """rules, "Client: what is tried again": with the reason and the wait, without the query."""
    service = serve(in_turn(refused(503, **AT_ONCE), refused(429, **AT_ONCE), GOOD))
    ask(connect(service.url, patience_s=5.0))
    said = [each.getMessage() for each in caplog.records if each.name == "masthead.client"]
    assert [re.sub(r"^/2/\w+/?|0\.\d", "…", line) for line in said] == [
        "…: 503: no; the next attempt is in … s",
        "…: 429: no; the next attempt is in … s",
    ]


@each_way
def test_a_lost_connection_is_tried_again(
    connect: Connect, serve: Serve, ask: Callable[[Client], object]
) -> None:
    """rules, "Client: what is tried again"."""
    service = serve(in_turn(HANGS_UP, GOOD))
    assert ask(connect(service.url, patience_s=5.0)) == []
    assert len(service.asked) == 2


@pytest.mark.parametrize("ask", [ask_once, ask_for_a_page])
def test_an_answer_that_breaks_off_is_tried_again(
    connect: Connect, serve: Serve, ask: Callable[[Client], object]
) -> None:
    """rules, "Client: what is tried again"."""
    service = serve(in_turn(Reply(GOOD.body, is_cut=True), GOOD))
    assert ask(connect(service.url, patience_s=5.0)) == []


def test_an_error_that_breaks_off_is_tried_again(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(Reply("{}", status=500, is_cut=True), GOOD))
    assert ask_for_the_feed(connect(service.url, patience_s=5.0)) == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 414, 500, 501])
@each_way
def test_what_will_not_pass_is_not_tried_again(
    connect: Connect, serve: Serve, ask: Callable[[Client], object], status: int
) -> None:
    """rules, "Client: what is tried again"."""
    service = serve(in_turn(refused(status, "because"), GOOD))
    with pytest.raises(ServiceError, match=f"{status}: because") as caught:
        ask(connect(service.url, patience_s=5.0))
    assert caught.value.status == status
    assert not isinstance(caught.value, ServiceUnreachable)
    assert len(service.asked) == 1


def test_patience_ends(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(refused(503, "not now")))
    with pytest.raises(ServiceUnreachable, match="/2/accounts/: 503: not now") as caught:
        ask_once(connect(service.url, patience_s=0.3))
    assert (caught.value.status, caught.value.retry_after_s) == (503, None)


def test_without_patience_nothing_is_tried_again(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(refused(503, **AT_ONCE), GOOD))
    with pytest.raises(ServiceUnreachable):
        ask_once(connect(service.url, patience_s=0.0))
    assert len(service.asked) == 1


def test_a_wait_beyond_patience_is_not_begun(connect: Connect, serve: Serve) -> None:
    """Who asks hears at once that it will take long, and how long."""
    service = serve(in_turn(refused(429, "slowly", Retry_After="3600"), GOOD))
    with pytest.raises(TooManyRequests, match="429: slowly") as caught:
        ask_once(connect(service.url, patience_s=60.0))
    assert caught.value.retry_after_s == 3600
    assert len(service.asked) == 1


def test_a_date_to_try_again_is_held_against_the_services_clock(
    connect: Connect, serve: Serve
) -> None:
    """RFC 9110 section 10.2.3."""
    then = datetime(2001, 1, 1, 12, 0, 0, tzinfo=UTC)
    late = {"Date": in_http(then), "Retry_After": in_http(then + timedelta(seconds=1800))}
    soon = {"Date": in_http(then), "Retry_After": in_http(then)}
    with pytest.raises(ServiceUnreachable) as caught:
        ask_once(connect(serve(in_turn(refused(503, **late))).url, patience_s=60.0))
    assert caught.value.retry_after_s == 1800
    service = serve(in_turn(refused(503, **soon), GOOD))
    assert ask_once(connect(service.url, patience_s=5.0)) == []


def test_a_date_to_try_again_without_a_date_of_now(connect: Connect, serve: Serve) -> None:
    in_an_hour = in_http(datetime.now(UTC) + timedelta(hours=1))
    service = serve(in_turn(refused(503, Date="", Retry_After=in_an_hour)))
    with pytest.raises(ServiceUnreachable) as caught:
        ask_once(connect(service.url, patience_s=60.0))
    assert caught.value.retry_after_s is not None
    assert 3_500 < caught.value.retry_after_s <= 3_600


NO_DATES = [
    "Fri, 31 Dec 9999 23:59:59 -2300",
    "Fri, 31 Dec 99999 23:59:59 GMT",
    "Fri, 31 Dec 2026 23:59:59 +9999999999999999999",
    "Fri, 99 Dec 2026 23:59:59 GMT",
]


@pytest.mark.parametrize("written", ["soon", "-5", "1.5", "", "٣", *NO_DATES])
def test_an_invalid_retry_time_is_ignored(written: str) -> None:
    headers = [(b"Retry-After", written.encode())]
    request = httpx2.Request("GET", "http://service.example")
    response = httpx2.Response(503, headers=headers, request=request)
    failure = status_error(list_accounts(), response)
    assert isinstance(failure, ServiceUnreachable)
    assert failure.retry_after_s is None


@pytest.mark.parametrize(
    "written", ["9" * 400, "9" * 5_000, str(2**31 + 1), "Fri, 31 Dec 9999 23:59:59 GMT"]
)
def test_a_time_beyond_all_clocks_is_a_long_one(
    connect: Connect, serve: Serve, written: str
) -> None:
    """rules, "Client: what is tried again": more than that no clock waits."""
    service = serve(in_turn(refused(503, Retry_After=written)))
    with pytest.raises(ServiceUnreachable) as caught:
        ask_once(connect(service.url, patience_s=60.0))
    assert caught.value.retry_after_s == 2**31
    assert len(service.asked) == 1


@pytest.mark.parametrize("written", NO_DATES)
def test_a_feed_with_an_invalid_date_is_an_error(
    connect: Connect, serve: Serve, written: str
) -> None:
    service = serve(in_turn(Reply(GOOD.body, headers={"Date": written})))
    with pytest.raises(UnexpectedResponse, match="nor a Date"):
        ask_for_the_feed(connect(service.url))


def test_a_service_that_does_not_listen_is_an_error_in_time(connect: Connect) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(
            ServiceUnreachable, match="/2/accounts/: no complete response: "
        ) as caught:
            ask_once(connect(url, patience_s=0.3))
    assert caught.value.status is None


@each_way
def test_silence_is_a_lost_connection(
    connect: Connect, serve: Serve, ask: Callable[[Client], object]
) -> None:
    service = serve(in_turn(SAYS_NOTHING))
    with pytest.raises(ServiceUnreachable, match="no complete response: "):
        ask(connect(service.url, timeout_s=0.05))


def wait_s(tries: int, failure: ServiceUnreachable) -> float:
    """Return how long the policy waits after so many tries that failed."""
    state = RetryCallState(Retrying(), None, (), {})
    state.attempt_number = tries
    state.set_exception((type(failure), failure, None))
    wait: Callable[[RetryCallState], float] = retry_policy(60.0)["wait"]
    return wait(state)


def test_waits_grow_and_are_scattered() -> None:
    """rules, "Client: what is tried again": clients that failed together come apart."""
    failure = ServiceUnreachable("/", None, "gone")
    longest = 0.0
    for tries, bound in ((1, 0.2), (2, 0.4), (5, 3.2), (50, LONGEST_WAIT_S)):
        waits = [wait_s(tries, failure) for _ in range(200)]
        assert all(0 <= wait <= bound for wait in waits)
        assert max(waits) > longest
        assert len(set(waits)) > 100
        longest = max(waits)


def test_what_the_service_asks_for_is_never_undercut() -> None:
    """rules, "Client: what is tried again"."""
    waits = [wait_s(1, ServiceUnreachable("/", 503, "busy", 7.0)) for _ in range(200)]
    assert all(7.0 <= wait <= 7.2 for wait in waits)
    assert len(set(waits)) > 100


@pytest.mark.parametrize(
    "error",
    [
        ServiceError("/2/orders/1", 404, "there is no order 1"),
        TooOld("/2/cdc", 410, "too long ago"),
        ServiceUnreachable("/2/accounts/", 503, "busy", 2.0),
        UnexpectedResponse("/2/accounts/", 200, "the response is not JSON"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_travels_between_processes(error: ServiceError) -> None:
    """The caller of a pool of processes gets the whole error."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_the_errors_are_one_tree() -> None:
    for kind in (TooOld, ServiceUnreachable, UnexpectedResponse):
        assert issubclass(kind, ServiceError)
    assert issubclass(ServiceError, MastheadError)
    assert not issubclass(ServiceError, BadInput)
