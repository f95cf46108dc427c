"""Each fault, as curl and the client see it; and the log of requests."""

from __future__ import annotations

import asyncio
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx2
import pytest

from masthead import Client
from masthead.emulator import faults
from masthead.errors import BadInput, ServiceUnreachable, TooManyRequests, TooOld
from masthead.store import system_clock
from tests.emulator.test_records import LEAST, get

if TYPE_CHECKING:
    from starlette.types import Message

    from masthead.emulator import MastheadServer

KINDS = ("publications", "subscribers", "subscriptions", "orders")
CURL_NOT_CONNECTED, CURL_PARTIAL_FILE, CURL_RESET = 7, 18, 56
AT_ONCE = {"Retry-After": "0"}


def curl(server: MastheadServer, path: str, *options: str) -> subprocess.CompletedProcess[str]:
    user = ":".join(server.credentials)
    return subprocess.run(
        ["curl", "-sS", "-u", user, *options, server.base_url + path],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def impatient(server: MastheadServer) -> Client:
    """Return a client that does not try again."""
    return Client(server.base_url, *server.credentials, patience_s=0)


def filled(server: MastheadServer) -> None:
    for kind in KINDS:
        server.add(kind, LEAST[kind])


def test_the_next_requests_get_503_and_say_when_to_come_again(
    server: MastheadServer, client: Client
) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    server.faults.respond(503, headers=AT_ONCE, requests=2)
    first = get(server, "/2/orders/1")
    assert (first.status_code, first.headers["Retry-After"]) == (503, "0")
    assert set(first.json()) == {"error"}
    assert client.get_order(1).order_id == 1
    assert [each.status for each in server.requests] == [503, 503, 200]
    server.faults.respond(503, headers={"Retry-After": "7"})
    with impatient(server) as other, pytest.raises(ServiceUnreachable) as refused:
        other.get_order(1)
    assert refused.value.retry_after_s == 7
    server.faults.respond(429, headers={"Retry-After": "8"})
    with impatient(server) as other, pytest.raises(TooManyRequests) as limited:
        other.get_order(1)
    assert limited.value.retry_after_s == 8


def test_a_response_has_the_status_the_headers_and_the_body_that_it_is_told(
    server: MastheadServer,
) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    for status in (200, 204, 301, 304, 404, 418, 500, 599):
        server.faults.respond(status)
        response = get(server, "/2/orders/1")
        assert response.status_code == status
        assert bool(response.content) == (status not in {204, 304})
    server.faults.respond(502, headers={"content-type": "text/html", "X-Proxy": "a"}, body="<p>é")
    response = get(server, "/2/orders/1")
    assert (response.status_code, response.text) == (502, "<p>é")
    assert (response.headers["Content-Type"], response.headers["X-Proxy"]) == ("text/html", "a")
    server.faults.respond(200, body='{"order_id":')
    response = get(server, "/2/orders/1")
    assert response.headers["Content-Type"] == "application/json"
    with pytest.raises(ValueError, match="Expecting value"):
        response.json()


def test_a_fault_of_all_requests_lasts_until_it_is_cleared(server: MastheadServer) -> None:
    filled(server)
    server.faults.respond(500, requests=None, path="/2/orders")
    assert [get(server, "/2/orders/1").status_code for _ in range(5)] == [500] * 5
    assert get(server, "/2/subscribers/").status_code == 200
    assert [each["requests"] for each in server.ask("GET", "/faults")["faults"]] == [None]
    server.faults.clear()
    assert get(server, "/2/orders/1").status_code == 200


def test_a_delayed_response_comes_when_the_faults_are_cleared(server: MastheadServer) -> None:
    filled(server)
    server.faults.delay(seconds=3_600)
    with ThreadPoolExecutor() as threads:
        delayed = threads.submit(get, server, "/2/orders/1")
        while not server.requests:
            pass
        assert (server.requests[0].status, server.requests[0].fault) == (None, "delay")
        server.faults.clear()
        assert delayed.result().status_code == 200


@pytest.mark.parametrize("seconds", [0.001, 0.05, 1.23, 60])
def test_a_delay_takes_its_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(faults, "sleep", sleep)
    asyncio.run(faults.Faults().sleep(seconds))
    assert sum(waited) == pytest.approx(seconds)
    assert max(waited) <= 0.05


def test_a_connection_is_reset_before_its_response_or_within_it(server: MastheadServer) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    whole = get(server, "/2/orders/1").text
    for told, sent in ((None, ""), (0, ""), (50, whole[:50]), (1_000_000, whole[:-1])):
        server.faults.reset_connection(after_bytes=told)
        done = curl(server, "/2/orders/1")
        assert (done.returncode, done.stdout) == (CURL_RESET, sent), done.stderr
    assert [each.status for each in server.requests] == [200, None, 200, 200, 200]
    server.faults.reset_connection()
    with pytest.raises(httpx2.ReadError):
        get(server, "/2/orders/1")
    server.faults.reset_connection(requests=2)
    with Client(server.base_url, *server.credentials) as patient:
        assert patient.get_order(1).order_id == 1


def test_what_was_sent_before_a_reset_arrives(server: MastheadServer) -> None:
    server.add("subscribers", *({"subscriber_id": n} for n in range(1, 5_001)))
    server.faults.reset_connection(after_bytes=500_000)
    done = curl(server, "/snapshot?entities=subscribers")
    assert (done.returncode, len(done.stdout)) == (CURL_RESET, 500_000), done.stderr


@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        ("/2/orders/1", "application/json"),
        ("/2/subscribers/", "application/json"),
        ("/snapshot?entities=subscribers", "application/json"),
        ("/snapshot?entities=subscribers", "application/x-ndjson"),
    ],
)
def test_malformed_json_lacks_its_end_in_a_response_that_is_complete(
    server: MastheadServer, path: str, accepted: str
) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    server.add("subscribers", *({"subscriber_id": n} for n in range(2, 3_000)))
    headers = {"Accept": accepted, "Accept-Encoding": "gzip"}
    url, auth = server.base_url + path, server.credentials
    whole = httpx2.get(url, headers=headers, auth=auth)
    server.faults.malformed()
    broken = httpx2.get(url, headers=headers, auth=auth)
    assert broken.status_code == 200
    assert "Content-Encoding" not in broken.headers
    assert len(broken.content) == len(whole.content)
    end = whole.text.rstrip()
    assert broken.text.rstrip() == end[:-1]
    json.loads(end.splitlines()[-1])
    with pytest.raises(ValueError, match="line 1 column"):
        json.loads(broken.text.splitlines()[-1])


