"""A copy is missing: it is sent again at once, or the desk decides."""

from starlette.responses import Response

from masthead.books import reader_copies
from masthead.books.reader_home import Subscription
from masthead.circulation.page_settings import PageSettings
from masthead.readers.form_page import Field, FormPage, own_subscription, save, show
from masthead.readers.forms import Form
from masthead.readers.home_view import title_of
from masthead.readers.ids import id_of
from masthead.readers.issue_words import issue_in_words, named_in_words
from masthead.readers.page_request import PageRequest, get, post

_PATH = "subscriptions/{id:int}/missing"


def show_missing(request: PageRequest) -> Response:
    """Show the form with the issues that came; ``issue`` chooses one."""
    _, found = own_subscription(request)
    return _page(request, found, request.new_form({"issue": request.query.get("issue", "")}))


def report(request: PageRequest) -> Response:
    """Send the copy again, or ask the desk."""
    _, found = own_subscription(request)
    form, then = request.new_form(), f"subscriptions/{found.subscription_id}"

    def change() -> str:
        books = request.books_for("missing copy", request.at(then))
        done = reader_copies.missing(
            books,
            request.subscriber_id,
            found.subscription_id,
            id_of(form["issue"]),
            form["text"],
        )
        issue = named_in_words(done.issue, done.day, request.words)
        if done.is_sent:
            return request.gettext("We send you the issue again: %(issue)s.", issue=issue)
        return request.gettext(
            "We have your message about the issue, and write to you: %(issue)s.", issue=issue
        )

    return save(request, form, change, then) or _page(request, found, form)


def _page(request: PageRequest, found: Subscription, form: Form) -> Response:
    words = request.words
    options = [(str(each.issue_id), issue_in_words(each, words), "") for each in found.received]
    page = FormPage(
        request.gettext("A copy is missing"),
        request.gettext("Report it"),
        (
            Field(
                "issue", request.gettext("Which issue did not arrive?"), "choice", options=options
            ),
            Field("text", request.gettext("What we should know"), "area"),
        ),
        title_of(found, words),
        f"subscriptions/{found.subscription_id}",
        title_of(found, words),
    )
    if not options:
        about = [request.gettext("No issue was sent yet.")]
        page = page._replace(about=about, button="", fields=())
    return show(request, page, form)


def _is_offered(settings: PageSettings) -> bool:
    return settings.missing_copy


pages = [
    get(_PATH, show_missing, _is_offered),
    post(_PATH, report, _is_offered),
]
