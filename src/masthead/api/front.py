"""What surrounds every request: its path's last slash, id, date, log line and errors.

The routes themselves see only paths without a slash at their end, so that each answers with and
without one at once (decisions, "Trailing slash"). The log has the path's template, never the path
or the query string as they were sent.

This takes the place of Starlette's own application, whose layers for middleware and errors cost
more than a look-up's query.
"""

from collections.abc import Callable
from itertools import count
from secrets import token_hex
from time import perf_counter_ns, time_ns

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import Message, Receive, Scope, Send

from masthead.api.answers import error
from masthead.api.metrics import count_request
from masthead.api.operation import Service
from masthead.contract.moments import http_date
from masthead.log import RequestLog, get_logger

__all__ = ["Front"]

_NOT_SENT = 499
_PROCESS = token_hex(4)
_log = get_logger()


def _date() -> bytes:
    return http_date(time_ns() // 1_000).encode()


class Front:
    """The ASGI app: ``answer_to`` tells what an error means to a client, None of an unknown one.

    The ``service`` and the ``log`` are there once the router's lifespan has begun.
    """

    service: Service
    log: RequestLog

    def __init__(
        self, router: Router, answer_to: Callable[[Exception, Scope], Response | None]
    ) -> None:
        self.router = router
        self._answer_to = answer_to
        self._numbers = count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log it when its answer is complete."""
        scope["app"] = self
        if scope["type"] != "http":
            await self.router(scope, receive, send)
            return
        start = scope["masthead.arrived_ns"]
        request_id = f"{_PROCESS}{next(self._numbers):08x}"
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
            await self.router(scope, receive, watched)
        except ClientDisconnect:
            pass  # before all of its request was there
        except Exception as reason:
            answer = self._answer_to(reason, scope) if status == _NOT_SENT else None
            if answer is None:
                _log.exception("request failed", request_id=request_id)
                if status != _NOT_SENT:
                    raise
                sentence = f"the server made a mistake; its log has it under {request_id}"
                answer = error(500, sentence)
            await answer(scope, receive, watched)
        finally:
            route = scope.get("route")
            seconds = (perf_counter_ns() - start) / 1_000_000_000
            count_request(route.name if route else "none", status, seconds)
            self.log.note(
                method=scope["method"],
                path=route.path_format if route else None,
                status=status,
                duration_ms=round(seconds * 1_000, 3),
                account=scope.get("masthead.account_id"),
                request_id=request_id,
            )
