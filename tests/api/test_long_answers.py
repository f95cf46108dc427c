"""Responses of more than 64 KiB are whole or visibly broken, for every behaviour of the client."""

# Long because the same promises are kept twice: by a server to clients that stall, vanish or have
# no luck, and by the app alone where no socket can show what happens at which moment.

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import socket
import struct
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import apsw
import httpx2
import psycopg
import pytest
from anyio import to_thread
from starlette.requests import ClientDisconnect

from masthead.api.http.request import Request
from masthead.api.http.service import LONG_AT_ONCE, LONG_OF_AN_ACCOUNT, Service
from masthead.api.http.streaming import WHOLE_BYTES_MAX, Content, Streamed
from masthead.settings import ServerSettings
from masthead.store import find_store, open_store
from tests.api.callers import Caller, basic, send_raw
from tests.api.slots import waiting as waiting_for
from tests.servers import STOP_SECONDS_MAX, import_files, masthead, serving, write_ndjson

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from starlette.types import Message

    from tests.servers import Server, Store

    Pieces = Generator[bytes, None, None]

THROUGH = "Masthead-Changes-Through"
LAST_CHUNK = b"\r\n0\r\n\r\n"
ADDRESSES = 20_000
"""Some 10 MB: more than what the buffers of two sockets hold."""

RECEIVED_AT_ONCE = 65_536
EVERYTHING = "/snapshot?entities=addresses"
LONG = {
    "changes": "/2/cdc?changed_since={since}&entities=subscriptions,addresses",
    "snapshot": EVERYTHING,
    "mailing list": "/2/downloadmailinglist/7/",
}


def address(number: int, city: str = "Zürich") -> dict[str, Any]:
    return {
        "address_id": number,
        "subscriber_id": 1,
        "address": f"{number} Long Street, {'behind the house, ' * (number % 20)}ring twice",
        "city": city,
    }


