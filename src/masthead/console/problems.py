"""The page that says what is wrong and keeps the input.

It has the head, the navigation and the search if an operator is signed in. Otherwise, and while the
database is unavailable, it is a page without them.
"""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from masthead.console.page_request import PageRequest
from masthead.console.templating import template
from masthead.errors import MastheadError
from masthead.store.operators import find_session
from masthead.web.refusals import values_of


def problem(
    request: Request,
    status: int,
    title: str,
    sentence: str,
    *,
    form: Mapping[str, str] | None = None,
    again: str = "",
) -> Response:
    """Return the page; it reads the database. ``form`` is the input that it keeps.

    ``again`` is the path to send the same form to again; "" if that is of no use.
    """
    values = values_of(title, sentence, form or {}, again)
    try:
        page_request = _page_request(request)
        if page_request is not None:
            return page_request.page("problem", status, layout="base.html", **values)
    except MastheadError:
        pass
    return outside(status, title, sentence, form=form, again=again)


def outside(
    status: int,
    title: str,
    sentence: str,
    *,
    form: Mapping[str, str] | None = None,
    again: str = "",
) -> Response:
    """Return the page without head and navigation; it needs no database."""
    values = values_of(title, sentence, form or {}, again)
    return HTMLResponse(template("problem").render(layout="outside.html", **values), status)


def _page_request(request: Request) -> PageRequest | None:
    """Return the request of the signed-in operator; None without one."""
    found: PageRequest | None = getattr(request.state, "page_request", None)
    if found is not None:
        return found
    session = request.app.state.cookie.read(request)
    store = request.app.state.store
    operator = find_session(store, session)
    if operator is None:
        return None
    request.state.session = session
    return PageRequest(request, store, operator, {})
