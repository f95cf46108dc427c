"""Temporary files for the parts of long responses that have been made and not sent yet.

The database makes a response faster than most clients read it. The rest waits in temporary files
without a name. Each is removed when it has been sent, or by the system when the process ends. So a
slow client uses disk space, but no snapshot of the database and no memory.
The space is limited, per account and in total (rules, "Space for responses that wait").
"""

import os
import threading
from asyncio import AbstractEventLoop, CancelledError, Event
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from tempfile import TemporaryFile
from typing import IO

from anyio import to_thread

from masthead.api.http.overload import Overloaded
from masthead.api.http.timeouts import LOOP_S_MAX
from masthead.errors import StoreUnavailable

FILE_BYTES = 16 * 1024 * 1024
"""The size at which the next file begins: the space of a file is free once it is sent."""

_CHUNK_BYTES = 262_144
_CACHED_BYTES = 64 * _CHUNK_BYTES
"""The bytes written last, which are probably in memory; older ones may be on disk only."""


class Space:
    """The limit of the bytes in a process's temporary files; an account may use half of it.

    A response may start while a quarter of both limits is free, so that few are interrupted.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._taken: Counter[int] = Counter()
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """The number of bytes in use."""
        with self._lock:
            return self._taken.total()

    def check(self, account_id: int) -> None:
        """Raise Overloaded if the account may not start another response."""
        with self._lock:
            self._check(account_id, 0, self._bytes_max * 3 // 4)

    def take(self, account_id: int, count: int) -> None:
        """Reserve ``count`` bytes; raise Overloaded if too few are free."""
        with self._lock:
            self._check(account_id, count, self._bytes_max)
            self._taken[account_id] += count

    def give(self, account_id: int, count: int) -> None:
        """Release ``count`` bytes."""
        with self._lock:
            self._taken[account_id] -= count
            if not self._taken[account_id]:
                del self._taken[account_id]

    def _check(self, account_id: int, count: int, bytes_max: int) -> None:
        of_account, of_all = self._taken[account_id] + count, self._taken.total() + count
        if of_account > bytes_max // 2 or of_all > bytes_max:
            raise Overloaded(
                "responses that their clients have not read yet fill the space for "
                "them: read those first, or try again later",
                "temporary space",
            )


class _File:
    """A temporary file; ``start`` is its offset in the body."""

    def __init__(self, start: int) -> None:
        self.file: IO[bytes] = TemporaryFile(buffering=0)  # noqa: SIM115 - UnsentBody closes it
        self.start = start
        self.size = 0


class UnsentBody:
    """The part of a response's body that has not been sent yet.

    A thread calls :meth:`write`, and finally always :meth:`end`. The event loop reads
    :meth:`chunks`, and finally always calls :meth:`close`. The files are removed after both.
    """

    def __init__(self, space: Space, account_id: int, loop: AbstractEventLoop) -> None:
        self.size = 0
        """Bytes written so far."""
        self._space = space
        self._account_id = account_id
        self._loop = loop
        self._files: deque[_File] = deque()
        self._taken = 0
        self._changed = Event()
        self._may_go_on = threading.Event()
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._is_ended = self._is_closed = False

    def write(self, data: bytes) -> None:
        """Append data; then wait for the event loop, so that other requests make progress.

        Raises CancelledError if the body is closed, Overloaded if the limit of the space is
        reached, StoreUnavailable if a file cannot be written, and TimeoutError if the event loop
        does not run within ``LOOP_S_MAX`` seconds.
        """
        self._may_go_on.clear()
        if self._is_closed:
            raise CancelledError
        if data:
            self._write(data)
            self.size += len(data)
        self._loop.call_soon_threadsafe(self._notify)
        if not self._may_go_on.wait(LOOP_S_MAX):
            raise TimeoutError

    def end(self, error: BaseException | None = None) -> None:
        """Mark the body as complete, or as failed with ``error``; nothing more is written."""
        self._error = error
        with self._lock:
            self._is_ended = True
            if self._is_closed:
                self._remove_all()
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._changed.set)

    async def until_ended(self) -> None:
        """Wait until the body is complete; raise its error if it has failed."""
        while not self._is_ended:
            self._changed.clear()
            if not self._is_ended:
                await self._changed.wait()
        if self._error:
            raise self._error

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body in order, while it is written; then raise its error if it has failed."""
        sent = 0
        while True:
            self._changed.clear()
            is_ended = self._is_ended
            if sent < self.size:
                chunk = await self._read(sent)
                sent += len(chunk)
                if chunk:
                    yield chunk
            elif is_ended:
                break
            else:
                await self._changed.wait()
        await self.until_ended()

    def close(self) -> None:
        """Stop reading; a :meth:`write` that waits returns, and the next raises CancelledError."""
        with self._lock:
            self._is_closed = True
            if self._is_ended:
                self._remove_all()
        self._may_go_on.set()

    def _notify(self) -> None:
        self._changed.set()
        self._may_go_on.set()

    def _write(self, data: bytes) -> None:
        if not self._files:
            self._space.check(self._account_id)
        self._space.take(self._account_id, len(data))
        with self._lock:
            self._taken += len(data)
        try:
            if not self._files or self._files[-1].size >= FILE_BYTES:
                self._files.append(_File(self.size))
            last = self._files[-1]
            last.size += len(data)
            unwritten = memoryview(data)
            while unwritten:
                unwritten = unwritten[last.file.write(unwritten) :]
        except OSError as error:
            raise StoreUnavailable(f"no temporary file for a response: {error}") from error

    async def _read(self, start: int) -> bytes:
        """Return the next chunk; at the end of a file, remove it and return no bytes."""
        first = self._files[0]
        count = min(self.size, first.start + first.size) - start
        if not count:
            self._files.popleft().file.close()
            with self._lock:
                self._taken -= first.size
            self._space.give(self._account_id, first.size)
            return b""
        read = partial(os.pread, first.file.fileno(), min(_CHUNK_BYTES, count), start - first.start)
        if self.size - start <= _CACHED_BYTES:
            return read()
        return await to_thread.run_sync(read)

    def _remove_all(self) -> None:
        while self._files:
            self._files.popleft().file.close()
        self._space.give(self._account_id, self._taken)
