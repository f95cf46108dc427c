"""What surrounds every request: its path's last slash, its log line, its count and its errors.

The routes themselves see only paths without a slash at their end, so that each answers with and
without one at once (decisions, "Trailing slash"). The log has the path's template, never the path
or the query string as they were sent.

This takes the place of a framework's application, whose layers for routes, middleware and errors
cost more than a look-up's query. Most answers are ready as soon as they are asked for: these need
no task. How they are sent is the business of ``masthead.api.http.protocol``.
"""

from collections.abc import Callable
from itertools import count
from secrets import token_hex
from time import perf_counter_ns

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from masthead.api.http.metrics import count_request
from masthead.api.http.responses import Answer, Rest, error
from masthead.api.http.routing import Routes
from masthead.api.http.service import Service
from masthead.errors import MastheadError
from masthead.log import RequestLog, get_logger

__all__ = ["Front", "SendNow"]

SendNow = Callable[[Answer], None]
"""Sends an answer that is ready, with the headers that any answer to its request has."""

_NOT_SENT = 499
_PROCESS = token_hex(4)
_log = get_logger()


class Front:
    """The app; ``answer_to`` tells what an error means to a client, None of an unknown one.

    The ``service`` and the ``log`` are there once the lifespan of ``router`` has begun, which is
    all that it is for.
    """

    service: Service
    log: RequestLog

    def __init__(
        self,
        routes: Routes,
        router: Router,
        answer_to: Callable[[Exception, Scope], Answer | None],
    ) -> None:
        self.routes = routes
        self._router = router
        self._answer_to = answer_to
        self._numbers = count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Begin and end with the server, and answer a request of any server of ASGI.

        ``masthead serve`` calls :meth:`begin` instead, which spares a task and two messages.
        """
        if scope["type"] != "http":
            scope["app"] = self
            await self._router(scope, receive, send)
            return
        scope["masthead.arrived_ns"] = perf_counter_ns()
        scope.setdefault("raw_path", scope["path"].encode())
        scope.setdefault("query_string", b"")
        ready: list[Answer] = []
        if rest := self.begin(scope, ready.append):
            await rest(scope, receive, send)
        for answer in ready:
            fields = [*answer.fields_of_asgi(), *scope.get("masthead.headers", ())]
            body = b"" if scope["method"] == "HEAD" else answer.body or b""
            await send({"type": "http.response.start", "status": answer.status, "headers": fields})
            await send({"type": "http.response.body", "body": body})

    def begin(self, scope: Scope, send_now: SendNow) -> ASGIApp | None:
        """Answer a request; return what is left to do where its answer has to be waited for.

        It is logged, and counted, when its answer is complete.
        """
        scope["masthead.id"] = self._new_id()
        path = scope["raw_path"].decode("latin-1")
        scope["path"] = path = path[:-1] if len(path) > 1 and path.endswith("/") else path
        try:
            route, path_id = self.routes.find(path)
            if route is None:
                raise HTTPException(404)
            scope["masthead.route"] = route
            if scope["method"] not in {"GET", "HEAD"}:
                raise HTTPException(405)
            answer = route.begin(scope, path_id, self.service)
        except Exception as reason:  # noqa: BLE001 - each has its answer
            answer = self._answer_to_error(reason, scope)
        if not isinstance(answer, Answer):
            return self._rest(answer, send_now)
        send_now(answer)
        self._note(scope, answer.status)
        return None

    def note_refusal(self, method: str | None, status: int, seconds: float) -> None:
        """Log and count a request that HTTP itself refuses; None where it names no method."""
        self._note(
            {
                "method": method,
                "masthead.id": self._new_id(),
                "masthead.arrived_ns": perf_counter_ns() - round(seconds * 1_000_000_000),
            },
            status,
        )

    def _new_id(self) -> str:
        return f"{_PROCESS}{next(self._numbers):08x}"

    def _rest(self, rest: Rest, send_now: SendNow) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            status = _NOT_SENT

            async def watched(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    message["headers"].extend(scope.get("masthead.headers", ()))
                await send(message)

            try:
                try:
                    answer = await rest(scope, receive, watched)
                except ClientDisconnect:
                    return  # before all of its request was there
                except Exception as reason:
                    if status != _NOT_SENT:
                        self._log_broken_off(scope, reason)
                        raise
                    answer = self._answer_to_error(reason, scope)
                if answer:
                    status = answer.status
                    send_now(answer)
            finally:
                self._note(scope, status)

        return app

    def _answer_to_error(self, reason: Exception, scope: Scope) -> Answer:
        if answer := self._answer_to(reason, scope):
            return answer
        self._log_mistake(scope)
        sentence = f"the server made a mistake; its log has it under {scope['masthead.id']}"
        return error(500, sentence)

    def _log_broken_off(self, scope: Scope, reason: Exception) -> None:
        if isinstance(reason, MastheadError | HTTPException):
            said = reason.detail if isinstance(reason, HTTPException) else str(reason)
            _log.error("answer broken off", reason=said, request_id=scope["masthead.id"])
        else:
            self._log_mistake(scope)

    @staticmethod
    def _log_mistake(scope: Scope) -> None:
        _log.exception("request failed", request_id=scope["masthead.id"])

    def _note(self, scope: Scope, status: int) -> None:
        route = scope.get("masthead.route")
        seconds = (perf_counter_ns() - scope["masthead.arrived_ns"]) / 1_000_000_000
        count_request(route.name if route else "none", status, seconds)
        self.log.note(
            method=scope["method"],
            path=route.path if route else None,
            status=status,
            duration_ms=round(seconds * 1_000, 3),
            account=scope.get("masthead.account_id"),
            request_id=scope["masthead.id"],
        )
