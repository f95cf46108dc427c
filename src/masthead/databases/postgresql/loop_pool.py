"""Sessions with PostgreSQL for the functions that run in greenlets of an event loop."""

import os
import threading
from asyncio import AbstractEventLoop, Future, get_running_loop
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from time import monotonic
from typing import Any, TypeVar

from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.waiting import Ready, Wait

from masthead.databases.postgresql.connection import explaining
from masthead.databases.postgresql.greenlets import current, suspend
from masthead.databases.postgresql.session import PARAMETERS, Session

Result = TypeVar("Result")

_CONNECTING_MAX = 4
_RETRY_S = 1.0
"""Seconds without a new attempt after a failed one, while other sessions are open."""


class _LoopSession(Session):
    """A session that waits without blocking the event loop. Only greenlets use it."""

    _loop: AbstractEventLoop | None = None
    _waiting: Any = None

    def join(self, loop: AbstractEventLoop) -> None:
        """Let the event loop watch for data from the server."""
        self._loop = loop
        # A duplicate: libpq closes its own when the session is lost. The loop must not watch a
        # descriptor that may then belong to another socket.
        self._socket = os.dup(self.pgconn.socket)
        loop.add_reader(self._socket, self._readable)

    def leave(self) -> None:
        """Close the session."""
        if self._loop is not None:
            self._loop.remove_reader(self._socket)
            self._loop = None
            os.close(self._socket)
        self.close()

    @property
    def is_usable(self) -> bool:
        """Whether the session is open, and in no transaction."""
        return self.pgconn.transaction_status == TransactionStatus.IDLE

    def wait(self, gen: PQGen[Result], interval: float = 0, timeout: float | None = None) -> Result:
        """Wait for the server (psycopg calls this method in each statement)."""
        if current() is None:
            return super().wait(gen, interval, timeout)
        try:
            awaited = next(gen)
            while True:
                is_writing = bool(awaited & Wait.W)
                self.wait_for(writing=is_writing)
                awaited = gen.send(Ready.RW if is_writing else Ready.R)
        except StopIteration as end:
            found: Result = end.value
            return found
        except BaseException:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                # The server's next message is unknown.
                self.pgconn.finish()
            raise

    def wait_for(self, *, writing: bool) -> None:
        """Wait until libpq can read or, if ``writing``, write."""
        if self._loop is None:
            super().wait_for(writing=writing)
            return
        self._waiting = current()
        if writing:
            self._loop.add_writer(self._socket, self._readable)
        try:
            suspend()
        finally:
            self._waiting = None
            if writing and self._loop is not None:
                self._loop.remove_writer(self._socket)

    def _readable(self) -> None:
        if self._waiting:
            self._waiting.switch()
        else:
            # No greenlet waits: the server has ended the session.
            self.pgconn.finish()
            if self._loop is not None:
                self._loop.remove_reader(self._socket)


class LoopPool:
    """Sessions of one event loop, opened when they are needed, up to a maximum.

    The loop is that of the first greenlet that needs a session. If none is free, greenlets wait in
    order of arrival, until their deadlines.
    """

    def __init__(self, url: str, sessions_max: int) -> None:
        self._url = url
        self._sessions_max = sessions_max
        self._threads = ThreadPoolExecutor(_CONNECTING_MAX, "masthead-connect")
        self._idle: list[_LoopSession] = []
        self._new: set[_LoopSession] = set()
        self._lock = threading.Lock()
        self._waiting: deque[Any] = deque()
        self._count = 0
        self._connecting = 0
        self._refused_at = -_RETRY_S
        self._is_closed = False

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield a session. Raises DatabaseUnavailable if none can be opened."""
        with explaining():
            session = self._take()
            try:
                yield session
            finally:
                self._give(session)

    def close(self) -> None:
        """Close the sessions; those in use are closed when they are returned."""
        with self._lock:
            self._is_closed = True
            while self._new:
                self._new.pop().close()
        while self._idle:
            self._idle.pop().leave()
        self._threads.shutdown(wait=False, cancel_futures=True)

    @cached_property
    def _loop(self) -> AbstractEventLoop:
        return get_running_loop()

    def _take(self) -> _LoopSession:
        while self._idle:
            session = self._idle.pop()
            if session.is_usable:
                return session
            self._drop(session)
        greenlet = current()
        self._waiting.append(greenlet)
        self._connect()
        try:
            found: _LoopSession = suspend()
        except BaseException:
            if greenlet in self._waiting:
                self._waiting.remove(greenlet)
            raise
        return found

    def _give(self, session: _LoopSession) -> None:
        if session.is_usable and not self._is_closed:
            self._idle.append(session)
        else:
            self._drop(session)
        if self._waiting:
            self._loop.call_soon(self._hand_out)

    def _drop(self, session: _LoopSession) -> None:
        session.leave()
        self._count -= 1

    def _hand_out(self) -> None:
        while self._waiting and self._idle:
            session = self._idle.pop()
            if session.is_usable:
                self._waiting.popleft().switch(session)
            else:
                self._drop(session)
        if self._waiting:
            self._connect()

    def _connect(self) -> None:
        """Open a session for each greenlet that waits, up to the limits."""
        if self._count and monotonic() - self._refused_at < _RETRY_S:
            return
        while (
            self._connecting < min(len(self._waiting), _CONNECTING_MAX)
            and self._count < self._sessions_max
            and not self._is_closed
        ):
            self._count += 1
            self._connecting += 1
            self._loop.run_in_executor(self._threads, self._open).add_done_callback(self._opened)

    def _open(self) -> _LoopSession:
        session = _LoopSession.connect(self._url, **PARAMETERS)
        try:
            session.keep_statements()
        except BaseException:
            session.close()
            raise
        with self._lock:
            if self._is_closed:
                session.close()
            else:
                self._new.add(session)
        return session

    def _opened(self, future: "Future[_LoopSession]") -> None:
        self._connecting -= 1
        if future.cancelled():
            self._count -= 1
            return
        if error := future.exception():
            self._count -= 1
            self._refused_at = monotonic()
            if not self._count:
                self._refuse(error)
            return
        session = future.result()
        with self._lock:
            self._new.discard(session)
        if self._is_closed:
            self._count -= 1
            return
        session.join(self._loop)
        self._idle.append(session)
        self._hand_out()

    def _refuse(self, error: BaseException) -> None:
        waiting, self._waiting = self._waiting, deque()
        for greenlet in waiting:
            greenlet.throw(error)
