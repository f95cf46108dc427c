"""Long answers: made at the full speed of the database, sent at that of the client.

A thread makes the body and writes it to an unnamed temporary file, from which the event loop sends
what is there already. So a client that reads slowly, or not at all, holds no snapshot of the
database open and no more memory than a chunk; and one that goes away ends the work (design, "The
change feed").

After each piece the thread waits for the event loop to have had a turn: look-ups on the same server
go on between two pieces.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from anyio import CancelScope, Event, create_task_group, from_thread, to_thread
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from masthead.api.answers import Answer, Rest, head, json, stream
from masthead.api.capacity import Turns
from masthead.api.compression import coding_for, compressor
from masthead.api.operation import in_time
from masthead.api.threads import Check
from masthead.errors import StoreUnavailable

__all__ = ["AT_ONCE", "WHOLE_BYTES_MAX", "Content", "Spooled"]

WHOLE_BYTES_MAX = 65_536
"""A body that is not longer is mostly sent with its length, and needs no file."""

AT_ONCE = 8
"""So many answers are made at a time; others wait for their turn, ten seconds at most. Any number
may be sent."""

_CHUNK_BYTES = 262_144
_FRESH_BYTES = 64 * _CHUNK_BYTES
"""What was written last is in memory still; what is older may have to come from the disk."""

_COMPRESSED_BYTES_MIN = 1_024
_making = Turns(AT_ONCE, wait_s_max=10)


class Content(NamedTuple):
    """What an answer says: its headers, and the pieces of its body while they are made.

    ``source`` is what the pieces are made from, to be closed at the end, be it early or not.
    """

    headers: Mapping[str, str]
    pieces: Iterator[bytes]
    source: ExitStack


class Spooled:
    """What makes an answer of the content that ``begin`` returns, once, and sends a long one.

    ``begin`` is called in a thread, and may raise what a handler may; where it or the start of the
    body takes too long, the answer is 503. Where the pieces raise after the answer has begun, the
    connection breaks without the last chunk, so that the client can tell. The body comes in the
    best coding that the client accepts. A client of HTTP/1.0, which knows no chunks, gets it with
    its length, once all of it is made (RFC 9112 section 6.1). What is longer than
    ``whole_bytes_max`` is sent while it is made.
    """

    def __init__(
        self,
        begin: Callable[[], Content],
        *,
        is_head: bool,
        whole_bytes_max: int = WHOLE_BYTES_MAX,
    ) -> None:
        self.begin = begin
        self._is_head = is_head
        self._whole_bytes_max = whole_bytes_max
        self._is_streamed = True
        self._answer: Answer | Rest | None = None
        self._begun = Event()
        self._file: IO[bytes] | None = None
        self._size = 0
        self._is_complete = False
        self._grown = Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> Answer | None:
        """Make the answer; return it, or send it until the client has it or is gone."""
        coding = coding_for(",".join(Headers(scope=scope).getlist("accept-encoding")))
        self._is_streamed = scope["http_version"] != "1.0"
        try:
            async with create_task_group() as tasks:
                tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
                tasks.start_soon(self._make, coding)
                await self._begun.wait()
                if self._answer and not isinstance(self._answer, Answer):
                    await self._answer(scope, receive, send)
                tasks.cancel_scope.cancel()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            if self._file:
                # Where the disk is full, what could not be written is tried once more here.
                with suppress(OSError):
                    self._file.close()
        return self._answer if isinstance(self._answer, Answer) else None

    async def _make(self, coding: str) -> None:
        try:
            async with _making:
                content, start = await in_time(self._begin)
                await to_thread.run_sync(self._fill, content, start, coding)
        except OSError as error:
            raise StoreUnavailable(f"no temporary file for an answer: {error}") from error
        self._is_complete = True
        self._grown.set()

    def _begin(self, check: Check) -> tuple[Content, bytes]:
        """Return the content, and the start of its body; or all of it, and done with its source."""
        content = self.begin()
        start = bytearray()
        is_whole = self._is_head
        try:
            while not is_whole and len(start) <= self._whole_bytes_max:
                piece = next(content.pieces, None)
                start += piece or b""
                is_whole = piece is None
            check()
        except BaseException:
            content.source.close()
            raise
        if is_whole:
            content.source.close()
        return content, bytes(start)

    def _fill(self, content: Content, start: bytes, coding: str) -> None:
        headers = {**content.headers, "Vary": "Accept-Encoding"}
        pieces = content.pieces
        with content.source:
            if self._is_head:
                from_thread.run_sync(self._start, head(headers))
                return
            if len(start) < _COMPRESSED_BYTES_MIN:
                coding = "identity"
            if coding != "identity":
                headers["Content-Encoding"] = coding
            compress = compressor(coding)
            if len(start) <= self._whole_bytes_max:
                body = compress.compress(start) + compress.flush()
                from_thread.run_sync(self._start, json(body, headers))
                return
            self._file = TemporaryFile()  # noqa: SIM115 - closed when it is sent
            self._write(compress.compress(start))
            if self._is_streamed:
                from_thread.run_sync(self._start, stream(self._chunks(), headers))
            for piece in pieces:
                from_thread.check_cancelled()
                self._write(compress.compress(piece))
            self._write(compress.flush())
            if not self._is_streamed:
                headers["Content-Length"] = str(self._size)
                from_thread.run_sync(self._start, stream(self._chunks(), headers))

    def _start(self, answer: Answer | Rest) -> None:
        self._answer = answer
        self._begun.set()

    def _write(self, data: bytes) -> None:
        assert self._file
        self._file.write(data)
        self._file.flush()
        from_thread.run_sync(self._grow, len(data))

    def _grow(self, added: int) -> None:
        self._size += added
        self._grown.set()
        self._grown = Event()

    async def _chunks(self) -> AsyncIterator[bytes]:
        assert self._file
        sent = 0
        while sent < self._size or not self._is_complete:
            if sent < self._size:
                count = min(_CHUNK_BYTES, self._size - sent)
                read = partial(os.pread, self._file.fileno(), count, sent)
                is_fresh = self._size - sent <= _FRESH_BYTES
                yield read() if is_fresh else await to_thread.run_sync(read)
                sent += count
            else:
                await self._grown.wait()


async def _cancel_when_gone(receive: Receive, scope: CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
