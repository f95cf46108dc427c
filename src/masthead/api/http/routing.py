"""Which path is answered by what.

A path is one of a few, or has one id in it: so it is looked up, where a framework tries one pattern
after another.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from starlette.types import Scope

from masthead.api.http.responses import Answer, Rest
from masthead.api.http.service import Service
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.errors import NotFound

__all__ = ["Route", "Routes"]

_ID = re.compile(r"/(0|[1-9][0-9]{0,18})(?=/|\Z)")
"""Digits without leading zeros; that ids end at 2^63 - 1 is checked behind the credentials
(decisions, "Ids in paths")."""

_BEHIND_THE_VERSION = 2
_NAMED = re.compile(r"/\{\w+\}")


class Route(NamedTuple):
    """A path, its id as ``{…}``; its name in the metrics; and what begins its answers.

    ``begin`` gets the id of the path, None where it has none. It may raise what the app has an
    answer for.
    """

    path: str
    name: str
    begin: Callable[[Scope, int | None, Service], Answer | Rest]


class Routes:
    """The paths that are served, without a slash at their end."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._whole: dict[str, Route] = {}
        self._around_an_id: dict[tuple[str, str], Route] = {}
        for route in routes:
            self.add(route)

    def add(self, route: Route) -> None:
        """Serve one more path."""
        if named := _NAMED.search(route.path):
            self._around_an_id[route.path[: named.start()], route.path[named.end() :]] = route
        else:
            self._whole[route.path] = route

    def find(self, path: str) -> tuple[Route | None, int | None]:
        """Return the route of a path, if it has one, and its id, if there is one in it.

        Raises NotFound where the path is one around an id, and what it has there is none.
        """
        if route := self._whole.get(path):
            return route, None
        if found := _ID.search(path, _BEHIND_THE_VERSION):
            around = path[: found.start()], path[found.end() :]
            return self._around_an_id.get(around), int(found[1])
        if any(_is_around_one_part(*around, path) for around in self._around_an_id):
            raise NotFound(
                "there is no such id: an id is a number, digits without leading zeros, up to "
                f"{BIGGEST_INTEGER}"
            )
        return None, None


def _is_around_one_part(before: str, behind: str, path: str) -> bool:
    part = path.removeprefix(f"{before}/").removesuffix(behind)
    return path == f"{before}/{part}{behind}" and part != "" and "/" not in part
