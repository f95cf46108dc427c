"""httptools' parser, with limits and without ambiguity.

A URI over 8 KiB is 414, headers over 32 KiB are 431, a body over the server's limit is 413, an
unknown method is 405, anything that is not HTTP is 400 (rules, "Statuses", "Methods" and "What is
around a body"). ``request_checks`` refuses ambiguous requests.
"""

import re
from typing import Protocol

import httptools

from masthead.http_server.request_checks import (
    BAD_LENGTH,
    LENGTH_DIGITS_MAX,
    NOT_HTTP,
    Limits,
    Refusal,
    bad_target,
    origin_form,
    wrong_fields,
    wrong_line,
)

__all__ = ["HEADERS_BYTES_MAX", "URI_BYTES_MAX", "RefusedError", "StrictParser"]

URI_BYTES_MAX = 8 * 1024
HEADERS_BYTES_MAX = 32 * 1024

_PIECE_BYTES = 4 * 1024
"""The maximum number of bytes to parse in one step."""

_OVERHEAD_BYTES_MAX = 64 * 1024
"""The maximum number of bytes outside of a body: the head, and the framing of chunks."""

_HEADER_OVERHEAD = len(": \r\n")
_HEAD_END = b"\r\n\r\n"
_REQUEST_LINE = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \r\n]+ HTTP/1\.[01]\r?\n")

_URI_TOO_LONG = Refusal(414, f"the address of a request is at most {URI_BYTES_MAX} bytes")
_HEADERS_TOO_LONG = Refusal(431, f"the headers of a request are at most {HEADERS_BYTES_MAX} bytes")
_TOO_MUCH_OVERHEAD = Refusal(
    400, f"a request has at most {_OVERHEAD_BYTES_MAX} bytes that are not of its body"
)


