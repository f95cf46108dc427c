"""The emulator's faults, and the log of its requests: a layer around the app.

The app does not know about this layer. Each response has at most one fault: the first pending fault
that fits its path. HEAD requests have no faults, since their responses have no body. That the port
refuses connections is no fault of a response: see ``serving``.
"""

import re
import threading
from asyncio import sleep
from collections import deque
from collections.abc import Mapping
from math import ceil
from typing import Annotated, Any, cast
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from masthead.api.app import App
from masthead.api.http.request import Request
from masthead.api.http.responses import error
from masthead.api.http.service import Service
from masthead.contract.moments import http_date
from masthead.emulator.protocol import RESET, Reset
from masthead.errors import MastheadError
from masthead.http_server.client_address import Peer
from masthead.http_server.request_checks import Refusal
from masthead.store import Clock

ASKED_MAX = 10_000
"""The number of requests that the log keeps."""

_SECRET = {"code", "password"}
_HIDDEN = "…"
_PIECES_A_SECOND = 20
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_OWN_HEADERS = {"connection", "content-length", "date", "transfer-encoding"}
_WITHOUT_BODY = {204, 304}

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0, le=3600)]


class Fault(Struct, kw_only=True, forbid_unknown_fields=True):
    """A fault of the next ``requests`` responses to paths that begin with ``path``.

    If ``requests`` is None, it is a fault of all responses until the faults are cleared. Raises
    ValueError for a ``path`` that no path begins with.
    """

    requests: Count | None = 1
    path: str = ""

    def __post_init__(self) -> None:
        if self.path and (not self.path.startswith("/") or "?" in self.path):
            raise ValueError(
                f"no path begins with {self.path[:100]!r}: give one such as /2/orders, "
                "without a query"
            )


class Respond(Fault, tag="respond", forbid_unknown_fields=True):
    """A response of this status instead of the service's, with more headers and another body.

    Without ``body``, it is an error as the service sends it. The body is JSON if ``headers`` do not
    say otherwise. Raises ValueError for a header that cannot be sent, or that HTTP itself decides.
    """

    status: Annotated[int, Meta(ge=200, le=599)]
    headers: dict[str, str] = {}
    body: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise ValueError(
                    f"the header {name[:100]!r}: {value[:100]!r} cannot be sent; give a name and a "
                    'value in ASCII, such as "Retry-After": "5"'
                )
            if name.lower() in _OWN_HEADERS:
                raise ValueError(f"the header {name} is that of the emulator: leave it out")
        if self.status in _WITHOUT_BODY and self.body:
            raise ValueError(f"a response with {self.status} has no body: leave it out")

    def response(self) -> Response:
        """Return the response."""
        if self.status in _WITHOUT_BODY:
            return Response(status_code=self.status, headers=self.headers)
        if self.body is None:
            return error(
                self.status, f"the emulator responds with {self.status}, as told", self.headers
            )
        media_type = {"Content-Type": "application/json"}
        if any(name.lower() == "content-type" for name in self.headers):
            media_type = {}
        return Response(self.body, self.status, {**media_type, **self.headers})


class Delay(Fault, tag="delay", forbid_unknown_fields=True):
    """The number of seconds before the service handles the request."""

    seconds: Seconds


class Slow(Fault, tag="slow", forbid_unknown_fields=True):
    """The number of body bytes sent per second."""

    bytes_per_second: Count


class CutAfter(Fault, tag="cut-after", forbid_unknown_fields=True):
    """The connection ends after this number of body bytes as sent, compressed or not.

    A shorter body is cut before its end, so that none of these responses is complete.
    """

    bytes: Annotated[int, Meta(ge=0)]


class ResetConnection(Fault, tag="reset-connection", forbid_unknown_fields=True):
    """The connection is reset (TCP RST) before the response.

    With ``bytes`` it is reset after this number of body bytes, as ``CutAfter`` counts them.
    """

    bytes: Annotated[int, Meta(ge=0)] | None = None


class Malformed(Fault, tag="malformed", forbid_unknown_fields=True):
    """The response is complete, of the right length and not compressed, but its JSON is not valid.

    A space takes the place of its last character that is not white space.
    """


