"""A link by email instead of a password: asking for it, and signing in with it.

Nothing that is shown depends on whether the email is a subscriber's (decisions, "Links by email").
A link that is opened only shows a button, since mail programs open links before their readers do.
"""

from starlette.responses import Response

from masthead.books import reader_links
from masthead.errors import NotFound
from masthead.mail.addresses import is_address
from masthead.readers.link_mails import LinkMails, LinkRequest
from masthead.readers.page_request import PageRequest, open_get, open_post
from masthead.readers.pages.sign_in import asked_with, enter, page_of
from masthead.store import reader_sessions, sign_in_links
from masthead.store.sign_in_links import Purpose
from masthead.web.middleware import address_of
from masthead.web.refusals import retry
from masthead.web.turns import network_of
from masthead.web.words import marked

ASK = "sign-in/link"
SENT = "sign-in/sent"
PASSWORD = "password"  # noqa: S105 - a path

_BROWSER_S = 24 * 60 * 60
_MINUTE_US = 60 * 1_000_000
_NO_EMAIL = marked("This is not an email address such as name@example.org.")
_DEAD = marked(
    "This link does not work. A link works once, for 30 minutes, and only in the browser in which "
    "it was asked for. Ask for another one."
)
_BUSY = marked("Too many others are here at this moment. Try again in a moment.")


def show(request: PageRequest) -> Response:
    """Show the form that asks for the email."""
    _check_offered(request)
    return _form(request, "", 200)


def ask(request: PageRequest) -> Response:
    """Ask for a link, and say that it is on its way, whoever's email it is.

    The sign-in sends no email: it opens the form with the input that is kept.
    """
    _check_offered(request)
    email = request.form.get("email")
    if email is None:
        return _form(request, "", 200)
    if not is_address(email):
        return _form(request, request.gettext(_NO_EMAIL), 400)
    return send(request, email, "sign_in")


def send(request: PageRequest, email: str, purpose: Purpose) -> Response:
    """Queue a request for links to an email, and redirect to the page that says so.

    The browser gets a cookie to which the links are bound. A client address that has asked too
    often is refused, whatever the email is.
    """
    client = address_of(request.http.scope, behind_proxy=request.site.behind_proxy) or ""
    wait_us = sign_in_links.wait_us(request.store, request.account_id, network_of(client))
    if wait_us:
        return _limited(request, wait_us)
    browser = request.site.browser_cookie.read(request.http) or sign_in_links.new_browser()
    link_mails: LinkMails = request.http.app.state.link_mails
    asked = LinkRequest(
        request.account_id,
        email,
        purpose,
        browser,
        request.language,
        lambda token: request.url(f"{ASK}/{token}"),
    )
    if not link_mails.request(asked):
        return retry(_form(request, request.gettext(_BUSY), 503))
    asked_for = asked_with(request)
    if any(asked_for.values()):
        request.http.app.state.asked_with.keep(browser, ASK, asked_for)
    response = request.go(request.at(SENT))
    request.site.browser_cookie.write(response, browser, seconds=_BROWSER_S)
    return response


def sent(request: PageRequest) -> Response:
    """Say that a mail is on its way if the email is known."""
    _check_offered(request)
    return request.page("link_sent", ways=reader_links.ways(request.books))


def look(request: PageRequest) -> Response:
    """Show the button that uses the link. The link itself is not looked up, and not used."""
    return request.page("link_use", title="")


def use(request: PageRequest) -> Response:
    """Sign in with the link, in the browser that asked for it."""
    browser = request.site.browser_cookie.read(request.http)
    token = str(request.ids["token"])
    used = sign_in_links.use(request.store, request.account_id, token, browser)
    mark = None
    if used is not None:
        with request.reading() as connection:
            mark = reader_sessions.mark_of(connection, request.account_id, used.subscriber_id)
    if used is None or mark is None:
        return _form(request, request.gettext(_DEAD), 403, action=request.at(ASK))
    if used.purpose == "password":
        return enter(request, used.subscriber_id, mark, request.at(PASSWORD))
    asked_for = request.http.app.state.asked_with.take(browser, ASK)
    path = page_of(request, asked_for.get("next", ""))
    return enter(request, used.subscriber_id, mark, path, asked_for.get("kept", ""))


def _limited(request: PageRequest, wait_us: int) -> Response:
    minutes = -(-wait_us // _MINUTE_US)
    said = request.words.ngettext(
        "This was tried too often. Try again in %(num)s minute.",
        "This was tried too often. Try again in %(num)s minutes.",
        minutes,
    )
    response = _form(request, said, 429)
    response.headers["Retry-After"] = str(-(-wait_us // 1_000_000))
    return response


def _form(request: PageRequest, error: str, status: int, *, action: str = "") -> Response:
    typed = {"email": request.form.get("email", ""), **asked_with(request)}
    return request.page(
        "link_ask", status, typed=typed, error=error, path=action or request.at(ASK)
    )


def _check_offered(request: PageRequest) -> None:
    if not reader_links.are_offered(request.books):
        raise NotFound("the account mails no links")


pages = [
    open_get(ASK, show),
    open_post(ASK, ask),
    open_get(SENT, sent),
    open_get(f"{ASK}/{{token}}", look),
    open_post(f"{ASK}/{{token}}", use),
]