class RefusedError(Exception):
    """The request is refused; ``refusal`` is the response."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal


class Receiver(Protocol):
    """Receives the parts of a request, by the callbacks of httptools; ``url`` is set directly."""

    url: bytes
    headers: list[tuple[bytes, bytes]]

    def on_message_begin(self) -> None: ...
    def on_header(self, name: bytes, value: bytes) -> None: ...
    def on_headers_complete(self) -> None: ...
    def on_body(self, body: bytes) -> None: ...
    def on_message_complete(self) -> None: ...


class StrictParser:
    """Parses the contents of ``buffer``, one piece at a time.

    A head, a line of a chunked body, and a body each end at the end of a piece. So the checks see
    exactly one head, or one chunk-size line. When the end of a request is parsed, the bytes after
    it are still in the buffer.
    """

    def __init__(self, receiver: Receiver, limits: Limits) -> None:
        self.buffer = bytearray()
        """Bytes that have been received and not parsed."""
        self.has_begun = False
        """Whether a request has been parsed in part."""
        self.has_headers = False
        """Whether all headers of that request have been parsed."""
        self.is_head_read = False
        """Whether the head of that request has been parsed, and is valid."""
        self.body_bytes_left = 0
        """Bytes of its body still to be received, by its Content-Length."""
        self._receiver = receiver
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self.get_method = self._parser.get_method
        self.get_http_version = self._parser.get_http_version
        self.should_keep_alive = self._parser.should_keep_alive
        self.should_upgrade = self._parser.should_upgrade
        self._raw = b""
        """The parsed part of the head, or of the current line of a chunked body."""
        self._is_chunked = False
        self._overhead = self._headers_bytes = self._chunks_bytes = 0

    @property
    def method(self) -> str | None:
        """The method of the request that is being parsed; None if it is not known yet."""
        has_method = self.has_begun and self._receiver.url
        return self._parser.get_method().decode() if has_method else None

    @property
    def is_head_request(self) -> bool:
        """Whether the head that is being parsed starts as one of HEAD, valid or not."""
        return self._raw.lstrip(b"\r\n").startswith(b"HEAD ")

    def parse_piece(self) -> bool:
        """Parse the next piece; return whether there was one. Raises RefusedError."""
        size = self._next_size() if self.buffer else 0
        if not size:
            return False
        piece = bytes(self.buffer[:size])
        del self.buffer[:size]
        if not self.is_head_read or self._is_chunked:
            self._raw += piece
        self._overhead += len(piece)
        try:
            self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            pass  # the upgrade is ignored
        except httptools.HttpParserError as error:
            raise self._refused(error) from None
        if self._overhead > _OVERHEAD_BYTES_MAX:
            is_in_headers = self._receiver.url and not self.is_head_read
            raise RefusedError(_HEADERS_TOO_LONG if is_in_headers else _TOO_MUCH_OVERHEAD)
        if self.is_head_read and piece.endswith(b"\n"):
            self._raw = b""
        return True

    def _refused(self, error: httptools.HttpParserError) -> RefusedError:
        """Return the refusal for an error of the parser, or for one that a callback has raised."""
        refusal = NOT_HTTP
        match error:
            case httptools.HttpParserCallbackError():
                if isinstance(error.__context__, RefusedError):
                    return error.__context__
            case httptools.HttpParserInvalidMethodError():
                if _REQUEST_LINE.match(self._raw):
                    refusal = self._limits.unknown_method
            case httptools.HttpParserInvalidURLError():
                refusal = bad_target(self._raw)
        return RefusedError(refusal)

    def _next_size(self) -> int:
        """Return the size of the next piece; 0 if the next line is not complete yet."""
        if not self.is_head_read:
            before = self._raw[1 - len(_HEAD_END) :]
            end = (before + self.buffer[:_PIECE_BYTES]).find(_HEAD_END)
            return _PIECE_BYTES if end < 0 else end + len(_HEAD_END) - len(before)
        if not self._is_chunked:
            return min(self.body_bytes_left, _PIECE_BYTES)
        end = self.buffer.find(b"\n", 0, _PIECE_BYTES)
        if end < 0:
            return _PIECE_BYTES if len(self.buffer) >= _PIECE_BYTES else 0
        return end + 1

    def on_message_begin(self) -> None:
        """Reset the counters."""
        self._headers_bytes = self._chunks_bytes = self.body_bytes_left = 0
        self._is_chunked = self.has_headers = False
        self.has_begun = True
        self._receiver.on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Append a part of the URI, and check its length."""
        self._receiver.url += url
        if len(self._receiver.url) > URI_BYTES_MAX:
            raise RefusedError(_URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; count and ignore a trailer, which is a header after the body."""
        self._headers_bytes += len(name) + len(value) + _HEADER_OVERHEAD
        if self._headers_bytes > HEADERS_BYTES_MAX:
            raise RefusedError(_HEADERS_TOO_LONG)
        if self.is_head_read:
            return
        self._receiver.on_header(name, value)
        name, value = self._receiver.headers[-1]
        if name == b"content-length":
            if len(value) > LENGTH_DIGITS_MAX:
                raise RefusedError(BAD_LENGTH)
            self.body_bytes_left = int(value)
        elif name == b"transfer-encoding":
            self._is_chunked = True

    def on_headers_complete(self) -> None:
        """Check the complete head."""
        self.has_headers = True
        receiver, version = self._receiver, self._parser.get_http_version()
        method, target = self._parser.get_method(), origin_form(receiver.url)
        refusal = wrong_line(
            self._raw, method, receiver.url, target, version, self._limits.unknown_method
        )
        if refusal := refusal or wrong_fields(version, receiver.headers):
            raise RefusedError(refusal)
        receiver.url = target
        receiver.on_headers_complete()
        self.is_head_read = True
        self._raw = b""

    def on_chunk_header(self) -> None:
        """Refuse a body as soon as the sum of its chunk sizes is too large."""
        self._chunks_bytes += int(self._raw.partition(b";")[0], 16)
        if self._chunks_bytes > self._limits.body_bytes_max:
            raise RefusedError(self._limits.too_large)

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        self._overhead -= len(body)
        self.body_bytes_left -= len(body)
        self._receiver.on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        self.has_begun = self.is_head_read = False
        self._overhead = 0
        self._raw = b""
        self._receiver.on_message_complete()
