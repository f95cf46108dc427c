"""Threads for what must not stop the event loop: the whole of a request, or a query that scans.

A request that changes threads pays for it twice. What a library does around that (contexts, scopes,
futures of two kinds) costs as much as a query that PostgreSQL answers at once, so here is only what
is needed: a row of work, and threads that take from it.
"""

import threading
from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

__all__ = ["Check", "Threads"]

Result = TypeVar("Result")
Check = Callable[[], None]
"""Raises CancelledError where nobody waits for the result any more."""


class _Work(NamedTuple):
    loop: AbstractEventLoop
    future: Future[Any]
    function: Callable[[Check], Any]

    def check(self) -> None:
        if self.future.cancelled():
            raise CancelledError


class Threads:
    """As many threads as there is work at a time; each is kept for the next piece of work."""

    def __init__(self) -> None:
        self._row: SimpleQueue[_Work] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._busy = 0

    async def run(self, function: Callable[[Check], Result]) -> Result:
        """Return what the function returns, or raise what it raises; it runs in a thread.

        Where this is cancelled, the thread is left to end by itself; the function can ask for that.
        """
        loop = get_running_loop()
        future: Future[Result] = loop.create_future()
        with self._lock:
            self._busy += 1
            is_one_more = self._busy > self._threads
            self._threads += is_one_more
        if is_one_more:
            threading.Thread(target=self._take, name="masthead-request", daemon=True).start()
        self._row.put(_Work(loop, future, function))
        return await future

    def _take(self) -> None:
        while True:
            work = self._row.get()
            result: Any = None
            error: BaseException | None = None
            try:
                work.check()
                result = work.function(work.check)
            except BaseException as reason:  # noqa: BLE001 - it is raised where it is waited for
                error = reason
            with self._lock:
                self._busy -= 1
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                work.loop.call_soon_threadsafe(_give, work.future, result, error)
            # Else they would be kept until there is more work.
            del work, result, error


def _give(future: Future[Any], result: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
