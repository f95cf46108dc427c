"""The path of a request: credentials, parameters, handler.

A handler is a plain function of one :class:`Call`. On an embedded database it runs in the event
loop where its query takes microseconds (a hop to a thread would halve the rate), and in a thread
where it can take longer. On any other database all of the path runs in a thread, and a request that
has no answer in time gets 503, however long the database makes the thread wait.
"""

from asyncio import get_running_loop, timeout_at
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple, TypeVar

from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from masthead.api.allowance import Allowances
from masthead.api.capacity import Turns, check_wait
from masthead.api.credentials import CallerOf, Callers, caller_of, credentials_in
from masthead.api.parameters import Values, read_body, read_parameters
from masthead.api.threads import Check, Threads
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.operations import OPERATIONS, Operation
from masthead.errors import StoreUnavailable
from masthead.store import Database, Store
from masthead.store.keys import Caller, Uses
from masthead.store.logins import Limits

__all__ = ["Call", "Handler", "Service", "in_time", "route", "route_for"]

PATIENCE_S = 1.7
"""So long may a database take until a request is given up, with 503."""

LOOK_UPS_AT_ONCE, SCANS_AT_ONCE = 10, 6
"""So many requests are answered at a time in threads; others wait for their turn. What may visit
many rows waits for itself alone."""

Result = TypeVar("Result")
_looking_up = Turns(LOOK_UPS_AT_ONCE)
_scanning = Turns(SCANS_AT_ONCE)
_threads = Threads()
"""How many there are is bound by turns."""


class Service(NamedTuple):
    """What all requests share.

    ``database`` is the connection that reads for the event loop's thread, None where the database
    needs threads. ``feed_overlap_us`` is how much earlier than asked the change feed begins,
    ``limits`` are those of the login check, ``uses`` the last uses of credentials; ``allowances``
    counts the requests of each account, None where there may be any number. ``callers`` asks who
    calls for the event loop.
    """

    store: Store
    database: Database | None
    feed_overlap_us: int
    limits: Limits
    uses: Uses
    allowances: Allowances | None = None
    callers: Callers = Callers(lambda end_turn: end_turn())


class Call(NamedTuple):
    """A request that has passed: who asks, for what, and where to read it."""

    caller: Caller
    values: Values
    path_id: int | None
    database: Database
    service: Service
    is_head: bool

    @property
    def account_id(self) -> int:
        """The account whose data this call may see."""
        return self.caller.account_id


Handler = Callable[[Call], ASGIApp]
"""Returns the answer: a Starlette response, or what sends one."""


class _Id(Convertor[int]):
    """Digits without leading zeros, up to 2^63 - 1 (decisions, "Ids in paths")."""

    regex = "0|[1-9][0-9]{0,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("id", _Id())


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
    path = operation.path.removesuffix("/").replace("}", ":id}")
    return Route(path, _Endpoint(operation, handler, in_thread), methods=["GET"])


class _Endpoint:
    """An ASGI app that answers one operation."""

    def __init__(
        self, operation: Operation, handler: Handler, in_thread: Callable[[Values], bool] | bool
    ) -> None:
        self.__name__ = operation.name
        self._operation = operation
        self._handler = handler
        self._in_thread = in_thread if callable(in_thread) else lambda _: in_thread
        self._turns = _scanning if in_thread else _looking_up

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        check_wait(scope["masthead.arrived_ns"])
        service: Service = scope["app"].service
        headers: dict[bytes, bytes] = dict(scope["headers"])
        credentials = credentials_in(headers.get(b"authorization"))
        body = await read_body(scope, headers, receive)

        def call_on(database: Database, caller_of: CallerOf = caller_of) -> Call:
            now = service.store.clock()
            caller = caller_of(credentials, database, now)
            service.uses.note(caller, now)
            scope["masthead.account_id"] = caller.account_id
            if service.allowances:
                taken = service.allowances.take(caller.account_id)
                scope["masthead.headers"] = taken.headers
                taken.check()
            database.speak_for(caller.account_id)
            return Call(
                caller,
                read_parameters(self._operation, scope["query_string"], body),
                _path_id(scope["path_params"]),
                database,
                service,
                is_head=scope["method"] == "HEAD",
            )

        if service.database is None:
            answer = await in_time(partial(self._answer, service, call_on), turns=self._turns)
        else:
            call = call_on(service.database, service.callers.caller_of)
            if self._in_thread(call.values):
                scan = partial(self._answer, service, lambda reader: call._replace(database=reader))
                async with self._turns:
                    answer = await _threads.run(scan)
            else:
                answer = self._handler(call)
        await answer(scope, receive, send)

    def _answer(
        self, service: Service, call_on: Callable[[Database], Call], check: Check
    ) -> ASGIApp:
        with service.store.reader() as database:
            # A request that was given up while it waited for its turn asks nothing any more.
            check()
            return self._handler(call_on(database))


async def in_time(work: Callable[[Check], Result], *, turns: Turns | None = None) -> Result:
    """Return what ``work`` returns, which runs in a thread, when one of ``turns`` is its.

    Raises StoreUnavailable where that takes too long; the thread is left to end by itself. Raises
    HTTPException 503 where its turn does not come, long before all of the time is over: what begins
    late is not given up in the middle.
    """
    gives_up_at = get_running_loop().time() + PATIENCE_S
    async with turns or nullcontext():
        try:
            async with timeout_at(gives_up_at):
                return await _threads.run(work)
        except TimeoutError:
            raise StoreUnavailable(f"the database took more than {PATIENCE_S} seconds") from None


def _path_id(path_params: dict[str, Any]) -> int | None:
    for value in path_params.values():
        if value > BIGGEST_INTEGER:
            raise HTTPException(404, "there is no such id: ids end at 2^63 - 1")
        return int(value)
    return None
