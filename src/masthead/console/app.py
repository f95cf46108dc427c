"""The console's application, and the path of a request through it.

:func:`_respond` shows the path from top to bottom. A request can be refused with:

=====  =========================================================================================
 413   the form is larger than :data:`FORM_BYTES_MAX`, or with files than ``UPLOAD_BYTES_MAX``
 403   another site sent the form, its token is wrong, or the action needs another role
 303   the operator is not signed in and requests a page: redirect to the sign-in;
       the form was saved before: redirect to the page that followed
 401   the operator is no longer signed in and sends a form: the sign-in, which keeps the input;
       for a part of a page, the page stays and says so
 404   unknown path, or an id that the account does not have
 400   bad input that the page itself does not show beside its field
 409   the account's books are kept elsewhere, and the page writes
 503   the database is unavailable, or too many others save: the page keeps the input
 500   any other fault: the page and the log show an id for it
=====  =========================================================================================

``masthead.web.protocol`` refuses requests that are too long or too slow.
"""

from collections.abc import Awaitable, Callable
from urllib.parse import quote, urlsplit

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from masthead.console import problems
from masthead.console.account_figures import Counting
from masthead.console.forms import sentence
from masthead.console.page_request import Page, PageRequest
from masthead.console.pages import PAGES, sign_in
from masthead.console.problems import problem
from masthead.console.protocol import TOO_LARGE
from masthead.console.roles import refusal
from masthead.console.static_files import FILES
from masthead.errors import BadInput, MastheadError, NotFound, StoreBusy, StoreUnavailable
from masthead.log import get_logger
from masthead.store import Store
from masthead.store.operators import Operator, find_session
from masthead.web.cookies import Cookie
from masthead.web.forgery import has_token, is_own_site
from masthead.web.form_reading import FORM_BYTES_MAX, FormReading
from masthead.web.kept_input import KeptInput
from masthead.web.middleware import Headed, Logged, headers_of
from masthead.web.page_request import check_id
from masthead.web.refusals import Refused, retry
from masthead.web.routes import limit_ids
from masthead.web.turns import BusyError, Turns
from masthead.web.uploads import UPLOAD_BYTES_MAX, KeptFiles

__all__ = ["FORM_BYTES_MAX", "create_app"]

_AWAY = "The database does not answer"
_BUSY = "The console is busy"
_SAVES = {"at_once": 8, "waiting_max": 32, "of_one_max": 16, "wait_s_max": 5}
_SIGN_INS = {"at_once": 1, "waiting_max": 30, "of_one_max": 10, "wait_s_max": 10}
"""Limits of saves and sign-ins (decisions, "Turns of the console").

One sign-in at a time: otherwise, guesses sent at the same time would all be compared before the
first one counts, and each comparison takes 64 MiB.
"""

_log = get_logger()


def create_app(store: Store, *, behind_proxy: bool = False) -> Starlette:
    """Return the console's application over an open database.

    Its saves wait for other writers for five seconds at most. ``behind_proxy``: a proxy terminates
    TLS, so cookies are sent only over TLS, and the proxy's headers name the client's address.
    """
    limit_ids()
    routes = [
        Route("/static/{name}", FILES.respond, methods=["GET"]),
        *(
            Route(path, _endpoint(path), methods=["GET", "POST"])
            for path in dict.fromkeys(page.path for page in PAGES)
        ),
        Route("/sign-in", _sign_in, methods=["GET", "POST"]),
        Route("/sign-out", _sign_out, methods=["POST"]),
        Route("/health", lambda _: PlainTextResponse("ok\n"), methods=["GET"]),
    ]
    store.waits_for_writers = False
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.router.redirect_slashes = False  # a redirect would go to the host that the client names
    app.state.store = store
    app.state.counting = Counting(store)
    app.state.behind_proxy = behind_proxy
    app.state.cookie = Cookie("masthead_session", is_secure=behind_proxy)
    app.state.headers = headers_of(behind_proxy=behind_proxy)
    app.state.kept_input = KeptInput()
    app.state.kept_files = KeptFiles()
    app.state.signing_in = Turns(**_SIGN_INS)
    app.state.saving = Turns(**_SAVES)
    app.add_middleware(Logged, fault=_fault, behind_proxy=behind_proxy)
    app.add_middleware(Headed, headers=app.state.headers)
    return app


