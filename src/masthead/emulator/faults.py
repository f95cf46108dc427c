"""The emulator's faults, and the log of its requests: a layer around the app.

The app does not know about this layer. Each response has at most one fault: the first pending fault
that fits its path. HEAD requests have no faults, since their responses have no body.
"""

import threading
from asyncio import sleep
from collections import deque
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct
from starlette.types import Message, Receive, Scope, Send

from masthead.api.app import App
from masthead.api.http.request import Request
from masthead.api.http.responses import error
from masthead.api.http.service import Service
from masthead.contract.moments import http_date
from masthead.errors import MastheadError
from masthead.http_server.client_address import Peer
from masthead.http_server.request_checks import Refusal
from masthead.store import Clock

ASKED_MAX = 10_000
"""The number of requests that the log keeps."""

_SECRET = {"code", "password"}
_HIDDEN = "…"
_PIECES_A_SECOND = 20

Count = Annotated[int, Meta(ge=1)]


class Fault(Struct, kw_only=True, forbid_unknown_fields=True):
    """A fault of the next ``requests`` responses to paths that begin with ``path``.

    Raises ValueError for a ``path`` that no path begins with.
    """

    requests: Count = 1
    path: str = ""

    def __post_init__(self) -> None:
        if self.path and (not self.path.startswith("/") or "?" in self.path):
            raise ValueError(
                f"no path begins with {self.path[:100]!r}: give one such as /2/orders, "
                "without a query"
            )


class Unavailable(Fault, tag="unavailable", forbid_unknown_fields=True):
    """503, with ``Retry-After`` in seconds."""

    retry_after: Annotated[int, Meta(ge=0, le=86_400)] = 1


class CutAfter(Fault, tag="cut-after", forbid_unknown_fields=True):
    """The connection ends after this number of body bytes as sent, compressed or not.

    A shorter body is cut before its end, so that none of these responses is complete.
    """

    bytes: Annotated[int, Meta(ge=0)]


class Slow(Fault, tag="slow", forbid_unknown_fields=True):
    """The number of body bytes sent per second."""

    bytes_per_second: Count


class Asked(Struct, kw_only=True):
    """A received request.

    ``path`` is None if it could not be read. ``parameters`` are those of the query and, if they are
    valid, of the body; a repeated parameter has a list. The value of a password is hidden, and
    credentials are left out. ``status`` is None until the response begins. ``fault`` is the name of
    the response's fault.
    """

    method: str | None
    path: str | None
    parameters: dict[str, str | list[str]]
    status: int | None = None
    fault: str | None = None


class Faults:
    """The pending faults and the received requests; thread-safe."""

    def __init__(self) -> None:
        self._waiting: list[Unavailable | CutAfter | Slow] = []
        self._asked: deque[Asked] = deque(maxlen=ASKED_MAX)
        self._lock = threading.Lock()
        self.cleared = 0
        """How often the faults were cleared: a slow response then continues without its fault"""

    def add(self, fault: Unavailable | CutAfter | Slow) -> None:
        """Add a fault after the pending ones."""
        with self._lock:
            self._waiting.append(fault)

    def waiting(self) -> list[dict[str, Any]]:
        """Return the pending faults, each with ``type`` and the remaining ``requests``."""
        with self._lock:
            return [msgspec.to_builtins(fault) for fault in self._waiting]

    def clear(self) -> None:
        """Remove the pending faults."""
        with self._lock:
            self._waiting.clear()
            self.cleared += 1

    def take(self, path: str) -> Unavailable | CutAfter | Slow | None:
        """Return the fault of a response; None if it has none."""
        with self._lock:
            for fault in self._waiting:
                if path.startswith(fault.path):
                    fault.requests -= 1
                    if not fault.requests:
                        self._waiting.remove(fault)
                    return fault
        return None

    def note(self, asked: Asked) -> None:
        """Add a request to the log."""
        with self._lock:
            self._asked.append(asked)

    def asked(self) -> list[Asked]:
        """Return the received requests, at most the last 10,000."""
        with self._lock:
            return list(self._asked)

    def forget_asked(self) -> None:
        """Empty the log."""
        with self._lock:
            self._asked.clear()


