"""The server's protocol: JSON errors, and a shortcut for responses that are ready."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import perf_counter_ns
from typing import Any, Protocol

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from masthead.api.http.parameters import BODY_BYTES_MAX, TOO_LARGE
from masthead.api.http.request import Request
from masthead.api.http.responses import ONLY_READS, error
from masthead.api.http.service import Service
from masthead.http_server.client_address import Peer
from masthead.http_server.protocol import LimitedProtocol
from masthead.http_server.request_checks import Limits, Refusal

__all__ = ["HttpProtocol"]

_CLOSE_HEADER = (b"connection", b"close")


class App(Protocol):
    """The part of ``masthead.api.app.App`` that is used here; the methods are described there."""

    service: Service

    def respond(self, request: Request) -> Response | Awaitable[Response]: ...
    async def handle(self, request: Request, send: Send) -> None: ...
    async def send(
        self,
        request: Request,
        responding: Response | Awaitable[Response],
        send: Send,
        *,
        send_ready: Callable[[Response], None],
    ) -> None: ...
    def log_response(self, request: Request, status: int) -> None: ...
    def log_refusal(
        self,
        refusal: Refusal,
        *,
        method: str | None,
        arrived_ns: int,
        peer: Peer,
        headers: Mapping[bytes, bytes],
    ) -> None: ...


class HttpProtocol(LimitedProtocol):
    """The protocol with limits, for :class:`masthead.api.app.App`."""

    app: App
    limits = Limits(
        BODY_BYTES_MAX,
        too_large=Refusal(413, TOO_LARGE),
        unknown_method=Refusal(405, ONLY_READS, {"Allow": "GET, HEAD"}),
    )

    @property
    def is_replaced(self) -> bool:
        """Whether another process takes the next connections, while this one ends."""
        return self.app.service.is_replaced

    def refusal_response(self, refusal: Refusal) -> Response:
        """Return the error as JSON."""
        return error(refusal.status, refusal.sentence, refusal.headers)

    def log_refusal(
        self, refusal: Refusal, method: str | None, begun_ns: int, headers: Mapping[bytes, bytes]
    ) -> None:
        """Let the app log and count the refusal."""
        self.app.log_refusal(
            refusal, method=method, arrived_ns=begun_ns, peer=self.client, headers=headers
        )

    def _start_asgi_task(self, cycle: RequestResponseCycle, _app: object) -> None:
        """Call the app in the next iteration of the event loop, if possible without a task.

        That delay measures the server's load.
        """
        scope: Any = cycle.scope
        receive = self._receive_of(cycle)
        request = Request(scope, receive, self.app.service, arrived_ns=perf_counter_ns())
        if self.app.service.settings.asgi_only or self.flow.write_paused:

            async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
                await self.app.handle(request, send)

            super()._start_asgi_task(cycle, app)
        else:
            self.loop.call_soon(self._respond, cycle, request)

    def _respond(self, cycle: RequestResponseCycle, request: Request) -> None:
        responding = self.app.respond(request)
        if not isinstance(responding, Response) or isinstance(responding, StreamingResponse):
            self._await(cycle, request, responding)
            return
        self.app.log_response(request, responding.status_code)
        self._send_ready(cycle, responding)

    def _await(
        self,
        cycle: RequestResponseCycle,
        request: Request,
        responding: Response | Awaitable[Response],
    ) -> None:
        """Await the response in an ASGI task; send it there if it is a stream."""

        async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
            send_ready = partial(self._send_ready, cycle)
            await self.app.send(request, responding, send, send_ready=send_ready)

        super()._start_asgi_task(cycle, app)

    def _send_ready(self, cycle: RequestResponseCycle, response: Response) -> None:
        if cycle.disconnected:
            return
        cycle.response_started = cycle.response_complete = True
        if _CLOSE_HEADER in response.raw_headers:
            cycle.keep_alive = False
        elif not cycle.keep_alive:
            response.raw_headers.append(_CLOSE_HEADER)
        self._write(response)
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
