"""Each fault, as curl, the client and the mirror see it; and the log of requests."""

from __future__ import annotations

import asyncio
import subprocess
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx2
import pytest

from masthead import Client
from masthead.emulator import faults
from masthead.errors import BadInput, ServiceUnreachable, TooOld
from masthead.store import system_clock
from tests.emulator.test_records import LEAST, get
from tests.mirror.kept import Kept
from tests.servers import run

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Message

    from masthead.emulator import MastheadServer

KINDS = ("publications", "subscribers", "subscriptions", "orders")
CURL_PARTIAL_FILE = 18
NAMES = ["unavailable", "cut-after", "slow"]


class Source:
    """The emulator as the mirror's tests name a service."""

    def __init__(self, server: MastheadServer) -> None:
        self.url = server.base_url
        self.key, self.login = server.credentials


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
    server.faults.unavailable(2, retry_after=0)
    first = get(server, "/2/orders/1")
    assert (first.status_code, first.headers["Retry-After"]) == (503, "0")
    assert set(first.json()) == {"error"}
    assert client.get_order(1).order_id == 1
    assert [each.status for each in server.requests] == [503, 503, 200]
    server.faults.unavailable(1, retry_after=7)
    with impatient(server) as other, pytest.raises(ServiceUnreachable) as refused:
        other.get_order(1)
    assert refused.value.retry_after_s == 7


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
        sending = faults._Sending(send, slow, faults.Faults(), asked, system_clock)
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
    server.faults.unavailable(2)
    assert [each["type"] for each in server.ask("GET", "/faults")["faults"]] == [
        "cut-after",
        "unavailable",
    ]
    assert get(server, "/2/subscribers/").status_code == 503
    with pytest.raises(httpx2.RemoteProtocolError):
        get(server, "/2/orders/1")
    assert get(server, "/2/orders/1").status_code == 503
    assert get(server, "/2/orders/1").status_code == 200
    assert server.ask("GET", "/faults") == {"faults": []}


def test_a_head_request_has_no_fault(server: MastheadServer) -> None:
    server.faults.unavailable()
    url = f"{server.base_url}/2/subscribers/"
    assert httpx2.head(url, auth=server.credentials).status_code == 200
    assert get(server, "/2/subscribers/").status_code == 503


@pytest.mark.parametrize(
    ("fault", "wrong", "sentence"),
    [
        ("cut-after", {}, "required field bytes"),
        ("cut-after", {"bytes": -1}, "bytes: Expected int >= 0"),
        ("slow", {"bytes_per_second": 0}, "bytes_per_second: Expected int >= 1"),
        ("unavailable", {"request": 3}, "unknown field request"),
        ("unavailable", {"path": "2/orders"}, "no path begins with '2/orders': give one such as"),
        ("unavailable", {"path": "/2/orders?x=1"}, "give one such as /2/orders, without a query"),
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


@pytest.mark.parametrize("path", ["/snapshot", "/2/cdc", "/deletions", "/2/customfields"])
@pytest.mark.parametrize("fault", NAMES)
def test_the_mirror_recovers_from_each_fault_of_each_answer(
    server: MastheadServer, tmp_path: Path, fault: str, path: str
) -> None:
    filled(server)
    kept = Kept(f"sqlite:///{tmp_path}/copy.db")
    source = Source(server)
    if path != "/snapshot":
        kept.update(source)
        server.change("subscribers", {"subscriber_id": 1, "first_name": "Ann"})
        server.remove("orders", 1)
    before = kept.everything() if path != "/snapshot" else None
    settings = {"cut-after": {"bytes": 30}, "slow": {"bytes_per_second": 4_000}}.get(fault, {})
    server.ask("POST", f"/faults/{fault}", {**settings, "path": path})
    if fault == "slow":
        kept.update(source)
    else:
        with pytest.raises(ServiceUnreachable):
            kept.update(source)
        if before:
            assert kept.everything() == before
        kept.update(source)
    assert fault in [each.fault for each in server.requests]
    assert not kept.differences(source)


def test_the_command_of_the_mirror_waits_for_a_service_that_is_unavailable(
    server: MastheadServer, tmp_path: Path
) -> None:
    filled(server)
    server.faults.unavailable(2, retry_after=0)
    server.faults.cut_after(10)
    copy = f"sqlite:///{tmp_path}/copy.db"
    key, login = server.credentials
    keys = {"MASTHEAD_API_KEY": key, "MASTHEAD_API_LOGIN": login}
    done = run("mirror", server.base_url, "--to", copy, "--once", database="", settings=keys)
    assert done.returncode == 0, done.stderr
    assert [each.fault for each in server.requests][:3] == [
        "unavailable",
        "unavailable",
        "cut-after",
    ]
    assert not Kept(copy).differences(Source(server))


def test_the_mirror_loads_everything_after_a_new_epoch(
    server: MastheadServer, tmp_path: Path
) -> None:
    filled(server)
    kept = Kept(f"sqlite:///{tmp_path}/copy.db")
    kept.update(Source(server))
    server.faults.new_epoch()
    server.remove("orders", 1)
    assert kept.update(Source(server)).full_load
    assert not kept.differences(Source(server))
