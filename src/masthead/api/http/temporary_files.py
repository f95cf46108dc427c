"""What has been made of long answers and not been sent yet: in temporary files, with a limit.

The database makes an answer faster than most clients read it. What waits for a client stands in
temporary files without a name, which the system removes with the process however that ends; what
has been sent is removed piece by piece. A slow client so holds space on the disk, and no snapshot
of the database, and no memory. How much space there is, is limited for each account and for all
together (decisions, "Space for answers that wait").
"""

import os
import threading
from asyncio import CancelledError
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from tempfile import TemporaryFile
from typing import IO, Self

from anyio import Event, to_thread
from starlette.exceptions import HTTPException

from masthead.api.http.overload import RETRY_AFTER_S, Turns
from masthead.errors import StoreUnavailable

__all__ = ["LONG_AT_ONCE", "LONG_OF_AN_ACCOUNT", "Backlog", "Making", "Space"]

FILE_BYTES = 16 * 1024 * 1024
"""A file that is not smaller is followed by another one, so that its space is free once it is
sent."""

SHORT_AT_ONCE, SHORT_WAIT_S_MAX = 4, 2.0
"""So many answers that may be short are made at a time; others wait so many seconds at most."""

LONG_AT_ONCE, LONG_OF_AN_ACCOUNT, LONG_WAIT_S_MAX = 8, 4, 10.0
"""So many long answers are made at a time, of them so many of one account; others wait so many
seconds at most. Any number may be sent."""

_CHUNK_BYTES = 262_144
_FRESH_BYTES = 64 * _CHUNK_BYTES
"""What was written last is in memory still; what is older may have to come from the disk."""


class Space:
    """How many bytes all backlogs of a process may hold: in all, and of one account half of it.

    A new one may be begun while a quarter of both is free, so that few answers have to break off in
    the middle.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held: Counter[int] = Counter()
        self._lock = threading.Lock()

    def check(self, account_id: int) -> None:
        """Raise HTTPException 503 where no other answer of the account may be begun."""
        with self._lock:
            self._check(account_id, 0, self._bytes_max * 3 // 4)

    def take(self, account_id: int, count: int) -> None:
        """Take so many bytes; raise HTTPException 503 where that is more than there is."""
        with self._lock:
            self._check(account_id, count, self._bytes_max)
            self._held[account_id] += count

    def _check(self, account_id: int, count: int, bytes_max: int) -> None:
        of_account, of_all = self._held[account_id] + count, self._held.total() + count
        if of_account > bytes_max // 2 or of_all > bytes_max:
            raise HTTPException(
                503,
                "answers that their clients have not read yet take up the space there is for them: "
                "read those first, or try again later",
                {"Retry-After": str(RETRY_AFTER_S)},
            )

    @property
    def held(self) -> int:
        """How many bytes are taken."""
        with self._lock:
            return self._held.total()

    def give(self, account_id: int, count: int) -> None:
        """Give bytes back."""
        with self._lock:
            self._held[account_id] -= count
            if not self._held[account_id]:
                del self._held[account_id]


class Making:
    """What the making of all answers that may be long shares: turns, and space to wait in.

    ``short`` are the turns of answers that may be short, ``long`` those of long ones.
    """

    def __init__(self, unread_bytes_max: int) -> None:
        self.short = Turns(SHORT_AT_ONCE, wait_s_max=SHORT_WAIT_S_MAX)
        self.long = Turns(LONG_AT_ONCE, each=LONG_OF_AN_ACCOUNT, wait_s_max=LONG_WAIT_S_MAX)
        self.space = Space(unread_bytes_max)


class _File:
    """One of the temporary files of a backlog; ``start`` is where in the answer it begins."""

    def __init__(self, start: int) -> None:
        self.file: IO[bytes] = TemporaryFile(buffering=0)  # noqa: SIM115 - Backlog closes it
        self.start = start
        self.size = 0


class Backlog:
    """The part of one answer that waits for its client, from a thread that makes the answer.

    Whoever opens it, with a ``with``, reads from it in the event loop. The thread that writes need
    not have ended when it is closed: its next :meth:`write` raises CancelledError.
    """

    def __init__(self, space: Space, account_id: int) -> None:
        self._space = space
        self._account_id = account_id
        self._files: deque[_File] = deque()
        self._held = 0
        self._is_writing = self._is_closed = False
        self._lock = threading.Lock()
        # What follows belongs to the event loop.
        self.size = 0
        self._is_complete = False
        self._changed = Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the files, at once or when the write that is under way is done."""
        with self._lock:
            self._is_closed = True
            if not self._is_writing:
                self._remove()

    def write(self, data: bytes, in_loop: Callable[[Callable[[], None]], None]) -> None:
        """Add to the end, in the thread that makes the answer; then let the event loop have a turn.

        ``in_loop`` calls a function in the event loop's thread. Raises CancelledError where the
        backlog is closed, HTTPException 503 where there is no space for it, and StoreUnavailable
        where the system has none.
        """
        with self._lock:
            if self._is_closed:
                raise CancelledError
            self._is_writing = True
        try:
            if data:
                self._write(data)
        finally:
            with self._lock:
                self._is_writing = False
                if self._is_closed:
                    self._remove()
        in_loop(partial(self._grow, len(data)))

    def complete(self) -> None:
        """Say, in the event loop, that nothing more is written."""
        self._is_complete = True
        self._changed.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield all of the answer in its order; each file is removed when it has been read."""
        sent = 0
        while sent < self.size or not self._is_complete:
            if sent == self.size:
                await self._changed.wait()
                continue
            first = self._files[0]
            available = min(self.size - first.start, first.size) - (sent - first.start)
            if not available:
                self._remove_first()
                continue
            read = partial(
                os.pread, first.file.fileno(), min(_CHUNK_BYTES, available), sent - first.start
            )
            is_fresh = self.size - sent <= _FRESH_BYTES
            chunk = read() if is_fresh else await to_thread.run_sync(read)
            sent += len(chunk)
            yield chunk

    def _write(self, data: bytes) -> None:
        if not self._files:
            self._space.check(self._account_id)
        self._space.take(self._account_id, len(data))
        with self._lock:
            self._held += len(data)
        try:
            if not self._files or self._files[-1].size >= FILE_BYTES:
                start = self._files[-1].start + self._files[-1].size if self._files else 0
                self._files.append(_File(start))
            last = self._files[-1]
            rest = memoryview(data)
            while rest:
                count = last.file.write(rest)
                last.size += count
                rest = rest[count:]
        except OSError as error:
            raise StoreUnavailable(f"no temporary file for an answer: {error}") from error

    def _grow(self, added: int) -> None:
        self.size += added
        changed, self._changed = self._changed, Event()
        changed.set()

    def _remove_first(self) -> None:
        with self._lock:
            first = self._files.popleft()
            first.file.close()
            self._held -= first.size
            self._space.give(self._account_id, first.size)

    def _remove(self) -> None:
        while self._files:
            self._files.popleft().file.close()
        self._space.give(self._account_id, self._held)
        self._held = 0