def _endpoint(path: str) -> Callable[[Request], Awaitable[Response]]:
    pages = {page.method: page for page in PAGES if page.path == path}

    async def respond(request: Request) -> Response:
        page = pages.get("GET" if request.method == "HEAD" else request.method)
        if page is None:
            return await _problem(request, 405, "Not here", "This page does not accept that.")
        request.state.is_shown = "GET" in pages
        turns = request.app.state.saving if page.method == "POST" else None
        bytes_max = FORM_BYTES_MAX
        if page.has_files and await to_thread.run_sync(_is_signed_in, request):
            bytes_max = UPLOAD_BYTES_MAX
        return await _FORMS.respond(
            request,
            lambda form: _respond(request, page, form),
            turns,
            lambda form: _too_many(request, form),
            bytes_max,
        )

    return respond


def _is_signed_in(request: Request) -> bool:
    """Return whether an operator sends this: a stranger's file is not read."""
    try:
        return (
            find_session(request.app.state.store, request.app.state.cookie.read(request))
            is not None
        )
    except StoreUnavailable:
        return False


def _respond(request: Request, page: Page, form: dict[str, str]) -> Response:
    """Return the response of a page: the path of a request. Runs in a thread."""
    try:
        check_id(request)
        _check_site(request, page)
        operator = _operator(request, page, form)
        page_request = PageRequest(request, request.app.state.store, operator, form)
        request.state.page_request = page_request
        _check_token(request, page, form)
        _check_role(page_request, page)
        if page.method == "GET":
            kept: KeptInput = request.app.state.kept_input
            page_request.kept = kept.take(request.state.session, request.url.path)
        return page_request.saved_once(
            lambda: page.respond(page_request), "This was saved already."
        )
    except Refused as refused:
        return refused.response
    except StoreUnavailable as error:
        return _away(request, page, form, error)
    except BusyError as error:
        return retry(problem(request, 503, _BUSY, str(error)))
    except NotFound as error:
        return problem(request, 404, "Not found", sentence(error))
    except MastheadError as error:
        status = 400 if isinstance(error, BadInput) else 409
        said = f"{sentence(error)} Nothing was changed."
        return problem(request, status, "Not possible", said, form=form)


def _check_site(request: Request, page: Page) -> None:
    if page.method == "POST" and not is_own_site(request):
        said = "Another site sent this form. Nothing was changed."
        raise Refused(problem(request, 403, "Refused", said))


def _operator(request: Request, page: Page, form: dict[str, str]) -> Operator:
    session = request.app.state.cookie.read(request)
    operator = find_session(request.app.state.store, session)
    if operator is None:
        raise Refused(_not_signed_in(request, page, form))
    request.state.session = session
    return operator


def _check_token(request: Request, page: Page, form: dict[str, str]) -> None:
    if page.method == "POST" and not has_token(form, request.state.session):
        said = "This form belongs to another session. Open the page again."
        raise Refused(problem(request, 403, "Refused", said, form=form))


def _check_role(request: PageRequest, page: Page) -> None:
    if not request.may(page.action):
        said = refusal(request.operator.role, page.action)
        raise Refused(problem(request.http, 403, "Not allowed", said))
    if page.writes and not request.keeps_books:
        raise Refused(problem(request.http, 409, "Books are elsewhere", ELSEWHERE))


ELSEWHERE = "The books of this account are kept elsewhere: its data comes from files."
"""Why pages that write are absent for an account in mode ``elsewhere``."""


