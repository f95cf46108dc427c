"""How answers that are ready are sent: those of one turn of the event loop together."""

from asyncio import AbstractEventLoop, Transport

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from masthead.api.http.responses import Answer

__all__ = ["OUTBOX", "message"]

_ANSWERS_TOGETHER, _BYTES_TOGETHER = 16, 65_536


class Outbox:
    """Answers of one turn of the event loop, which are sent together.

    A write wakes the process that reads from the connection, such as a proxy on the same machine,
    and that takes as long as to make an answer; writes in a row wake it once. At most 16 answers or
    64 KiB wait, so that none waits for long.
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


OUTBOX = Outbox()
"""That of this process."""


def message(answer: Answer, more_fields: bytes = b"", *, has_body: bool = True) -> bytes:
    """Return an answer as it goes over the wire (RFC 9112 section 2.1)."""
    body = answer.body if has_body and answer.body else b""
    return b"%s%s%s\r\n%s" % (STATUS_LINE[answer.status], answer.fields(), more_fields, body)
