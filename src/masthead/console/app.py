"""The console's application, and the path of a request through it.

:func:`_respond` shows the path from top to bottom. A request can be refused with:

=====  =========================================================================================
 413   the form is larger than :data:`FORM_BYTES_MAX`
 403   another site sent the form, its token is wrong, or the action needs another role
 303   the operator is not signed in and requests a page: redirect to the sign-in
 401   the operator is no longer signed in and sends a form: the page keeps the input
 404   unknown path, or an id that the account does not have
 400   bad input that the page itself does not show beside its field
 409   the account's books are kept elsewhere, and the page writes
 503   the database is unavailable: the page keeps the input
 500   any other fault: the page and the log show an id for it
=====  =========================================================================================
"""

from collections.abc import Awaitable, Callable
from itertools import chain
from secrets import token_hex
from time import perf_counter_ns
from urllib.parse import parse_qsl, quote

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from masthead.console import static_files
from masthead.console.account_figures import Counting
from masthead.console.forms import sentence
from masthead.console.page_request import Page, PageRequest, has_token
from masthead.console.pages import PAGES, sign_in
from masthead.console.templating import template
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.errors import BadInput, MastheadError, NotFound, StoreUnavailable
from masthead.log import get_logger
from masthead.store import Store
from masthead.store.operators import Operator, find_session

FORM_BYTES_MAX = 256 * 1024
"""A form contains a few addresses and notes."""

_FIELDS_MAX = 500
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_AWAY = "The database does not answer"
_NOT_SENT = 499
_NOT_SHOWN = {"form_token", "seen"}
_log = get_logger()