@pytest.fixture(scope="module")
def database(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database whose account 1 has long responses to everything that can be long."""
    database = store.new_database("long-answers")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    load(
        database,
        tmp_path_factory.mktemp("long"),
        publications=[{"publication_id": 1}],
        subscribers=[{"subscriber_id": 1}],
        addresses=[address(number) for number in range(1, ADDRESSES + 1)],
        subscriptions=[
            {"subscription_id": number, "subscriber_id": 1, "publication_id": 1}
            for number in range(1, 1_501)
        ],
        list_downloads=[{"mailing_list_id": 7}],
        mailing_list_entries=[
            {"mailing_list_id": 7, "subscription_id": number, "copies": number}
            for number in range(1, 1_501)
        ],
    )
    return database


def load(database: str, folder: Path, **files: list[dict[str, Any]]) -> None:
    import_files(*write_ndjson(folder, files), account_id="1", database=database)


@pytest.fixture(scope="module")
def server(database: str) -> Iterator[Server]:
    """A server of that database."""
    with serving(database) as server:
        yield server


@pytest.fixture(scope="module")
def caller(server: Server) -> Iterator[Caller]:
    """A caller of account 1."""
    caller = Caller(server, "key", "login")
    yield caller
    caller.close()


@pytest.fixture(params=LONG)
def path(request: pytest.FixtureRequest) -> str:
    """The path and query of each response that can be long."""
    yesterday = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86_400))
    return LONG[request.param].format(since=yesterday)


def until(server: Server, condition: Callable[[], object]) -> None:
    """Wait for a condition; between two looks at it, the server has to answer a request."""
    end = time.monotonic() + STOP_SECONDS_MAX
    while not condition():
        assert time.monotonic() < end, server.output()
        assert send_raw(server, b"GET /health HTTP/1.0\r\n\r\n").status == 200


def temporary_files(server: Server) -> int:
    """Return how many files the server holds open that have no name any more."""
    folder = Path(f"/proc/{server._process.pid}/fd")
    if not folder.exists():
        pytest.skip("needs /proc, which lists the files that a process has open")
    count = 0
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            count += str(file.readlink()).endswith(" (deleted)")
    return count


def is_held_by_a_reader(database: str) -> bool:
    """Return whether some reader's snapshot keeps the database from clearing up behind it.

    From emptying SQLite's write-ahead log; from removing the rows that PostgreSQL has replaced.
    """
    if database.startswith("sqlite:///"):
        with closing(apsw.Connection(database.removeprefix("sqlite:///"))) as connection:
            ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return bool(busy)
    with closing(psycopg.connect(database)) as session:
        in_transactions = """
            SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
            AND backend_type = 'client backend' AND pid <> pg_backend_pid()
            AND xact_start IS NOT NULL
            """
        return session.execute(in_transactions).fetchone() is not None


def request(
    path: str, *, method: str = "GET", version: str = "1.1", coding: str = "identity"
) -> bytes:
    return (
        f"{method} {path} HTTP/{version}\r\nHost: masthead.test\r\nConnection: close\r\n"
        f"Authorization: {basic('key', 'login')}\r\nAccept-Encoding: {coding}\r\n\r\n"
    ).encode()


def read_all(client: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    pieces = []
    while piece := client.recv(RECEIVED_AT_ONCE):
        pieces.append(piece)
    return b"".join(pieces)


def ask_raw(
    server: Server, path: str, *, coding: str = "identity", **more: str
) -> tuple[dict[str, str], bytes]:
    """Ask on a connection of its own; return the headers, and the body as it was sent."""
    with socket.create_connection(server.address, timeout=STOP_SECONDS_MAX) as client:
        client.sendall(request(path, coding=coding, **more))
        return parted(read_all(client))


def parted(answer: bytes) -> tuple[dict[str, str], bytes]:
    """Return the headers of a response that must be 200, and its body as it was sent."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("ascii").split("\r\n")
    assert status == "HTTP/1.1 200 OK"
    return dict(line.lower().split(": ", 1) for line in lines), body


def unchunked(body: bytes) -> bytes:
    """Return what the chunks hold (RFC 9112 section 7.1); fail where the last one is missing."""
    content = bytearray()
    at = 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end], 16)
        at = end + 2 + size
        content += body[end + 2 : at]
        assert body[at : at + 2] == b"\r\n"
        at += 2
        if size == 0:
            assert at == len(body)
            return bytes(content)


