"""What ASGI leaves to the server, as a subclass of uvicorn's protocol.

Limits of URI, headers and body with responses in JSON, deadlines of requests, one meaning for each
request, connections that end without losing a response, and a shorter way for responses that are
ready. The app needs none of it, and runs on any ASGI server.

uvicorn promises nothing about what is overridden and used here. So ``pyproject.toml`` bounds its
version, and ``tests/api/test_uvicorn.py`` names what has changed in another one.
"""

import re
from asyncio import TimerHandle, Transport
from collections.abc import Awaitable, Callable
from time import perf_counter_ns
from typing import Any, Protocol, cast

import httptools
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from masthead.api.http.parameters import BODY_BYTES_MAX, TOO_LARGE
from masthead.api.http.request import Request
from masthead.api.http.request_checks import (
    BAD_LENGTH,
    LENGTH_DIGITS_MAX,
    NOT_HTTP,
    ONLY_READS_HERE,
    Refusal,
    origin_form,
    wrong_fields,
    wrong_line,
)
from masthead.api.http.responses import error
from masthead.api.http.service import Service
from masthead.api.http.timeouts import REQUEST_S_MAX

__all__ = ["HEADERS_BYTES_MAX", "URI_BYTES_MAX", "HttpProtocol"]

URI_BYTES_MAX = 8 * 1024
HEADERS_BYTES_MAX = 32 * 1024

_PIECE_BYTES = 4 * 1024
"""Bytes that are parsed at once."""

_BUFFER_BYTES = 64 * 1024
"""Bytes of further requests that wait while one is answered; then nothing more is read."""

_OVERHEAD_BYTES_MAX = 64 * 1024
"""Bytes of a request that are not its body: its head, and what is around its chunks."""

_DISCARDED_BYTES_MAX = 16 * 1024 * 1024
"""Bytes that are read, and discarded, after the last request of a connection."""

_AROUND_A_HEADER = len(": \r\n")
_HEAD_END = b"\r\n\r\n"
_LINE_OF_A_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \r\n]+ HTTP/1\.[01]\r?\n")

_URI_TOO_LONG = Refusal(414, f"the address of a request is at most {URI_BYTES_MAX} bytes")
_HEADERS_TOO_LONG = Refusal(431, f"the headers of a request are at most {HEADERS_BYTES_MAX} bytes")
_TOO_LARGE = Refusal(413, TOO_LARGE)
_TOO_MUCH_AROUND = Refusal(
    400, f"a request has at most {_OVERHEAD_BYTES_MAX} bytes that are not of its body"
)
_TOO_SLOW = Refusal(408, f"all of a request has to come within {REQUEST_S_MAX} seconds")


Responding = Response | Awaitable[Response]


class App(Protocol):
    """What is used of ``masthead.api.app.App``, which says what the methods do."""

    service: Service

    def respond(self, request: Request) -> Responding: ...
    async def send(self, request: Request, responding: Responding, send: Send) -> None: ...
    def log_response(self, request: Request, status: int) -> None: ...
    def log_refusal(self, method: str | None, status: int, arrived_ns: int) -> None: ...


class _Refused(Exception):
    """Raised inside the parser, which then stops at once."""


