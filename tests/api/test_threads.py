"""Threads for what must not stop the event loop."""

from __future__ import annotations

import asyncio
import threading
from asyncio import CancelledError
from queue import SimpleQueue

import pytest

from masthead.api.http.threads import Threads, Work

WAIT_S_MAX = 30


def test_what_a_function_returns_is_returned_and_what_it_raises_is_raised() -> None:
    async def both() -> None:
        threads = Threads()
        assert await threads.run(lambda _: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda _: 1 / 0)

    asyncio.run(both())


def test_one_after_the_other_they_run_in_one_thread_that_is_not_the_loops() -> None:
    async def idents() -> set[int]:
        threads = Threads()
        return {await threads.run(lambda _: threading.get_ident()) for _ in range(20)}

    found = asyncio.run(idents())
    assert len(found) == 1
    assert threading.get_ident() not in found


@pytest.mark.parametrize("rounds", [1, 3])
def test_all_that_is_asked_for_runs_at_a_time(rounds: int) -> None:
    """None passes the barrier before all have come to it."""
    barrier = threading.Barrier(20)

    async def together(threads: Threads) -> list[int]:
        waiting = (threads.run(lambda _: barrier.wait(WAIT_S_MAX)) for _ in range(20))
        return await asyncio.gather(*waiting)

    async def repeatedly() -> None:
        threads = Threads()
        for _ in range(rounds):
            assert sorted(await together(threads)) == list(range(20))

    asyncio.run(repeatedly())


def test_who_is_given_up_can_tell_and_its_thread_is_used_again() -> None:
    has_begun, may_end = threading.Event(), threading.Event()
    told: SimpleQueue[str] = SimpleQueue()

    def wait(work: Work) -> None:
        work.check()
        has_begun.set()
        may_end.wait(WAIT_S_MAX)
        try:
            work.check()
        except CancelledError:
            told.put(threading.current_thread().name)
            raise

    async def give_up() -> None:
        threads = Threads()
        task = threads.run(wait)
        await asyncio.to_thread(has_begun.wait, WAIT_S_MAX)
        task.cancel()
        with pytest.raises(CancelledError):
            await task
        may_end.set()
        assert await asyncio.to_thread(told.get, timeout=WAIT_S_MAX) == "masthead-request"
        assert await threads.run(lambda _: 7) == 7

    asyncio.run(give_up())


def test_who_is_given_up_before_it_begins_does_not_begin() -> None:
    begun: list[int] = []
    ended: list[int] = []

    async def give_up() -> None:
        work = Work(lambda _: begun.append(1), asyncio.get_running_loop(), lambda: ended.append(1))
        work.future.cancel()
        work.end(*await asyncio.to_thread(work.call))
        await asyncio.sleep(0)

    asyncio.run(give_up())
    assert begun == []
    assert ended == [1]
