"""JSON responses, error responses, and the headers that all of them have.

Every response with an account's data has ``Cache-Control: no-store`` (rules, "Personal
data"). ``masthead.api.http.streaming`` makes long ones.
"""

from collections.abc import Awaitable, Mapping
from time import time_ns
from typing import Any

from starlette.responses import Response

from masthead.contract.encoding import encode
from masthead.contract.moments import http_date

ONLY_READS = "this interface only reads: use GET or HEAD"

_OF_ALL = {"Cache-Control": "no-store", "Content-Type": "application/json"}
_OF_ALL_ENCODED = [(name.lower().encode(), value.encode()) for name, value in _OF_ALL.items()]

Responding = Response | Awaitable["Responding"]
"""A response, or an awaitable of one, possibly in several steps."""


def headers_of(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the headers of a JSON response; those in ``more`` are added, or replace the default.

    Raises ValueError for a value in ``more`` that is not printable ASCII (RFC 9110 section 5.5).
    """
    headers = {**_OF_ALL, "Date": _date()}
    if more:
        values = "".join(more.values())
        if not (values.isascii() and values.isprintable()):
            raise ValueError("a header has a character that is not allowed")
        headers |= more
    return headers


class _JsonResponse(Response):
    """A response with encoded headers: encoding them each time takes as long as a query."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Set the headers that all responses have, and those in ``headers``."""
        if headers:
            super().init_headers(headers_of(headers))
            return
        self.raw_headers = [
            *_OF_ALL_ENCODED,
            (b"date", _date().encode()),
            (b"content-length", b"%d" % len(self.body)),
        ]


def _date() -> str:
    return http_date(time_ns() // 1_000)


def json(body: bytes, headers: Mapping[str, str] | None = None, status: int = 200) -> Response:
    """Return a response whose body is JSON."""
    return _JsonResponse(body, status, headers)


def encoded(value: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with ``value`` encoded as JSON."""
    return json(encode(value), headers)


def error(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with ``{"error": sentence}`` (rules, "Error body").

    A lone surrogate, which JSON can represent and UTF-8 cannot, is shown as an escape.
    """
    sendable = sentence.encode("utf-8", "backslashreplace").decode()
    return json(encode({"error": sendable}), headers, status)


def head(headers: Mapping[str, str]) -> Response:
    """Return the response to a HEAD request, without ``Content-Length``, which is unknown."""
    response = json(b"", headers)
    del response.headers["Content-Length"]
    return response
