"""No service holds a call for ever, and none fills the memory (rules, "Client: limits").

Whatever drips here would end well after three seconds, and whatever is too long after some
megabytes: so a client without limits returns a result. Calls that succeed are timed by
:class:`Clock`, so that they cannot time out on a busy machine.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import sys
import threading
import zlib
from itertools import chain
from typing import TYPE_CHECKING

import httpcore2
import httpx2
import pytest

from masthead.checker import asking
from masthead.client import limits
from masthead.errors import ServiceError, ServiceUnreachable, UnexpectedResponse
from tests.client.service import (
    DRIPS_HEADERS,
    NO_ACCOUNTS,
    Reply,
    Serve,
    dripped,
    dripping,
    in_turn,
    refused,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead import Client
    from tests.client.flavours import Connect

SHORT_S = 1.0
LIMIT_S = 20.0
"""The limit of a client that is connected without another."""

BYTES_MAX = 1_000_000
SINCE = "2026-11-21T00:00:00Z"
LISTS = '{"list_downloads": []}'


class Clock:
    """The time of :mod:`masthead.client.limits`, which each reading moves by half a second."""

    STEP_S = 0.5

    def __init__(self) -> None:
        self.now = 0.0
        self._was_read = threading.Event()

    def monotonic(self) -> float:
        """Return the time, and move it."""
        self.now += self.STEP_S
        self._was_read.set()
        return self.now

    def dripped(self, whole: str, drop: bytes = b" ") -> Iterator[bytes]:
        """Yield drops, each after the client has read the time, for three limits; then all."""
        while self.now < 3 * LIMIT_S:
            yield drop
            self._was_read.wait(1)
            self._was_read.clear()
        yield whole.encode()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the limits, in place of the machine's."""
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def feed(client: Client) -> object:
    """Read the change feed, which is a stream."""
    return list(client.changes(SINCE, ["listdownloads"]))


def accounts(client: Client) -> object:
    """Request a response that is not a stream."""
    return client.list_accounts()


@pytest.mark.parametrize("ask", [accounts, feed, lambda client: list(client.list_subscriptions())])
def test_headers_that_drip_end_with_the_time(
    connect: Connect, serve: Serve, ask: Callable[[Client], object]
) -> None:
    client = connect(serve(in_turn(DRIPS_HEADERS)).url, timeout_s=SHORT_S)
    with pytest.raises(ServiceUnreachable, match="no complete response"):
        ask(client)


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_that_drips_ends_with_the_time(
    connect: Connect, serve: Serve, *, packed: bool
) -> None:
    """Also where nothing of it can be decompressed yet: gzip can have a name, of any length."""
    reply = dripping(NO_ACCOUNTS)
    if packed:
        body = gzip.compress(NO_ACCOUNTS.encode())
        named = body[:3] + b"\x08" + body[4:10]
        pieces = chain([named], dripped("\0", b"n"), [body[10:]])
        reply = Reply(pieces, headers={"Content-Encoding": "gzip"})
    client = connect(serve(in_turn(reply)).url, timeout_s=SHORT_S)
    with pytest.raises(ServiceUnreachable, match="no complete response"):
        accounts(client)


def test_an_error_that_drips_ends_with_the_time(connect: Connect, serve: Serve) -> None:
    for ask in (accounts, feed):
        service = serve(in_turn(Reply(dripped("{}"), status=500)))
        with pytest.raises(ServiceUnreachable, match="no complete response"):
            ask(connect(service.url, timeout_s=SHORT_S))


def test_a_stream_that_brings_nothing_ends_with_the_time(connect: Connect, serve: Serve) -> None:
    client = connect(serve(in_turn(dripping(LISTS))).url, timeout_s=SHORT_S)
    with pytest.raises(ServiceUnreachable, match="no complete response"):
        feed(client)


def test_a_stream_that_brings_records_takes_any_time(
    connect: Connect, serve: Serve, clock: Clock
) -> None:
    """Other entities than those that were asked for count too: some services send all."""
    pieces = chain([b'{"others": [{}'], clock.dripped('], "list_downloads": []}', b", {}"))
    assert feed(connect(serve(in_turn(Reply(pieces))).url)) == []


def test_a_digest_takes_any_time(connect: Connect, serve: Serve, clock: Clock) -> None:
    """A service that computes it sends spaces meanwhile."""
    whole = '{"list_downloads": {"count": "0", "digest": "0"}}'
    client = connect(serve(in_turn(Reply(clock.dripped(whole)))).url)
    assert client.digest(["listdownloads"])["listdownloads"].records == 0