def _not_signed_in(request: Request, page: Page, form: dict[str, str]) -> Response:
    if page.method == "POST":
        return sign_in.session_ended(request, form, _form_page(request))
    if "hx-request" in request.headers and "hx-boosted" not in request.headers:
        # A part of a page: the page stays, with what was typed, and says why.
        stays = {"HX-Reswap": "none", "HX-Trigger": "sessionEnded"}
        return Response(status_code=401, headers=stays)
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/sign-in?next={quote(asked, safe='')}", 303)


def _form_page(request: Request) -> str:
    """Return the path of the page with the form that was sent."""
    if request.state.is_shown:
        return request.url.path
    try:
        return urlsplit(request.headers.get("referer", "")).path or "/"
    except ValueError:  # no URL
        return "/"


def _away(request: Request, page: Page, form: dict[str, str], error: StoreUnavailable) -> Response:
    again = request.url.path if page.method == "POST" else ""
    if isinstance(error, StoreBusy):
        said = (
            "Another program writes to the database, such as a load or the closing of an issue. "
            "Nothing was changed; try again in a moment."
        )
        response = problem(request, 503, "The database is busy", said, form=form, again=again)
    else:
        said = "It does not answer now. Nothing was changed; try again in a moment."
        response = problems.outside(503, _AWAY, said, form=form, again=again)
    return _logged(error, response)


def _too_many(request: Request, form: dict[str, str]) -> Response:
    said = "Too many others are saving. Nothing was changed; try again in a moment."
    again = request.url.path
    return retry(problem(request, 503, _BUSY, said, form=form, again=again))


def _logged(error: StoreUnavailable, response: Response) -> Response:
    """Log that the database is unavailable, and set when to retry in the response."""
    event = (
        "the database is busy" if isinstance(error, StoreBusy) else "the database does not answer"
    )
    _log.error(event, reason=type(error).__name__)
    return retry(response)


async def _problem(request: Request, status: int, title: str, said: str) -> Response:
    return await to_thread.run_sync(problem, request, status, title, said)


async def _fault(request: Request, fault: str) -> Response:
    said = (
        "This is a fault of the console. Nothing was changed. The log has the details "
        f"under {fault}."
    )
    return await _problem(request, 500, "Something went wrong", said)


_FORMS = FormReading(problem, TOO_LARGE)


async def _sign_in(request: Request) -> Response:
    def respond(form: dict[str, str]) -> Response:
        if request.method == "POST" and not is_own_site(request):
            return problem(request, 403, "Refused", "Another site sent this form.")
        try:
            return sign_in.respond(request, form)
        except StoreUnavailable as error:
            said = "The database does not answer now. Try again in a moment."
            return _logged(error, sign_in.later(request, form, said))

    def refuse(form: dict[str, str]) -> Response:
        said = "Too many people sign in at this moment. Try again in a few seconds."
        return retry(sign_in.later(request, form, said))

    turns = request.app.state.signing_in if request.method == "POST" else None
    return await _FORMS.respond(request, respond, turns, refuse)


async def _sign_out(request: Request) -> Response:
    def respond(form: dict[str, str]) -> Response:
        cookie: Cookie = request.app.state.cookie
        session = cookie.read(request)
        if not is_own_site(request) or not has_token(form, session):
            return problem(request, 403, "Refused", "Another site sent this form.")
        try:
            return sign_in.sign_out(request)
        except StoreUnavailable as error:
            said = "It does not answer now, so you are still signed in. Try again in a moment."
            return _logged(error, problems.outside(503, _AWAY, said))

    return await _FORMS.respond(request, respond)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        response = await _problem(request, 404, "Not found", "There is no such page.")
    else:
        said = f"{sentence(error.detail)} Nothing was changed."
        response = await _problem(request, error.status_code, "Not possible", said)
    response.headers.update(error.headers or {})
    return response
