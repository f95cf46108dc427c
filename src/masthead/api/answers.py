"""Answers: bodies of JSON.

Every answer about an account's data says ``Cache-Control: no-store`` (decisions, "Personal data").
How a long one is made is the business of ``masthead.api.spool``.
"""

from collections.abc import AsyncIterator, Mapping

from starlette.responses import Response, StreamingResponse

from masthead.contract.encoding import encode

__all__ = ["ONLY_READS", "error", "head", "json", "stream"]

ONLY_READS = "this interface only reads: use GET or HEAD"
_NO_STORE = {"Cache-Control": "no-store"}


def json(body: bytes, headers: Mapping[str, str] | None = None, status: int = 200) -> Response:
    """Return an answer whose body is ready."""
    return Response(body, status, {**_NO_STORE, **(headers or {})}, "application/json")


def error(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return ``{"error": sentence}`` (decisions, "Error body").

    What the sentence quotes may hold half a character, which a body of JSON can spell out: that is
    shown spelled out.
    """
    sendable = sentence.encode("utf-8", "backslashreplace").decode()
    return json(encode({"error": sendable}), headers, status)


def head(headers: Mapping[str, str]) -> Response:
    """Return the answer to HEAD where the length of the body is not known."""
    answer = json(b"", headers)
    del answer.headers["Content-Length"]
    return answer


def stream(chunks: AsyncIterator[bytes], headers: Mapping[str, str]) -> Response:
    """Return an answer whose body comes in chunks, and ends where they end."""
    return StreamingResponse(chunks, 200, {**_NO_STORE, **headers}, "application/json")