def test_a_redirect_that_drips_ends_with_the_time(connect: Connect, serve: Serve) -> None:
    slow = dripping("", Location="/2/accounts")
    service = serve(in_turn(Reply(slow.body, status=301, headers=slow.headers)))
    with pytest.raises(ServiceUnreachable, match="no complete response"):
        accounts(connect(service.url, timeout_s=SHORT_S))


def endless() -> Iterator[bytes]:
    """Yield more than is read, and then what ends it."""
    for _ in range(10 * BYTES_MAX // 50_000):
        yield b" " * 50_000
    yield NO_ACCOUNTS.encode()


def test_a_body_that_does_not_end_is_too_long(connect: Connect, serve: Serve) -> None:
    client = connect(serve(in_turn(Reply(endless()))).url, bytes_max=BYTES_MAX)
    with pytest.raises(UnexpectedResponse, match="the response has more than 1,000,000 bytes"):
        accounts(client)


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd.compress)],
)
def test_what_is_decompressed_counts(
    connect: Connect, serve: Serve, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    bomb = pack(b"".join(endless()))
    assert len(bomb) < BYTES_MAX // 10
    service = serve(in_turn(Reply(bomb, headers={"Content-Encoding": encoding})))
    with pytest.raises(UnexpectedResponse, match="more than 1,000,000 bytes"):
        accounts(connect(service.url, bytes_max=BYTES_MAX))
    assert accounts(connect(service.url)) == []


def test_an_error_that_does_not_end_keeps_its_status(connect: Connect, serve: Serve) -> None:
    for ask in (accounts, feed):
        service = serve(in_turn(Reply(endless(), status=403)))
        with pytest.raises(ServiceError, match="403") as caught:
            ask(connect(service.url))
        assert caught.value.status == 403


def test_a_record_of_a_stream_that_does_not_end_is_refused(
    connect: Connect, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("masthead.client.readers.RECORD_CHARACTERS_MAX", BYTES_MAX)

    def pieces() -> Iterator[bytes]:
        yield b'{"list_downloads": ["'
        for _ in range(10 * BYTES_MAX // 50_000):
            yield b"x" * 50_000
        yield b'"]}'

    with pytest.raises(UnexpectedResponse, match="no record ends within 1000000 characters"):
        feed(connect(serve(in_turn(Reply(pieces()))).url))


def test_the_limit_holds_for_a_client_with_a_proxy(
    connect: Connect, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy is the one that drips."""
    proxy = serve(in_turn(DRIPS_HEADERS))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(ServiceUnreachable, match="no complete response"):
        accounts(connect("http://publisher.example", timeout_s=SHORT_S))
    assert proxy.asked


def test_each_call_has_the_whole_limit(connect: Connect, serve: Serve, clock: Clock) -> None:
    slow = Reply(clock.dripped(NO_ACCOUNTS))
    client = connect(serve(in_turn(slow, refused(404), Reply())).url)
    with pytest.raises(ServiceUnreachable, match="no complete response"):
        accounts(client)
    with pytest.raises(ServiceError, match="404"):
        accounts(client)
    assert accounts(client) == []


def test_the_checker_is_not_held_either(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_WHOLE_S_MAX", 0.3)
    for reply in (DRIPS_HEADERS, dripping(NO_ACCOUNTS)):
        with (
            asking.Asker(serve(in_turn(reply)).url, "key", "login", rate=1000.0) as asker,
            pytest.raises(ServiceUnreachable, match="no complete response"),
        ):
            asker.ask("/2/accounts/")


def test_a_connection_whose_time_ends_before_its_tls_is_closed() -> None:
    """It has been made by then, and belongs to no pool of connections yet."""
    context = ssl.create_default_context()
    with socket.create_server(("127.0.0.1", 0)) as service, httpx2.Client() as http:
        limits.keep_time(http)
        backend = http._transport._pool._network_backend  # type: ignore[attr-defined]
        stream = backend.connect_tcp(*service.getsockname())
        with limits.within(0), pytest.raises(httpcore2.ReadTimeout):
            stream.start_tls(context, "localhost")
        assert stream.get_extra_info("socket").fileno() == -1


def test_a_connection_of_a_coroutine_whose_time_ends_before_its_tls_is_closed() -> None:
    async def connect(address: tuple[str, int]) -> bool:
        async with httpx2.AsyncClient() as http:
            limits.keep_time(http)
            backend = http._transport._pool._network_backend  # type: ignore[attr-defined]
            stream = await backend.connect_tcp(*address)
            with limits.within(0), pytest.raises(httpcore2.ReadTimeout):
                await stream.start_tls(ssl.create_default_context(), "localhost")
            try:
                await stream.write(b"x")
            except httpcore2.WriteError:
                return True
            return False

    with socket.create_server(("127.0.0.1", 0)) as service:
        assert asyncio.run(connect(service.getsockname()))
