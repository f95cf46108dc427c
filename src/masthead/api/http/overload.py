"""Load shedding: what waits too long is refused with 503.

A request may wait, but not for long: a client that has waited longer has likely gone, and a server
that answers those has no time for the others. What has begun is finished. So the rate of responses
stays about the same, however many more requests come (decisions, "More than a server can do").
"""

from asyncio import Semaphore, timeout
from collections import defaultdict
from time import perf_counter_ns

from starlette.exceptions import HTTPException

__all__ = ["RETRY_AFTER_S", "WAIT_S_MAX", "Slots", "check_wait"]

WAIT_S_MAX = 1.0
"""Seconds that a request may wait for the event loop, and again for a slot."""

RETRY_AFTER_S = 2
"""Seconds that a client is asked to wait after a 503, whatever its cause."""


def _overloaded() -> HTTPException:
    return HTTPException(
        503,
        "more requests come than this server can answer: try again soon",
        {"Retry-After": str(RETRY_AFTER_S)},
    )


def check_wait(arrived_ns: int) -> None:
    """Raise HTTPException 503 where a request that arrived then has waited for too long."""
    if perf_counter_ns() - arrived_ns > WAIT_S_MAX * 1_000_000_000:
        raise _overloaded()


class Slots:
    """How many pieces of work go on at once, in all and of one account.

    Others wait in their order, but never behind those of an account that has all of its slots, and
    for at most ``wait_s_max`` seconds. Without ``of_an_account`` there is one order, and no account
    need be named. Slots belong to one event loop.
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
        """Wait for a slot, which :meth:`give` gives back.

        Raises HTTPException 503 where there is none in time.
        """
        of_account = self._of_accounts[account_id]
        try:
            async with timeout(None if self.are_free(account_id) else self._wait_s_max):
                await of_account.acquire()
                try:
                    await self._of_all.acquire()
                except BaseException:
                    of_account.release()
                    raise
        except TimeoutError:
            raise _overloaded() from None

    def give(self, account_id: int = 0) -> None:
        """Give back a slot that the account has."""
        self._of_all.release()
        self._of_accounts[account_id].release()
