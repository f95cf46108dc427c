"""How much a server takes on: what waits too long for its turn gets 503.

A request may wait for its turn, but not for long: whoever has waited longer has likely gone, and a
server that answers those has no time for the others. What has begun is finished. So the rate at
which requests are answered stays about what it is at best, however many more come (decisions, "More
than a server can do").
"""

from asyncio import CancelledError, Future, get_running_loop
from collections import deque
from time import perf_counter_ns

from starlette.exceptions import HTTPException

__all__ = ["RETRY_AFTER_S", "WAIT_S_MAX", "Turns", "check_wait"]

WAIT_S_MAX = 1.0
"""So long may a request wait for its turn: in the event loop, and again for a thread."""

RETRY_AFTER_S = 2
"""So long a client that got 503 is asked to wait, whatever the cause."""

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


class Turns:
    """Lets so many go on ``at_once``; others wait in a row, none of them longer than so many s.

    A block ``async with turns`` is somebody's turn; it raises HTTPException 503 where that does not
    come. All belong to one event loop. One timer serves the whole row, so that to wait, and to be
    refused, costs little.
    """

    def __init__(self, at_once: int, wait_s_max: float = WAIT_S_MAX) -> None:
        self._free = at_once
        self._wait_s_max = wait_s_max
        self._row: deque[tuple[float, Future[None]]] = deque()
        self._is_swept = False

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return sum(not turn.done() for _, turn in self._row)

    async def __aenter__(self) -> None:
        """Wait for a turn."""
        if self._free:
            self._free -= 1
            return
        loop = get_running_loop()
        turn = loop.create_future()
        self._row.append((loop.time() + self._wait_s_max, turn))
        if not self._is_swept:
            self._is_swept = True
            loop.call_later(self._wait_s_max, self._sweep)
        try:
            await turn
        except CancelledError:
            if turn.done() and not turn.cancelled():
                self._give()
            raise

    async def __aexit__(self, *_: object) -> None:
        """Let the next one have the turn."""
        self._give()

    def _give(self) -> None:
        while self._row:
            _, turn = self._row.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _sweep(self) -> None:
        loop = get_running_loop()
        while self._row and self._row[0][0] <= loop.time():
            _, turn = self._row.popleft()
            if not turn.done():
                turn.set_exception(_overloaded())
        self._is_swept = bool(self._row)
        if self._is_swept:
            loop.call_at(self._row[0][0], self._sweep)
