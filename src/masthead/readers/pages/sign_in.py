"""Signing in with a pair, and out. The session's cookie is opaque; the database has its data."""

from urllib.parse import quote

from starlette.responses import Response

from masthead.books import reader_links
from masthead.log import get_logger
from masthead.readers.page_request import PageRequest, open_get, open_post, post
from masthead.store import reader_sessions
from masthead.store.login_check import CheckedLogin, check_login, login_of
from masthead.web.cookies import forget_message, own_path
from masthead.web.kept_input import packed, unpacked
from masthead.web.middleware import address_of
from masthead.web.words import marked

PATH = "sign-in"

_WRONG = marked("These do not belong together. Look at both, and try again.")
_ENDED = marked("You were signed out, so nothing was saved. Please sign in again.")
_ENDED_KEPT = marked(
    "You were signed out, so nothing was saved. What you entered is kept: sign in, and look at it "
    "again."
)
_MINUTE_US = 60 * 1_000_000
_log = get_logger()


def show(request: PageRequest) -> Response:
    """Show the form; who is signed in goes to the page that was requested."""
    if request.reader is not None:
        return request.go(_next(request))
    return _form(request, "", 200)


def sign_in(request: PageRequest) -> Response:
    """Sign in with an email and a password, or a renewal code and a postal code.

    The browser's session before it ends, so nobody can give a browser a session and use it later.
    All logins that are not right get the same response (rules, "Login check").
    """
    checked, mark = _checked(request)
    if checked.match is None or mark is None:
        if checked.wait_us:
            return _limited(request, checked.wait_us)
        return _form(request, request.gettext(_WRONG), 403)
    kept = request.form.get("kept", "")
    return enter(request, checked.match.subscriber_id, mark, _next(request), kept)


def enter(
    request: PageRequest, subscriber_id: int, mark: str, path: str, kept: str = ""
) -> Response:
    """Begin a session of a subscriber, and redirect to a path of the site.

    ``kept`` is the input of the form there, as ``packed`` returns it.
    """
    reader_sessions.end(request.store, request.site.session_cookie.read(request.http))
    session = reader_sessions.begin(request.store, request.account_id, subscriber_id, mark)
    if values := unpacked(kept):
        keep = request.http.app.state.kept_input.keep
        keep(session, path.partition("?")[0], values)
    response = request.go(path)
    request.site.session_cookie.write(response, session)
    forget_message(request.http, response, request.site.root)
    return response


def sign_out(request: PageRequest) -> Response:
    """End the session and show the form."""
    reader_sessions.end(request.store, request.session)
    response = request.go(request.at(PATH))
    request.site.session_cookie.write(response, "")
    return response


def not_signed_in(request: PageRequest, method: str, shown_at: str) -> Response:
    """Return what somebody gets who is not signed in: the form, or the redirect to it.

    ``shown_at`` is the path of the page to which the sign-in then leads. A form of its own that was
    sent after its session had ended is kept, except passwords.
    """
    query = f"?{request.http.url.query}" if request.http.url.query else ""
    asked = shown_at + query
    if method == "POST":
        kept = packed(request.form) if shown_at == request.http.url.path else ""
        said = request.gettext(_ENDED_KEPT if kept else _ENDED)
        return _form(request, said, 401, typed={"login": "", "next": asked, "kept": kept})
    if asked == request.at():
        return request.go(request.at(PATH))
    return request.go(f"{request.at(PATH)}?next={quote(asked, safe='')}")


def _checked(request: PageRequest) -> tuple[CheckedLogin, str | None]:
    """Return the result of the check, and the mark of the login for its session.

    Both come from one snapshot, so a password that changes meanwhile ends the session.
    """
    with request.reading() as connection:
        connection.set_reader(None)
        typed = request.form.get("login", ""), request.form.get("password", "")
        login = login_of(connection, request.account_id, *typed)
        limits = request.http.app.state.limits
        checked = check_login(request.store, connection, limits, login, may_take_long=True)
        assert checked is not None
        if checked.match is None:
            return checked, None
        found = checked.match.subscriber_id
        return checked, reader_sessions.mark_of(connection, request.account_id, found)


def _limited(request: PageRequest, wait_us: int) -> Response:
    _log.warning(
        "sign-in refused after too many wrong guesses",
        account=request.account_id,
        client=address_of(request.http.scope, behind_proxy=request.site.behind_proxy),
    )
    minutes = -(-wait_us // _MINUTE_US)
    said = request.words.ngettext(
        "This was tried too often. Try again in %(num)s minute.",
        "This was tried too often. Try again in %(num)s minutes.",
        minutes,
    )
    response = _form(request, said, 429)
    response.headers["Retry-After"] = str(-(-wait_us // 1_000_000))
    return response


def _next(request: PageRequest) -> str:
    """Return the path of this site that was requested before the sign-in."""
    return page_of(request, asked_with(request)["next"])


def page_of(request: PageRequest, wanted: str) -> str:
    """Return a path of this site to which a sign-in leads; the first page for any other."""
    path = own_path(wanted, request.at())
    return path if request.site.is_own(path) else request.at()


def asked_with(request: PageRequest) -> dict[str, str]:
    """Return the page that was requested before the sign-in, and the input of its form."""
    return {
        "next": request.form.get("next") or request.query.get("next", ""),
        "kept": request.form.get("kept", ""),
    }


def _form(
    request: PageRequest, error: str, status: int, *, typed: dict[str, str] | None = None
) -> Response:
    shown = typed or {"login": request.form.get("login", ""), **asked_with(request)}
    ways = reader_links.ways(request.books)
    return request.page("sign_in", status, typed=shown, error=error, ways=ways)


pages = [
    open_get(PATH, show),
    open_post(PATH, sign_in, is_sign_in=True),
    post("sign-out", sign_out, writes=False),
]
