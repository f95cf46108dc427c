"""Load shedding: a request that waits too long is refused with 503.

A client that has waited for long has probably disconnected, and a server that responds to such
clients has no time for the others. A request that has started is finished. So the rate of responses
stays about the same under any load (decisions, "More than a server can do").
"""

from asyncio import Semaphore, timeout
from collections import defaultdict
from time import perf_counter_ns

from starlette.exceptions import HTTPException

WAIT_S_MAX = 1.0
"""Seconds that a request may wait for the event loop, and again for a slot."""

RETRY_AFTER_S = 2
"""Seconds in the ``Retry-After`` header of a 503, whatever its cause."""


class Overloaded(HTTPException):
    """The status 503 of a server that has too much to do; ``reason`` is for the log."""

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(503, sentence, {"Retry-After": str(RETRY_AFTER_S)})
        self.reason = reason


def _overloaded() -> Overloaded:
    return Overloaded("more requests come than this server can answer: try again soon", "overload")


def check_wait(arrived_ns: int) -> None:
    """Raise Overloaded if a request has waited too long since ``arrived_ns``."""
    if perf_counter_ns() - arrived_ns > WAIT_S_MAX * 1_000_000_000:
        raise _overloaded()


class Slots:
    """A limit on concurrent work, in total and per account.

    Work waits for a slot in order of arrival, for at most ``wait_s_max`` seconds. It never waits
    behind work of an account that already has all of its slots. Without ``of_an_account`` there is
    one queue, and callers can omit the account. Slots belong to one event loop.
    """

    def __init__(
        self, at_once: int, *, of_an_account: int | None = None, wait_s_max: float = WAIT_S_MAX
    ) -> None:
        self._wait_s_max = wait_s_max
        self._of_all = Semaphore(at_once)
        self._of_accounts: defaultdict[int, Semaphore] = defaultdict(
            lambda: Semaphore(of_an_account or at_once)
        )

    def are_free(self, account_id: int = 0) -> bool:
        """Return whether :meth:`take` would not wait."""
        return not (self._of_accounts[account_id].locked() or self._of_all.locked())

    async def take(self, account_id: int = 0) -> None:
        """Acquire a slot, which :meth:`give` releases.

        Raises Overloaded if none is free within ``wait_s_max`` seconds.
        """
        if self.are_free(account_id):
            await self._acquire(account_id)
            return
        try:
            async with timeout(self._wait_s_max):
                await self._acquire(account_id)
        except TimeoutError:
            raise _overloaded() from None

    async def _acquire(self, account_id: int) -> None:
        of_account = self._of_accounts[account_id]
        await of_account.acquire()
        try:
            await self._of_all.acquire()
        except BaseException:
            of_account.release()
            raise

    def give(self, account_id: int = 0) -> None:
        """Release a slot of the account."""
        self._of_all.release()
        self._of_accounts[account_id].release()
