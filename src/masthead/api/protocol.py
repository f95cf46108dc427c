"""HTTP itself, where it fails before the app sees a request: limits, and errors as JSON."""

import re
from time import perf_counter_ns, time_ns
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from masthead.api.answers import ONLY_READS
from masthead.api.metrics import count_request
from masthead.contract.encoding import encode
from masthead.contract.moments import http_date

__all__ = ["HEADERS_BYTES_MAX", "URI_BYTES_MAX", "Protocol"]

URI_BYTES_MAX = 8 * 1024
HEADERS_BYTES_MAX = 32 * 1024

_LINE_OF_A_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \r\n]+ HTTP/1\.[01]\r?\n")


class _TooLarge(Exception):
    """Raised inside the parser, which gives up at once."""


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol with limits to what a request may hold before its body.

    An URI over 8 KiB is 414, headers over 32 KiB are 431, a method of which HTTP has never heard is
    405, what is not HTTP is 400 (decisions, "Statuses", "Methods" and "Error body").
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._headers_bytes = 0
        self._refusal = (400, "this is not a request of HTTP/1.1", b"")

    def data_received(self, data: bytes) -> None:
        """Take what came over the wire."""
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # the request itself is answered as if it had not asked for another protocol
        except httptools.HttpParserInvalidMethodError as error:
            if _LINE_OF_A_REQUEST.match(data):
                self._refusal = (405, ONLY_READS, b"allow: GET, HEAD\r\n")
            self.send_400_response(str(error))
        except httptools.HttpParserError as error:
            self.send_400_response(str(error))

    def on_message_begin(self) -> None:
        """Begin to count anew."""
        super().on_message_begin()
        self._headers_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Take a piece of the URI."""
        super().on_url(url)
        if len(self.url) > URI_BYTES_MAX:
            limit = f"the address of a request is at most {URI_BYTES_MAX} bytes"
            self._refusal = (414, limit, b"")
            raise _TooLarge

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        super().on_header(name, value)
        self._headers_bytes += len(name) + len(value)
        if self._headers_bytes > HEADERS_BYTES_MAX:
            limit = f"the headers of a request are at most {HEADERS_BYTES_MAX} bytes"
            self._refusal = (431, limit, b"")
            raise _TooLarge

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Let a request wait for its turn, and note since when it does."""
        scope: dict[str, Any] = cycle.scope  # type: ignore[assignment]
        scope["masthead.arrived_ns"] = perf_counter_ns()
        super()._start_asgi_task(cycle, app)

    def send_400_response(self, _msg: str) -> None:
        """Refuse what cannot be parsed, and hang up."""
        status, sentence, header = self._refusal
        count_request("none", status, 0)
        body = encode({"error": sentence})
        self.transport.write(
            b"".join(
                [
                    STATUS_LINE[status],
                    b"date: %s\r\n" % http_date(time_ns() // 1_000).encode(),
                    header,
                    b"content-type: application/json\r\ncache-control: no-store\r\n",
                    b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body),
                    body,
                ]
            )
        )
        self.transport.close()
