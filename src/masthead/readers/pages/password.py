"""Setting a password, which needs a link that was used in this browser shortly before.

A session alone is not enough: a renewal code and a postal code stand on each label (decisions,
"Passwords of readers").
"""

from starlette.responses import Response

from masthead.books import reader_links, reader_logins
from masthead.errors import NotFound
from masthead.readers.page_request import PageRequest, get, post
from masthead.readers.pages import links
from masthead.store import passwords, reader_sessions, sign_in_links
from masthead.web.words import marked

PATH = links.PASSWORD
LINK_PATH = f"{PATH}/link"

_SAVED = marked("Your password is set. You are signed out everywhere else.")


def show(request: PageRequest) -> Response:
    """Show the form; without a used link, the button that mails one to the reader's address."""
    email = _email(request)
    if not _may_set(request):
        return request.page("password_link", email=email)
    return request.page("password", form=request.new_form({}), least=passwords.LENGTH_MIN)


def mail_link(request: PageRequest) -> Response:
    """Mail a link to the reader's own address."""
    return links.send(request, _email(request), "password")


def save(request: PageRequest) -> Response:
    """Set the password. All other sessions of the reader end, and all links."""
    if not _may_set(request):
        return request.go(request.at(PATH))
    form = request.new_form()
    with form.refusing("password"):
        reader_logins.set_own_password(
            request.books_for("password"), request.subscriber_id, form["password"]
        )
    if not form.is_good:
        return request.page("password", 400, form=form, least=passwords.LENGTH_MIN)
    sign_in_links.forget(request.store, request.account_id, request.subscriber_id)
    reader_sessions.end_all(request.store, request.account_id, request.subscriber_id)
    request.stay_signed_in()
    return request.go(request.at(), request.gettext(_SAVED))


def _may_set(request: PageRequest) -> bool:
    browser = request.site.browser_cookie.read(request.http)
    return sign_in_links.was_used_by(
        request.store, request.account_id, request.subscriber_id, browser
    )


def _email(request: PageRequest) -> str:
    """Return the reader's email. Raises NotFound if there is none, or no mails go."""
    login = reader_logins.show(request.books, request.subscriber_id)
    if not (login.email and reader_links.are_offered(request.books)):
        raise NotFound("no link can be mailed to this reader")
    return login.email


pages = [
    get(PATH, show),
    post(PATH, save),
    post(LINK_PATH, mail_link),
]
