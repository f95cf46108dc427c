"""HTTP itself: what is refused before the app sees it, and how an answer that is ready is sent."""

import re
from asyncio import AbstractEventLoop, Transport
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Any, cast

import httptools
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from masthead.api.answers import Answer, error
from masthead.api.front import Front
from masthead.api.heads import (
    NOT_HTTP,
    ONLY_READS_HERE,
    Refusal,
    origin_form,
    wrong_fields,
    wrong_line,
)
from masthead.api.metrics import count_request
from masthead.api.patience import REQUEST_S_MAX, STALL_S_MAX, acknowledged, cut, watch

__all__ = ["HEADERS_BYTES_MAX", "URI_BYTES_MAX", "Protocol"]

URI_BYTES_MAX = 8 * 1024
HEADERS_BYTES_MAX = 32 * 1024

_PARSED_AT_ONCE = 4 * 1024
"""Parsed bytes become requests that wait for their turn, a hundred times as large in memory."""

_ANSWERS_TOGETHER, _BYTES_TOGETHER = 16, 65_536
_AROUND_A_HEADER = len(": \r\n")
_LINE_OF_A_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \r\n]+ HTTP/1\.[01]\r?\n")


_URI_TOO_LONG = Refusal(414, f"the address of a request is at most {URI_BYTES_MAX} bytes")
_HEADERS_TOO_LONG = Refusal(431, f"the headers of a request are at most {HEADERS_BYTES_MAX} bytes")
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


class _Outbox:
    """Answers of one turn of the event loop, which are sent together.

    To send wakes whoever reads on the same machine, a proxy say, and that takes as long as to make
    an answer; who is awake is not woken again. Only so many wait that none waits for long.
    """

    def __init__(self) -> None:
        self._answers: list[tuple[Transport, bytes]] = []
        self._bytes = 0

    def put(self, loop: AbstractEventLoop, transport: Transport, data: bytes) -> None:
        """Send an answer when the turn ends, or when there are enough of them."""
        if not self._answers:
            loop.call_soon(self.send)
        self._answers.append((transport, data))
        self._bytes += len(data)
        if len(self._answers) == _ANSWERS_TOGETHER or self._bytes > _BYTES_TOGETHER:
            self.send()

    def send(self) -> None:
        """Send what there is."""
        answers, self._answers, self._bytes = self._answers, [], 0
        for transport, data in answers:
            if not transport.is_closing():
                transport.write(data)


_outbox = _Outbox()