@contextmanager
def slow_client(server: Server, path: str) -> Iterator[tuple[socket.socket, bytes]]:
    """Ask for a path, and read no more of the response than a part that holds the headers."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_AT_ONCE)
        client.settimeout(STOP_SECONDS_MAX)
        client.connect(server.address)
        client.sendall(request(path))
        start = client.recv(1_000)
        assert start.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\n\r\n" in start
        yield client, start


# The form of a long response


def test_a_long_answer_comes_in_chunks_of_which_the_last_ends_it(server: Server, path: str) -> None:
    """decisions, "Long responses"."""
    headers, body = ask_raw(server, path)
    assert headers["transfer-encoding"] == "chunked"
    assert "content-length" not in headers
    assert body.endswith(LAST_CHUNK)
    assert len(unchunked(body)) > WHOLE_BYTES_MAX
    assert json.loads(unchunked(body))


def test_every_coding_holds_the_same_body(server: Server, path: str) -> None:
    """rules, "Change feed"."""

    def ask(coding: str) -> bytes:
        headers, body = ask_raw(server, path, coding=coding)
        assert headers.get("content-encoding", "identity") == coding
        return unchunked(body)

    plain = ask("identity")
    assert gzip.decompress(ask("gzip")) == plain
    assert zstd.decompress(ask("zstd")) == plain


def test_a_client_of_http_1_0_gets_the_same_body_without_chunks(server: Server, path: str) -> None:
    """It tells the end by the end of the connection (RFC 9112 section 6.3, rule 8)."""
    _, wanted = ask_raw(server, path)
    headers, body = ask_raw(server, path, version="1.0")
    assert "transfer-encoding" not in headers
    assert body == unchunked(wanted)


def test_a_head_has_the_headers_of_the_get_and_no_body(server: Server, path: str) -> None:
    """rules, "Methods" and "Change feed"; the connection is good for the next request."""
    connection = http.client.HTTPConnection(*server.address, timeout=STOP_SECONDS_MAX)
    headers = {"Authorization": basic("key", "login")}
    with closing(connection):
        answers = []
        for method in ("GET", "HEAD", "HEAD", "GET"):
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200
            answers.append((dict(answer.getheaders()), body))
    (got, body), (head, nothing), (again, nothing_again), (_, same) = answers
    assert nothing == nothing_again == b""
    assert same == body
    assert "content-length" not in head
    assert got.pop("transfer-encoding") == "chunked"
    for found in (got, head, again):
        assert found.pop("date")
    assert got == head == again
    assert (THROUGH.lower() in head) == ("/2/downloadmailinglist" not in path)


def test_a_head_closes_what_it_opened(database: str) -> None:
    """design, "The change feed": no traceback in the log, and no snapshot left open."""
    with serving(database) as server:
        ask_raw(server, EVERYTHING, method="HEAD")
        until(server, lambda: "method='HEAD'" in server.output())
        server.stop()
        assert "Traceback" not in server.output()


def test_an_unknown_list_and_a_time_long_ago_are_refused_before_anything_is_sent(
    caller: Caller,
) -> None:
    """rules, "Statuses": a handler that runs with its response raises what others do."""
    assert caller.refusal(404, "/2/downloadmailinglist/8/")
    old = "2020-01-01T00:00:00Z"
    assert caller.refusal(410, "/2/cdc", changed_since=old, entities="addresses")


# Clients that read slowly, or not at all


def test_a_client_that_does_not_read_holds_no_snapshot(
    server: Server, database: str, caller: Caller, tmp_path: Path
) -> None:
    """decisions, "Long responses": and what it reads later on is the state it has asked for."""
    before = caller.ask(EVERYTHING)
    with slow_client(server, EVERYTHING) as (client, start):
        load(database, tmp_path, addresses=[address(1, city=tmp_path.name)])
        until(server, lambda: not is_held_by_a_reader(database))
        assert temporary_files(server) == 1
        headers, body = parted(start + read_all(client))
    assert headers[THROUGH.lower()] == before.headers[THROUGH].lower()
    assert unchunked(body) == before.content
    after = caller.ask(EVERYTHING)
    assert after.headers[THROUGH] > before.headers[THROUGH]
    assert tmp_path.name in {row["city"] for row in after.json()["addresses"]}


def test_clients_that_do_not_read_keep_no_other_from_its_answer(server: Server) -> None:
    """decisions, "Long responses": any number of responses may be on their way."""
    with ExitStack() as stack:
        clients = [
            stack.enter_context(slow_client(server, EVERYTHING)) for _ in range(LONG_AT_ONCE + 1)
        ]
        _, body = ask_raw(server, EVERYTHING)
        wanted = unchunked(body)
        until(server, lambda: temporary_files(server) == LONG_AT_ONCE + 1)
        for client, start in clients:
            _, body = parted(start + read_all(client))
            assert unchunked(body) == wanted
    until(server, lambda: temporary_files(server) == 0)


# Clients that go away


@pytest.mark.parametrize("is_reset", [False, True])
def test_a_client_that_goes_away_ends_its_request(
    server: Server, database: str, *, is_reset: bool
) -> None:
    """decisions, "Long responses": its log line comes, its file and its snapshot go."""

    def lines() -> int:
        return server.output().count("path='/snapshot'")

    until(server, lambda: temporary_files(server) == 0)
    with slow_client(server, EVERYTHING) as (client, _):
        until(server, lambda: temporary_files(server) == 1)
        before = lines()
        if is_reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until(server, lambda: lines() == before + 1)
    until(server, lambda: temporary_files(server) == 0)
    until(server, lambda: not is_held_by_a_reader(database))
    assert "Traceback" not in server.output()


def test_no_temporary_file_is_left(server: Server, path: str) -> None:
    """decisions, "Long responses": after whole responses, in each coding, and to HEAD."""
    for coding in ("identity", "gzip", "zstd"):
        ask_raw(server, path, coding=coding)
    until(server, lambda: temporary_files(server) == 0)


# Answers that break off


@pytest.fixture
def limits(database: str) -> Iterator[tuple[Server, Callable[[int], None]]]:
    """A server of its own, and a function that limits the size of the files it may write."""
    resource = pytest.importorskip("resource", reason="needs a system with limits of resources")
    if not hasattr(resource, "prlimit"):
        pytest.skip("needs prlimit, which limits another process")

    def limit(size: int) -> None:
        pid = limited._process.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    with serving(database) as limited:
        yield limited, limit


def test_a_response_that_breaks_off_has_no_last_chunk(
    limits: tuple[Server, Callable[[int], None]],
) -> None:
    """Its temporary file cannot grow beyond a megabyte, as on a disk that is full."""
    server, limit = limits
    _, wanted = ask_raw(server, EVERYTHING)
    limit(1_000_000)
    headers, body = ask_raw(server, EVERYTHING)
    assert headers["transfer-encoding"] == "chunked"
    assert not body.endswith(LAST_CHUNK)
    caller = Caller(server, "key", "login")
    with closing(caller), pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
        caller.ask(EVERYTHING, headers={"Accept-Encoding": "identity"})
    until(server, lambda: temporary_files(server) == 0)
    limit(-1)
    assert unchunked(ask_raw(server, EVERYTHING)[1]) == unchunked(wanted)


def test_without_room_for_any_file_the_response_is_503(
    limits: tuple[Server, Callable[[int], None]],
) -> None:
    """rules, "Statuses": told before anything else was said, and with when to try again."""
    server, limit = limits
    caller = Caller(server, "key", "login")
    with closing(caller):
        assert caller.ask(EVERYTHING).status_code == 200, "it has opened what it writes to"
        limit(0)
        answer = caller.ask(EVERYTHING)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert list(answer.json()) == ["error"]
        limit(-1)
        assert caller.ask(EVERYTHING).status_code == 200


# The same, one part at a time: the ASGI app alone


class Exchange:
    """A client as an ASGI app sees it: what it was sent, and when it is gone.

    It takes ``patience`` messages; after these nothing is taken from it, and it goes away.
    """

    def __init__(
        self, account_id: int = 1, *, patience: int | None = None, coding: str = ""
    ) -> None:
        self._account_id = account_id
        self.messages: list[Message] = []
        self._patience = patience
        self._gone = anyio.Event()
        self._is_asked = False
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "path": "/snapshot",
            "headers": [(b"accept-encoding", coding.encode())],
        }

    async def take(self, pieces: Callable[[], Pieces], service: Service | None = None) -> None:
        """Let a response be made of the pieces, within a time that fails a test that hangs."""

        @contextmanager
        def opened() -> Iterator[Content]:
            with closing(pieces()) as made:
                yield Content({}, made)

        request = Request(self._scope, self._receive, service or new_service())
        with anyio.fail_after(STOP_SECONDS_MAX), suppress(ClientDisconnect):
            response = await Streamed(request, self._account_id, opened)
            await response(self._scope, self._receive, self._send)

    def go(self) -> None:
        """Go away."""
        self._gone.set()

    @property
    def headers(self) -> dict[bytes, bytes]:
        """The headers that came."""
        return dict(self.messages[0]["headers"])

    @property
    def body(self) -> bytes:
        """All of the body that came."""
        return b"".join(message["body"] for message in self.messages[1:])

    @property
    def is_complete(self) -> bool:
        """Whether the end of the body came."""
        return any(not message["more_body"] for message in self.messages[1:])

    async def _receive(self) -> Message:
        assert not self._is_asked, "two tasks wait for the same message"
        self._is_asked = True
        try:
            await self._gone.wait()
        finally:
            self._is_asked = False
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._patience is not None and len(self.messages) == self._patience:
            self.go()
            await anyio.sleep_forever()
        self.messages.append({"more_body": False, "body": b"", **message})


def new_service() -> Service:
    """Return a service, of whose database nothing is read."""
    return Service(find_store("sqlite:///none.db"), ServerSettings())


@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
@pytest.mark.parametrize("size", [2, 1_023, 1_024, WHOLE_BYTES_MAX, WHOLE_BYTES_MAX + 1, 10**6])
@pytest.mark.parametrize("piece_size", [1_000, 10**7])
def test_a_body_of_any_size_is_whole_and_says_its_length_up_to_64_kib(
    size: int, piece_size: int, coding: str
) -> None:
    """rules, "Change feed"; decisions, "Long responses": bodies below 1 KiB are not compressed."""
    wanted = (b"0123456789abcdefg" * (size // 17 + 1))[:size]

    def pieces() -> Pieces:
        for at in range(0, size, piece_size):
            yield wanted[at : at + piece_size]

    async def ask() -> Exchange:
        exchange = Exchange(coding=coding)
        await exchange.take(pieces)
        return exchange

    exchange = asyncio.run(ask())
    assert exchange.is_complete
    found = exchange.headers.get(b"content-encoding", b"identity").decode()
    assert found == (coding if size >= 1_024 else "identity")
    decode = {"gzip": gzip.decompress, "zstd": zstd.decompress}.get(found, bytes)
    assert decode(exchange.body) == wanted
    length = None if size > WHOLE_BYTES_MAX else str(len(exchange.body)).encode()
    assert exchange.headers.get(b"content-length") == length


@pytest.mark.parametrize("patience", [0, 1, 2, 9])
def test_a_client_that_goes_away_ends_work_that_would_never_end(
    store: Store, patience: int
) -> None:
    """What the work had open is closed: its snapshot, and the connection to the database."""
    database = store.new_database(f"endless-{patience}")
    has_ended = threading.Event()

    def endless() -> Generator[bytes, None, None]:
        try:
            with opened.reader() as reader, reader.snapshot():
                yield b"x" * 100_000
                end = time.monotonic() + STOP_SECONDS_MAX
                while time.monotonic() < end:
                    yield b"x" * 100
                raise AssertionError("nobody has ended this")
        finally:
            has_ended.set()

    async def ask() -> Exchange:
        exchange = Exchange(patience=patience)
        await exchange.take(endless)
        return exchange

    with closing(open_store(database)) as opened:
        exchange = asyncio.run(ask())
        assert has_ended.wait(STOP_SECONDS_MAX)
        assert not exchange.is_complete
        masthead("accounts", "add", 1, database=database)
        assert not is_held_by_a_reader(database)


def test_a_response_whose_making_fails_after_its_beginning_is_never_ended() -> None:
    """The error reaches the server, which hangs up without the last chunk."""

    def failing() -> Generator[bytes, None, None]:
        for _ in range(20):
            yield b"x" * 10_000
        raise ZeroDivisionError

    async def ask(exchange: Exchange) -> None:
        with pytest.raises(ZeroDivisionError):
            await exchange.take(failing)

    exchange = Exchange()
    asyncio.run(ask(exchange))
    assert exchange.messages[0]["status"] == 200
    assert not exchange.is_complete


def test_a_response_whose_making_fails_early_is_not_begun() -> None:
    """So that an error's answer can be sent instead."""

    def failing() -> Generator[bytes, None, None]:
        yield b"x" * 10_000
        raise ZeroDivisionError

    async def ask(exchange: Exchange) -> None:
        with pytest.raises(ZeroDivisionError):
            await exchange.take(failing)

    exchange = Exchange()
    asyncio.run(ask(exchange))
    assert exchange.messages == []


