"""The ASGI application, and the path of a request through it.

:meth:`App.respond` shows the path from top to bottom. Each step may raise an error:

==================  ======================================================================
BadInput            400
HTTPException       its status: 401, 403, 404, 405, 408, 410, 413, 429, or 503 (overload);
                    ``masthead.api.http.protocol`` sends 414, 417 and 431
AccountGone         403
NotFound            404
StoreUnavailable    503 with ``Retry-After``
any other           500 with a request id
==================  ======================================================================
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from time import perf_counter_ns

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from masthead.api.http.credentials import (
    OPENS_NOTHING,
    Credentials,
    caller_of,
    check_right,
    credentials_in,
)
from masthead.api.http.lifespan import lifespan
from masthead.api.http.log_reasons import reason_of, reason_of_refusal, shown_path
from masthead.api.http.metrics import (
    count_database_error,
    count_partner_request,
    count_request,
)
from masthead.api.http.overload import RETRY_AFTER_S, check_wait
from masthead.api.http.parameters import read_body, read_parameters
from masthead.api.http.rate_limit import RateLimit
from masthead.api.http.request import AuthenticatedRequest, Request, new_id
from masthead.api.http.responses import ONLY_READS, Responding, error
from masthead.api.http.routing import PublicRoute, Route, Routes
from masthead.api.http.service import Service
from masthead.api.http.threads import in_greenlet, in_thread
from masthead.api.operations import (
    accounts,
    change_feed,
    custom_fields,
    deletions,
    digest,
    docs_page,
    entitlements,
    health,
    home_page,
    mailing_lists,
    manual,
    orders,
    subscribers,
    subscriptions,
)
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.errors import AccountGone, BadInput, MastheadError, NotFound, StoreUnavailable
from masthead.http_server.client_address import Peer, client_address
from masthead.http_server.request_checks import Refusal
from masthead.http_server.user_agent import user_agent
from masthead.log import LogThrottle, RequestLog, end_logs, get_logger, set_log_format
from masthead.settings import ServerSettings
from masthead.store import Connection, Store, open_store

_RespondToOperation = Callable[[Request, Route, int, Credentials, bytes], Responding]

_NOT_SENT = 499
_log = get_logger()


def create_app(
    settings: ServerSettings | None = None,
    *,
    store: Store | None = None,
    shared_folder: str | None = None,
    demo: Credentials | None = None,
) -> "App":
    """Return the application, for any ASGI server that supports the lifespan protocol.

    ``settings`` defaults to those of the environment, ``store`` to the database in the settings.
    Several workers count requests in ``shared_folder``. The pages of a demo show its credentials,
    ``demo``. Raises BadUsage for an invalid setting or a database user that a server must not log
    in as, MastheadError if the database cannot be opened.
    """
    if settings is None:
        settings = ServerSettings.from_environment()
        set_log_format(settings.log_format)
    store = store or open_store(settings.database, read_url=settings.read_database)
    store.check_server_role()
    limit = RateLimit(settings.rate_limit or 0, shared_folder)
    return App(Service(store, settings, rate_limit=limit), demo)


class App:
    """The application; ``service`` is what its requests share, ``demo`` a demo's credentials."""

    def __init__(self, service: Service, demo: Credentials | None = None) -> None:
        self.service = service
        self._routes = Routes(
            [
                *subscriptions.routes,
                *orders.routes,
                *subscribers.routes,
                *custom_fields.routes,
                *change_feed.routes,
                *deletions.routes,
                *digest.routes,
                *accounts.routes,
                *mailing_lists.routes,
                *entitlements.routes(),
                *health.routes,
                *docs_page.routes(demo),
                *home_page.routes(demo),
                *manual.routes(),
            ]
        )
        self._lifespan = Router(lifespan=self._run)
        self._respond_to_operation: _RespondToOperation = _not_started
        self._request_log = RequestLog()
        self._unavailable = LogThrottle()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or the lifespan of the server."""
        if scope["type"] == "http":
            await self.handle(Request(scope, receive, self.service), send)
        else:
            await self._lifespan({**scope, "app": self}, receive, send)

    async def handle(self, request: Request, send: Send) -> None:
        """Send the response to a request, and log the request."""
        await self.send(request, self.respond(request), send)

    async def send(
        self,
        request: Request,
        responding: Response | Awaitable[Response],
        send: Send,
        *,
        send_ready: Callable[[Response], None] | None = None,
    ) -> None:
        """Send what :meth:`respond` returned, and log the request.

        ``send_ready`` sends a response that is not a stream, if the server can bypass ASGI.
        Raises any error that interrupts a response, so that the server closes the connection.
        """
        status = _NOT_SENT
        try:
            response = responding if isinstance(responding, Response) else await responding
            status = response.status_code
            if send_ready and not isinstance(response, StreamingResponse):
                send_ready(response)
            else:
                await response(request.scope, request.receive, send)
        except ClientDisconnect:
            pass
        except Exception as reason:
            if isinstance(reason, MastheadError | HTTPException):
                said = reason.detail if isinstance(reason, HTTPException) else str(reason)
                _log.error("response broken off", reason=said, request_id=request.id)
            else:
                _log.exception("request failed", request_id=request.id)
            raise
        finally:
            self.log_response(request, status)

    def respond(self, request: Request) -> Response | Awaitable[Response]:
        """Return the response, or an awaitable of it.

        All steps run in the event loop. With SQLite, queries that may scan run in a thread with a
        connection of its own. With PostgreSQL, operations run in greenlets, so that they do not
        block the loop while they wait for the database.
        """
        try:
            route, path_id = self._routes.find(request.path)
            request.route_name, request.route_path = route.name, route.path
            if request.method not in {"GET", "HEAD"}:
                raise HTTPException(405, ONLY_READS, {"Allow": "GET, HEAD"})
            check_wait(request.arrived_ns)
            if isinstance(route, PublicRoute):
                responding = route.handler(request)
            else:
                request.operation = route.operation
                credentials = credentials_in(request.header_values)
                if request.has_body:
                    responding = self._respond_with_body(request, route, path_id, credentials)
                else:
                    responding = self._respond_to_operation(
                        request, route, path_id, credentials, b""
                    )
        except Exception as reason:  # noqa: BLE001 - every error becomes a response
            responding = self._error_response(request, reason)
        if isinstance(responding, Response):
            return _with_headers(request, responding)
        return self._when_ready(request, responding)

    async def _respond_with_body(
        self, request: Request, route: Route, path_id: int, credentials: Credentials
    ) -> Responding:
        body = await read_body(request)
        return self._respond_to_operation(request, route, path_id, credentials, body)

    def _respond_in_loop(
        self,
        connection: Connection,
        received: Request,
        route: Route,
        path_id: int,
        credentials: Credentials,
        body: bytes,
    ) -> Responding:
        """Respond on SQLite: in the event loop, except for queries that may scan."""
        request = self._check(received, route, path_id, credentials, body, connection)
        if route.may_scan and route.may_scan(request.parameters):
            steps = partial(self._read_in_thread, route, request)
            return in_thread(self.service, self.service.scans, steps)
        return route.handler(request)

    def _read_in_thread(self, route: Route, request: AuthenticatedRequest) -> Responding:
        with self.service.store.reader() as connection:
            return route.handler(request._replace(connection=connection))

    def _respond_in_greenlet(
        self, received: Request, route: Route, path_id: int, credentials: Credentials, body: bytes
    ) -> Responding:
        """Respond on PostgreSQL: all steps wait for the database, in a greenlet."""
        # The parameters are read later, so the route alone decides.
        slots = self.service.scans if route.may_scan else self.service.look_ups

        def steps() -> Responding:
            with self.service.store.reader() as connection:
                return route.handler(
                    self._check(received, route, path_id, credentials, body, connection)
                )

        return in_greenlet(self.service, slots, steps)

    def _check(
        self,
        received: Request,
        route: Route,
        path_id: int,
        credentials: Credentials,
        body: bytes,
        connection: Connection,
    ) -> AuthenticatedRequest:
        """Authenticate the request, apply the rate limit, and read the parameters."""
        service = self.service
        now = service.store.clock()
        if service.store.reads_replica:
            # A revoked key opens a replica for at most 30 seconds, however far behind that is.
            with service.store.fresh(connection) as fresh:
                caller = caller_of(credentials, fresh, service.store, now)
        else:
            caller = caller_of(credentials, connection, service.store, now)
        received.account_id, received.partner = caller.account_id, caller.partner
        service.credential_uses.note(caller, now)
        limit = service.rate_limit
        if caller.rate:
            taken = limit.take(caller.account_id, caller.partner_id, caller.rate)
            received.more_headers = taken.headers
            taken.check()
        if limit.rate:
            taken = limit.take(caller.account_id)
            received.more_headers = [*received.more_headers, *taken.headers]
            taken.check()
        check_right(caller, route.operation.name)
        connection.set_tenant(caller.account_id, is_master=bool(caller.is_master))
        parameters = read_parameters(route.operation, received.scope["query_string"], body)
        received.parameters = parameters
        if path_id > BIGGEST_INTEGER:
            raise NotFound("there is no such id: ids end at 2^63 - 1")
        operation = route.operation
        return AuthenticatedRequest(received, operation, caller, path_id, parameters, connection)

    async def _when_ready(self, request: Request, responding: Awaitable[Responding]) -> Response:
        try:
            found = await responding
            while not isinstance(found, Response):
                found = await found
        except ClientDisconnect:
            raise
        except Exception as reason:  # noqa: BLE001 - every error becomes a response
            found = self._error_response(request, reason)
        return _with_headers(request, found)

    def _error_response(self, request: Request, reason: Exception) -> Response:
        operation = request.operation
        parameters = [each.name for each in operation.parameters] if operation else []
        request.reason = reason_of(reason, parameters)
        if isinstance(reason, BadInput):
            return error(400, str(reason))
        if isinstance(reason, AccountGone):
            return error(403, OPENS_NOTHING)
        if isinstance(reason, NotFound):
            return error(404, str(reason))
        if isinstance(reason, HTTPException):
            return error(reason.status_code, reason.detail, reason.headers)
        if isinstance(reason, StoreUnavailable):
            if self._unavailable.is_due(str(reason)):
                _log.error("database unavailable", reason=str(reason))
            count_database_error()
            sentence = "the database does not answer at the moment: try again soon"
            return error(503, sentence, {"Retry-After": str(RETRY_AFTER_S)})
        _log.exception("request failed", request_id=request.id)
        return error(500, f"the server made a mistake; its log has it under {request.id}")

    def log_response(self, request: Request, status: int) -> None:
        """Log and count a request whose response has ended; status 499 if there was none."""
        account_id = request.account_id
        if account_id is not None:
            now = self.service.store.clock()
            self.service.request_counts.note(
                account_id, request.route_name, status, now, request.partner
            )
            if request.partner:
                count_partner_request(account_id, request.partner, status)
        self._request_log.note(
            method=request.method,
            path=request.route_path or shown_path(request.path),
            status=status,
            reason=request.reason,
            duration_ms=_count(request.route_name, status, request.arrived_ns),
            client=client_address(
                request.scope.get("client"),
                request.header_values,
                behind_proxy=self.service.settings.behind_proxy,
            ),
            account=account_id,
            partner=request.partner or None,
            user_agent=user_agent(request.header_values),
            request_id=request.id,
        )

    def log_refusal(
        self,
        refusal: Refusal,
        *,
        method: str | None,
        arrived_ns: int,
        peer: Peer,
        headers: Mapping[bytes, bytes],
    ) -> None:
        """Log and count a request that the parser refused.

        ``method`` is None if it is unknown; ``headers`` are empty if not all were parsed.
        """
        self._request_log.note(
            method=method,
            path=None,
            status=refusal.status,
            reason=reason_of_refusal(refusal.status, refusal.sentence),
            duration_ms=_count("none", refusal.status, arrived_ns),
            client=client_address(peer, headers, behind_proxy=self.service.settings.behind_proxy),
            account=None,
            partner=None,
            user_agent=user_agent(headers),
            request_id=new_id(),
        )

    @asynccontextmanager
    async def _run(self, _app: object) -> AsyncIterator[None]:
        async with lifespan(self.service) as connection:
            if connection:
                self._respond_to_operation = partial(self._respond_in_loop, connection)
            else:
                self._respond_to_operation = self._respond_in_greenlet
            yield
        self._request_log.write()
        end_logs()


def _not_started(*_operation: object) -> Responding:
    raise RuntimeError("the app has not started: the ASGI server has to support lifespan")


def _count(name: str, status: int, arrived_ns: int) -> float:
    """Count a request that has ended; return how many milliseconds it took."""
    seconds = (perf_counter_ns() - arrived_ns) / 1_000_000_000
    count_request(name, status, seconds)
    return round(seconds * 1_000, 3)


def _with_headers(request: Request, response: Response) -> Response:
    response.raw_headers.extend(request.more_headers)
    if request.is_head and not isinstance(response, StreamingResponse):
        response.body = b""
    return response
