"""What surrounds every request: its path's last slash, id, date, log line and last error.

The app itself sees only paths without a slash at their end, so that each answers with and without
one at once (decisions, "Trailing slash"). The log has the path's template, never the path or the
query string as they were sent.
"""

from secrets import token_hex
from time import perf_counter_ns, time_ns

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from masthead.api.answers import error
from masthead.api.metrics import count_request
from masthead.contract.moments import http_date
from masthead.log import get_logger

__all__ = ["Front"]

_NOT_SENT = 499
_log = get_logger()


def _date() -> bytes:
    return http_date(time_ns() // 1_000).encode()


class Front:
    """An ASGI middleware, the outermost of the app's own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log it when its answer is complete."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = scope["masthead.arrived_ns"]
        request_id = token_hex(8)
        path = scope["raw_path"].decode("latin-1")
        scope["path"] = path[:-1] if len(path) > 1 and path.endswith("/") else path
        status = _NOT_SENT

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if all(name != b"date" for name, _ in message["headers"]):
                    message["headers"].append((b"date", _date()))
                message["headers"].extend(scope.get("masthead.headers", ()))
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            pass  # before all of its request was there
        except Exception:
            _log.exception("request failed", request_id=request_id)
            if status != _NOT_SENT:
                raise
            sentence = f"the server made a mistake; its log has it under {request_id}"
            await error(500, sentence)(scope, receive, watched)
        finally:
            route = scope.get("route")
            seconds = (perf_counter_ns() - start) / 1_000_000_000
            count_request(route.name if route else "none", status, seconds)
            _log.info(
                "request",
                method=scope["method"],
                path=route.path_format if route else None,
                status=status,
                duration_ms=round(seconds * 1_000, 3),
                account=scope.get("masthead.account_id"),
                request_id=request_id,
            )
