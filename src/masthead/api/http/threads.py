"""Work in threads, for what must not stop the event loop, with a deadline."""

from asyncio import Future, get_running_loop, shield, timeout_at
from collections.abc import Callable
from typing import TypeVar

from masthead.api.http.overload import Slots
from masthead.api.http.service import Service
from masthead.api.http.timeouts import DATABASE_S_MAX
from masthead.errors import StoreUnavailable

__all__ = ["before", "deadline", "in_thread", "start_thread"]

Result = TypeVar("Result")


def deadline() -> float:
    """Return the event loop's time at which a request that begins now gets 503."""
    return get_running_loop().time() + DATABASE_S_MAX


async def in_thread(
    service: Service, slots: Slots, function: Callable[[], Result], *, ends_at: float | None = None
) -> Result:
    """Return what the function returns, or raise what it raises; it runs in a thread.

    Raises HTTPException 503 where there is no slot in time, and StoreUnavailable at ``ends_at`` of
    the event loop's time. The thread then ends by itself, and keeps the slot until it does.
    """
    await slots.take()
    running = start_thread(service, function, ended=slots.give)
    return await (running if ends_at is None else before(ends_at, running))


def start_thread(
    service: Service, function: Callable[[], Result], *, ended: Callable[[], None] = lambda: None
) -> Future[Result]:
    """Run the function in a thread; ``ended`` is called in the event loop when it is done."""
    running = get_running_loop().run_in_executor(service.threads, function)
    running.add_done_callback(lambda _: ended())
    return running


async def before(ends_at: float, running: Future[Result]) -> Result:
    """Return or raise what a future does; raise StoreUnavailable where it is not done in time."""
    try:
        async with timeout_at(ends_at):
            return await shield(running)
    except TimeoutError:
        raise StoreUnavailable(f"the database took more than {DATABASE_S_MAX} seconds") from None
