"""A service that is not Masthead: it gives the responses that a test sets, and logs requests."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from pathlib import Path

NO_ACCOUNTS = '{"accounts": []}'


@dataclass(frozen=True)
class Asked:
    """A request that was made, and on which of all connections."""

    target: str
    headers: Mapping[str, str]
    connection: int
    body: bytes = b""

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the query by name."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))


@dataclass(frozen=True)
class Reply:
    """A response: text, bytes, or pieces that are sent in chunks; ``is_cut`` leaves out its end.

    An empty header is one that is not sent.
    """

    body: str | bytes | Iterable[bytes] = NO_ACCOUNTS
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False


HANGS_UP = Reply(status=-1)
SAYS_NOTHING = Reply(status=-2)
DRIPS_HEADERS = Reply(status=-3)
"""A header now and then, and after some seconds the end of a good answer."""

_DRIPS = 150
_DRIP_S = 0.02


def dripping(whole: str, drop: bytes = b" ", **headers: str) -> Reply:
    """Return a response that comes slowly: many drops, each soon after the other, and then all."""
    return Reply(dripped(whole, drop), headers=headers)


def dripped(whole: str, drop: bytes = b" ") -> Iterator[bytes]:
    """Yield the pieces of such a response."""
    for _ in range(_DRIPS):
        yield drop
        threading.Event().wait(_DRIP_S)
    yield whole.encode()


Answering = Callable[[Asked], Reply]


def reply(content: Any, **headers: str) -> Reply:
    """Return the response of a value as JSON; ``Retry_After`` names a header."""
    return Reply(json.dumps(content), headers={k.replace("_", "-"): v for k, v in headers.items()})


def refused(status: int, sentence: str = "no", **headers: str) -> Reply:
    """Return an error in the form of Masthead's."""
    return Reply(
        json.dumps({"error": sentence}),
        status,
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


def in_turn(*replies: Reply) -> Answering:
    """Give one response after the other, and the last one for ever."""
    following = chain(replies, repeat(replies[-1]))
    return lambda _asked: next(following)


def forwarding(url: str, prefix: str) -> Answering:
    """Pass requests on to another server without the prefix of their paths, as a proxy does."""
    netloc = urlsplit(url).netloc

    def answer(asked: Asked) -> Reply:
        if not asked.path.startswith(f"{prefix}/"):
            return refused(404, "not behind this proxy")
        passed_on = {name: asked.headers[name] for name in ("authorization", "accept-encoding")}
        connection = HTTPConnection(netloc, timeout=60)
        try:
            connection.request("GET", asked.target.removeprefix(prefix), headers=passed_on)
            response = connection.getresponse()
            headers = {k: v for k, v in response.getheaders() if k.lower() not in _OF_A_HOP}
            return Reply(response.read(), response.status, headers)
        finally:
            connection.close()

    return answer


_OF_A_HOP = {"connection", "content-length", "transfer-encoding"}


class Service:
    """The running service; with a certificate and its key in one file it speaks TLS."""

    def __init__(self, answer: Answering, certificate: Path | None = None) -> None:
        self.asked: list[Asked] = []
        self.answer = answer
        self.is_closing = threading.Event()
        self.sockets: list[socket.socket] = []
        self._server = _Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.url = self.url.replace("http", "https", 1)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        """End it, and every connection to it."""
        self.is_closing.set()
        self._server.shutdown()
        self._thread.join()
        for connection in self.sockets:
            _hang_up(connection)
        self._server.server_close()


Serve = Callable[[Answering], Service]


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, service: Service) -> None:
        self.service = service
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two packets
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.service.sockets.append(self.connection)
        self.number = len(self.server.service.sockets)

    def do_GET(self) -> None:
        service = self.server.service
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        asked = Asked(self.path, headers, self.number, body)
        service.asked.append(asked)
        answer = service.answer(asked)
        if answer is SAYS_NOTHING:
            service.is_closing.wait()
        if answer is DRIPS_HEADERS:
            self._drip()
            return
        if answer.status < 0:
            self.close_connection = True
            _hang_up(self.connection)
            return
        self._send(answer)

    def _drip(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(_DRIPS):
            self.wfile.write(b"X-%d: 1\r\n" % number)
            threading.Event().wait(_DRIP_S)
        body = NO_ACCOUNTS.encode()
        self.wfile.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _send(self, answer: Reply) -> None:
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        headers = {"Content-Type": "application/json", "Date": self.date_time_string()}
        if isinstance(body, bytes):
            headers["Content-Length"] = str(len(body) + answer.is_cut)
        else:
            headers["Transfer-Encoding"] = "chunked"
        self.send_response_only(answer.status)
        for name, value in {**headers, **answer.headers}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if isinstance(body, bytes):
            self.wfile.write(body)
        else:
            for piece in body:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if not answer.is_cut:
                self.wfile.write(b"0\r\n\r\n")
        if answer.is_cut:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Print nothing."""
