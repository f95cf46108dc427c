"""The routes of the app: which handler serves which path.

A path is constant, or contains one id. So routes are looked up in a dict: Starlette's router tries
one regular expression after another, which takes longer than a query.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from starlette.exceptions import HTTPException

from masthead.api.http.parameters import Values
from masthead.api.http.request import AuthenticatedRequest, Request
from masthead.api.http.responses import Responding
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.operations import OPERATIONS, Operation
from masthead.errors import NotFound

Handler = Callable[[AuthenticatedRequest], Responding]

_ID = re.compile(r"/(0|[1-9][0-9]{0,18})(?=/|\Z)")
"""Digits without leading zeros. The limit of ids, 2^63 - 1, is checked after the credentials
(rules, "Ids in paths")."""

NO_SUCH_PATH = "there is no such path: /docs lists the paths, which begin with /2/"
"""The message of a 404 for an unknown path."""

_AFTER_VERSION = 2
_NAMED = re.compile(r"/\{\w+\}")


class PublicRoute(NamedTuple):
    """A path that needs no credentials, its name in the metrics, and its handler."""

    path: str
    name: str
    handler: Callable[[Request], Responding]


class Route(NamedTuple):
    """The path of an operation with its id as ``{…}``, its name in the metrics, and its handler.

    ``may_scan`` returns, from the parameters, whether the query may visit many rows; None if it
    never does.
    """

    path: str
    name: str
    handler: Handler
    operation: Operation
    may_scan: Callable[[Values], bool] | None = None


def route(
    name: str, handler: Handler, *, may_scan: Callable[[Values], bool] | None = None
) -> Route:
    """Return the route of the operation ``name`` of the interface."""
    return route_for(OPERATIONS[name], handler, may_scan=may_scan)


def route_for(
    operation: Operation,
    handler: Handler,
    *,
    may_scan: Callable[[Values], bool] | None = None,
) -> Route:
    """Return the route of an operation."""
    path = operation.path.removesuffix("/")
    return Route(path, operation.name, handler, operation, may_scan)


class Routes:
    """The routes by path, without a trailing slash."""

    def __init__(self, routes: Iterable[Route | PublicRoute]) -> None:
        self._constant: dict[str, Route | PublicRoute] = {}
        self._with_id: dict[tuple[str, str], Route | PublicRoute] = {}
        for one in routes:
            if named := _NAMED.search(one.path):
                self._with_id[one.path[: named.start()], one.path[named.end() :]] = one
            else:
                self._constant[one.path] = one

    def find(self, path: str) -> tuple[Route | PublicRoute, int]:
        """Return the route of a path and the id in it, 0 if it has none.

        Raises HTTPException 404 for an unknown path, and NotFound for an invalid id.
        """
        if found := self._constant.get(path):
            return found, 0
        if (found_id := _ID.search(path, _AFTER_VERSION)) and (
            found := self._with_id.get((path[: found_id.start()], path[found_id.end() :]))
        ):
            return found, int(found_id[1])
        if any(_is_around_one_part(*around, path) for around in self._with_id):
            raise NotFound(
                "there is no such id: an id is a number, digits without leading zeros, up to "
                f"{BIGGEST_INTEGER}"
            )
        version = path.split("/", 2)[1] if path.startswith("/") else ""
        if version != "2" and version.isdecimal():
            raise HTTPException(404, "this version is not served: paths begin with /2/")
        raise HTTPException(404, NO_SUCH_PATH)


def _is_around_one_part(before: str, after: str, path: str) -> bool:
    part = path.removeprefix(f"{before}/").removesuffix(after)
    return path == f"{before}/{part}{after}" and part != "" and "/" not in part