class Emulated:
    """The app with the faults: for ``masthead.api.http.protocol``, and itself an ASGI app.

    ``clock`` is the publisher's; the ``Date`` of all responses follows it.
    """

    def __init__(self, app: App, faults: Faults, clock: Clock) -> None:
        self._app = app
        self._faults = faults
        self._clock = clock

    @property
    def service(self) -> Service:
        """The service that the app's requests share."""
        return self._app.service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or the lifespan of the server."""
        if scope["type"] == "http":
            await self.handle(Request(scope, receive, self.service), send)
        else:
            await self._app(scope, receive, send)

    async def handle(self, request: Request, send: Send) -> None:
        """Let the app respond to a request, with its pending fault; log the request.

        Raises MastheadError if the response is cut, so that the server closes the connection.
        """
        fault = None if request.is_head else self._faults.take(request.path)
        query = request.scope["query_string"].decode("latin-1")
        asked = Asked(
            method=request.method,
            path=request.raw_path,
            parameters=_parameters(query),
            fault=str(fault.__struct_config__.tag) if fault else None,
        )
        self._faults.note(asked)
        sending = _Sending(send, fault, self._faults, asked, self._clock)
        if isinstance(fault, Unavailable):
            again = {"Retry-After": str(fault.retry_after)}
            response = error(503, "the emulator is unavailable, as it was told to be", again)
            await response(request.scope, request.receive, sending)
            return
        try:
            await self._app.handle(request, sending)
        finally:
            if request.has_body:
                given = {name: str(value) for name, value in request.parameters.items()}
                asked.parameters |= {n: _HIDDEN if n in _SECRET else v for n, v in given.items()}

    def log_refusal(
        self,
        refusal: Refusal,
        *,
        method: str | None,
        arrived_ns: int,
        peer: Peer,
        headers: Mapping[bytes, bytes],
    ) -> None:
        """Log a request that the parser refused."""
        self._faults.note(Asked(method=method, path=None, parameters={}, status=refusal.status))
        self._app.log_refusal(
            refusal, method=method, arrived_ns=arrived_ns, peer=peer, headers=headers
        )


def _parameters(query: str) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        shown = _HIDDEN if name in _SECRET else value
        if name not in found:
            found[name] = shown
            continue
        before = found[name]
        found[name] = [*(before if isinstance(before, list) else [before]), shown]
    return found


class _Sending:
    """Sends the messages of one response, with its fault."""

    def __init__(
        self, send: Send, fault: Fault | None, faults: Faults, asked: Asked, clock: Clock
    ) -> None:
        self._send = send
        self._fault = fault
        self._faults = faults
        self._asked = asked
        self._clock = clock
        self._cleared = faults.cleared
        self._bytes_left = fault.bytes if isinstance(fault, CutAfter) else 0

    async def __call__(self, message: Message) -> None:
        """Send a message. Raises MastheadError if the response is cut."""
        if message["type"] == "http.response.start":
            self._asked.status = message["status"]
            message = {**message, "headers": self._with_date(message["headers"])}
            if isinstance(self._fault, CutAfter):
                lengths = [int(v) for n, v in message["headers"] if n == b"content-length"]
                self._bytes_left = min([self._bytes_left, *(max(n - 1, 0) for n in lengths)])
            await self._send(message)
        elif isinstance(self._fault, CutAfter):
            await self._cut(message, self._fault)
        elif isinstance(self._fault, Slow):
            await self._send_slowly(message, self._fault.bytes_per_second)
        else:
            await self._send(message)

    def _with_date(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers with a ``Date`` from the emulator's clock.

        The change feed already has a ``Date``, which can be earlier.
        """
        if any(name == b"masthead-changes-through" for name, _ in headers):
            return headers
        others = [(name, value) for name, value in headers if name != b"date"]
        return [*others, (b"date", http_date(self._clock()).encode())]

    async def _cut(self, message: Message, fault: CutAfter) -> None:
        body, is_last = message.get("body", b""), not message.get("more_body", False)
        sent = body[: self._bytes_left]
        self._bytes_left -= len(sent)
        if sent:
            await self._send({**message, "body": sent, "more_body": True})
        if is_last or len(sent) < len(body):
            raise MastheadError(f"cut after {fault.bytes} bytes, as the emulator was told")

    async def _send_slowly(self, message: Message, bytes_per_second: int) -> None:
        body = message.get("body", b"")
        size = max(1, bytes_per_second // _PIECES_A_SECOND)
        start = 0
        while len(body) - start > size and self._cleared == self._faults.cleared:
            piece = body[start : start + size]
            await self._send({**message, "body": piece, "more_body": True})
            await sleep(len(piece) / bytes_per_second)
            start += size
        await self._send({**message, "body": body[start:]})
        if message.get("more_body", False) and self._cleared == self._faults.cleared:
            await sleep((len(body) - start) / bytes_per_second)