def _message(answer: Answer, more_fields: bytes = b"", *, has_body: bool = True) -> bytes:
    """Return an answer as it goes over the wire (RFC 9112 section 2.1)."""
    body = answer.body if has_body and answer.body else b""
    return b"%s%s%s\r\n%s" % (STATUS_LINE[answer.status], answer.fields(), more_fields, body)


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol, stricter: what a request may hold before its body, and how long it takes.

    An URI over 8 KiB is 414, headers over 32 KiB are 431, a method of which HTTP has never heard is
    405, what is not HTTP is 400 (decisions, "Statuses", "Methods", "Error body" and "Requests that
    can be read in two ways"). What is refused gets its answer after those of the requests before
    it. Requests in a row are read as they are answered. One that does not come to its end and an
    answer that nobody reads are given up (``patience``).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unparsed = b""
        self._headers_bytes = 0
        self._refusal = NOT_HTTP
        self._is_refused = False
        self._has_begun = False
        self._has_ended = False
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

    def data_received(self, data: bytes) -> None:
        """Take what came over the wire."""
        self._unparsed += data
        self._parse_on()

    def _may_read(self) -> bool:
        return not (self.pipeline or self._unparsed or self._is_refused)

    def _parse_on(self) -> None:
        """Parse what has come, until there are requests that wait for those before them."""
        while self._unparsed and not (self.pipeline or self._is_refused):
            self._unset_keepalive_if_required()
            data = self._unparsed[:_PARSED_AT_ONCE]
            self._unparsed = self._unparsed[_PARSED_AT_ONCE:]
            self._parse(data)
        if not self._may_read():
            self.flow.pause_reading()
        elif not self._is_answering() or len(self.cycle.body) <= HIGH_WATER_LIMIT:
            self.flow.resume_reading()
        if self._waits_since is None and (self._has_begun or not self._is_answering()):
            self._waits_since = self.loop.time()

    def _parse(self, data: bytes) -> None:
        is_first, self._has_ended = not self._has_begun, False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # the request itself is answered as if it had not asked for another protocol
        except httptools.HttpParserInvalidMethodError:
            if is_first and not self._has_ended and _LINE_OF_A_REQUEST.match(data):
                self._refusal = ONLY_READS_HERE
            self._refuse()
        except httptools.HttpParserError:
            self._refuse()

    def on_message_begin(self) -> None:
        """Begin to count anew."""
        super().on_message_begin()
        self._headers_bytes = 0
        self._has_begun = True
        self._is_head_read = False

    def on_url(self, url: bytes) -> None:
        """Take a piece of the URI."""
        super().on_url(url)
        if len(self.url) > URI_BYTES_MAX:
            self._give_up_on(_URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that comes behind the body counts, and says nothing."""
        if not self._is_head_read:
            super().on_header(name, value)
        self._headers_bytes += len(name) + len(value) + _AROUND_A_HEADER
        if self._headers_bytes > HEADERS_BYTES_MAX:
            self._give_up_on(_HEADERS_TOO_LONG)

    def on_headers_complete(self) -> None:
        """Check what only all headers show, and let the request begin."""
        version = self.parser.get_http_version()
        self.url = origin_form(self.url)
        refusal = wrong_line(self.parser.get_method(), self.url, version)
        if refusal := refusal or wrong_fields(version, self.headers):
            self._give_up_on(refusal)
        if version == "1.0":
            self.expect_100_continue = False  # RFC 9110 section 10.1.1
        super().on_headers_complete()
        self._is_head_read = True
        if self.parser.should_upgrade():
            # The parser takes what follows for another protocol: there is no next request.
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Note that all of a request is there."""
        self._has_begun = False
        self._has_ended = True
        self._waits_since = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request, or refuse it."""
        is_last = not self.pipeline
        super().on_response_complete()
        if self._is_refused and not self.transport.is_closing():
            if is_last:
                self._answer_refusal()
        elif self._unparsed and not self.transport.is_closing():
            self._parse_on()

    def shutdown(self) -> None:
        """Let the answer that is being made be the last one."""
        _outbox.send()
        super().shutdown()

    def look(self, now: float) -> None:
        """End what has gone on for too long (decisions, "Requests that come slowly")."""
        if self._waits_since is not None and now - self._waits_since > REQUEST_S_MAX:
            self._waits_since = now
            is_over = self._is_refused or self.transport.is_closing()
            if not (is_over or self.flow.read_paused):
                self._end_request()
        if not self.transport.get_write_buffer_size():
            self._acknowledged = None
            return
        if (found := acknowledged(self.transport)) != self._acknowledged:
            self._acknowledged, self._moved_at = found, now
        elif now - self._moved_at > STALL_S_MAX:
            cut(self.transport)

    def _is_answering(self) -> bool:
        """Tell whether an answer is being made, or waits for those before it."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        return bool(self.pipeline) or (cycle is not None and not cycle.response_complete)

    def _end_request(self) -> None:
        """Give up a request that has not come to its end in time."""
        if not self._has_begun:
            self.transport.close()
        elif self._is_head_read and not self.cycle.response_started:
            # The app waits for the body, and answers itself.
            cast("dict[str, Any]", self.cycle.scope)["masthead.too_slow"] = _TOO_SLOW.sentence
            self.cycle.more_body = False
            self.cycle.message_event.set()
        else:
            self._refusal = _TOO_SLOW
            self._refuse()

    def _give_up_on(self, refusal: Refusal) -> None:
        self._refusal = refusal
        raise _Refused

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Let a request wait for its turn, and note since when it does."""
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
        more = b"".join([b"%s: %s\r\n" % field for field in scope.get("masthead.headers", ())])
        if answer.headers.get("Connection") == "close":
            cycle.keep_alive = False
        elif not cycle.keep_alive:
            more += b"connection: close\r\n"
        data = _message(answer, more, has_body=scope["method"] != "HEAD")
        _outbox.put(self.loop, self.transport, data)
        cycle.message_event.set()
        if not cycle.keep_alive:
            _outbox.send()
            self.transport.close()
        cycle.on_response()

    def _refuse(self) -> None:
        """Refuse what comes, once the requests before it have their answers."""
        self._is_refused = True
        is_of_a_body = self._has_begun and self._is_head_read
        if is_of_a_body and self.pipeline:
            self.pipeline.popleft()
        elif is_of_a_body:
            if self.cycle.response_started:
                self.transport.close()
            else:
                self._answer_refusal()
            return
        if self._is_answering():
            self.flow.pause_reading()
        else:
            self._answer_refusal()

    def _answer_refusal(self) -> None:
        """Refuse what cannot be parsed, and hang up."""
        status, sentence, headers = self._refusal
        count_request("none", status, 0)
        answer = error(status, sentence, {**headers, "Connection": "close"})
        _outbox.put(self.loop, self.transport, _message(answer))
        _outbox.send()
        self.transport.close()
