"""The path of a request: credentials, parameters, handler.

A handler is a plain function of one :class:`Call`. It runs in the event loop where its query takes
microseconds (a hop to a thread would halve the rate), and in a thread where it can take longer.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from anyio import to_thread
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from masthead.api.credentials import caller_of
from masthead.api.parameters import Values, read_body, read_parameters
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.operations import OPERATIONS, Operation
from masthead.store import Database, Store
from masthead.store.accounts import Caller

__all__ = ["Call", "Handler", "Service", "route", "route_for"]


class Service(NamedTuple):
    """What all requests share.

    ``database`` is the connection that reads for the event loop's thread. ``feed_overlap_us`` is
    how much earlier than asked the change feed begins.
    """

    store: Store
    database: Database
    feed_overlap_us: int


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        service: Service = scope["app"].state.service
        headers: dict[bytes, bytes] = dict(scope["headers"])
        caller = caller_of(headers.get(b"authorization"), service.database)
        scope["masthead.account_id"] = caller.account_id
        body = await read_body(headers, receive)
        values = read_parameters(self._operation, scope["query_string"], body)
        call = Call(
            caller,
            values,
            _path_id(scope["path_params"]),
            service.database,
            service,
            is_head=scope["method"] == "HEAD",
        )
        if self._in_thread(values):
            answer = await to_thread.run_sync(_in_thread, self._handler, call)
        else:
            answer = self._handler(call)
        await answer(scope, receive, send)


def _path_id(path_params: dict[str, Any]) -> int | None:
    for value in path_params.values():
        if value > BIGGEST_INTEGER:
            raise HTTPException(404, "there is no such id: ids end at 2^63 - 1")
        return int(value)
    return None


def _in_thread(handler: Handler, call: Call) -> ASGIApp:
    with call.service.store.reader() as database:
        return handler(call._replace(database=database))
