"""Threads for what must not stop the event loop: the whole of a request, or a query that scans.

A request that changes threads pays for it twice. What a library does around that (contexts, scopes,
futures of two kinds) costs as much as a query that PostgreSQL answers at once, so here is only what
is needed: a queue of work, and threads that take from it. How many there are at most is the
caller's business (``capacity.Turns``).
"""

import threading
from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop
from collections.abc import Callable
from concurrent import futures
from queue import SimpleQueue
from typing import Any, TypeVar

__all__ = ["Threads", "Work"]

Result = TypeVar("Result")

_LOOK_EVERY_S = 1.0


class Work:
    """What a function that runs in a thread knows of the event loop that waits for it."""

    def __init__(
        self,
        function: "Callable[[Work], Any]",
        loop: AbstractEventLoop,
        ended: Callable[[], None],
    ) -> None:
        self.future: Future[Any] = loop.create_future()
        self._function = function
        self._loop = loop
        self._ended = ended

    def check(self) -> None:
        """Raise CancelledError where nobody waits for the result any more."""
        if self.future.cancelled():
            raise CancelledError

    def in_loop(self, function: Callable[[], Result]) -> Result:
        """Call the function in the event loop's thread; return or raise what it does.

        Raises CancelledError where the event loop has ended.
        """
        found: futures.Future[Result] = futures.Future()

        def call() -> None:
            try:
                found.set_result(function())
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                found.set_exception(error)

        try:
            self._loop.call_soon_threadsafe(call)
            while not futures.wait([found], _LOOK_EVERY_S).done:
                if self._loop.is_closed():
                    raise CancelledError
        except RuntimeError:
            raise CancelledError from None
        return found.result()

    def call(self) -> tuple[Any, BaseException | None]:
        """Call the function, unless nobody waits for it; return its result, or what it raised."""
        try:
            self.check()
            return self._function(self), None
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            return None, error

    def end(self, result: object, error: BaseException | None) -> None:
        """Hand what the function returned or raised to the event loop."""
        try:
            self._loop.call_soon_threadsafe(self._end, result, error)
        except RuntimeError:  # the loop has ended, and nobody waits
            self._ended()

    def _end(self, result: object, error: BaseException | None) -> None:
        self._ended()
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class Threads:
    """As many threads as there is work at a time; each is kept for the next piece of work."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Work] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._busy = 0

    def run(
        self, function: Callable[[Work], Result], *, ended: Callable[[], None] = lambda: None
    ) -> Future[Result]:
        """Return the future of what the function returns or raises; it runs in a thread.

        Where the future is cancelled, the thread is left to end by itself, and the function can ask
        for that. ``ended`` is called when the thread is done with the function, whether or not
        somebody still waits: in the event loop, unless that has ended. What the function opens it
        has to close: a result that nobody waits for any more is dropped.
        """
        work = Work(function, get_running_loop(), ended)
        with self._lock:
            self._busy += 1
            is_one_more = self._busy > self._threads
            self._threads += is_one_more
        if is_one_more:
            threading.Thread(target=self._take, name="masthead-request", daemon=True).start()
        self._queue.put(work)
        return work.future

    def _take(self) -> None:
        while True:
            work = self._queue.get()
            result, error = work.call()
            with self._lock:
                self._busy -= 1
            work.end(result, error)
            # Else they would be kept until there is more work.
            del work, result, error
