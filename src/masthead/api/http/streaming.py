"""Long responses: made at the speed of the database, sent at that of the client.

A thread opens a snapshot of the database, makes the body and closes the snapshot, all in one block.
It writes the body to temporary files, and the event loop sends what is there already. So a client
that reads slowly, or not at all, keeps no snapshot open and takes up no more memory than a chunk;
and a client that goes away ends the work (design, "The change feed").

Nobody knows how long a body will be before it is made. Each is begun in a slot for short ones. One
that turns out to be long goes on if a slot for long ones is free, and else begins again when there
is one (decisions, "Long answers").
"""

from asyncio import Future, get_running_loop, run_coroutine_threadsafe, wrap_future
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from concurrent import futures
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

from anyio import create_task_group
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from masthead.api.http.compression import coding_for, compressor
from masthead.api.http.overload import Slots
from masthead.api.http.request import Request
from masthead.api.http.responses import head, headers_of, json
from masthead.api.http.temporary_files import UnsentBody
from masthead.api.http.threads import before, deadline, start_thread
from masthead.api.http.timeouts import LOOP_S_MAX

__all__ = ["WHOLE_BYTES_MAX", "Content", "Streamed"]

WHOLE_BYTES_MAX = 65_536
"""A body that is not longer is sent with its length, and needs no file."""

_COMPRESSED_BYTES_MIN = 1_024

Result = TypeVar("Result")


class Content(NamedTuple):
    """What a response says: its headers, and the pieces of its body while they are made."""

    headers: Mapping[str, str]
    pieces: Iterator[bytes]


OpenContent = Callable[[], AbstractContextManager[Content]]


class Streamed:
    """A response that is awaited until it starts; ``open_content`` is called in a thread.

    ``await`` raises what the content raises before its start, StoreUnavailable where its start
    takes too long, HTTPException 503 where there is no slot or no space for it, and
    ClientDisconnect. Where the pieces raise later, the connection breaks off without the last
    chunk, so that the client can tell.

    The body comes in the coding that the client prefers. A client of HTTP/1.0, which knows no
    chunks, gets it with its length, once it is complete (RFC 9112 section 6.1).
    """

    def __init__(
        self,
        request: Request,
        open_content: OpenContent,
        *,
        whole_bytes_max: int = WHOLE_BYTES_MAX,
    ) -> None:
        self.open_content = open_content
        self._request = request
        self._whole_bytes_max = whole_bytes_max

    def __await__(self) -> Generator[Any, None, Response]:
        return _unless_disconnected(self._request, self._response()).__await__()

    async def _response(self) -> Response:
        service = self._request.service
        for slots in (service.short_streams, service.long_streams):
            await slots.take(self._request.account_id)
            attempt = _Attempt(self._request, self.open_content, slots, self._whole_bytes_max)
            if found := await attempt.response():
                return found
        raise AssertionError("a response in a slot for long ones goes on")


class _Attempt:
    """One attempt to make a response; ``slots`` are those of which it has one."""

    def __init__(
        self, request: Request, open_content: OpenContent, slots: Slots, whole_bytes_max: int
    ) -> None:
        self._request = request
        self._service = request.service
        self._open_content = open_content
        self._slots = slots
        self._whole_bytes_max = whole_bytes_max
        self._coding = coding_for(",".join(request.headers.getlist("accept-encoding")))
        self._loop = get_running_loop()
        self._body = UnsentBody(self._service.temporary_space, request.account_id, self._loop)
        self._started: futures.Future[Response | None] = futures.Future()

    async def response(self) -> Response | None:
        """Return the response when it starts; None where it is long and there is no slot for it."""
        start_thread(
            self._service, self._run, ended=lambda: self._slots.give(self._request.account_id)
        )
        started: Future[Response | None] = wrap_future(self._started)
        try:
            response = await before(deadline(), started)
            if isinstance(response, _LongResponse) and self._request.scope["http_version"] == "1.0":
                await self._body.until_ended()
                response.headers["Content-Length"] = str(self._body.size)
        except BaseException:
            self._body.close()
            raise
        if not isinstance(response, _LongResponse):
            self._body.close()
        return response

    def _run(self) -> None:
        """Make the response, in a thread."""
        error = None
        try:
            self._make()
        except BaseException as raised:  # noqa: BLE001 - it is raised in the event loop
            error = raised
        if not self._started.done():
            self._started.set_exception(error) if error else self._started.set_result(None)
        self._body.end(error)

    def _make(self) -> None:
        with self._open_content() as content:
            headers = {**content.headers, "Vary": "Accept-Encoding"}
            if self._request.is_head:
                self._started.set_result(head(headers))
                return
            start = bytearray()
            is_whole = True
            for piece in content.pieces:
                start += piece
                if len(start) > self._whole_bytes_max:
                    is_whole = False
                    break
            coding = self._coding if len(start) >= _COMPRESSED_BYTES_MIN else "identity"
            if coding != "identity":
                headers["Content-Encoding"] = coding
            compress = compressor(coding)
            if is_whole:
                whole = compress.compress(bytes(start)) + compress.flush()
                self._started.set_result(json(whole, headers))
                return
            if not run_coroutine_threadsafe(self._take_long_slot(), self._loop).result(LOOP_S_MAX):
                return
            self._body.write(compress.compress(bytes(start)))
            self._started.set_result(_LongResponse(self._body, headers))
            for piece in content.pieces:
                self._body.write(compress.compress(piece))
            self._body.write(compress.flush())

    async def _take_long_slot(self) -> bool:
        """Exchange the slot for one of the long streams; return whether that was possible."""
        short, long = self._service.short_streams, self._service.long_streams
        account_id = self._request.account_id
        if self._slots is short:
            if not long.are_free(account_id):
                return False
            await long.take(account_id)
            short.give(account_id)
            self._slots = long
        return True


class _LongResponse(StreamingResponse):
    """A response that is sent while it is made."""

    def __init__(self, body: UnsentBody, headers: Mapping[str, str]) -> None:
        super().__init__(body.chunks(), headers=headers_of(headers))
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it until the client has it or is gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._body.close()


async def _unless_disconnected(request: Request, waiting: Awaitable[Result]) -> Result:
    """Return what is waited for; raise ClientDisconnect where the client goes away before."""
    result: list[Result] = []
    try:
        async with create_task_group() as tasks:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            result.append(await waiting)
            tasks.cancel_scope.cancel()
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    if not result:
        raise ClientDisconnect
    return result[0]
