"""How much a server takes on: what waits too long for its turn gets 503.

A request may wait for its turn, but not for long: whoever has waited longer has likely gone, and a
server that answers those has no time for the others. What has begun is finished. So the rate at
which requests are answered stays about what it is at best, however many more come (decisions, "More
than a server can do").
"""

from asyncio import CancelledError, Future, get_running_loop
from collections import Counter, deque
from time import perf_counter_ns
from typing import NamedTuple

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


class _Waiting(NamedTuple):
    """Somebody who waits for a turn: until when, for which account, and what tells of the turn."""

    until: float
    account_id: int
    turn: Future[None]


class Turns:
    """Lets so many go on ``at_once``, of them ``each`` of one account; others wait.

    They wait in the order in which they came, but nobody behind an account that has all of its
    turns, and none of them longer than ``wait_s_max`` seconds. All belong to one event loop. One
    timer serves all who wait, so that to wait, and to be refused, costs little.
    """

    def __init__(
        self, at_once: int, *, each: int | None = None, wait_s_max: float = WAIT_S_MAX
    ) -> None:
        self._free = at_once
        self._each = each
        self._taken: Counter[int] = Counter()
        self._wait_s_max = wait_s_max
        self._queue: deque[_Waiting] = deque()
        self._is_swept = False

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return sum(not waiting.turn.done() for waiting in self._queue)

    def take_now(self, account_id: int = 0) -> bool:
        """Take a turn if there is one for the account; return whether there was."""
        if not self._free or not self._may_have_more(account_id):
            return False
        self._take(account_id)
        return True

    async def take(self, account_id: int = 0) -> None:
        """Wait for a turn of the account, which has to be given back.

        Raises HTTPException 503 where it does not come in time.
        """
        if self.take_now(account_id):
            return
        loop = get_running_loop()
        turn = loop.create_future()
        self._queue.append(_Waiting(loop.time() + self._wait_s_max, account_id, turn))
        if not self._is_swept:
            self._is_swept = True
            loop.call_later(self._wait_s_max, self._sweep)
        try:
            await turn
        except CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.give(account_id)
            raise

    def give(self, account_id: int = 0) -> None:
        """Give a turn back that :meth:`take` or :meth:`take_now` took for the account."""
        self._free += 1
        if self._each is not None:
            self._taken[account_id] -= 1
            if not self._taken[account_id]:
                del self._taken[account_id]
        if self._queue:
            self._serve()

    def _may_have_more(self, account_id: int) -> bool:
        return self._each is None or self._taken[account_id] < self._each

    def _take(self, account_id: int) -> None:
        self._free -= 1
        if self._each is not None:
            self._taken[account_id] += 1

    def _serve(self) -> None:
        """Give the free turn to the first of those who wait that may have it."""
        for waiting in self._queue:
            if not waiting.turn.done() and self._may_have_more(waiting.account_id):
                self._take(waiting.account_id)
                waiting.turn.set_result(None)
                break
        while self._queue and self._queue[0].turn.done():
            self._queue.popleft()

    def _sweep(self) -> None:
        loop = get_running_loop()
        while self._queue and self._queue[0].until <= loop.time():
            turn = self._queue.popleft().turn
            if not turn.done():
                turn.set_exception(_overloaded())
        self._is_swept = bool(self._queue)
        if self._is_swept:
            loop.call_at(self._queue[0].until, self._sweep)
