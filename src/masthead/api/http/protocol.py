"""HTTP itself: what is refused before the app sees it, and how a connection ends."""

import re
from asyncio import Transport
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Any, cast

import httptools
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from masthead.api.front import Front
from masthead.api.http.outbox import OUTBOX, message
from masthead.api.http.parameters import BODY_BYTES_MAX, TOO_LARGE
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
from masthead.api.http.responses import Answer, error
from masthead.api.http.timeouts import REQUEST_S_MAX, STALL_S_MAX, acknowledged, cut, probe, watch

__all__ = ["HEADERS_BYTES_MAX", "URI_BYTES_MAX", "Protocol"]

URI_BYTES_MAX = 8 * 1024
HEADERS_BYTES_MAX = 32 * 1024

_PARSED_AT_ONCE = 4 * 1024
"""Requests in a row cost less when a few are parsed together. But parsed bytes become requests that
wait for their turn, a hundred times as large in memory."""

_OVERHEAD_BYTES_MAX = 64 * 1024
"""So much of a request may be its head, and what is around its chunks."""

_DISCARDED_BYTES_MAX = 16 * 1024 * 1024
"""So much is read, and forgotten, behind the last request of a connection."""

_AROUND_A_HEADER = len(": \r\n")
_LINE_OF_A_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \r\n]+ HTTP/1\.[01]\r?\n")
_END_OF_LINES, _END_OF_LINE = b"\r\n\r\n", b"\n"
"""What a head ends with, and the lines behind the last chunk; and the line before a chunk."""

_URI_TOO_LONG = Refusal(414, f"the address of a request is at most {URI_BYTES_MAX} bytes")
_HEADERS_TOO_LONG = Refusal(431, f"the headers of a request are at most {HEADERS_BYTES_MAX} bytes")
_TOO_LARGE = Refusal(413, TOO_LARGE)
_TOO_MUCH_AROUND = Refusal(
    400, f"a request has at most {_OVERHEAD_BYTES_MAX} bytes that are not of its body"
)
_TOO_SLOW = Refusal(408, f"all of a request has to come within {REQUEST_S_MAX} seconds")


class _Refused(Exception):
    """Raised inside the parser, which gives up at once."""


