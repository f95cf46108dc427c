"""Long answers: made at the full speed of the database, sent at that of the client.

A thread opens what an answer is made from, makes the body and closes it again, all in one block. It
writes the body to a backlog, from which the event loop sends what is there already. So a client
that reads slowly, or not at all, holds no snapshot of the database open and no more memory than a
chunk; and one that goes away ends the work (design, "The change feed").

Nobody knows how long an answer will be before it is made. Each is begun as a short one; one that
turns out to be long goes on if there is a turn for a long one, and else is begun anew when there is
(decisions, "Long answers").

After each piece the thread waits for the event loop to have had a turn: look-ups on the same server
go on between two pieces.
"""

from asyncio import CancelledError, Future, get_running_loop
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

from anyio import CancelScope, create_task_group
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from masthead.api.http.compression import coding_for, compressor
from masthead.api.http.overload import Turns
from masthead.api.http.responses import Answer, head, json, stream_fields
from masthead.api.http.temporary_files import Backlog, Making
from masthead.api.http.threads import Work
from masthead.api.operation import Call, result_in_time, threads

__all__ = ["WHOLE_BYTES_MAX", "Content", "Spooled", "spooled"]

WHOLE_BYTES_MAX = 65_536
"""A body that is not longer is sent with its length, and needs no file."""

_COMPRESSED_BYTES_MIN = 1_024


Begun = Answer | Mapping[str, str]
"""An answer that is ready, or the headers of one that has begun."""


class Content(NamedTuple):
    """What an answer says: its headers, and the pieces of its body while they are made."""

    headers: Mapping[str, str]
    pieces: Iterator[bytes]


class Spooled:
    """What makes one answer of the content that ``opened`` lends, and sends a long one.

    ``opened`` is called in a thread, maybe twice, and may raise what a handler may; where it or the
    start of the body takes too long, the answer is 503. Where the pieces raise after the answer has
    begun, the connection breaks without the last chunk, so that the client can tell. The body comes
    in the best coding that the client accepts. A client of HTTP/1.0, which knows no chunks, gets it
    with its length, once all of it is made (RFC 9112 section 6.1). What is longer than
    ``whole_bytes_max`` is long: it is sent while it is made, through a backlog, as ``making``
    has turns and space for it.
    """

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[Content]],
        *,
        account_id: int,
        making: Making,
        is_head: bool,
        whole_bytes_max: int = WHOLE_BYTES_MAX,
    ) -> None:
        self.opened = opened
        self._account_id = account_id
        self._making = making
        self._backlog = Backlog(making.space, account_id)
        self._is_head = is_head
        self._whole_bytes_max = whole_bytes_max
        self._coding = "identity"
        self._turns = making.short
        self._begun: Future[Begun | None]
        self._done: Future[Answer | None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> Answer | None:
        """Make the answer; return it, or send it until the client has it or is gone."""
        self._coding = coding_for(",".join(Headers(scope=scope).getlist("accept-encoding")))
        answer = None
        try:
            async with create_task_group() as tasks:
                tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
                with self._backlog:
                    answer = await self._answer(scope, send)
                tasks.cancel_scope.cancel()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        return answer

    async def _answer(self, scope: Scope, send: Send) -> Answer | None:
        begun = await self._begin(self._making.short) or await self._begin(self._making.long)
        assert begun
        if isinstance(begun, Answer):
            return begun
        try:
            if scope["http_version"] == "1.0":
                await self._done
                begun = {**begun, "Content-Length": str(self._backlog.size)}
            await send(
                {"type": "http.response.start", "status": 200, "headers": stream_fields(begun)}
            )
            async for chunk in self._backlog.chunks():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await self._done
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._done.cancel()
        return None

    async def _begin(self, turns: Turns) -> Begun | None:
        """Return the answer, or the headers of a long one that has begun.

        None: the answer is long, and there was no turn for that. Raises what the content raises,
        StoreUnavailable where its start does not come in time, and HTTPException 503 where there is
        no turn or no space.
        """
        await turns.take(self._account_id)
        self._turns = turns
        self._begun = get_running_loop().create_future()
        # A client that leaves in the same moment in which something fails hears of neither.
        self._begun.add_done_callback(lambda begun: begun.cancelled() or begun.exception())
        self._done = threads.run(self._make, ended=lambda: self._turns.give(self._account_id))
        self._done.add_done_callback(self._end)
        try:
            return await result_in_time(self._begun)
        finally:
            if self._begun.cancelled():
                self._done.cancel()

    def _end(self, done: "Future[Answer | None]") -> None:
        """Take note that the thread is done, or that nobody waits for it any more."""
        error = None if done.cancelled() else done.exception()
        if self._begun.done():
            self._backlog.complete()
        elif error:
            self._begun.set_exception(error)
        else:
            self._begun.set_result(done.result())

    def _make(self, work: Work) -> Answer | None:
        """Make the answer, in a thread; return one that is whole."""
        with self.opened() as content:
            headers = {**content.headers, "Vary": "Accept-Encoding"}
            if self._is_head:
                return head(headers)
            start = bytearray()
            is_whole = True
            for piece in content.pieces:
                start += piece
                if len(start) > self._whole_bytes_max:
                    is_whole = False
                    break
            work.check()
            coding = self._coding if len(start) >= _COMPRESSED_BYTES_MIN else "identity"
            if coding != "identity":
                headers["Content-Encoding"] = coding
            compress = compressor(coding)
            if is_whole:
                return json(compress.compress(bytes(start)) + compress.flush(), headers)
            if not work.in_loop(self._go_on):
                return None
            self._backlog.write(compress.compress(bytes(start)), work.in_loop)
            work.in_loop(partial(self._begun.set_result, headers))
            for piece in content.pieces:
                self._backlog.write(compress.compress(piece), work.in_loop)
            self._backlog.write(compress.flush(), work.in_loop)
        return None

    def _go_on(self) -> bool:
        """Go on as a long answer, if there is a turn for that; return whether there was."""
        if self._begun.done():
            raise CancelledError
        if self._turns is self._making.short:
            if not self._making.long.take_now(self._account_id):
                return False
            self._making.short.give(self._account_id)
            self._turns = self._making.long
        return True


def spooled(
    call: Call,
    opened: Callable[[], AbstractContextManager[Content]],
    *,
    whole_bytes_max: int = WHOLE_BYTES_MAX,
) -> Spooled:
    """Return the answer to a call, made of the content that ``opened`` lends."""
    return Spooled(
        opened,
        account_id=call.account_id,
        making=call.service.making,
        is_head=call.is_head,
        whole_bytes_max=whole_bytes_max,
    )


async def _cancel_when_gone(receive: Receive, scope: CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
