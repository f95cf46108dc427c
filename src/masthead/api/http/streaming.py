"""Long responses: made at the speed of the database, sent at the speed of the client.

A thread opens a snapshot of the database, makes the body, and closes the snapshot, all in one
block. It writes the body to temporary files, and the event loop sends what has been written. So a
client that reads slowly, or not at all, keeps no snapshot open and uses no more memory than one
chunk. If a client disconnects, the thread stops (architecture, "The change feed").

The length of a body is not known before it is made. Each response starts in a slot for short ones.
If it turns out to be long, it continues if a slot for long ones is free; otherwise it waits for one
and starts again (decisions, "Long responses").
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

WHOLE_BYTES_MAX = 65_536
"""Up to this size, a body is sent with its length and without a temporary file."""

_COMPRESSED_BYTES_MIN = 1_024

Result = TypeVar("Result")


class Content(NamedTuple):
    """The headers of a response, and an iterator that makes its body."""

    headers: Mapping[str, str]
    pieces: Iterator[bytes]


OpenContent = Callable[[], AbstractContextManager[Content]]


class Streamed:
    """An awaitable of a response that may be long; ``open_content`` is called in a thread.

    ``await`` returns the response when its body starts. Until then, it raises the errors of the
    content, StoreUnavailable if the start takes too long, HTTPException 503 if there is no slot or
    space, and ClientDisconnect. After an error in a later piece, the connection is closed without
    the last chunk, so that the client can detect it.

    The body has the coding that the client prefers. A client of HTTP/1.0, which does not support
    chunks, gets it with its length, once it is complete (RFC 9112 section 6.1).
    """

    def __init__(
        self,
        request: Request,
        account_id: int,
        open_content: OpenContent,
        *,
        whole_bytes_max: int = WHOLE_BYTES_MAX,
    ) -> None:
        self.open_content = open_content
        self._request = request
        self._account_id = account_id
        self._whole_bytes_max = whole_bytes_max

    def __await__(self) -> Generator[Any, None, Response]:
        return _unless_disconnected(self._request, self._response()).__await__()

    async def _response(self) -> Response:
        service = self._request.service
        for slots in (service.short_streams, service.long_streams):
            await slots.take(self._account_id)
            attempt = _Attempt(
                self._request, self._account_id, self.open_content, slots, self._whole_bytes_max
            )
            if found := await attempt.response():
                return found
        raise AssertionError("a response in a slot for long ones goes on")


class _Attempt:
    """One attempt to make a response, which holds one slot of ``slots``."""

    def __init__(
        self,
        request: Request,
        account_id: int,
        open_content: OpenContent,
        slots: Slots,
        whole_bytes_max: int,
    ) -> None:
        self._request = request
        self._account_id = account_id
        self._service = request.service
        self._open_content = open_content
        self._slots = slots
        self._whole_bytes_max = whole_bytes_max
        self._coding = coding_for(",".join(request.headers.getlist("accept-encoding")))
        self._loop = get_running_loop()
        self._body = UnsentBody(self._service.temporary_space, account_id, self._loop)
        self._started: futures.Future[Response | None] = futures.Future()

    async def response(self) -> Response | None:
        """Return the response when it starts; None if it is long and no slot for it is free."""
        start_thread(self._service, self._run, ended=lambda: self._slots.give(self._account_id))
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
            headers = {"Vary": "Accept-Encoding", **content.headers}
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
        """Exchange a short slot for a long one; return whether the attempt holds a long slot."""
        short, long = self._service.short_streams, self._service.long_streams
        if self._slots is short:
            if not long.are_free(self._account_id):
                return False
            await long.take(self._account_id)
            short.give(self._account_id)
            self._slots = long
        return True


class _LongResponse(StreamingResponse):
    """A response that is sent while it is made."""

    def __init__(self, body: UnsentBody, headers: Mapping[str, str]) -> None:
        super().__init__(body.chunks(), headers=headers_of(headers))
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response until it ends or the client disconnects."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._body.close()


async def _unless_disconnected(request: Request, waiting: Awaitable[Result]) -> Result:
    """Return the awaited result; raise ClientDisconnect if the client disconnects before."""
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