def create_app(store: Store, *, behind_proxy: bool = False) -> Starlette:
    """Return the console's application over an open database.

    ``behind_proxy``: a proxy terminates TLS, so cookies are sent only over TLS.
    """
    routes = [
        Route("/static/{name}", static_files.respond, methods=["GET"]),
        *(
            Route(path, _endpoint(path), methods=["GET", "POST"])
            for path in dict.fromkeys(page.path for page in PAGES)
        ),
        Route("/sign-in", _sign_in, methods=["GET", "POST"]),
        Route("/sign-out", _sign_out, methods=["POST"]),
        Route("/health", lambda _: PlainTextResponse("ok\n"), methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.state.store = store
    app.state.counting = Counting(store)
    app.state.cookie = sign_in.Cookie(is_secure=behind_proxy)
    # Otherwise, guesses sent at the same time would all be compared before the first one counts,
    # and each comparison takes 64 MiB. A waiting sign-in takes no thread from the other pages.
    app.state.signing_in = CapacityLimiter(1)
    app.add_middleware(_Logged)
    app.add_middleware(_Headed)
    return app


class _Id(IntegerConvertor):
    """An id in a path, limited in its number of digits, since Python converts only so many."""

    regex = f"[0-9]{{1,{len(str(BIGGEST_INTEGER))}}}"


register_url_convertor("int", _Id())


class _Headed:
    """Adds the default headers to every response; the response's own headers take precedence."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                message["headers"] += [
                    (name.lower().encode(), value.encode())
                    for name, value in _HEADERS.items()
                    if name.lower().encode() not in own
                ]
            await send(message)

        await self._app(scope, receive, headed if scope["type"] == "http" else send)


class _Logged:
    """Logs each request without its query, and responds with 500 to an unexpected fault."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter_ns()
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except ClientDisconnect:
            status = _NOT_SENT
        except Exception:
            fault = token_hex(8)
            _log.exception("a page failed", fault=fault)
            if status:
                raise
            await _problem(500, "Something went wrong", _fault_sentence(fault))(
                scope, receive, noted
            )
        finally:
            route = scope.get("route")
            _log.info(
                "page",
                method=scope["method"],
                path=getattr(route, "path", "unknown"),
                status=status,
                duration_ms=round((perf_counter_ns() - begun) / 1_000_000, 1),
            )


def _fault_sentence(fault: str) -> str:
    return (
        "This is a fault of the console. Nothing was changed. The log has the details "
        f"under {fault}."
    )


def _endpoint(path: str) -> Callable[[Request], Awaitable[Response]]:
    pages = {page.method: page for page in PAGES if page.path == path}

    async def respond(request: Request) -> Response:
        page = pages.get("GET" if request.method == "HEAD" else request.method)
        if page is None:
            return _problem(405, "Not here", "This page does not accept this method.")
        return await _with_form(request, lambda form: _respond(request, page, form))

    return respond


def _respond(request: Request, page: Page, form: dict[str, str]) -> Response:
    """Return the response of a page: the path of a request. Runs in a thread."""
    try:
        if request.path_params.get("id", 0) > BIGGEST_INTEGER:
            raise NotFound("there is no such id: ids end at 2^63 - 1")
        _check_site(request, page)
        operator = _operator(request, page, form)
        _check_token(request, page, form)
        page_request = PageRequest(request, request.app.state.store, operator, form)
        _check_role(page_request, page)
        return page.respond(page_request)
    except _RefusedError as refused:
        return refused.response
    except StoreUnavailable as error:
        return _away(request, page, form, error)
    except NotFound as error:
        return _problem(404, "Not found", sentence(error))
    except MastheadError as error:
        status = 400 if isinstance(error, BadInput) else 409
        return _kept(status, "Not possible", f"{sentence(error)} Nothing was changed.", form, "")


class _RefusedError(Exception):
    """A request that is refused before it reaches its page; carries the response."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _check_site(request: Request, page: Page) -> None:
    if page.method == "POST" and not is_own_site(request):
        sentence = "Another site sent this form. Nothing was changed."
        raise _RefusedError(_problem(403, "Refused", sentence))


def _operator(request: Request, page: Page, form: dict[str, str]) -> Operator:
    session = request.app.state.cookie.read(request)
    operator = find_session(request.app.state.store, session)
    if operator is None:
        raise _RefusedError(_nobody(request, page, form))
    request.state.session = session
    return operator


def _check_token(request: Request, page: Page, form: dict[str, str]) -> None:
    if page.method == "POST" and not has_token(form, request.state.session):
        sentence = "This form belongs to another session. Open the page again."
        raise _RefusedError(_kept(403, "Refused", sentence, form, ""))


def _check_role(request: PageRequest, page: Page) -> None:
    if not request.may(page.action):
        sentence = f"As {request.operator.role} you cannot {page.action.value}."
        raise _RefusedError(_problem(403, "Not allowed", sentence))
    if page.writes and not request.keeps_books:
        raise _RefusedError(_problem(409, "Books are elsewhere", ELSEWHERE))


ELSEWHERE = "The books of this account are kept elsewhere: its data comes from files."
"""Why pages that write are absent for an account in mode ``elsewhere``."""


def is_own_site(request: Request) -> bool:
    """Return whether a page of this site sent the form (Fetch Metadata, RFC 6454)."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    scheme = "https" if request.app.state.cookie.is_secure else "http"
    return request.headers.get("origin") == f"{scheme}://{request.headers.get('host')}"


def _nobody(request: Request, page: Page, form: dict[str, str]) -> Response:
    if page.method == "POST":
        return _kept(
            401,
            "Your session has ended",
            "Sign in again in another tab, and go back to the form.",
            form,
            "",
        )
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/sign-in?next={quote(asked, safe='')}", 303)


def _away(request: Request, page: Page, form: dict[str, str], error: StoreUnavailable) -> Response:
    sentence = "It does not answer now. Nothing was changed; try again in a moment."
    again = request.url.path if page.method == "POST" else ""
    return _logged(error, _kept(503, _AWAY, sentence, form, again))


def _logged(error: StoreUnavailable, response: Response) -> Response:
    """Log that the database is unavailable, and set when to retry in the response."""
    _log.error("the database does not answer", reason=type(error).__name__)
    response.headers["Retry-After"] = "5"
    return response


def _problem(status: int, title: str, sentence: str) -> Response:
    return _kept(status, title, sentence, {}, "")


def _kept(status: int, title: str, sentence: str, form: dict[str, str], again: str) -> Response:
    """Return a page that says what is wrong and keeps the input; needs no database.

    ``again`` is the path to send the same form to again; "" if that is of no use.
    """
    typed = {name: value for name, value in form.items() if name not in _NOT_SHOWN and value}
    hidden = {name: value for name, value in form.items() if name in _NOT_SHOWN}
    body = template("problem").render(
        title=title, sentence=sentence, typed=typed, hidden=hidden, again=again
    )
    return HTMLResponse(body, status)


async def _with_form(
    request: Request,
    respond: Callable[[dict[str, str]], Response],
    limiter: CapacityLimiter | None = None,
) -> Response:
    """Read the form, then respond in a thread, since database calls may block.

    The last value of each field counts, without spaces at its ends; a password stays as typed.
    ``limiter`` limits how many of these run at the same time.
    """
    body = b""
    if request.method == "POST":
        async for chunk in request.stream():
            body += chunk
            if len(body) > FORM_BYTES_MAX:
                return _problem(413, "Too much", "The form is larger than any form of the console.")
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=_FIELDS_MAX, errors="strict"
        )
    except ValueError:
        return _problem(400, "Not possible", "The form could not be read. Nothing was changed.")
    if any("\0" in text for text in (*chain(*pairs), *request.query_params.values())):
        return _problem(400, "Not possible", "Texts cannot contain NUL. Nothing was changed.")
    form = {name: value if name == "password" else value.strip() for name, value in pairs}
    return await to_thread.run_sync(respond, form, limiter=limiter)


async def _sign_in(request: Request) -> Response:
    def respond(form: dict[str, str]) -> Response:
        if request.method == "POST" and not is_own_site(request):
            return _problem(403, "Refused", "Another site sent this form.")
        try:
            return sign_in.respond(request, form)
        except StoreUnavailable as error:
            return _logged(error, sign_in.away(request, form))

    limiter = request.app.state.signing_in if request.method == "POST" else None
    return await _with_form(request, respond, limiter)


async def _sign_out(request: Request) -> Response:
    def respond(form: dict[str, str]) -> Response:
        cookie: sign_in.Cookie = request.app.state.cookie
        session = cookie.read(request)
        if not is_own_site(request) or not has_token(form, session):
            return _problem(403, "Refused", "Another site sent this form.")
        try:
            return sign_in.sign_out(request)
        except StoreUnavailable as error:
            sentence = "It does not answer now, so you are still signed in. Try again in a moment."
            return _logged(error, _problem(503, _AWAY, sentence))

    return await _with_form(request, respond)


async def _http_error(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 404:
        return _problem(404, "Not found", "There is no such page.")
    return _problem(status, "Not possible", "This page does not answer that.")
