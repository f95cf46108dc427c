"""The path of a request: credentials, parameters, handler.

A handler is a plain function of one :class:`Call`. On an embedded database it runs in the event
loop where its query takes microseconds (a hop to a thread would halve the rate), and in a thread
where it can take longer. On any other database all of the path runs in a thread, and a request that
has no answer in time gets 503, however long the database makes the thread wait.
"""

from asyncio import Future, get_running_loop, timeout_at
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple, TypeVar

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from masthead.api.http.credentials import caller_of, credentials_in
from masthead.api.http.overload import Turns, check_wait
from masthead.api.http.parameters import Values, has_body, read_body, read_parameters
from masthead.api.http.responses import Answer, Rest
from masthead.api.http.routing import Route
from masthead.api.http.service import Service
from masthead.api.http.threads import Threads, Work
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.operations import OPERATIONS, Operation
from masthead.errors import StoreUnavailable
from masthead.store import Connection
from masthead.store.keys import Caller

__all__ = [
    "PATIENCE_S",
    "Call",
    "Handler",
    "in_time",
    "result_in_time",
    "route",
    "route_for",
    "threads",
]

PATIENCE_S = 1.7
"""So long may a database take until a request is given up, with 503."""

LOOK_UPS_AT_ONCE, SCANS_AT_ONCE = 10, 6
"""So many requests are answered at a time in threads; others wait for their turn. What may visit
many rows waits for itself alone."""

Result = TypeVar("Result")
_looking_up = Turns(LOOK_UPS_AT_ONCE)
_scanning = Turns(SCANS_AT_ONCE)
threads = Threads()
"""How many there are is bound by turns: each piece of work has one until its thread is done."""


class Call(NamedTuple):
    """A request that has passed: who asks, for what, and where to read it.

    ``raw_path`` is its path as it was sent, without the query.
    """

    caller: Caller
    values: Values
    path_id: int | None
    connection: Connection
    service: Service
    is_head: bool
    raw_path: bytes = b""

    @property
    def account_id(self) -> int:
        """The account whose data this call may see."""
        return self.caller.account_id


CallerAt = Callable[[Connection, int], Caller]
Handler = Callable[[Call], Answer | Rest]
"""Returns the answer, or what makes and sends it."""


def route(
    name: str, handler: Handler, *, in_thread: Callable[[Values], bool] | bool = False
) -> Route:
    """Return the route of the operation ``name`` of the contract.

    ``in_thread`` says, or tells from the parameters, whether the handler runs in a thread.
    """
    return route_for(OPERATIONS[name], handler, in_thread=in_thread)


def route_for(
    operation: Operation,
    handler: Handler,
    *,
    in_thread: Callable[[Values], bool] | bool = False,
) -> Route:
    """Return a route for any operation; the app takes a trailing slash off before routing."""
    answering = _Answering(operation, handler, in_thread)
    return Route(operation.path.removesuffix("/"), operation.name, answering.begin)


class _Answering:
    """Answers one operation."""

    def __init__(
        self, operation: Operation, handler: Handler, in_thread: Callable[[Values], bool] | bool
    ) -> None:
        self._operation = operation
        self._handler = handler
        self._in_thread = in_thread if callable(in_thread) else lambda _: in_thread
        self._turns = _scanning if in_thread else _looking_up

    def begin(self, scope: Scope, path_id: int | None, service: Service) -> Answer | Rest:
        """Return the answer to a request, or what is left to do where something has to come."""
        check_wait(scope["masthead.arrived_ns"])
        headers: dict[bytes, bytes] = dict(scope["headers"])
        authorization = headers.get(b"authorization")
        if not has_body(headers):
            return self._answer_to(scope, path_id, service, authorization, b"")
        credentials_in(authorization)

        async def with_body(receive: Receive) -> Answer | Rest:
            body = await read_body(scope, headers, receive)
            return self._answer_to(scope, path_id, service, authorization, body)

        return _awaited(with_body)

    def _answer_to(
        self,
        scope: Scope,
        path_id: int | None,
        service: Service,
        authorization: bytes | None,
        body: bytes,
    ) -> Answer | Rest:
        def call_on(connection: Connection, caller_at: CallerAt) -> Call:
            now = service.store.clock()
            caller = caller_at(connection, now)
            service.uses.note(caller, now)
            scope["masthead.account_id"] = caller.account_id
            if service.allowances:
                taken = service.allowances.take(caller.account_id)
                scope["masthead.headers"] = taken.headers
                taken.check()
            connection.set_tenant(caller.account_id)
            values = read_parameters(self._operation, scope["query_string"], body)
            if path_id is not None and path_id > BIGGEST_INTEGER:
                raise HTTPException(404, "there is no such id: ids end at 2^63 - 1")
            is_head = scope["method"] == "HEAD"
            raw_path: bytes = scope["raw_path"]
            return Call(caller, values, path_id, connection, service, is_head, raw_path)

        if service.connection is None:
            caller_at = partial(caller_of, credentials_in(authorization))
            work = partial(self._answer, service, lambda connection: call_on(connection, caller_at))
            return _awaited(lambda _: in_time(work, turns=self._turns))
        call = call_on(service.connection, partial(service.callers.caller_of, authorization))
        if self._in_thread(call.values):
            work = partial(self._answer, service, lambda reader: call._replace(connection=reader))
            return _awaited(lambda _: _scan(work, self._turns))
        return self._handler(call)

    def _answer(
        self, service: Service, call_on: Callable[[Connection], Call], work: Work
    ) -> Answer | Rest:
        with service.store.reader() as connection:
            # A request that was given up while it waited for its turn asks nothing any more.
            work.check()
            return self._handler(call_on(connection))


def _awaited(waiting: Callable[[Receive], Awaitable[Answer | Rest]]) -> Rest:
    async def rest(scope: Scope, receive: Receive, send: Send) -> Answer | None:
        answer = await waiting(receive)
        return answer if isinstance(answer, Answer) else await answer(scope, receive, send)

    return rest


async def _scan(function: Callable[[Work], Result], turns: Turns) -> Result:
    await turns.take()
    return await threads.run(function, ended=turns.give)


async def in_time(function: Callable[[Work], Result], *, turns: Turns) -> Result:
    """Return what the function returns, which runs in a thread and has one of the ``turns``.

    Raises StoreUnavailable where that takes too long; the thread is left to end by itself, and
    keeps the turn until then. Raises HTTPException 503 where there is no turn, long before all of
    the time is over: what begins late is not given up in the middle.
    """
    gives_up_at = get_running_loop().time() + PATIENCE_S
    await turns.take()
    return await result_in_time(threads.run(function, ended=turns.give), gives_up_at)


async def result_in_time(result: Future[Result], gives_up_at: float | None = None) -> Result:
    """Return the result of a future that waits for the database, or raise what it raises.

    Raises StoreUnavailable, and cancels the future, where there is no result at ``gives_up_at`` of
    the event loop's time (None: :data:`PATIENCE_S` from now).
    """
    if gives_up_at is None:
        gives_up_at = get_running_loop().time() + PATIENCE_S
    try:
        async with timeout_at(gives_up_at):
            return await result
    except TimeoutError:
        raise StoreUnavailable(f"the database took more than {PATIENCE_S} seconds") from None
