"""Answers: those that are ready, bodies of JSON among them, and those that have to be waited for.

Every answer about an account's data says ``Cache-Control: no-store`` (decisions, "Personal data").
``masthead.api.http.streaming`` makes long ones.
"""

from collections.abc import Awaitable, Callable, Mapping
from time import time_ns
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from masthead.contract.encoding import encode
from masthead.contract.moments import http_date

__all__ = ["ONLY_READS", "Answer", "Rest", "error", "head", "json", "stream_fields"]

ONLY_READS = "this interface only reads: use GET or HEAD"
_NO_STORE = {"Cache-Control": "no-store"}
_JSON = {**_NO_STORE, "Content-Type": "application/json"}


class Answer(NamedTuple):
    """An answer that is ready; no ``body`` is that of a HEAD request of which nobody knows it.

    ``headers`` are all but the length of the body and, where it is the time of now, the date.
    """

    body: bytes | None
    status: int = 200
    headers: Mapping[str, str] = _JSON

    def fields(self) -> bytes:
        """Return the lines of the headers, with the length and the date (RFC 9112 section 5)."""
        length = b"" if self.body is None else b"content-length: %d\r\n" % len(self.body)
        if self.headers is _JSON:
            return b"%s%sdate: %s\r\n" % (_JSON_FIELDS, length, _now().encode())
        return _lines({"Date": _now(), **self.headers}) + length

    def fields_of_asgi(self) -> list[tuple[bytes, bytes]]:
        """Return the same headers as ASGI has them: pairs of a name and a value."""
        pairs = (line.split(b": ", 1) for line in self.fields().splitlines())
        return [(name, value) for name, value in pairs]


Rest = Callable[[Scope, Receive, Send], Awaitable[Answer | None]]
"""What is left to do for an answer that is not ready: an ASGI app, which sends it or returns it."""


def _now() -> str:
    return http_date(time_ns() // 1_000)


def _lines(headers: Mapping[str, str]) -> bytes:
    return "".join([f"{name.lower()}: {value}\r\n" for name, value in headers.items()]).encode()


_JSON_FIELDS = _lines(_JSON)


def json(body: bytes, headers: Mapping[str, str] | None = None, status: int = 200) -> Answer:
    """Return an answer whose body is ready.

    Raises ValueError for a header of more than printable characters of ASCII.
    """
    return Answer(body, status, _json_and(headers) if headers else _JSON)


def _json_and(headers: Mapping[str, str]) -> Mapping[str, str]:
    values = "".join(headers.values())
    if not (values.isascii() and values.isprintable()):
        raise ValueError("a header has a character that none may have")
    return {**_JSON, **headers}


def error(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Return ``{"error": sentence}`` (decisions, "Error body").

    What the sentence quotes may hold half a character, which a body of JSON can spell out: that is
    shown spelled out.
    """
    sendable = sentence.encode("utf-8", "backslashreplace").decode()
    return json(encode({"error": sendable}), headers, status)


def head(headers: Mapping[str, str]) -> Answer:
    """Return the answer to HEAD where nobody knows the length of the body.

    Raises what :func:`json` does.
    """
    return Answer(None, headers=_json_and(headers))


def stream_fields(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Return the headers, as ASGI has them, of an answer whose body comes in chunks."""
    fields = {**_JSON, "Date": _now(), **headers}
    return [(name.lower().encode(), value.encode()) for name, value in fields.items()]
