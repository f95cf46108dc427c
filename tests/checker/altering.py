"""A server in front of a Masthead, which alters one thing in requests or responses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF_A_HOP = {"connection", "content-length", "transfer-encoding", "host", "keep-alive"}
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the query."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def identity(self) -> tuple[str, ...]:
        """What requests with the same reply have in common, while no data changes."""
        sent = (self.headers.get(name, "") for name in ("authorization", "content-type"))
        return (self.method, self.target, self.body.hex(), *sent)

    def without(self, *names: str) -> Asked:
        """Return the request without some parameters of its query."""
        kept = {name: value for name, value in self.query.items() if name not in names}
        query = urlencode(kept, quote_via=quote)
        return replace(self, target=f"{self.path}?{query}" if query else self.path)


@dataclass(frozen=True)
class Reply:
    """A response; ``is_cut`` sends less of it than it announces."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))
    is_cut: bool = False

    def json(self) -> Any:
        """Return the body, decoded."""
        return json.loads(self.body)

    def saying(self, content: Any) -> Reply:
        """Return the same response with another body."""
        return replace(self, body=json.dumps(content, ensure_ascii=False).encode())


Send = Callable[[Asked], Reply]
Alter = Callable[[Asked, Send], Reply]
Replies = dict[tuple[str, ...], Reply]
"""Replies of a server by the ``identity`` of what was asked."""


def unaltered(asked: Asked, send: Send) -> Reply:
    """Change nothing."""
    return send(asked)


@contextmanager
def altered(url: str, alter: Alter, replies: Replies | None = None) -> Iterator[Altering]:
    """Serve what another server does, altered, for as long as the block lasts.

    ``replies`` has what the other server replied before; it is not asked for the same again.
    """
    server = Altering(url, alter, replies)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Altering(ThreadingHTTPServer):
    """The running server, with all requests that it got."""

    daemon_threads = True

    def __init__(self, url: str, alter: Alter, replies: Replies | None) -> None:
        self.netloc = urlsplit(url).netloc
        self.alter = alter
        self.replies = replies
        self.asked: list[Asked] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Altering

    def setup(self) -> None:
        super().setup()
        self.upstream = HTTPConnection(self.server.netloc, timeout=60)

    def finish(self) -> None:
        self.upstream.close()
        super().finish()

    def _send_on(self, asked: Asked) -> Reply:
        known = self.server.replies
        if known is None:
            return self._send(asked)
        if asked.identity not in known:
            known[asked.identity] = self._send(asked)
        return known[asked.identity]

    def _send(self, asked: Asked) -> Reply:
        headers = {k: v for k, v in asked.headers.items() if k not in _OF_A_HOP}
        # Bodies are altered, so they are not compressed.
        headers["accept-encoding"] = "identity"
        self.upstream.request(asked.method, asked.target, asked.body or None, headers)
        response = self.upstream.getresponse()
        kept = {k: v for k, v in response.getheaders() if k.lower() not in _OF_A_HOP}
        return Reply(response.status, response.read(), kept)

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, self.rfile.read(length))
        self.server.asked.append(asked)
        reply = self.server.alter(asked, self._send_on)
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) + reply.is_cut))
        self.end_headers()
        self.wfile.write(reply.body)
        self.close_connection = self.close_connection or reply.is_cut

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def log_message(self, *_: object) -> None:
        """Print nothing."""