def test_connections_are_refused_until_the_faults_are_cleared(server: MastheadServer) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    with httpx2.Client(base_url=server.base_url, auth=server.credentials) as kept:
        assert kept.get("/2/orders/1").status_code == 200
        for end in (server.faults.clear, server.reset):
            server.faults.refuse_connections()
            assert server.ask("GET", "/faults") == {"faults": [{"type": "refuse-connections"}]}
            with pytest.raises(httpx2.ConnectError):
                get(server, "/2/orders/1")
            assert curl(server, "/2/orders/1").returncode == CURL_NOT_CONNECTED
            with pytest.raises(httpx2.TransportError):  # also over the connection from before
                kept.get("/2/orders/1")
            server.faults.refuse_connections()
            end()
            assert server.ask("GET", "/faults") == {"faults": []}
            assert kept.get("/2/subscribers/").status_code == 200


def test_a_client_waits_for_a_service_that_is_away_for_a_while(server: MastheadServer) -> None:
    filled(server)
    server.faults.refuse_connections(seconds=3_600)
    server.faults.refuse_connections(seconds=0.2)
    with Client(server.base_url, *server.credentials) as patient:
        assert patient.get_order(1).order_id == 1
    assert server.ask("GET", "/faults") == {"faults": []}


@pytest.mark.parametrize("cut", [0, 1, 20, 1_000_000])
def test_an_answer_is_cut_wherever_it_is_told_to_be(server: MastheadServer, cut: int) -> None:
    """rules, "Faults of the emulator": a cut response is never complete, even if it is short."""
    filled(server)
    whole = get(server, "/2/orders/1").content
    server.faults.cut_after(cut)
    done = curl(server, "/2/orders/1", "--http1.1")
    assert done.returncode == CURL_PARTIAL_FILE, done.stderr
    assert done.stdout.encode() == whole[: min(cut, len(whole) - 1)]
    server.faults.cut_after(cut)
    with impatient(server) as other, pytest.raises(ServiceUnreachable):
        other.get_order(1)
    assert [each.fault for each in server.requests] == [None, "cut-after", "cut-after"]
    assert get(server, "/2/orders/1").content == whole


