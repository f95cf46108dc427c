"""The application of the readers' pages, and the path of a request through it.

:func:`_respond` shows the path from top to bottom. A request can be refused with:

=====  =========================================================================================
 404   unknown site or path, a page that the publisher does not offer, another reader's id
 413   the form is larger than any
 403   another site sent the form, or its token is wrong
 303   nobody is signed in and requests a page: redirect to the sign-in;
       the form was saved before: redirect to the page that followed
 401   the reader is no longer signed in and sends a form: the sign-in, which keeps the input
 400   bad input that the page itself does not show beside its field
 409   the account's books are kept elsewhere, and the page changes data
 503   the database is unavailable, or too many others save: the page keeps the input
 500   any other fault: the page and the log show an id for it
=====  =========================================================================================

``masthead.web.protocol`` refuses requests that are too long or too slow.
"""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import NamedTuple

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from masthead.errors import MastheadError, NotFound, StoreBusy, StoreUnavailable
from masthead.log import get_logger
from masthead.readers import languages, problems
from masthead.readers.link_mails import SLOT_S, LinkMails
from masthead.readers.page_request import Page, PageRequest, sentence_of
from masthead.readers.pages import PAGES, sign_in
from masthead.readers.problems import problem
from masthead.readers.protocol import TOO_LARGE
from masthead.readers.site import Site, site_of
from masthead.readers.static_files import FILES
from masthead.store import Store, logins, reader_sessions
from masthead.store.page_settings import sites
from masthead.store.sign_in_links import LINK_US
from masthead.web.forgery import has_token, is_own_site
from masthead.web.form_reading import FormReading, FormValues
from masthead.web.kept_input import KeptInput
from masthead.web.middleware import Headed, Logged, headers_of
from masthead.web.page_request import check_id
from masthead.web.refusals import Refused, retry
from masthead.web.routes import limit_ids
from masthead.web.turns import BusyError, Turns
from masthead.web.words import marked

_SAVES = {"at_once": 8, "waiting_max": 64, "of_one_max": 16, "wait_s_max": 5}
_SIGN_INS = {"at_once": 2, "waiting_max": 100, "of_one_max": 10, "wait_s_max": 10}
"""Limits of saves and sign-ins (decisions, "Turns of the readers' pages")."""

_PAGES_AT_ONCE = 8
"""How many pages are made at the same time; others wait.

More threads would wait for each other, and for the connections to the counters.
"""

_SITE = "/{site}/"
_REFUSED = marked("Refused")
_NOT_POSSIBLE = marked("Not possible")
_OTHER_SITE = marked("Another site sent this form. Nothing was changed.")
_OTHER_SESSION = marked("This form belongs to another session. Open the page again.")
_ELSEWHERE = marked("This cannot be changed here. Please write to us.")
_SAVED = marked("This was saved already.")
_BUSY = marked("Too many others are here at this moment. Try again in a moment.")
_AWAY_TITLE = marked("Try again in a moment")
_AWAY = marked("We cannot reach our records now. Nothing was changed; try again in a moment.")
_FAULT = marked("This is a fault of these pages. Nothing was changed. Its number is %(fault)s.")

_SHOWN = {page.path for page in PAGES if page.method == "GET"}
"""The paths of pages; other paths only receive the form of a page."""

_log = get_logger()


class ReadersSettings(NamedTuple):
    """What the pages need to know of their server.

    ``base_url`` is the address that readers use, without a path: links in mails begin with it. The
    name in a request is never used for them, since a stranger can send any. ``limits`` are those of
    the login check. ``behind_proxy``: a proxy terminates TLS, so cookies are sent only over TLS,
    and the proxy's headers name the client's address. ``slot_s`` are the seconds that a request for
    a link by email takes at least.
    """

    base_url: str
    limits: logins.Limits = logins.Limits()
    behind_proxy: bool = False
    slot_s: float = SLOT_S