AnyFault = Respond | Delay | Slow | CutAfter | ResetConnection | Malformed


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
        self._waiting: list[AnyFault] = []
        self._asked: deque[Asked] = deque(maxlen=ASKED_MAX)
        self._lock = threading.Lock()
        self.cleared = 0
        """How often the faults were cleared: a response then continues without its delay"""

    def add(self, fault: AnyFault) -> None:
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

    def take(self, path: str) -> AnyFault | None:
        """Return the fault of a response; None if it has none."""
        with self._lock:
            for fault in self._waiting:
                if path.startswith(fault.path):
                    if fault.requests == 1:
                        self._waiting.remove(fault)
                    elif fault.requests:
                        fault.requests -= 1
                    return fault
        return None

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds, or until the faults are cleared."""
        cleared = self.cleared
        pieces = ceil(seconds * _PIECES_A_SECOND)
        for _ in range(pieces):
            if cleared != self.cleared:
                break
            await sleep(seconds / pieces)

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
        sending = _Sending(send, fault, self._faults, asked, self._clock, request.scope)
        match fault:
            case Respond():
                await fault.response()(request.scope, request.receive, sending)
                return
            case ResetConnection(bytes=None):
                await sending.reset()
                return
            case Delay():
                await self._faults.sleep(fault.seconds)
            case Malformed():
                headers = request.scope["headers"]
                request.scope["headers"] = [h for h in headers if h[0] != b"accept-encoding"]
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
        self,
        send: Send,
        fault: Fault | None,
        faults: Faults,
        asked: Asked,
        clock: Clock,
        scope: Scope,
    ) -> None:
        self._send = send
        self._fault = fault
        self._faults = faults
        self._asked = asked
        self._clock = clock
        self._scope = scope
        self._cleared = faults.cleared
        self._bytes_left = 0
        if isinstance(fault, CutAfter | ResetConnection):
            self._bytes_left = fault.bytes or 0
        self._kept = b""
        """The end of the body so far, from its last character that is not white space."""

    async def __call__(self, message: Message) -> None:
        """Send a message. Raises MastheadError if the response is cut."""
        is_cut = isinstance(self._fault, CutAfter | ResetConnection)
        if message["type"] == "http.response.start":
            self._asked.status = message["status"]
            message = {**message, "headers": self._with_date(message["headers"])}
            if is_cut:
                lengths = [int(v) for n, v in message["headers"] if n == b"content-length"]
                self._bytes_left = min([self._bytes_left, *(max(n - 1, 0) for n in lengths)])
            await self._send(message)
        elif is_cut:
            await self._cut(message)
        elif isinstance(self._fault, Slow):
            await self._send_slowly(message, self._fault.bytes_per_second)
        elif isinstance(self._fault, Malformed):
            await self._send_malformed(message)
        else:
            await self._send(message)

    async def reset(self) -> None:
        """Reset the connection after what has been sent."""
        await cast("Reset", self._scope["extensions"][RESET])()

    def _with_date(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers with a ``Date`` from the emulator's clock.

        The change feed already has a ``Date``, which can be earlier.
        """
        if any(name == b"masthead-changes-through" for name, _ in headers):
            return headers
        others = [(name, value) for name, value in headers if name != b"date"]
        return [*others, (b"date", http_date(self._clock()).encode())]

    async def _cut(self, message: Message) -> None:
        body, is_last = message.get("body", b""), not message.get("more_body", False)
        sent = body[: self._bytes_left]
        self._bytes_left -= len(sent)
        if sent:
            await self._send({**message, "body": sent, "more_body": True})
        if is_last or len(sent) < len(body):
            if isinstance(self._fault, ResetConnection):
                await self.reset()
            raise MastheadError("the response is cut, as the emulator was told")

    async def _send_malformed(self, message: Message) -> None:
        body = self._kept + bytes(message.get("body", b""))
        size = max(len(body.rstrip()) - 1, 0)
        if message.get("more_body", False):
            self._kept = body[size:]
            await self._send({**message, "body": body[:size]})
        else:
            await self._send({**message, "body": body[:size] + b" " * (len(body) - size)})

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
