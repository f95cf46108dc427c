"""Tells when an answer is complete, for programs that read many of them."""

from httptools import HttpResponseParser

__all__ = ["Answer", "request"]

_HEAD_ENDS = b"\r\n\r\n"
_LENGTH = b"\ncontent-length:"


def request(path: str, authorization: str, coding: str = "") -> bytes:
    """Return a request for a path, whose answer may come in the coding."""
    accepted = f"Accept-Encoding: {coding}\r\n" if coding else ""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {authorization}\r\n"
        f"{accepted}\r\n"
    ).encode()


class Answer:
    """The answers of a connection, one after the other, as their bytes come.

    One with a length is only counted; a chunked one is parsed.
    """

    def __init__(self) -> None:
        self.head = b""
        self._is_complete = True
        self._waiting = b""
        self._missing = 0
        self._chunks: HttpResponseParser | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the answer is a 200."""
        return self.head.startswith(b"HTTP/1.1 200 ")

    def take(self, data: bytes) -> bool:
        """Take what has come; return whether the answer is complete with it."""
        if self._is_complete:
            self.head, self._is_complete, self._chunks = b"", False, None
        if self._chunks:
            self._chunks.feed_data(data)
        elif self.head:
            self._missing -= len(data)
            self._is_complete = self._missing <= 0
        else:
            self._begin(self._waiting + data if self._waiting else data)
        return self._is_complete

    def on_message_complete(self) -> None:
        """Be told by the parser."""
        self._is_complete = True

    def _begin(self, data: bytes) -> None:
        end = data.find(_HEAD_ENDS)
        if end < 0:
            self._waiting = data
            return
        self._waiting, self.head = b"", data[: end + 2]
        at = self.head.lower().find(_LENGTH)
        if at < 0:
            self._chunks = HttpResponseParser(self)
            self._chunks.feed_data(data)
            return
        at += len(_LENGTH)
        length = int(self.head[at : self.head.index(b"\r", at)])
        self._missing = end + len(_HEAD_ENDS) + length - len(data)
        self._is_complete = self._missing <= 0