def create_app(store: Store, settings: ReadersSettings) -> Starlette:
    """Return the application of the readers' pages over an open database.

    Its saves wait for other writers for five seconds at most.
    """
    limit_ids()
    routes = [
        Route("/", _root, methods=["GET"]),
        Route("/health", lambda _: PlainTextResponse("ok\n"), methods=["GET"]),
        Route("/static/{name}", FILES.respond, methods=["GET"]),
        *(
            Route(_SITE + path, _endpoint(path), methods=["GET", "POST"])
            for path in dict.fromkeys(page.path for page in PAGES)
        ),
    ]
    store.waits_for_writers = False
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.router.redirect_slashes = False  # a redirect would go to the host that the client names
    app.state.store = store
    app.state.base_url = settings.base_url
    app.state.limits = settings.limits
    app.state.behind_proxy = settings.behind_proxy
    app.state.headers = headers_of(behind_proxy=settings.behind_proxy)
    app.state.link_mails = LinkMails(store, slot_s=settings.slot_s)
    app.state.kept_input = KeptInput()
    app.state.asked_with = KeptInput(seconds=LINK_US // 1_000_000)
    app.state.threads = CapacityLimiter(_PAGES_AT_ONCE)
    app.state.signing_in = Turns(**_SIGN_INS)
    app.state.saving = Turns(**_SAVES)
    app.add_middleware(Logged, fault=_fault, behind_proxy=settings.behind_proxy)
    app.add_middleware(Headed, headers=app.state.headers)
    return app


def _endpoint(path: str) -> Callable[[Request], Awaitable[Response]]:
    pages = {page.method: page for page in PAGES if page.path == path}

    async def respond(request: Request) -> Response:
        page = pages.get("GET" if request.method == "HEAD" else request.method)
        if page is None:
            said = problems.NOT_ACCEPTED
            return await to_thread.run_sync(problem, request, 405, _NOT_POSSIBLE, said)
        turns = None
        if page.method == "POST":
            state = request.app.state
            turns = state.signing_in if page.is_sign_in else state.saving
        return await _FORMS.respond(
            request,
            lambda form: _respond(request, page, form),
            turns,
            lambda form: _too_many(request, form),
        )

    return respond


def _respond(request: Request, page: Page, form: FormValues) -> Response:
    """Return the response of a page: the path of a request. Runs in a thread."""
    try:
        check_id(request)
        site = site_of(request)
        request.state.page_request = PageRequest(request, request.app.state.store, site, form)
        _keep_language(request, site)
        if not page.is_offered(site.settings):
            raise NotFound("the publisher does not offer this page")
        _check_site(request, page)
        page_request = _page_request(request, site, page, form)
        request.state.page_request = page_request
        _check_token(page_request, page)
        if page.writes and not page_request.keeps_books:
            raise Refused(problem(request, 409, _NOT_POSSIBLE, _ELSEWHERE))
        if page.method == "GET":
            kept: KeptInput = request.app.state.kept_input
            page_request.kept = kept.take(page_request.session, request.url.path)
        said = page_request.gettext(_SAVED)
        with page_request.one_snapshot() if page.method == "GET" else nullcontext():
            return page_request.saved_once(lambda: page.respond(page_request), said)
    except Refused as refused:
        return refused.response
    except StoreUnavailable as error:
        return _away(request, page, form, error)
    except BusyError:
        return retry(problem(request, 503, _AWAY_TITLE, _BUSY))
    except NotFound:
        return problem(request, 404, problems.NOT_FOUND, problems.NO_PAGE)
    except MastheadError as error:
        said = sentence_of(request.state.page_request, error)
        return problem(request, 400, _NOT_POSSIBLE, said, form=form)


def _keep_language(request: Request, site: Site) -> None:
    """Redirect to the same page in the language that a reader chose, if one was."""
    language = request.query_params.get("language", "")
    if request.method == "POST" or language not in languages.offered(site.settings.languages):
        return
    rest = request.url.remove_query_params("language").query
    response = RedirectResponse(request.url.path + (f"?{rest}" if rest else ""), 303)
    languages.choose(request, response, language, site.root)
    raise Refused(response)


def _check_site(request: Request, page: Page) -> None:
    if page.method == "POST" and not is_own_site(request):
        raise Refused(problem(request, 403, _REFUSED, _OTHER_SITE))


def _page_request(request: Request, site: Site, page: Page, form: FormValues) -> PageRequest:
    """Return the request with the reader who is signed in; a page that is open needs none."""
    store: Store = request.app.state.store
    cookie = site.session_cookie.read(request)
    found = reader_sessions.find(store, cookie)
    reader = found.subscriber_id if found and found.account_id == site.account_id else None
    if page.is_open and page.method == "POST":
        reader = None  # who signs in may be somebody else than who is signed in
    session = cookie if reader is not None else ""
    made = PageRequest(request, store, site, form, reader=reader, session=session)
    if reader is None and not page.is_open:
        raise Refused(sign_in.not_signed_in(made, page.method, _shown_at(made, page)))
    return made


def _shown_at(request: PageRequest, page: Page) -> str:
    """Return the path of the page that shows a form: its own, or else the nearest one above."""
    name, path = page.path, request.http.url.path
    while name not in _SHOWN:
        name, path = (each.rpartition("/")[0] for each in (name, path))
    return path if name else request.at()


def _check_token(request: PageRequest, page: Page) -> None:
    if page.method != "POST" or page.is_open:
        return
    if not has_token(request.form, request.session):
        said = _OTHER_SESSION
        raise Refused(problem(request.http, 403, _REFUSED, said, form=request.form))


def _away(request: Request, page: Page, form: FormValues, error: StoreUnavailable) -> Response:
    event = (
        "the database is busy" if isinstance(error, StoreBusy) else "the database does not answer"
    )
    _log.error(event, reason=type(error).__name__)
    again = request.url.path if page.method == "POST" else ""
    kept = {name: text for name, text in form.items() if "password" not in name}
    return retry(problem(request, 503, _AWAY_TITLE, _AWAY, form=kept, again=again))


def _too_many(request: Request, form: FormValues) -> Response:
    kept = {name: text for name, text in form.items() if "password" not in name}
    again = request.url.path
    return retry(problem(request, 503, _AWAY_TITLE, _BUSY, form=kept, again=again))


def _problem(request: Request, status: int, title: str, said: str) -> Response:
    return problem(request, status, title, said)


_FORMS = FormReading(_problem, TOO_LARGE)


async def _root(request: Request) -> Response:
    """Redirect to the site if there is exactly one."""

    def respond() -> Response:
        store: Store = request.app.state.store
        try:
            with store.reader() as connection:
                names = sites(connection)
        except StoreUnavailable:
            return retry(problems.bare(request, 503, _AWAY_TITLE, _AWAY))
        if len(names) != 1:
            return problems.bare(request, 404, problems.NOT_FOUND, problems.NO_PAGE)
        return RedirectResponse(f"/{names[0]}/", 303)

    return await to_thread.run_sync(respond)


async def _fault(request: Request, fault: str) -> Response:
    return problems.bare(request, 500, problems.FAULT, _FAULT, fault=fault)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        response = problems.bare(request, 404, problems.NOT_FOUND, problems.NO_PAGE)
    else:
        said = problems.NOT_ACCEPTED
        response = problems.bare(request, error.status_code, _NOT_POSSIBLE, said)
    response.headers.update(error.headers or {})
    return response
