"""Work in threads: what it returns and raises, its deadline, and its slot."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from masthead.api.http.overload import Slots
from masthead.api.http.service import Service
from masthead.api.http.threads import deadline, in_thread, start_thread
from masthead.errors import StoreUnavailable
from masthead.settings import ServerSettings
from masthead.store import find_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_S_MAX = 30


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(find_store(f"sqlite:///{tmp_path}/none.db"), ServerSettings())
    yield service
    service.threads.shutdown()


def test_what_a_function_returns_is_returned_and_what_it_raises_is_raised(
    service: Service,
) -> None:
    async def both() -> None:
        slots = Slots(1)
        assert await in_thread(service, slots, threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            await in_thread(service, slots, lambda: 1 / 0, ends_at=deadline())
        assert slots.are_free()

    asyncio.run(both())


def test_there_is_a_thread_for_each_slot(service: Service) -> None:
    """None passes the barrier before all have come to it."""
    of_service = [one for one in vars(service).values() if isinstance(one, Slots)]
    at_once = range(sum(slots._of_all._value for slots in of_service))
    barrier = threading.Barrier(len(at_once))

    async def together() -> list[int]:
        waiting = (start_thread(service, lambda: barrier.wait(WAIT_S_MAX)) for _ in at_once)
        return await asyncio.gather(*waiting)

    assert sorted(asyncio.run(together())) == [*at_once]


def test_work_that_takes_too_long_is_given_up_and_keeps_its_slot_until_it_ends(
    service: Service,
) -> None:
    """decisions, "More than a server can do": else there would be more threads than slots."""
    may_end = threading.Event()

    async def give_up() -> None:
        slots = Slots(1, wait_s_max=WAIT_S_MAX)
        now = asyncio.get_running_loop().time()
        with pytest.raises(StoreUnavailable):
            await in_thread(service, slots, lambda: may_end.wait(WAIT_S_MAX), ends_at=now)
        assert not slots.are_free()
        may_end.set()
        async with asyncio.timeout(WAIT_S_MAX):
            await slots.take()

    asyncio.run(give_up())
