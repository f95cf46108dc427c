"""A reader's new email address, which holds once a link that was mailed there is used.

Like a password, it needs a link to the present address that was used in this browser shortly
before. A reader without an address gives one with the login of the label (decisions, "A reader's
new email address" and "An email address for a reader without one").
"""

from starlette.responses import Response

from masthead.books import reader_details, reader_links, reader_logins
from masthead.circulation.page_settings import PageSettings
from masthead.errors import NotFound
from masthead.mail.addresses import is_address
from masthead.readers.form_page import Field, FormPage, show
from masthead.readers.forms import Form
from masthead.readers.link_mails import LinkMails, NewEmailRequest
from masthead.readers.page_request import PageRequest, get, post
from masthead.readers.pages import links as sign_in_pages
from masthead.store import email_links, reader_sessions, sign_in_links
from masthead.store.search_filters import ascii_lower
from masthead.web.middleware import address_of
from masthead.web.refusals import retry
from masthead.web.turns import network_of
from masthead.web.words import marked

PATH = "email"

_TITLE = marked("Your email address")
_SAVED = marked("Your new email address is saved. You are signed out everywhere else.")
_SENT = marked(
    "A mail with a link is on its way to %(email)s. Open it in this browser within 30 minutes."
)
_FIRST = marked(
    "First we send a link to %(email)s. Sign in with it in this browser, and open this page again "
    "within 30 minutes."
)
_THEN = marked("We send a link there. The new address holds once you open it in this browser.")
_DEAD = marked("This link does not work any more. Ask for another one.")
_OFTEN = marked("This was tried too often. Try again later.")
_NO_EMAIL = marked("This is not an email address such as name@example.org.")
_SAME = marked("This is your email address already.")
_BUSY = marked("Too many others are here at this moment. Try again in a moment.")

_BROWSER_S = 24 * 60 * 60


def links(request: PageRequest) -> list[tuple[str, str]]:
    """Return the words and the path of the link to this page; none if the account mails none."""
    if not reader_links.are_offered(request.books):
        return []
    if reader_logins.show(request.books, request.subscriber_id).email:
        return [(request.gettext("Change your email address"), PATH)]
    return [(request.gettext("Give us your email address"), PATH)]


def show_email(request: PageRequest) -> Response:
    """Show the form; without a used link, the button that mails one to the present address."""
    return _page(request, request.new_form({}))


def mail_first(request: PageRequest) -> Response:
    """Mail a link to the present address."""
    present = _present(request)
    if not present:
        raise NotFound("no link can be mailed to this reader")
    return sign_in_pages.send(request, present, "sign_in")


def ask(request: PageRequest) -> Response:
    """Mail a link to the new address after the response; nothing is changed yet.

    The response does not depend on what is known of that address, such as who else has it.
    """
    present = _present(request)
    if not _may_change(request, present):
        return request.go(request.at(PATH))
    form = request.new_form()
    email = form["email"]
    if not is_address(email) or ascii_lower(email) == ascii_lower(present):
        said = _SAME if is_address(email) else _NO_EMAIL
        form.refuse("email", request.gettext(said))
        return _page(request, form)
    if not _may_ask(request):
        form.refuse("email", request.gettext(_OFTEN))
        return _page(request, form)
    browser = request.site.browser_cookie.read(request.http) or sign_in_links.new_browser()
    account_id, reader = request.account_id, request.subscriber_id
    mark = _mark(request)
    assert mark is not None
    token = email_links.make(request.store, account_id, reader, email, browser, mark)
    url = request.url(f"{PATH}/{token}")
    link_mails: LinkMails = request.http.app.state.link_mails
    asked = NewEmailRequest(account_id, reader, email, request.language, url)
    if not link_mails.request(asked):
        form.refuse("", request.gettext(_BUSY))
        return retry(_page(request, form))
    response = request.go(request.at(), request.gettext(_SENT, email=email))
    request.site.browser_cookie.write(response, browser, seconds=_BROWSER_S)
    return response


def look(request: PageRequest) -> Response:
    """Show the button that uses the link, since mail programs open links before their readers."""
    return request.page("link_use", title=request.gettext(_TITLE))


def use(request: PageRequest) -> Response:
    """Change the address by a link. All other sessions of the reader end, and all links."""
    store, reader = request.store, request.subscriber_id
    browser = request.site.browser_cookie.read(request.http)
    token = str(request.ids["token"])
    link = email_links.link_of(store, request.account_id, reader, token, browser, _mark(request))
    form = request.new_form({})
    if link is None:
        form.refuse("", request.gettext(_DEAD))
        return _page(request, form)
    with form.refusing():
        reader_details.change_email(request.books_for("email"), reader, link)
    if not form.is_good:
        return _page(request, form)
    sign_in_links.forget(store, request.account_id, reader)
    reader_sessions.end_all(store, request.account_id, reader)
    request.stay_signed_in()
    return request.go(request.at(), request.gettext(_SAVED))


def _page(request: PageRequest, form: Form) -> Response:
    present = _present(request)
    title = request.gettext(_TITLE)
    if not _may_change(request, present):
        about = [request.gettext(_FIRST, email=present)]
        page = FormPage(
            title,
            request.gettext("Send me a link"),
            subject=present,
            back="address",
            back_title=request.gettext("Your address"),
            about=about,
        )
        return show(request, page, form, path=request.at(f"{PATH}/link"))
    label = request.gettext("New email address")
    page = FormPage(
        title,
        request.gettext("Send me a link"),
        [Field("email", label, "email", required=True, complete="email")],
        subject=present,
        back="address",
        back_title=request.gettext("Your address"),
        about=[request.gettext(_THEN)],
    )
    return show(request, page, form, path=request.at(PATH))


def _may_change(request: PageRequest, present: str) -> bool:
    browser = request.site.browser_cookie.read(request.http)
    return not present or sign_in_links.was_used_by(
        request.store, request.account_id, request.subscriber_id, browser
    )


def _may_ask(request: PageRequest) -> bool:
    """Return whether the client and the reader may ask for a link now, by the limits of links.

    The limit of the new address is that of :class:`NewEmailRequest`, which says nothing.
    """
    store, account_id = request.store, request.account_id
    client = address_of(request.http.scope, behind_proxy=request.site.behind_proxy) or ""
    asks = f"new address of reader {request.subscriber_id}"
    return not sign_in_links.wait_us(store, account_id, network_of(client)) and (
        sign_in_links.may_request(store, account_id, asks)
    )


def _mark(request: PageRequest) -> str | None:
    with request.reading() as connection:
        return reader_sessions.mark_of(connection, request.account_id, request.subscriber_id)


def _present(request: PageRequest) -> str:
    """Return the reader's email, "" without one. Raises NotFound if the account mails no links."""
    if not reader_links.are_offered(request.books):
        raise NotFound("the account mails no links")
    return reader_logins.show(request.books, request.subscriber_id).email or ""


def _is_offered(settings: PageSettings) -> bool:
    return settings.address


pages = [
    get(PATH, show_email, _is_offered),
    post(PATH, ask, _is_offered),
    post(f"{PATH}/link", mail_first, _is_offered),
    get(f"{PATH}/{{token}}", look, _is_offered),
    post(f"{PATH}/{{token}}", use, _is_offered),
]