class _Flow(FlowControl):
    """Reads on only where what has been read is used up."""

    def __init__(self, transport: Transport, may_read: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._may_read = may_read

    def resume_reading(self) -> None:
        """Read on, where that may be."""
        if self._may_read():
            super().resume_reading()


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol, stricter: what a request may hold before its body, and how long it takes.

    An URI over 8 KiB is 414, headers over 32 KiB are 431, a method of which HTTP has never heard is
    405, what is not HTTP is 400 (decisions, "Statuses", "Methods", "Error body" and "Requests that
    can be read in two ways"). What is refused gets its answer after those of the requests before
    it. Requests in a row are read as they are answered. One that does not come to its end and an
    answer that nobody reads are given up (``patience``). An answer is not lost because its client
    still sends, or has ended its side of the connection (decisions, "Answers before the end of a
    request" and "Connections that are half closed").
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url = b""
        self._unparsed = bytearray()
        self._parsed: bytes | bytearray = b""
        """What has been parsed of a head, a line before a chunk, or the lines behind the last."""
        self._end = _END_OF_LINES
        self._overhead = 0
        self._headers_bytes = 0
        self._chunks_bytes = 0
        self._body_left = 0
        """Bytes of the body, or of the chunk, that are still to come."""
        self._current: RequestResponseCycle | None = None
        """The request that is being answered, or was last; ``cycle`` is the newest."""
        self._refusal = NOT_HTTP
        self._is_refused = False
        self._is_last = False
        """No request is taken after the one that is there."""
        self._is_lingering = False
        self._discarded = 0
        self._has_eof = False
        self._has_begun = False
        self._is_head_read = False
        self._waits_since: float | None = None
        self._acknowledged: int | None = None
        self._moved_at = 0.0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.flow = _Flow(transport, self._may_read)
        self._waits_since = self.loop.time()
        watch(self.server_state, self.loop)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the answer that is being made end; another request may wait behind it."""
        if self._current is not None and not self._current.response_complete:
            self._current.disconnected = True
            self._current.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came over the wire."""
        self._unparsed += data
        self._parse_on()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer what has come whole, although the client sends nothing more.

        Return whether the connection stays open. That of TLS never does: it has no half.
        """
        OUTBOX.send()
        if not (self._is_answering() and self.transport.can_write_eof()):
            return False
        if self.cycle.more_body:
            if not self.pipeline:
                return False
            self.pipeline.popleft()
        self._has_eof = True
        self._has_begun = False
        self._waits_since = None
        return True

    def _may_read(self) -> bool:
        return not (self.pipeline or self._unparsed)

    def _parse_on(self) -> None:
        """Parse what has come, until there are requests that wait for those before them."""
        if self._unparsed:
            self._unset_keepalive_if_required()
        while self._unparsed and not (self.pipeline or self._is_last):
            left = _PARSED_AT_ONCE
            while left > 0 and self._unparsed and not self._is_last:
                size = self._next_piece()
                data = self._unparsed[:size]
                del self._unparsed[:size]
                self._parse(data)
                left -= size
        if self._is_last:
            self._discard()
        if not self._may_read():
            self.flow.pause_reading()
        elif not self._is_answering() or len(self.cycle.body) <= HIGH_WATER_LIMIT:
            self.flow.resume_reading()
        if self._waits_since is None and (self._has_begun or not self._is_answering()):
            self._waits_since = self.loop.time()

    def _next_piece(self) -> int:
        """Return how many bytes are parsed next: of a head, of a body, or of a line before a chunk.

        So each of them ends where a piece does, and what is parsed next begins with another.
        """
        if self._body_left and self._is_head_read:
            return min(self._body_left, _PARSED_AT_ONCE)
        if not self._parsed:
            before, end = 0, self._unparsed.find(self._end, 0, _PARSED_AT_ONCE)
        else:
            tail = self._parsed[1 - len(_END_OF_LINES) :]
            before, end = len(tail), (tail + self._unparsed[:_PARSED_AT_ONCE]).find(self._end)
        return _PARSED_AT_ONCE if end < 0 else end + len(self._end) - before

    def _parse(self, data: bytearray) -> None:
        self._parsed = self._parsed + data if self._parsed else data
        self._overhead += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # the request itself is answered as if it had not asked for another protocol
        except httptools.HttpParserInvalidMethodError:
            if _LINE_OF_A_REQUEST.match(self._parsed):
                self._refusal = ONLY_READS_HERE
            self._refuse()
        except httptools.HttpParserError:
            self._refuse()
        else:
            if self._overhead > _OVERHEAD_BYTES_MAX:
                self._refuse_overhead()

    def on_message_begin(self) -> None:
        """Begin to count anew."""
        super().on_message_begin()
        self._headers_bytes = self._chunks_bytes = self._body_left = 0
        self._has_begun = True

    def on_url(self, url: bytes) -> None:
        """Take a piece of the URI."""
        super().on_url(url)
        if len(self.url) > URI_BYTES_MAX:
            self._give_up_on(_URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that comes behind the body counts, and says nothing."""
        self._headers_bytes += len(name) + len(value) + _AROUND_A_HEADER
        if self._headers_bytes > HEADERS_BYTES_MAX:
            self._give_up_on(_HEADERS_TOO_LONG)
        if self._is_head_read:
            return
        name = name.lower()
        self.headers.append((name, value))
        if name == b"content-length":
            if len(value) > LENGTH_DIGITS_MAX:
                self._give_up_on(BAD_LENGTH)
            self._body_left = int(value)
        elif name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"

    def on_headers_complete(self) -> None:
        """Check what only all headers show, and let the request begin."""
        version = self.parser.get_http_version()
        method, target = self.parser.get_method(), origin_form(self.url)
        refusal = wrong_line(self._parsed, method, self.url, target, version)
        if refusal := refusal or wrong_fields(version, self.headers):
            self._give_up_on(refusal)
        self.url = target
        if version == "1.0":
            self.expect_100_continue = False  # RFC 9110 section 10.1.1
        super().on_headers_complete()
        self._is_head_read = True
        self._end = _END_OF_LINE
        self._parsed = b""
        if self.parser.should_upgrade():
            # The parser takes what follows for another protocol: there is no next request.
            self.cycle.keep_alive = False

    def on_chunk_header(self) -> None:
        """Refuse a body as soon as its chunks say that they are too much."""
        size = int(self._parsed.partition(b";")[0], 16)
        self._chunks_bytes += size
        if self._chunks_bytes > BODY_BYTES_MAX:
            self._give_up_on(_TOO_LARGE)
        self._body_left = size
        if size:
            self._parsed = b""
        else:
            self._end = _END_OF_LINES

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        super().on_body(body)
        self._parsed = b""
        self._body_left -= len(body)
        self._overhead -= len(body)

    def on_chunk_complete(self) -> None:
        """Go on with the line before the next chunk."""
        self._parsed = b""

    def on_message_complete(self) -> None:
        """Note that all of a request is there."""
        self._has_begun = self._is_head_read = False
        self._end = _END_OF_LINES
        self._overhead = 0
        self._parsed = b""
        self._waits_since = None
        self._is_last = not self.cycle.keep_alive
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request, or refuse it, or end the connection."""
        if self._is_lingering:
            return
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if self._is_refused:
            if not self._is_answering():
                self._answer_refusal()
        elif self._unparsed:
            self._parse_on()
        elif self._has_eof and not self._is_answering():
            self._hang_up()

    def shutdown(self) -> None:
        """Let the answer that is being made be the last one."""
        OUTBOX.send()
        super().shutdown()

    def look(self, now: float) -> None:
        """End what has gone on for too long (decisions, "Requests that come slowly")."""
        if self._waits_since is not None and now - self._waits_since > REQUEST_S_MAX:
            if self._is_lingering:
                self.transport.close()
            elif self.flow.read_paused:
                self._waits_since = now
            elif not (self._is_last or self.transport.is_closing()):
                self._end_request()
        if self._has_eof and self._current and not self._current.response_started:
            probe(self.transport, cast("dict[str, Any]", self._current.scope)["http_version"])
        if not self.transport.get_write_buffer_size():
            self._acknowledged = None
            return
        if (found := acknowledged(self.transport)) != self._acknowledged:
            self._acknowledged, self._moved_at = found, now
        elif now - self._moved_at > STALL_S_MAX:
            cut(self.transport)

    def _is_answering(self) -> bool:
        """Tell whether an answer is being made; a request that waits does so behind another."""
        return self._current is not None and not self._current.response_complete

    def _end_request(self) -> None:
        """Give up a request that has not come to its end in time."""
        if self._has_begun:
            self._refusal = _TOO_SLOW
            self._refuse()
        else:
            self.transport.close()

    def _give_up_on(self, refusal: Refusal) -> None:
        self._refusal = refusal
        raise _Refused

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Let a request wait for its turn, and note since when it does."""
        self._current = cycle
        cast("dict[str, Any]", cycle.scope)["masthead.arrived_ns"] = perf_counter_ns()
        self.loop.call_soon(self._begin, cycle, app)

    def _begin(self, cycle: RequestResponseCycle, app: Front) -> None:
        """Answer at once; start a task only where there is something to wait for."""
        if self.flow.write_paused:
            task = self.loop.create_task(self._begin_when_read(cycle, app))
            task.add_done_callback(self.tasks.discard)
            self.tasks.add(task)
        elif rest := app.begin(cast("dict[str, Any]", cycle.scope), partial(self._send, cycle)):
            super()._start_asgi_task(cycle, rest)  # type: ignore[arg-type]

    async def _begin_when_read(self, cycle: RequestResponseCycle, app: Front) -> None:
        """Begin once the client has read the answers before."""
        await self.flow.drain()
        self._begin(cycle, app)

    def _send(self, cycle: RequestResponseCycle, answer: Answer) -> None:
        """Send an answer as a whole; else its head and its body would be two packets."""
        if cycle.disconnected:
            return
        scope = cast("dict[str, Any]", cycle.scope)
        cycle.response_started = cycle.response_complete = True
        if cycle.more_body and self._body_left > BODY_BYTES_MAX:
            cycle.keep_alive = False
        more = b"".join([b"%s: %s\r\n" % field for field in scope.get("masthead.headers", ())])
        if answer.headers.get("Connection") == "close":
            cycle.keep_alive = False
        elif not cycle.keep_alive:
            more += b"connection: close\r\n"
        data = message(answer, more, has_body=scope["method"] != "HEAD")
        OUTBOX.put(self.loop, self.transport, data)
        cycle.message_event.set()
        if not cycle.keep_alive:
            self._hang_up()
        cycle.on_response()

    def _refuse_overhead(self) -> None:
        """Refuse a request that has too much around its body, or too long a head."""
        if self._is_head_read:
            self._refusal = _TOO_MUCH_AROUND
        elif self._has_begun and self.url:
            self._refusal = _HEADERS_TOO_LONG
        self._refuse()

    def _refuse(self) -> None:
        """Refuse what comes, once the requests before it have their answers."""
        self._is_last = True
        if not (self._has_begun and self._is_head_read):
            self._is_refused = True
            if not self._is_answering():
                self._answer_refusal()
        elif self.cycle.response_complete:
            self._hang_up()
        else:
            # The app answers, which waits for the body or has not begun yet.
            cast("dict[str, Any]", self.cycle.scope)["masthead.refusal"] = self._refusal
            self.cycle.keep_alive = self.cycle.more_body = False
            self.cycle.message_event.set()

    def _answer_refusal(self) -> None:
        """Refuse what cannot be parsed, and hang up."""
        status, sentence, headers = self._refusal
        method = self.parser.get_method().decode() if self._has_begun and self.url else None
        answer = error(status, sentence, {**headers, "Connection": "close"})
        OUTBOX.put(self.loop, self.transport, message(answer, has_body=method != "HEAD"))
        since = self._waits_since
        seconds = 0.0 if since is None else self.loop.time() - since
        cast("Front", self.app).note_refusal(method, status, seconds)
        self._hang_up()

    def _hang_up(self) -> None:
        """End the connection when the client has its last answer (RFC 9112 section 9.6).

        A system that is told to close a connection on which something has come that nobody read
        resets it, and the answer is lost. So while the client may still be sending, only this side
        ends, and what comes is read and forgotten: for ``REQUEST_S_MAX`` and up to 16 MiB.
        """
        OUTBOX.send()
        has_more = self._has_begun or self._unparsed or self._discarded or self._is_refused
        if self._has_eof or not has_more or self.transport.is_closing():
            self.transport.close()
            return
        self._unset_keepalive_if_required()
        self._is_last = self._is_lingering = True
        self._waits_since = self.loop.time()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.pipeline.clear()
        self._discard()
        self.flow.resume_reading()

    def _discard(self) -> None:
        """Forget what comes behind the last request, and hang up where it is too much."""
        self._discarded += len(self._unparsed)
        self._unparsed.clear()
        if self._discarded > _DISCARDED_BYTES_MAX:
            self.transport.close()
