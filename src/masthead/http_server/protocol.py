"""What ASGI leaves to the server, as a subclass of uvicorn's protocol.

It adds strict parsing, limits, a deadline for each request, and a close that loses no response. An
app does not need these, and runs on any ASGI server.

uvicorn does not guarantee the methods that are overridden and used here. So ``pyproject.toml``
bounds its version, and ``tests/api/test_uvicorn.py`` reports what has changed in another one.
"""

from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, cast

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from masthead.http_server.request_checks import Limits, Refusal
from masthead.http_server.strict_parser import RefusedError, StrictParser
from masthead.http_server.timeouts import REQUEST_S_MAX

if TYPE_CHECKING:
    import httptools

__all__ = ["LimitedProtocol"]

_BUFFER_BYTES = 64 * 1024
"""Bytes of pipelined requests that are buffered during a request; above that, reading pauses."""

_DISCARDED_BYTES_MAX = 16 * 1024 * 1024
"""Bytes that are read and discarded after the last request; above that, the connection closes."""

_WRITTEN_TOGETHER_MAX = 16

_FIRST_REQUEST_S_MAX = 1.0
"""Seconds that a server that is ending waits for the first request of a connection."""

_TOO_SLOW = Refusal(408, f"a request has to arrive completely within {REQUEST_S_MAX} seconds")
_CLOSE = {"Connection": "close"}


