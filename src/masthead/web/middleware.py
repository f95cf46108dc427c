"""What every response of a page gets: its headers, its line in the log, and no bare fault."""

from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex
from time import perf_counter_ns

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from masthead.http_server.client_address import client_address
from masthead.log import get_logger

Fault = Callable[[Request, str], Awaitable[Response]]
"""Makes the page for a fault from the request and the id under which the log has the details."""

_NOT_SENT = 499
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_TLS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}
_log = get_logger()


def headers_of(*, behind_proxy: bool) -> dict[str, str]:
    """Return the headers of every response; ``behind_proxy``: browsers use only TLS for a year."""
    return {**_HEADERS, **(_TLS_ONLY if behind_proxy else {})}


class Headed:
    """Adds the default headers to every response; the response's own headers take precedence."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), each.encode()) for name, each in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the app's responses with the headers."""

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                message["headers"] += [each for each in self._headers if each[0] not in own]
            await send(message)

        await self._app(scope, receive, headed if scope["type"] == "http" else send)


class Logged:
    """Logs each request without its query, and responds with 500 to an unexpected fault."""

    def __init__(self, app: ASGIApp, fault: Fault, *, behind_proxy: bool) -> None:
        self._app = app
        self._fault = fault
        self._behind_proxy = behind_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the app, and log the request after its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter_ns()
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except ClientDisconnect:
            status = _NOT_SENT
        except Exception:
            fault = token_hex(8)
            _log.exception("a page failed", fault=fault)
            if status:
                raise
            response = await self._fault(Request(scope, receive), fault)
            await response(scope, receive, noted)
        finally:
            route = scope.get("route")
            _log.info(
                "page",
                method=scope["method"],
                path=getattr(route, "path", "unknown"),
                status=status,
                duration_ms=round((perf_counter_ns() - begun) / 1_000_000, 1),
                client=address_of(scope, behind_proxy=self._behind_proxy),
            )


def address_of(scope: Scope, *, behind_proxy: bool) -> str | None:
    """Return the address of the request's client, as ``masthead serve`` determines it."""
    return client_address(scope["client"], dict(scope["headers"]), behind_proxy=behind_proxy)
