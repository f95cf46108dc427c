"""A request as it arrived, and one whose credentials and parameters have been checked."""

from itertools import count
from secrets import token_hex
from time import perf_counter_ns
from typing import NamedTuple

import starlette.requests
from starlette.types import Receive, Scope

from masthead.api.http.parameters import Values
from masthead.api.http.service import Service
from masthead.contract.operations import Operation
from masthead.store import Connection
from masthead.store.credentials import Caller

_PROCESS = token_hex(4)
_numbers = count()


def new_id() -> str:
    """Return an id for a request, unique among all processes."""
    return f"{_PROCESS}{next(_numbers):08x}"


class Request(starlette.requests.Request):
    """Starlette's request, with what the log, the metrics and the emulator show.

    ``path`` is the path as it was sent, undecoded, without a trailing slash. ``arrived_ns`` is the
    time of arrival, by ``perf_counter_ns``. A response to a HEAD request (``is_head``) has no body.

    For these, the app sets the other attributes as soon as it knows them: ``route_name``,
    ``route_path`` and ``operation`` of the route, ``account_id`` of the caller and the name of its
    ``partner`` ("" if it has none), ``parameters`` when they have been checked, and the ``reason``
    of an error. ``more_headers`` are added to any response.
    """

    def __init__(
        self, scope: Scope, receive: Receive, service: Service, *, arrived_ns: int | None = None
    ) -> None:
        super().__init__(scope, receive)
        self.service = service
        self.id = new_id()
        self.arrived_ns = perf_counter_ns() if arrived_ns is None else arrived_ns
        self.header_values: dict[bytes, bytes] = dict(scope["headers"])
        self.raw_path: str = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        self.path = self.raw_path.removesuffix("/") or "/"
        self.is_head: bool = scope["method"] == "HEAD"
        self.route_name = "none"
        self.route_path: str | None = None
        self.operation: Operation | None = None
        self.account_id: int | None = None
        self.partner = ""
        self.parameters: Values = {}
        self.reason: str | None = None
        self.more_headers: list[tuple[bytes, bytes]] = []

    @property
    def has_body(self) -> bool:
        """Whether the request has a body, possibly an empty one."""
        return b"content-length" in self.header_values or b"transfer-encoding" in self.header_values


class AuthenticatedRequest(NamedTuple):
    """A request to an operation of the interface, as its handler gets it.

    ``received`` is the request as it arrived. ``path_id`` is the id in the path, 0 if it has none.
    ``parameters`` have been checked. The handler reads from ``connection``, which shows the rows of
    the caller's account only.
    """

    received: Request
    operation: Operation
    caller: Caller
    path_id: int
    parameters: Values
    connection: Connection

    @property
    def account_id(self) -> int:
        """The account whose data the request may see."""
        return self.caller.account_id

    @property
    def service(self) -> Service:
        """What all requests share."""
        return self.received.service