class _Flow(FlowControl):
    """Reads on only while few bytes wait to be parsed."""

    def __init__(self, transport: Transport, may_read: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._may_read = may_read

    def resume_reading(self) -> None:
        """Read on, where that may be."""
        if self._may_read():
            super().resume_reading()


class _Transport:
    """A transport whose ``close`` is another function, which may close it in two steps."""

    def __init__(self, transport: Transport, close: Callable[[], None]) -> None:
        self._transport = transport
        self.close = close
        self.is_half_closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Return whether nothing more can be written."""
        return self.is_half_closed or self._transport.is_closing()


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, stricter.

    An URI over 8 KiB is 414, headers over 32 KiB are 431, a method of which HTTP has never heard is
    405, what is not HTTP is 400 (decisions, "Statuses", "Methods", "Error body" and "Requests that
    can be read in two ways"). A request that does not end in time is 408, or its connection is
    closed (decisions, "Requests that come slowly"). A response is not lost because its client still
    sends, or has closed its side of the connection (decisions, "Answers before the end of a
    request" and "Connections that are half closed").

    One request is parsed at a time, up to its end; those after it wait in a buffer.
    """

    app: App

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url = b""
        self._buffer = bytearray()
        self._raw = b""
        """What has been parsed of a head, or of a line of a chunked body."""
        self._overhead = self._headers_bytes = self._chunks_bytes = self._body_left = 0
        self._has_begun = self._is_head_read = self._is_chunked = False
        """Of the request that is being parsed."""
        self._begun_ns = 0
        self._refusal = NOT_HTTP
        self._is_refused = False
        self._is_last = False
        """No further request is parsed."""
        self._has_eof = False
        self._discarded = 0
        self._deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wire = transport
        self.transport = cast("Transport", _Transport(transport, self._close))
        self.flow = _Flow(transport, lambda: len(self._buffer) <= _BUFFER_BYTES)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the app know."""
        self._stop_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        self._unset_keepalive_if_required()
        self._buffer += data
        self._parse_buffer()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Return whether the connection stays open, for responses to what has come whole."""
        self._has_eof = self._is_answering() and self._wire.can_write_eof()
        return self._has_eof

    def _is_answering(self) -> bool:
        """Return whether a request has come to its end, and its response has not."""
        cycle: RequestResponseCycle | None = self.cycle
        return bool(cycle and not cycle.response_complete and not self._has_begun)

    def _parse_buffer(self) -> None:
        """Parse up to the end of a request."""
        while self._buffer and not (self._is_last or self._is_answering()):
            size = self._next_piece()
            if not size:
                break
            piece = bytes(self._buffer[:size])
            del self._buffer[:size]
            self._parse(piece)
        if self._is_last:
            self._discard()
        elif len(self._buffer) > _BUFFER_BYTES:
            self.flow.pause_reading()
        if self._is_answering():
            self._stop_deadline()
        elif self._deadline is None:
            self._start_deadline()

    def _next_piece(self) -> int:
        """Return how many bytes are parsed next.

        A head, a line of a chunked body, and a body each end where a piece does. So the checks see
        all of a head and of the line that begins a chunk, and nothing else.
        """
        if not self._is_head_read:
            before = self._raw[1 - len(_HEAD_END) :]
            end = (before + self._buffer[:_PIECE_BYTES]).find(_HEAD_END)
            return _PIECE_BYTES if end < 0 else end + len(_HEAD_END) - len(before)
        if not self._is_chunked:
            return min(self._body_left, _PIECE_BYTES)
        end = self._buffer.find(b"\n", 0, _PIECE_BYTES)
        if end < 0:
            return _PIECE_BYTES if len(self._buffer) >= _PIECE_BYTES else 0
        return end + 1

    def _parse(self, piece: bytes) -> None:
        self._raw += piece
        self._overhead += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            pass  # the request is answered as if it had not asked for another protocol
        except httptools.HttpParserInvalidMethodError:
            self._refuse(ONLY_READS_HERE if _LINE_OF_A_REQUEST.match(self._raw) else NOT_HTTP)
        except httptools.HttpParserError:
            self._refuse(self._refusal)
        else:
            if self._overhead > _OVERHEAD_BYTES_MAX:
                is_in_head = self.url and not self._is_head_read
                self._refuse(_HEADERS_TOO_LONG if is_in_head else _TOO_MUCH_AROUND)
            if self._is_head_read and piece.endswith(b"\n"):
                self._raw = b""

    def on_message_begin(self) -> None:
        """Count anew."""
        super().on_message_begin()
        self._headers_bytes = self._chunks_bytes = self._body_left = 0
        self._is_chunked = False
        self._has_begun = True
        self._begun_ns = perf_counter_ns()

    def on_url(self, url: bytes) -> None:
        """Take a part of the URI."""
        super().on_url(url)
        if len(self.url) > URI_BYTES_MAX:
            self._stop_parsing(_URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one behind the body is counted and ignored."""
        self._headers_bytes += len(name) + len(value) + _AROUND_A_HEADER
        if self._headers_bytes > HEADERS_BYTES_MAX:
            self._stop_parsing(_HEADERS_TOO_LONG)
        if self._is_head_read:
            return
        super().on_header(name, value)
        name, value = self.headers[-1]
        if name == b"content-length":
            if len(value) > LENGTH_DIGITS_MAX:
                self._stop_parsing(BAD_LENGTH)
            self._body_left = int(value)
        elif name == b"transfer-encoding":
            self._is_chunked = True

    def on_headers_complete(self) -> None:
        """Check what only all headers show, and let the request begin."""
        version = self.parser.get_http_version()
        method, target = self.parser.get_method(), origin_form(self.url)
        refusal = wrong_line(self._raw, method, self.url, target, version)
        if refusal := refusal or wrong_fields(version, self.headers):
            self._stop_parsing(refusal)
        self.url = target
        if version == "1.0":
            self.expect_100_continue = False  # RFC 9110 section 10.1.1
        super().on_headers_complete()
        self._is_head_read = True
        self._raw = b""
        if self.parser.should_upgrade() or self._body_left > BODY_BYTES_MAX:
            self.cycle.keep_alive = False

    def on_chunk_header(self) -> None:
        """Refuse a body as soon as the sizes of its chunks are too much."""
        self._chunks_bytes += int(self._raw.partition(b";")[0], 16)
        if self._chunks_bytes > BODY_BYTES_MAX:
            self._stop_parsing(_TOO_LARGE)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        super().on_body(body)
        self._overhead -= len(body)
        self._body_left -= len(body)

    def on_message_complete(self) -> None:
        """Note that all of a request is there."""
        super().on_message_complete()
        self._has_begun = self._is_head_read = False
        self._overhead = 0
        self._raw = b""
        self._is_last = not self.cycle.keep_alive

    def on_response_complete(self) -> None:
        """Go on with the next request, or end the connection."""
        super().on_response_complete()
        if self._buffer and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._parse_buffer()
        if self._has_eof and not self._is_answering():
            self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, _app: object) -> None:
        """Let the app respond in the next iteration of the event loop, if possible without a task.

        The time until then tells how busy the server is.
        """

        async def receive() -> Message:
            message = await cycle.receive()
            if self._is_refused:
                close = {"Connection": "close"}
                raise HTTPException(self._refusal.status, self._refusal.sentence, close)
            return cast("Message", message)

        scope = cast("Scope", cycle.scope)
        request = Request(scope, cast("Receive", receive), arrived_ns=perf_counter_ns())
        if self.app.service.settings.asgi_only or self.flow.write_paused:
            self._run(cycle, request)
        else:
            self.loop.call_soon(self._respond, cycle, request)

    def _run(
        self, cycle: RequestResponseCycle, request: Request, responding: Responding | None = None
    ) -> None:
        async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
            await self.app.send(request, responding or self.app.respond(request), send)

        super()._start_asgi_task(cycle, app)  # type: ignore[arg-type]

    def _respond(self, cycle: RequestResponseCycle, request: Request) -> None:
        responding = self.app.respond(request)
        if not isinstance(responding, Response) or isinstance(responding, StreamingResponse):
            self._run(cycle, request, responding)
            return
        self.app.log_response(request, responding.status_code)
        if not cycle.disconnected:
            self._write(cycle, responding)

    def _write(self, cycle: RequestResponseCycle, response: Response) -> None:
        """Send a response that is ready, head and body at once."""
        cycle.response_started = cycle.response_complete = True
        if response.headers.get("connection") == "close":
            cycle.keep_alive = False
        elif not cycle.keep_alive:
            response.headers["connection"] = "close"
        lines = b"".join([b"%s: %s\r\n" % header for header in response.raw_headers])
        head = STATUS_LINE[response.status_code] + lines
        self._wire.write(b"%s\r\n%s" % (head, response.body))
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()

    def _stop_parsing(self, refusal: Refusal) -> None:
        self._refusal = refusal
        raise _Refused

    def _refuse(self, refusal: Refusal) -> None:
        """Respond to what cannot be parsed, or let the app do so which waits for a body."""
        self._refusal = refusal
        self._is_last = self._is_refused = True
        if not self._is_head_read:
            method = self.parser.get_method().decode() if self._has_begun and self.url else None
            close = {**refusal.headers, "Connection": "close"}
            response = error(refusal.status, refusal.sentence, close)
            lines = b"".join([b"%s: %s\r\n" % header for header in response.raw_headers])
            body = b"" if method == "HEAD" else response.body
            self._wire.write(b"%s%s\r\n%s" % (STATUS_LINE[refusal.status], lines, body))
            begun_ns = self._begun_ns if self._has_begun else perf_counter_ns()
            self.app.log_refusal(method, refusal.status, begun_ns)
            self.transport.close()
        elif self.cycle.response_complete:
            self.transport.close()
        else:
            self.cycle.keep_alive = self.cycle.more_body = False
            self.cycle.message_event.set()

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_S_MAX, self._end_request)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end_request(self) -> None:
        """End a request that has not come to its end in time, or a connection without one."""
        self._deadline = None
        if self._has_begun and not self._is_last:
            self._refuse(_TOO_SLOW)
        else:
            self._wire.close()

    def _close(self) -> None:
        """Close the connection once the client has its last response (RFC 9112 section 9.6).

        A system that closes a connection with bytes that nobody has read resets it, and the client
        may lose the response. So while the client may still send, first only this side is closed,
        and what comes is discarded: for ``REQUEST_S_MAX`` seconds and up to 16 MiB.
        """
        has_more = self._has_begun or self._buffer or self._discarded or self._is_refused
        if self._has_eof or not has_more or self._wire.is_closing():
            self._wire.close()
            return
        self._unset_keepalive_if_required()
        self._stop_deadline()
        self._start_deadline()
        self._is_last = True
        cast("_Transport", self.transport).is_half_closed = True
        if self._wire.can_write_eof():
            self._wire.write_eof()
        self._discard()
        self.flow.resume_reading()

    def _discard(self) -> None:
        self._discarded += len(self._buffer)
        self._buffer.clear()
        if self._discarded > _DISCARDED_BYTES_MAX:
            self._wire.close()
