"""What long answers hold on the disk until their clients have read them."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from masthead.api.http import temporary_files
from masthead.api.http.temporary_files import Space, UnsentBody
from masthead.api.http.timeouts import LOOP_S_MAX
from tests.api.callers import basic
from tests.servers import import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from tests.servers import Store

ADDRESSES = 12_000
DEADLINE_S = 30


def test_an_answer_is_begun_only_where_a_quarter_of_the_space_is_free() -> None:
    """rules, "Space for responses that wait"."""
    space = Space(80)
    for account_id, held, may_begin in ((1, 30, True), (1, 31, False), (2, 29, True)):
        space.take(account_id, held)
        if may_begin:
            space.check(account_id)
        else:
            with pytest.raises(HTTPException):
                space.check(account_id)
        space.give(1, held if account_id == 1 else 0)
    space.take(1, 32)
    with pytest.raises(HTTPException):
        space.check(3)
    space.give(1, 1)
    space.check(3)


def test_what_an_account_holds_is_at_most_half_of_all_that_there_is() -> None:
    """rules, "Space for responses that wait"."""
    space = Space(10)
    space.take(1, 5)
    with pytest.raises(HTTPException) as refused:
        space.take(1, 1)
    assert refused.value.status_code == 503
    assert int((refused.value.headers or {})["Retry-After"]) > 0
    space.take(2, 4)
    with pytest.raises(HTTPException):
        space.take(3, 2)
    space.take(3, 1)
    space.give(1, 5)
    space.take(2, 1)
    assert space.taken == 6


@given(
    st.lists(st.binary(max_size=30), max_size=20),
    st.integers(1, 40),
    st.lists(st.booleans(), max_size=60),
)
def test_all_that_is_written_is_read_in_its_order_and_what_was_read_is_given_back(
    pieces: list[bytes], file_bytes: int, reads: list[bool]
) -> None:
    """The pieces have any sizes, and the reader or the writer may be faster."""
    space = Space(10_000)

    async def pass_on() -> bytes:
        received = b""
        waiting = list(pieces)
        body = UnsentBody(space, 1, asyncio.get_running_loop())
        chunks = body.chunks()
        for is_read in reads:
            if not is_read and waiting:
                await asyncio.to_thread(body.write, waiting.pop(0))
            elif is_read and len(received) < body.size:
                received += await anext(chunks)
        for piece in waiting:
            await asyncio.to_thread(body.write, piece)
        await asyncio.to_thread(body.end)
        received += b"".join([chunk async for chunk in chunks])
        longest = max(map(len, pieces), default=0)
        assert space.taken < file_bytes + longest or not received
        body.close()
        return received

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(temporary_files, "FILE_BYTES", file_bytes)
        assert asyncio.run(pass_on()) == b"".join(pieces)
    assert space.taken == 0


def test_who_writes_to_a_body_that_is_closed_is_told_to_stop() -> None:
    space = Space(1_000)

    async def close_early() -> None:
        body = UnsentBody(space, 1, asyncio.get_running_loop())
        await asyncio.to_thread(body.write, b"x" * 100)
        assert space.taken == 100
        body.close()
        with pytest.raises(asyncio.CancelledError):
            body.write(b"x")
        body.end(asyncio.CancelledError())
        assert space.taken == 0

    asyncio.run(close_early())


def test_closing_a_body_ends_a_write_that_waits_for_a_stopped_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a server that stops would wait for its threads."""
    has_asked = threading.Event()
    with closing(asyncio.new_event_loop()) as stopped, ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(stopped, "call_soon_threadsafe", lambda _callback: has_asked.set())
        body = UnsentBody(Space(1_000), 1, stopped)
        writing = threads.submit(body.write, b"x")
        assert has_asked.wait(LOOP_S_MAX / 2)
        body.close()
        writing.result(LOOP_S_MAX / 2)
        with pytest.raises(asyncio.CancelledError):
            body.write(b"x")
        body.end()


@pytest.mark.parametrize("is_read", [False, True])
def test_an_error_is_raised_after_the_earlier_bytes(is_read: bool) -> None:
    space = Space(1_000)

    async def fail() -> None:
        body = UnsentBody(space, 1, asyncio.get_running_loop())
        await asyncio.to_thread(body.write, b"x")
        chunks = body.chunks()
        if is_read:
            assert await anext(chunks) == b"x"
        body.end(ZeroDivisionError())
        if not is_read:
            assert await anext(chunks) == b"x"
        with pytest.raises(ZeroDivisionError):
            await anext(chunks)
        body.close()

    asyncio.run(fail())
    assert space.taken == 0


@pytest.fixture(scope="module")
def database(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database of two accounts with an answer of some 6 MB, of which sockets take a part."""
    url = store.new_database("space")
    address = {"subscriber_id": 1, "address": "behind the house, " * 14}
    files: dict[str, list[dict[str, Any]]] = {
        "subscribers": [{"subscriber_id": 1}],
        "addresses": [{"address_id": n, **address} for n in range(1, ADDRESSES + 1)],
    }
    paths = write_ndjson(tmp_path_factory.mktemp("space"), files)
    for number in ("1", "2"):
        keys = (f"--api-key=key{number}", "--api-login=login")
        masthead("accounts", "add", number, *keys, database=url)
        import_files(*paths, account_id=number, database=url)
    return url


def test_answers_that_nobody_reads_fill_no_more_than_the_space_that_the_server_has(
    database: str,
) -> None:
    """rules, "Space for responses that wait": others, and short answers, are served."""
    long, short = "/snapshot?entities=addresses", "/snapshot?entities=orders"

    def ask(server_url: str, target: str, key: str) -> httpx2.Response:
        return httpx2.get(
            server_url + target,
            auth=(key, "login"),
            headers={"Accept-Encoding": "identity"},
        )

    with serving(database, "--temporary-space=64") as server, ExitStack() as stack:
        assert ask(server.url, long, "key1").status_code == 200
        slow = []
        ends_at = time.monotonic() + DEADLINE_S
        while True:
            assert time.monotonic() < ends_at
            with suppress(httpx2.RemoteProtocolError):  # it broke off at the limit
                refused = ask(server.url, long, "key1")
                if refused.status_code != 200:
                    break
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.connect(server.address)
            client.sendall(
                f"GET {long} HTTP/1.1\r\nHost: x\r\n"
                f"Authorization: {basic('key1', 'login')}\r\n\r\n".encode()
            )
            assert client.recv(12) in {b"HTTP/1.1 200", b"HTTP/1.1 503"}
            slow.append(client)
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) > 0
        assert "read" in refused.json()["error"]
        assert ask(server.url, short, "key1").status_code == 200
        assert ask(server.url, long, "key2").status_code == 200
        for client in slow:
            client.close()
        while ask(server.url, long, "key1").status_code != 200:
            assert time.monotonic() < ends_at
