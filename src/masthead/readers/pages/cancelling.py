"""Cancel a subscription, in two clicks from the first page, and take that back."""

from starlette.responses import Response

from masthead.books import reader_cancelling
from masthead.books.reader_cancelling import Cancelled
from masthead.books.reader_home import Home, Subscription
from masthead.circulation.page_settings import PageSettings
from masthead.readers.form_page import (
    Field,
    FormPage,
    Pairs,
    own_subscription,
    save,
    show,
    trying,
)
from masthead.readers.forms import Form
from masthead.readers.home_view import title_of
from masthead.readers.page_request import PageRequest, get, post

_PATH = "subscriptions/{id:int}"
_NOW = "now"


def show_cancel(request: PageRequest) -> Response:
    """Show what cancelling does; one button cancels."""
    home, found = own_subscription(request)
    return _cancel_page(request, home, found, request.new_form({}))


def cancel(request: PageRequest) -> Response:
    """Cancel, at the end of what is paid or, where the publisher allows it, today."""
    home, found = own_subscription(request)
    form, then = request.new_form(), f"subscriptions/{found.subscription_id}"

    def change() -> str:
        books = request.books_for("cancel", request.at(then))
        done = reader_cancelling.cancel(
            books,
            request.subscriber_id,
            found.subscription_id,
            at_once=form["when"] == _NOW,
        )
        if done.is_at_once:
            return request.gettext("The subscription is cancelled: it ended today.")
        if done.until:
            return request.gettext(
                "The subscription is cancelled. It ends on %(day)s.",
                day=request.words.day(done.until),
            )
        return request.gettext(
            "The subscription is cancelled. It ends when its issues are used up."
        )

    return save(request, form, change, then) or _cancel_page(request, home, found, form)


def show_uncancel(request: PageRequest) -> Response:
    """Show that the subscription goes on."""
    _, found = own_subscription(request)
    return _uncancel_page(request, found, request.new_form({}))


def uncancel(request: PageRequest) -> Response:
    """Take the cancellation back."""
    _, found = own_subscription(request)
    form, then = request.new_form(), f"subscriptions/{found.subscription_id}"

    def change() -> str:
        books = request.books_for("uncancel", request.at(then))
        reader_cancelling.take_back(books, request.subscriber_id, found.subscription_id)
        return request.gettext("The cancellation was taken back: the subscription goes on.")

    return save(request, form, change, then) or _uncancel_page(request, found, form)


def _cancel_page(request: PageRequest, home: Home, found: Subscription, form: Form) -> Response:
    page = FormPage(request.gettext("Cancel"), subject=title_of(found, request.words))
    fields: tuple[Field, ...] = ()
    if home.offered.cancel == "at_once":
        fields = (
            Field(
                "when",
                request.gettext("When it ends"),
                "radios",
                options=(
                    ("end", request.gettext("At the end of what is paid"), ""),
                    (
                        _NOW,
                        request.gettext("Today"),
                        request.gettext("Nothing of what was paid is given back here."),
                    ),
                ),
            ),
        )
    with trying(form):
        done = reader_cancelling.look_at_cancelling(
            request.books, request.subscriber_id, found.subscription_id
        )
        page = page._replace(
            fields=fields,
            will=_will(request, done),
            button=request.gettext("Cancel the subscription"),
            is_danger=True,
            below=[request.gettext("You get a confirmation by email at once.")]
            if done.is_mailed
            else [],
        )
    return show(request, page, form)


def _will(request: PageRequest, done: Cancelled) -> Pairs:
    found = [(request.gettext("It ends"), _end(request, done))]
    if done.issues_left:
        left = request.words.ngettext(
            "You still get %(num)s issue.", "You still get %(num)s issues.", done.issues_left
        )
        found.append((request.gettext("Issues"), left))
    if done.stops_renewal:
        found.append((request.gettext("Automatic renewal"), request.gettext("is switched off")))
    return found


def _end(request: PageRequest, done: Cancelled) -> str:
    """Return when a subscription ends, in a few words."""
    if done.is_at_once:
        return request.gettext("today")
    if done.until:
        return request.gettext("on %(day)s", day=request.words.day(done.until))
    return request.gettext("when its issues are used up")


def _uncancel_page(request: PageRequest, found: Subscription, form: Form) -> Response:
    page = FormPage(
        request.gettext("Take the cancellation back"), subject=title_of(found, request.words)
    )
    with trying(form):
        reader_cancelling.look_at_taking_back(
            request.books, request.subscriber_id, found.subscription_id
        )
        page = page._replace(
            about=[
                request.gettext("The subscription goes on as before. Automatic renewal stays off.")
            ],
            button=request.gettext("Take the cancellation back"),
        )
    return show(request, page, form)


def _is_offered(settings: PageSettings) -> bool:
    return settings.cancel != "no"


pages = [
    get(f"{_PATH}/cancel", show_cancel, _is_offered),
    post(f"{_PATH}/cancel", cancel, _is_offered),
    get(f"{_PATH}/uncancel", show_uncancel, _is_offered),
    post(f"{_PATH}/uncancel", uncancel, _is_offered),
]