def test_a_streamed_answer_is_cut_too(server: MastheadServer) -> None:
    server.add("subscribers", *({"subscriber_id": n} for n in range(1, 20_001)))
    server.faults.cut_after(1_000)
    done = curl(server, "/snapshot?entities=subscribers")
    assert done.returncode == CURL_PARTIAL_FILE, done.stderr
    assert len(done.stdout) == 1_000
    server.faults.cut_after(1_000_000_000)
    done = curl(server, "/snapshot?entities=subscribers")
    assert done.returncode == CURL_PARTIAL_FILE, done.stderr
    assert len(done.stdout) > 1_000_000


def test_a_slow_answer_arrives_in_pieces_and_whole(server: MastheadServer) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    whole = get(server, "/2/orders/1").content
    server.faults.slow(bytes_per_second=1_000)
    auth = server.credentials
    with httpx2.stream("GET", f"{server.base_url}/2/orders/1", auth=auth) as response:
        pieces = list(response.iter_raw())
    assert len(pieces) > 2
    assert b"".join(pieces) == whole


@pytest.mark.parametrize("sizes", [(1_000,), (10, 10, 10), (49, 50, 51, 0), (1_000, 1, 300)])
def test_a_slow_answer_takes_its_time_however_it_is_divided(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...]
) -> None:
    """rules, "Faults of the emulator": before each piece, all before it has had its time."""
    waited: list[float] = []
    sent: list[int] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def send(message: Message) -> None:
        assert sum(waited) == pytest.approx(sum(sent) / 1_000)
        sent.append(len(message["body"]))

    async def send_all() -> None:
        asked = faults.Asked(method="GET", path="/", parameters={})
        slow = faults.Slow(bytes_per_second=1_000)
        sending = faults._Sending(send, slow, faults.Faults(), asked, system_clock, {})
        for n, size in enumerate(sizes, 1):
            more = {"body": b"x" * size, "more_body": n < len(sizes)}
            await sending({"type": "http.response.body", **more})

    monkeypatch.setattr(faults, "sleep", sleep)
    asyncio.run(send_all())
    assert sum(sent) == sum(sizes)


def test_faults_that_are_cleared_end_in_the_middle_of_a_slow_answer(server: MastheadServer) -> None:
    filled(server)
    server.faults.slow(bytes_per_second=1)  # would take minutes
    auth = server.credentials
    with httpx2.stream("GET", f"{server.base_url}/2/orders/1", auth=auth) as response:
        pieces = response.iter_raw()
        assert len(next(pieces)) == 1
        server.faults.clear()
        assert b"".join(pieces).endswith(b"}")


def test_a_new_epoch_refuses_all_times_before_it(server: MastheadServer, client: Client) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    with client.changes(server.clock.now - timedelta(hours=1)) as changes:
        through = changes.through
    server.faults.new_epoch()
    with pytest.raises(TooOld):
        client.changes(through).__enter__()
    with client.snapshot() as snapshot:
        list(snapshot)
    with client.changes(snapshot.through) as changes:
        assert list(changes) == []


