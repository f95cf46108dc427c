"""A request: what the client sent, and what the app has derived from it so far."""

from itertools import count
from secrets import token_hex
from time import perf_counter_ns
from typing import TYPE_CHECKING

import starlette.requests
from starlette.types import Receive, Scope

from masthead.api.http.credentials import Credentials
from masthead.api.http.parameters import Values
from masthead.api.http.service import Service
from masthead.store import Connection
from masthead.store.credentials import Caller

if TYPE_CHECKING:
    from masthead.api.http.routing import Route

__all__ = ["Request", "new_id"]

_PROCESS = token_hex(4)
_numbers = count()


def new_id() -> str:
    """Return an id for a request, unique among all processes."""
    return f"{_PROCESS}{next(_numbers):08x}"


class Request(starlette.requests.Request):
    """Starlette's request, with what each step of ``masthead.api.app`` adds for those after it.

    ``path`` is the path as it was sent, undecoded, without a trailing slash. ``arrived_ns`` is the
    time of arrival, by ``perf_counter_ns``. A response to a HEAD request (``is_head``) has no body.

    Routing sets ``route`` and ``path_id``, authentication sets ``caller``. The rate limit sets
    ``more_headers``, which are added to any response. ``parameters`` have been checked. A handler
    reads from ``connection``. ``reason`` is that of an error, for the log.
    """

    service: Service
    credentials: Credentials
    caller: Caller
    parameters: Values
    connection: Connection

    def __init__(self, scope: Scope, receive: Receive, *, arrived_ns: int | None = None) -> None:
        super().__init__(scope, receive)
        self.id = new_id()
        self.arrived_ns = perf_counter_ns() if arrived_ns is None else arrived_ns
        self.header_values: dict[bytes, bytes] = dict(scope["headers"])
        self.raw_path: str = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        self.path = self.raw_path.removesuffix("/") or "/"
        self.route: Route | None = None
        self.path_id = 0
        self.reason: str | None = None
        self.more_headers: list[tuple[bytes, bytes]] = []
        self.is_head: bool = scope["method"] == "HEAD"

    @property
    def account_id(self) -> int:
        """The account whose data the request may see."""
        return self.caller.account_id

    @property
    def has_body(self) -> bool:
        """Whether the request has a body, possibly an empty one."""
        return b"content-length" in self.header_values or b"transfer-encoding" in self.header_values
