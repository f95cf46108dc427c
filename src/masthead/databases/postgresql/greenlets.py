"""Ordinary functions that wait on an event loop without blocking it.

A function runs in a greenlet. While it waits for a database, the event loop does other work. The
loop continues the function when the wait is over. So the same function can wait in a thread and in
an event loop, as in SQLAlchemy's asyncio extension.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import greenlet

if TYPE_CHECKING:
    from asyncio import Future, TimerHandle

Result = TypeVar("Result")


class _Worker(greenlet.greenlet):
    """A greenlet that runs one function after another: a new one costs as much as ten switches.

    ``late`` is the error that its function gets when it waits after its deadline.
    """

    late: Exception | None = None


class Greenlets:
    """The greenlets of an event loop, which must be the current one when this is made."""

    def __init__(self) -> None:
        # Imported late: commands that serve nothing import this module too.
        from asyncio import get_running_loop  # noqa: PLC0415

        self._loop = get_running_loop()
        self._hub = greenlet.getcurrent()
        self._idle: list[_Worker] = []

    def start(
        self,
        function: Callable[[], Result],
        *,
        ends_at: float,
        too_late: Callable[[], Exception],
        ended: Callable[[], None] = lambda: None,
    ) -> "Future[Result]":
        """Run a function until it waits or ends; return its future. ``ended`` is called after it.

        If it waits at or after ``ends_at``, a time of the event loop, the wait raises the error
        that ``too_late`` returns.
        """
        worker = self._idle.pop() if self._idle else _Worker(self._serve, self._hub)
        future: Future[Result] = self._loop.create_future()
        timer = self._loop.call_at(ends_at, self._interrupt, worker, too_late)
        worker.switch(function, future, timer, ended)
        return future

    def _serve(
        self,
        function: Callable[[], Any],
        future: "Future[Any]",
        timer: "TimerHandle",
        ended: Callable[[], None],
    ) -> None:
        worker = current()
        assert worker
        while True:
            error = result = None
            try:
                result = function()
            except BaseException as reason:  # noqa: BLE001 - the future raises it
                error = reason
            timer.cancel()
            worker.late = None
            ended()
            if not future.done():
                future.set_exception(error) if error else future.set_result(result)
            del function, future, timer, ended, error, result
            self._idle.append(worker)
            function, future, timer, ended = self._hub.switch()

    @staticmethod
    def _interrupt(worker: _Worker, too_late: Callable[[], Exception]) -> None:
        """Raise the error where the function waits, even if nothing awaits the future."""
        worker.late = too_late()
        worker.throw(worker.late)


def current() -> _Worker | None:
    """Return the current greenlet of an event loop; None outside of such a greenlet."""
    found = greenlet.getcurrent()
    return found if isinstance(found, _Worker) else None


def suspend() -> Any:
    """Switch to the event loop until it switches back; return the value that it passes."""
    worker = current()
    assert worker
    assert worker.parent
    if worker.late:
        raise worker.late
    return worker.parent.switch()


@contextmanager
def at_most(seconds: float, error: Exception) -> Iterator[None]:
    """In a greenlet, raise the error if the block still waits after ``seconds``."""
    worker = current()
    if worker is None:
        yield
        return
    from asyncio import get_running_loop  # noqa: PLC0415 - as in Greenlets

    timer = get_running_loop().call_later(seconds, worker.throw, error)
    try:
        yield
    finally:
        timer.cancel()
