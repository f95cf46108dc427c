"""Threads for work that would block the event loop, with a deadline."""

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
    """Return the event loop's time, in seconds, at which a request that starts now gets 503."""
    return get_running_loop().time() + DATABASE_S_MAX


async def in_thread(
    service: Service, slots: Slots, function: Callable[[], Result], *, ends_at: float | None = None
) -> Result:
    """Call the function in a thread; return its result or raise its error.

    Raises HTTPException 503 if no slot is free in time, and StoreUnavailable if the function has
    not returned at ``ends_at``, a time of the event loop. The thread is not stopped then, and keeps
    its slot until the function returns.
    """
    await slots.take()
    running = start_thread(service, function, ended=slots.give)
    return await (shield(running) if ends_at is None else before(ends_at, running))


def start_thread(
    service: Service, function: Callable[[], Result], *, ended: Callable[[], None] = lambda: None
) -> Future[Result]:
    """Return the future of a function in a thread; the event loop calls ``ended`` after it."""
    running = get_running_loop().run_in_executor(service.threads, function)
    running.add_done_callback(lambda _: ended())
    return running


async def before(ends_at: float, running: Future[Result]) -> Result:
    """Return the result of a future; raise its error, or StoreUnavailable at ``ends_at``."""
    try:
        async with timeout_at(ends_at):
            return await shield(running)
    except TimeoutError:
        raise StoreUnavailable(f"the database took more than {DATABASE_S_MAX} seconds") from None