def nothing() -> Pieces:
    yield b"[]"


class Waiting:
    """Answers that wait in the middle of being made until they may go on."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.are_full = threading.Event()
        self.made = 0
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def pieces(self) -> Pieces:
        """Make one of them; its first piece tells that it is a long one."""
        yield b"x" * 100_000
        with self._lock:
            self.made += 1
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now == LONG_AT_ONCE:
                self.are_full.set()
        assert self.may_go_on.wait(STOP_SECONDS_MAX)
        yield b"y" * 100_000
        with self._lock:
            self._now -= 1


def waiting_in(service: Service) -> int:
    """Return how many wait for a slot of a long response."""
    return waiting_for(service.long_streams)


async def until_waiting(service: Service, count: int) -> None:
    """Wait until so many answers wait for their turn."""
    with anyio.fail_after(STOP_SECONDS_MAX):
        while waiting_in(service) != count:
            await anyio.lowlevel.checkpoint()


def test_only_some_answers_are_made_at_a_time_and_all_are_served() -> None:
    """decisions, "Long responses"."""
    waiting = Waiting()
    service = new_service()
    exchanges: list[Exchange] = []

    async def ask() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(LONG_AT_ONCE + 5):
                exchanges.append(Exchange(number))
                tasks.start_soon(exchanges[-1].take, waiting.pieces, service)
            assert await to_thread.run_sync(waiting.are_full.wait, STOP_SECONDS_MAX)
            await until_waiting(service, 5)
            assert waiting.made == LONG_AT_ONCE
            waiting.may_go_on.set()

    asyncio.run(ask())
    assert waiting.most == LONG_AT_ONCE
    assert waiting.made == LONG_AT_ONCE + 5
    for exchange in exchanges:
        assert exchange.is_complete
        assert exchange.body == b"x" * 100_000 + b"y" * 100_000


def test_an_account_with_many_long_responses_keeps_no_other_from_long_and_short_ones() -> None:
    """decisions, "Long responses": each account has half of the turns at most."""
    waiting = Waiting()
    service = new_service()

    async def ask() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(LONG_AT_ONCE):
                tasks.start_soon(Exchange().take, waiting.pieces, service)
            await until_waiting(service, LONG_AT_ONCE - LONG_OF_AN_ACCOUNT)
            for account_id in (1, 2):
                short = Exchange(account_id)
                await short.take(nothing, service)
                assert short.body == b"[]"
            for _ in range(LONG_OF_AN_ACCOUNT):
                tasks.start_soon(Exchange(2).take, waiting.pieces, service)
            assert await to_thread.run_sync(waiting.are_full.wait, STOP_SECONDS_MAX)
            assert waiting_in(service) == LONG_AT_ONCE - LONG_OF_AN_ACCOUNT
            waiting.may_go_on.set()

    asyncio.run(ask())
    assert waiting.made == LONG_AT_ONCE + LONG_OF_AN_ACCOUNT


def test_a_client_that_goes_away_while_it_waits_for_its_turn_is_never_worked_for() -> None:
    """decisions, "Long responses"."""
    waiting = Waiting()
    service = new_service()

    async def ask() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(LONG_AT_ONCE):
                tasks.start_soon(Exchange(number).take, waiting.pieces, service)
            assert await to_thread.run_sync(waiting.are_full.wait, STOP_SECONDS_MAX)
            impatient = Exchange()
            async with anyio.create_task_group() as one:
                one.start_soon(impatient.take, waiting.pieces, service)
                await until_waiting(service, 1)
                impatient.go()
            assert impatient.messages == []
            waiting.may_go_on.set()

    asyncio.run(ask())
    assert waiting.made == LONG_AT_ONCE
