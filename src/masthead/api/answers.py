"""Answers: bodies of JSON, and long ones as a stream.

Every answer about an account's data says ``Cache-Control: no-store`` (decisions, "Personal data").
"""

from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import closing

from anyio import to_thread
from starlette.responses import Response, StreamingResponse

from masthead.contract.encoding import encode

__all__ = ["CHUNK_BYTES", "ONLY_READS", "error", "json", "stream"]

CHUNK_BYTES = 65_536
"""A stream is sent in pieces of about this size."""

ONLY_READS = "this interface only reads: use GET or HEAD"
_NO_STORE = {"Cache-Control": "no-store"}


def json(body: bytes, headers: Mapping[str, str] | None = None, status: int = 200) -> Response:
    """Return an answer whose body is ready."""
    return Response(body, status, {**_NO_STORE, **(headers or {})}, "application/json")


def error(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return ``{"error": sentence}`` (decisions, "Error body")."""
    return json(encode({"error": sentence}), headers, status)


def stream(
    pieces: Generator[bytes, None, None], headers: Mapping[str, str], *, is_head: bool
) -> Response:
    """Return an answer whose body is made while it is sent, a piece at a time in a thread.

    To be called in a thread itself. A body that fits into one chunk is sent with its length. If
    ``pieces`` raises later, the connection breaks without the last chunk, so that the client can
    tell (design, "The change feed").
    """
    chunks = _chunks(pieces)
    first = next(chunks, b"")
    if is_head:
        chunks.close()
        answer = json(b"", headers)
        del answer.headers["Content-Length"]
        return answer
    if len(first) < CHUNK_BYTES:
        chunks.close()
        return json(first, headers)

    async def body() -> AsyncIterator[bytes]:
        try:
            yield first
            while chunk := await to_thread.run_sync(next, chunks, b""):
                yield chunk
        finally:
            await to_thread.run_sync(chunks.close)

    return StreamingResponse(body(), 200, {**_NO_STORE, **headers}, "application/json")


def _chunks(pieces: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    waiting = bytearray()
    with closing(pieces):
        for piece in pieces:
            waiting += piece
            if len(waiting) >= CHUNK_BYTES:
                yield bytes(waiting)
                waiting.clear()
    if waiting:
        yield bytes(waiting)
