"""What is more than a server can do gets 503 soon, and what has begun is finished."""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from time import perf_counter_ns
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import httpx2
import psycopg
import pytest
from starlette.exceptions import HTTPException

from masthead.api.http.overload import WAIT_S_MAX, Slots, check_wait
from masthead.api.http.service import LOOK_UPS_AT_ONCE
from tests.api.callers import basic
from tests.api.slots import waiting
from tests.servers import Store, masthead, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.postgres import Databases
    from tests.servers import Server

SECOND_NS = 1_000_000_000
MORE = 15


def is_overload(error: HTTPException) -> bool:
    assert error.headers
    return error.status_code == 503 and int(error.headers["Retry-After"]) > 0


def test_what_has_waited_too_long_is_refused() -> None:
    """decisions, "More than a server can do"."""
    check_wait(perf_counter_ns())
    with pytest.raises(HTTPException) as refused:
        check_wait(perf_counter_ns() - int(WAIT_S_MAX * SECOND_NS) - 1)
    assert is_overload(refused.value)


@asynccontextmanager
async def slot(slots: Slots, account_id: int = 0) -> AsyncIterator[None]:
    """Take a slot, and give it back at the end of the block."""
    await slots.take(account_id)
    try:
        yield
    finally:
        slots.give(account_id)


async def refusal(slots: Slots) -> HTTPException:
    """Return the error of a slot that does not come."""
    with pytest.raises(HTTPException) as refused:
        await slots.take()
    return refused.value


async def until_waiting(slots: Slots, count: int) -> None:
    with anyio.fail_after(30):
        while waiting(slots) != count:
            await anyio.lowlevel.checkpoint()


def test_a_slot_that_does_not_come_is_refused_and_one_that_ends_is_given_on() -> None:
    """decisions, "More than a server can do"."""

    async def take_slots() -> None:
        slots = Slots(1, wait_s_max=0.01)
        for _ in range(3):
            async with slot(slots):
                errors = await asyncio.gather(*(refusal(slots) for _ in range(5)))
            assert all(map(is_overload, errors))
            assert waiting(slots) == 0
        async with slot(slots):
            pass

    asyncio.run(take_slots())


def test_slots_are_given_in_the_order_of_waiting() -> None:
    order: list[int] = []

    async def wait(slots: Slots, number: int) -> None:
        async with slot(slots):
            order.append(number)
            await asyncio.sleep(0)

    async def take_slots() -> None:
        slots = Slots(2)
        async with slot(slots), slot(slots):
            tasks = []
            for number in range(10):
                tasks.append(asyncio.create_task(wait(slots, number)))
                await until_waiting(slots, number + 1)
        await asyncio.gather(*tasks)

    asyncio.run(take_slots())
    assert order == list(range(10))


@pytest.mark.parametrize("of_an_account", [None, 1])
def test_no_slot_is_lost_with_one_who_goes_away(of_an_account: int | None) -> None:
    """Before the slot comes, and in the moment in which it does."""

    async def wait(slots: Slots) -> None:
        async with slot(slots):
            pytest.fail("went away")

    async def take_slots() -> None:
        slots = Slots(1, of_an_account=of_an_account)
        async with slot(slots):
            early, late = (asyncio.create_task(wait(slots)) for _ in range(2))
            await until_waiting(slots, 2)
            early.cancel()
            await until_waiting(slots, 1)
        late.cancel()
        await asyncio.wait([early, late])
        assert early.cancelled()
        assert late.cancelled()
        assert slots.are_free()
        async with asyncio.timeout(30), slot(slots):
            assert not slots.are_free()

    asyncio.run(take_slots())


def test_an_account_has_only_some_of_the_slots_and_others_do_not_wait() -> None:
    """decisions, "Long responses"."""

    async def take_slots() -> None:
        slots = Slots(3, of_an_account=2)
        for _ in range(2):
            assert slots.are_free(1)
            await slots.take(1)
        assert not slots.are_free(1)
        mine = [asyncio.create_task(slots.take(1)) for _ in range(2)]
        await until_waiting(slots, 2)
        assert slots.are_free(2)
        await slots.take(2)
        yours = asyncio.create_task(slots.take(2))
        await until_waiting(slots, 3)
        slots.give(2)
        await yours
        assert waiting(slots) == 2
        slots.give(1)
        await asyncio.wait(mine, return_when=asyncio.FIRST_COMPLETED)
        assert [task.done() for task in mine] == [True, False]
        slots.give(1)
        await mine[1]

    asyncio.run(take_slots())


def new_database(store: Store) -> str:
    """Return a database with account 1."""
    url = store.new_database(f"overload-{time.time_ns()}")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
    return url


def ask(server: Server) -> tuple[int, str, int]:
    """Return the status, the sentence and the header Retry-After of a response."""
    response = httpx2.get(f"{server.url}/2/orders/7", auth=("key", "login"), timeout=30)
    return (
        response.status_code,
        response.json()["error"],
        int(response.headers.get("Retry-After", 0)),
    )


def test_a_waiting_request_is_refused_before_earlier_ones_end(
    postgres: Databases, tmp_path: Path
) -> None:
    """decisions, "More than a server can do": while each slot is taken by a slow database.

    Of PostgreSQL alone: look-ups in a file are over before anything can hold them.
    """
    database = new_database(Store("postgresql", tmp_path, postgres))
    with (
        serving(database) as server,
        psycopg.connect(database) as blocking,
        ThreadPoolExecutor(LOOK_UPS_AT_ONCE + MORE) as clients,
    ):
        assert ask(server)[0] == 404
        blocking.execute("LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
        answers = list(clients.map(ask, [server] * (LOOK_UPS_AT_ONCE + MORE)))
        blocking.rollback()
        assert ask(server)[0] == 404
    assert {status for status, _, _ in answers} == {503}
    assert all(retry_after > 0 for _, _, retry_after in answers)
    assert any("more requests come" in sentence for _, sentence, _ in answers)


def test_requests_in_a_row_on_one_connection_wait_for_each_other_as_long_as_they_must(
    store: Store,
) -> None:
    """Only the first has to wait for others: what follows it came before it could be begun."""
    count = 2_000
    request = (
        f"GET /2/orders/7 HTTP/1.1\r\nHost: x\r\nAuthorization: {basic('key', 'login')}\r\n\r\n"
    )
    last = request.replace("Host: x", "Host: x\r\nConnection: close")
    with (
        serving(new_database(store)) as server,
        socket.create_connection(server.address, 60) as client,
        ThreadPoolExecutor(1) as sender,
    ):
        sent = sender.submit(client.sendall, (request * (count - 1) + last).encode())
        response = b""
        while piece := client.recv(1_000_000):
            response += piece
        sent.result()
    assert response.count(b"HTTP/1.1 404 ") == count
