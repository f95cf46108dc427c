"""The user documentation at /manual: the Markdown files of the project's ``docs``, as pages.

So the operators and users of a server can read the documentation of its exact version offline.
``contents`` lists the pages, ``pages`` cuts the files into them, ``rendering`` makes their HTML,
``searching`` their index, and ``site`` writes them as files.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import cache, partial

from starlette.responses import Response

from masthead.api.http.request import Request
from masthead.api.http.responses import Responding
from masthead.api.http.routing import PublicRoute
from masthead.api.operations.manual.contents import PAGES
from masthead.api.operations.manual.pages import file_of, manual
from masthead.api.operations.manual.rendering import (
    SERVER,
    contents_html,
    images,
    page_html,
    search_html,
)
from masthead.api.operations.manual.searching import index
from masthead.api.operations.static_files import StaticFile, StaticPage, bytes_of

__all__ = ["PAGES", "routes"]

_QUERY_CHARACTERS_MAX = 200


def routes() -> Iterator[PublicRoute]:
    """Yield the routes of the documentation, for GET and HEAD without credentials."""
    yield PublicRoute("/manual", "manual", _in_thread(_contents))
    yield PublicRoute("/manual/search", "manual", _search)
    for name in manual().pages:
        yield PublicRoute(f"/manual/{name}", "manual", _in_thread(partial(_page, name)))
    for path in images():
        yield PublicRoute(f"/manual/images/{path}", "manual", partial(_image, path))
    script = StaticFile(bytes_of("pages", "manual.js"), "js")
    yield PublicRoute("/manual.js", "manual", script.respond)


def _in_thread(page: Callable[[], StaticPage]) -> Callable[[Request], Responding]:
    """Return a handler; the first request takes 0.1 seconds, too long for the event loop."""

    def respond(request: Request) -> Responding:
        return asyncio.to_thread(lambda: page().respond(request))

    return respond


@cache
def _contents() -> StaticPage:
    return StaticPage(contents_html(SERVER))


@cache
def _page(name: str) -> StaticPage:
    return StaticPage(page_html(manual().pages[name], SERVER))


def _image(path: str, request: Request) -> Response:
    kind = path.rpartition(".")[2]
    return StaticFile(file_of("images").joinpath(path).read_bytes(), kind).respond(request)


def _search(request: Request) -> Responding:
    query = request.query_params.get("q", "").strip()[:_QUERY_CHARACTERS_MAX]
    return asyncio.to_thread(_found, query, request)


def _found(query: str, request: Request) -> Response:
    return StaticPage(search_html(query, index().search(query), SERVER)).respond(request)