class _Flow(FlowControl):
    """Flow control that resumes reading only while ``may_read`` returns true."""

    def __init__(self, transport: Transport, may_read: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._may_read = may_read

    def resume_reading(self) -> None:
        """Resume reading, if allowed."""
        if self._may_read():
            super().resume_reading()


class _Transport:
    """A transport whose ``close`` is replaced."""

    def __init__(self, transport: Transport, close: Callable[[], None]) -> None:
        self._transport = transport
        self.write = transport.write
        self.close = close
        self.is_half_closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Return whether nothing more can be written."""
        return self.is_half_closed or self._transport.is_closing()


class _Outbox:
    """The ready responses of one event loop iteration, which are written together.

    A write wakes a client that waits on the same machine, such as a proxy. Waking it takes as long
    as a query. Several writes in a row wake it once (rules, "Responses that are ready").
    """

    def __init__(self) -> None:
        self._responses: list[tuple[_Transport, bytes]] = []

    def put(self, loop: AbstractEventLoop, transport: _Transport, data: bytes) -> None:
        """Write the data at the end of the iteration, or when there are 16 responses."""
        if not self._responses:
            loop.call_soon(self.write)
        self._responses.append((transport, data))
        if len(self._responses) == _WRITTEN_TOGETHER_MAX:
            self.write()

    def write(self) -> None:
        """Write all responses."""
        responses, self._responses = self._responses, []
        for transport, data in responses:
            if not transport.is_closing():
                transport.write(data)


_outbox = _Outbox()


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which parses one request at a time and limits its time and its size.

    A subclass sets ``limits``, and defines :meth:`refusal_response` and :meth:`log_refusal`.

    A request that is not complete in time gets 408, or its connection is closed (rules,
    "Requests that come slowly"). A response is not lost if its client is still sending, or has
    closed its side of the connection (rules, "Responses before the end of a request" and
    "Connections that are half closed").
    """

    limits: Limits

    waits_for_half_closed = True
    """Whether a client that has closed its side still gets a response."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url = b""
        self._parser = StrictParser(self, self.limits)
        self.parser = cast("httptools.HttpRequestParser", self._parser)
        self._begun_ns = 0
        self._refusal: Refusal | None = None
        self._refused: RequestResponseCycle | None = None
        """The request for which the app sends the refusal."""
        self._is_last = False
        """Whether no further request is parsed."""
        self._has_eof = False
        self._is_cut_off = False
        """Whether the client has closed its side within a body."""
        self._is_ending = False
        """Whether the server ends, so that the next request is the last one."""
        self._discarded = 0
        self._deadline: TimerHandle | None = None

    @property
    def is_replaced(self) -> bool:
        """Whether another process takes the next connections, while this one ends."""
        return False

    def refusal_response(self, refusal: Refusal) -> Response:
        """Return the response to a request whose head is refused."""
        raise NotImplementedError

    def log_refusal(
        self, refusal: Refusal, method: str | None, begun_ns: int, headers: Mapping[bytes, bytes]
    ) -> None:
        """Log a request whose head is refused.

        ``method`` is None if it is unknown; ``headers`` are empty if not all were parsed.
        """
        raise NotImplementedError

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Set up the connection, and start the deadline of its first request."""
        super().connection_made(transport)
        self._is_ending = self.is_replaced
        self._wire = transport
        self._out = _Transport(transport, self._close)
        self.transport = cast("Transport", self._out)
        self.flow = _Flow(transport, lambda: len(self._parser.buffer) <= _BUFFER_BYTES)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline, and notify the app."""
        self._stop_deadline()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close the connection when the server ends, after a request that has begun.

        It also waits for a request that may be on its way: the first one of a new connection, for a
        second, or any next one if this process was replaced. Then the connection is closed after
        the usual keep-alive timeout (rules, "SIGHUP").
        """
        is_replaced = self.is_replaced
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None and self._refusal is None:
            wait_s = self.timeout_keep_alive if is_replaced else _FIRST_REQUEST_S_MAX
            self._is_ending = True
            self.loop.call_later(wait_s, self._close_without_request)
        elif is_replaced and cycle and (cycle.response_complete or cycle.response_started):
            self._is_ending = True
        else:
            super().shutdown()

    def _close_without_request(self) -> None:
        is_coming = self._parser.has_begun and self.is_replaced
        if self.cycle is None and not is_coming:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Buffer the data, and parse it."""
        self._unset_keepalive_if_required()
        self._parser.buffer += data
        self._parse()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Return whether the connection stays open, for a response that needs no more data.

        That is the response to a complete request, a refusal, or a response that the app makes from
        the head of a request without its body.
        """
        _outbox.write()
        may_respond = self.waits_for_half_closed and self._has_cycle()
        self._has_eof = may_respond and self._wire.can_write_eof()
        if self._has_eof:
            self._cut_off()
        return self._has_eof

    def _cut_off(self) -> None:
        """Let the app respond to a request whose body ends too early, if it needs no body."""
        if not self._is_responding() and self._refused is not self.cycle:
            self._is_cut_off = self._is_last = True
            self.cycle.keep_alive = False
            self.cycle.message_event.set()

    def _has_cycle(self) -> bool:
        """Return whether the head of a request is complete and its response is not."""
        cycle: RequestResponseCycle | None = self.cycle
        return bool(cycle and not cycle.response_complete)

    def _is_responding(self) -> bool:
        """Return whether a request is complete and its response is not."""
        cycle: RequestResponseCycle | None = self.cycle
        return bool(cycle and not cycle.response_complete and not self._parser.has_begun)

    def _parse(self) -> None:
        """Parse the buffer up to the end of a request."""
        try:
            while not (self._is_last or self._is_responding()) and self._parser.parse_piece():
                pass
        except RefusedError as refused:
            self._refuse(refused.refusal)
        if self._is_last:
            self._discard()
        elif len(self._parser.buffer) > _BUFFER_BYTES:
            self.flow.pause_reading()
        if self._is_responding():
            self._stop_deadline()
        elif self._deadline is None:
            self._start_deadline()

    def on_message_begin(self) -> None:
        """Record when the request began."""
        super().on_message_begin()
        self._begun_ns = perf_counter_ns()

    def on_headers_complete(self) -> None:
        """Start the app; close the connection after a body that will not be read."""
        if self.parser.get_http_version() == "1.0":
            self.expect_100_continue = False  # RFC 9110 section 10.1.1
        super().on_headers_complete()
        is_too_long = self._parser.body_bytes_left > self.limits.body_bytes_max
        if self._is_ending or self.parser.should_upgrade() or is_too_long:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Record whether this is the last request of the connection."""
        super().on_message_complete()
        self._is_last = not self.cycle.keep_alive

    def on_response_complete(self) -> None:
        """Parse the next request, or close the connection."""
        super().on_response_complete()
        if self._parser.buffer and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._parse()
        if self._has_eof:
            if self._has_cycle():
                self._cut_off()
            else:
                self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: object) -> None:
        """Call the app, which gets a refusal of the body as an exception of ``receive``."""

        async def limited(scope: Scope, _receive: Receive, send: Send) -> None:
            await cast("ASGIApp", app)(scope, self._receive_of(cycle), send)

        super()._start_asgi_task(cycle, limited)  # type: ignore[arg-type]

    def _receive_of(self, cycle: RequestResponseCycle) -> Receive:
        """Return the ``receive`` of a request; it raises HTTPException if the body is refused."""

        async def receive() -> Message:
            message = await cycle.receive()
            if self._refusal and self._refused is cycle:
                raise HTTPException(self._refusal.status, self._refusal.sentence, _CLOSE)
            if self._is_cut_off and cast("Message", message).get("more_body"):
                cycle.disconnected = True
                self.loop.call_soon(self._wire.close)
                return {"type": "http.disconnect"}
            return cast("Message", message)

        return receive

    def _write(self, response: Response) -> None:
        """Send head and body in one write, together with other responses."""
        lines = b"".join([b"%s: %s\r\n" % header for header in response.raw_headers])
        head = STATUS_LINE[response.status_code] + lines
        _outbox.put(self.loop, self._out, b"%s\r\n%s" % (head, bytes(response.body)))

    def _refuse(self, refusal: Refusal) -> None:
        """Send the refusal, or let the app send it if it is waiting for a body."""
        self._refusal = refusal
        self._is_last = True
        if not self._parser.is_head_read:
            response = self.refusal_response(refusal)
            response.headers["Connection"] = "close"
            parser = self._parser
            if parser.is_head_request:
                response.body = b""
            self._write(response)
            method = parser.method
            # A proxy may append its own headers: until they arrive, all are from the client.
            has_headers = parser.has_begun and parser.has_headers
            begun_ns = self._begun_ns if parser.has_begun else perf_counter_ns()
            headers = dict(self.headers) if has_headers else {}
            self.log_refusal(refusal, method, begun_ns, headers)
            self.transport.close()
        elif self.cycle.response_complete:
            self.transport.close()
        else:
            self._refused = self.cycle
            self.cycle.keep_alive = self.cycle.more_body = False
            self.cycle.message_event.set()

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_S_MAX, self._end_request)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end_request(self) -> None:
        """Refuse a request that is not complete in time; close a connection without one."""
        self._deadline = None
        if self._parser.has_begun and not self._is_last:
            self._refuse(_TOO_SLOW)
        else:
            self._wire.close()

    def _close(self) -> None:
        """Close the connection so that the client gets its last response (RFC 9112 section 9.6).

        The system resets a connection that is closed with unread bytes, and the client may lose
        the response. So while the client may still be sending, only this side is closed at first.
        What is received is discarded, for up to ``REQUEST_S_MAX`` seconds and 16 MiB.
        """
        _outbox.write()
        parser = self._parser
        has_more = parser.has_begun or parser.buffer or self._discarded or self._refusal
        if self._has_eof or not has_more or self._wire.is_closing():
            self._wire.close()
            return
        self._unset_keepalive_if_required()
        self._stop_deadline()
        self._start_deadline()
        self._is_last = True
        self._out.is_half_closed = True
        if self._wire.can_write_eof():
            self._wire.write_eof()
        self._discard()
        self.flow.resume_reading()

    def _discard(self) -> None:
        self._discarded += len(self._parser.buffer)
        self._parser.buffer.clear()
        if self._discarded > _DISCARDED_BYTES_MAX:
            self._wire.close()
