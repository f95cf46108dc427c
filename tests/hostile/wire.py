"""Sends bytes to a server over one connection and reads the responses until it closes."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.api.callers import RawAnswer, basic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.servers import Server

HANG_S = 15
"""A pause that lasts longer never ends. The server waits 20 seconds for a request's end."""

IDLE_S = 0.05
ENDING = b"\r\n\r\n" + bytes(20_000) + b"\r\n\r\n"
"""After any bytes, this ends the request, possibly as a bad one: no response waits for more."""


class Wire:
    """Sends bytes to a server."""

    def __init__(self, server: Server, api_key: str, api_login: str) -> None:
        """Send them there, with these credentials where a head asks for them."""
        self.server = server
        self.authorization = f"Authorization: {basic(api_key, api_login)}\r\n".encode()

    def head(self, target: bytes, *lines: bytes, method: bytes = b"GET") -> bytes:
        """Return the head of a good request, its last on the connection, with more lines."""
        more = b"".join(line + b"\r\n" for line in (*lines, b"Connection: close"))
        return b"%s %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n" % (
            method,
            target,
            self.authorization,
            more,
        )

    def send(
        self, request: bytes, *, half_closed: bool = False, is_last: bool = False
    ) -> list[RawAnswer]:
        """Send the bytes; return all answers, each of which must be whole.

        Where the server keeps the connection, this ends it. ``half_closed`` says at once that
        nothing more is sent; then the server has to end the connection, and so it has with
        ``is_last``: the last response closes it.
        """
        has_to_end = half_closed or is_last
        received = b""
        with socket.create_connection(self.server.address, HANG_S) as connection:
            # Refused before all of it was read, the response is there all the same.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(request)
            if half_closed:
                connection.shutdown(socket.SHUT_WR)
            try:
                while piece := connection.recv(65_536):
                    received += piece
                    if not has_to_end:
                        connection.settimeout(IDLE_S if _are_whole(received) else HANG_S)
            except TimeoutError:
                assert received, "no response comes"
                assert not has_to_end, "the connection does not end"
            except ConnectionResetError:
                pass
        return list(answers_in(received))

    def one(self, request: bytes) -> RawAnswer:
        """Send the bytes, and return the one response that there is."""
        (response,) = self.send(request)
        return response


def answers_in(received: bytes) -> list[RawAnswer]:
    """Return the final answers in what a server sent; fail where it is anything else."""
    found = []
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        line, *lines = head.decode("latin-1").split("\r\n")
        version, status, _ = line.split(" ", 2)
        assert version == "HTTP/1.1", line
        if status == "100":
            continue
        headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in lines)}
        body, received = _body(headers, received)
        found.append(RawAnswer(int(status), headers, body))
    return found


def _are_whole(received: bytes) -> bool:
    """Whether what was received ends with the end of a final response."""
    try:
        return bool(answers_in(received))
    except (AssertionError, ValueError):
        return False


def _body(headers: Mapping[str, str], received: bytes) -> tuple[bytes, bytes]:
    if received.startswith(b"HTTP/1.1 ") or not received:
        return b"", received  # a response to HEAD
    if "content-length" in headers:
        length = int(headers["content-length"])
        assert len(received) >= length
        return received[:length], received[length:]
    assert headers["transfer-encoding"] == "chunked"
    body = b""
    while True:
        size, _, received = received.partition(b"\r\n")
        length = int(size, 16)
        assert received[length : length + 2] == b"\r\n"
        body, received = body + received[:length], received[length + 2 :]
        if not length:
            return body, received