def test_each_answer_has_the_first_fault_that_fits_its_path(server: MastheadServer) -> None:
    """rules, "Faults of the emulator"."""
    filled(server)
    server.faults.cut_after(0, path="/2/orders")
    server.faults.respond(503, requests=2)
    assert [each["type"] for each in server.ask("GET", "/faults")["faults"]] == [
        "cut-after",
        "respond",
    ]
    assert get(server, "/2/subscribers/").status_code == 503
    with pytest.raises(httpx2.RemoteProtocolError):
        get(server, "/2/orders/1")
    assert get(server, "/2/orders/1").status_code == 503
    assert get(server, "/2/orders/1").status_code == 200
    assert server.ask("GET", "/faults") == {"faults": []}


def test_a_head_request_has_no_fault(server: MastheadServer) -> None:
    server.faults.respond(503)
    url = f"{server.base_url}/2/subscribers/"
    assert httpx2.head(url, auth=server.credentials).status_code == 200
    assert get(server, "/2/subscribers/").status_code == 503


@pytest.mark.parametrize(
    ("fault", "wrong", "sentence"),
    [
        ("cut-after", {}, "required field bytes"),
        ("cut-after", {"bytes": -1}, "bytes: Expected int >= 0"),
        ("slow", {"bytes_per_second": 0}, "bytes_per_second: Expected int >= 1"),
        ("slow", {"bytes_per_second": 1, "requests": 0}, "requests: Expected int >= 1"),
        ("malformed", {"request": 3}, "unknown field request"),
        ("malformed", {"path": "2/orders"}, "no path begins with '2/orders': give one such as"),
        ("malformed", {"path": "/2/orders?x=1"}, "give one such as /2/orders, without a query"),
        ("delay", {"seconds": 0}, "seconds: Expected float > 0"),
        ("delay", {"seconds": 3_601}, "seconds: Expected float <= 3600"),
        ("refuse-connections", {"seconds": 0}, "seconds: Expected float > 0"),
        ("respond", {"status": 199}, "status: Expected int >= 200"),
        ("respond", {"status": 600}, "status: Expected int <= 599"),
        ("respond", {"status": 204, "body": "a"}, "a response with 204 has no body"),
        ("respond", {"status": 200, "headers": {"A": "é"}}, "'A': 'é' cannot be sent; give a name"),
        ("respond", {"status": 200, "headers": {"A b": "c"}}, "the header 'A b': 'c' cannot be"),
        ("respond", {"status": 200, "headers": {"A": "b\r\nC: d"}}, "cannot be sent"),
        ("respond", {"status": 200, "headers": {"Content-Length": "1"}}, "leave it out"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(
    server: MastheadServer, fault: str, wrong: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        server.ask("POST", f"/faults/{fault}", wrong)
    assert server.ask("GET", "/faults") == {"faults": []}


def test_the_log_shows_what_was_asked_without_credentials(server: MastheadServer) -> None:
    """rules, "What the emulator was asked"."""
    get(server, "/2/subscribers/authenticate/", login="ann@b.example", password="hush-hush")
    body = '[{"login": "ann@b.example", "password": "hush-hush"}]'
    curl(server, "/2/subscribers/authenticate/", "-X", "GET", "-d", body)
    get(server, "/2/subscribers/?limit=1&limit=2")
    httpx2.post(f"{server.base_url}/2/orders/1", auth=("nobody", "hush-hush"))
    curl(server, f"/2/orders/1?{'x' * 70_000}")
    answered = server.ask("GET", "/requests")
    text = repr(answered)
    for secret in ("hush-hush", *server.credentials, "nobody"):
        assert secret not in text
    login = {"login": "ann@b.example", "password": "…"}
    path = "/2/subscribers/authenticate/"
    assert [tuple(each)[:4] for each in server.requests] == [
        ("GET", path, login, 200),
        ("GET", path, login, 200),
        ("GET", "/2/subscribers/", {"limit": ["1", "2"]}, 400),
        ("POST", "/2/orders/1", {}, 405),
        ("GET", None, {}, 414),
    ]
    server.ask("DELETE", "/requests")
    assert server.requests == []
