"""How much a server takes on: what waits too long for its turn gets 503.

A request may wait for its turn, but not for long: whoever waits longer than :data:`WAIT_S_MAX` has
likely gone, and a server that answers those has no time for the others. What has begun is finished.
So the rate at which requests are answered stays what it is at best, however many more come
(decisions, "More than a server can do").
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter_ns

from anyio import CapacityLimiter, fail_after
from starlette.exceptions import HTTPException

__all__ = ["LONG_WAIT_S_MAX", "WAIT_S_MAX", "check_wait", "turn"]

WAIT_S_MAX = 0.5
"""So long may a request wait for its turn: in the event loop, and again for a thread."""

LONG_WAIT_S_MAX = 10
"""So long may a long answer wait to be made: whoever asks for one is in no hurry."""

RETRY_AFTER_S = 2
_NS = 1_000_000_000


def _overloaded() -> HTTPException:
    return HTTPException(
        503,
        "more requests come than this server can answer: try again soon",
        {"Retry-After": str(RETRY_AFTER_S)},
    )


def check_wait(arrived_ns: int) -> None:
    """Raise HTTPException 503 where a request that came then has waited too long to be begun."""
    if perf_counter_ns() - arrived_ns > WAIT_S_MAX * _NS:
        raise _overloaded()


@asynccontextmanager
async def turn(limiter: CapacityLimiter, wait_s_max: float = WAIT_S_MAX) -> AsyncIterator[None]:
    """Let the block be one of those that ``limiter`` lets go on at a time.

    Raises HTTPException 503 where its turn does not come in time.
    """
    try:
        with fail_after(wait_s_max):
            await limiter.acquire()
    except TimeoutError:
        raise _overloaded() from None
    try:
        yield
    finally:
        limiter.release()
