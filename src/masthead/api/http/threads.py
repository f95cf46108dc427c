"""Work that would block the event loop, with a deadline: in a thread or in a greenlet."""

from asyncio import Future, get_running_loop, shield, timeout_at
from collections.abc import Callable
from typing import Any, TypeVar

from masthead.api.http import timeouts
from masthead.api.http.overload import Slots
from masthead.api.http.service import Service
from masthead.errors import StoreUnavailable

Result = TypeVar("Result")


def deadline() -> float:
    """Return the event loop's time, in seconds, at which a request that starts now gets 503."""
    return get_running_loop().time() + timeouts.DATABASE_S_MAX


async def in_greenlet(service: Service, slots: Slots, function: Callable[[], Result]) -> Result:
    """Call the function in a greenlet, with a slot; return its result or raise its error.

    Raises HTTPException 503 if no slot is free in time, and StoreUnavailable if the function waits
    for the database at the request's deadline.
    """
    ends_at = deadline()
    await slots.take()
    assert service.greenlets
    return await service.greenlets.start(
        function, ends_at=ends_at, too_late=_too_slow, ended=slots.give
    )


async def in_thread(
    service: Service, slots: Slots, function: Callable[[], Result], *, ends_at: float | None = None
) -> Result:
    """Call the function in a thread, with a slot; return its result or raise its error.

    Raises HTTPException 503 if no slot is free in time, and StoreUnavailable as
    :func:`start_thread` does.
    """
    await slots.take()
    return await start_thread(service, function, ends_at=ends_at, ended=slots.give)


def start_thread(
    service: Service,
    function: Callable[[], Result],
    *,
    ends_at: float | None = None,
    ended: Callable[[], None] = lambda: None,
) -> Future[Result]:
    """Return the future of a function in a thread; the event loop calls ``ended`` after it.

    If the function has not returned at ``ends_at``, a time of the event loop, the future raises
    StoreUnavailable. The thread is not stopped.
    """
    loop = get_running_loop()
    future: Future[Result] = loop.create_future()
    timer = loop.call_at(ends_at, _give_up, future) if ends_at is not None else None

    def end(set_outcome: Callable[[Any], None], outcome: object) -> None:
        ended()
        if timer:
            timer.cancel()
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001 - the future raises it
            loop.call_soon_threadsafe(end, future.set_exception, error)
        else:
            loop.call_soon_threadsafe(end, future.set_result, result)

    service.threads.submit(run)
    return future


def _give_up(future: Future[Any]) -> None:
    if not future.done():
        future.set_exception(_too_slow())


def _too_slow() -> StoreUnavailable:
    return StoreUnavailable(f"the database took more than {timeouts.DATABASE_S_MAX} seconds")


async def before(ends_at: float, running: Future[Result]) -> Result:
    """Return the result of a future; raise its error, or StoreUnavailable at ``ends_at``."""
    running.add_done_callback(retrieve)
    try:
        async with timeout_at(ends_at):
            return await shield(running)
    except TimeoutError:
        raise _too_slow() from None


def retrieve(future: Future[Any]) -> None:
    """Take the error of a future that has ended, so that asyncio does not log it.

    Its client may have disconnected, so that nothing awaits it.
    """
    if not future.cancelled():
        future.exception()
