"""Pause a subscription and end its pause; what it does to the last day is shown before."""

from starlette.responses import Response

from masthead.books import reader_pauses
from masthead.books.reader_home import Home, Subscription
from masthead.circulation.page_settings import PageSettings
from masthead.errors import NotFound
from masthead.readers.form_page import (
    Field,
    FormPage,
    days_before_and_after,
    own_subscription,
    save,
    show,
    trying,
)
from masthead.readers.forms import Form
from masthead.readers.home_view import span_in_words, title_of
from masthead.readers.page_request import PageRequest, get, post

_PATH = "subscriptions/{id:int}"


def show_pause(request: PageRequest) -> Response:
    """Show the form of a pause."""
    _, found = own_subscription(request)
    return show(request, _page(request, found), request.new_form({}))


def pause(request: PageRequest) -> Response:
    """Show what a pause does, and save it once the reader has seen that."""
    _, found = own_subscription(request)
    form, then = request.new_form(), f"subscriptions/{found.subscription_id}"
    asked = request.subscriber_id, found.subscription_id, form["first"], form["last"]
    is_sure = bool(form["sure"])
    with form.refusing():
        if is_sure:
            done = reader_pauses.pause(request.books_for("pause", request.at(then)), *asked)
        else:
            done = reader_pauses.look_at_pause(request.books, *asked)
        span = span_in_words(done.first, done.last, request.words)
        if is_sure:
            said = request.gettext("The subscription is paused %(span)s.", span=span)
            return request.go(request.at(then), said)
        will = (
            (request.gettext("No issues"), span),
            *days_before_and_after(request, done.until_before, done.until),
        )
        hidden = (("sure", "1"), ("first", done.first), ("last", done.last))
        return show(
            request,
            _page(request, found)._replace(
                fields=(), will=will, hidden=hidden, button=request.gettext("Pause now"), about=()
            ),
            form,
        )
    return show(request, _page(request, found), form)


def show_resume(request: PageRequest) -> Response:
    """Show what the end of a pause does."""
    home, found = own_subscription(request)
    return _resume_page(request, home, found, request.new_form({}))


def resume(request: PageRequest) -> Response:
    """End the pause that the reader saw."""
    home, found = own_subscription(request)
    form, then = request.new_form(), f"subscriptions/{found.subscription_id}"

    def change() -> str:
        books = request.books_for("resume", request.at(then))
        key = found.subscription_id
        reader_pauses.resume(books, request.subscriber_id, key, form["first"])
        return request.gettext("The pause has ended.")

    saved = save(request, form, change, then)
    return saved or _resume_page(request, home, found, form)


def _resume_page(request: PageRequest, home: Home, found: Subscription, form: Form) -> Response:
    if not found.pauses:
        raise NotFound("there is no pause")
    pause, page = (
        found.pauses[0],
        FormPage(request.gettext("End the pause"), subject=title_of(found, request.words)),
    )
    with trying(form):
        done = reader_pauses.look_at_resuming(
            request.books, request.subscriber_id, found.subscription_id, pause.first
        )
        will = (
            (request.gettext("Paused"), span_in_words(pause.first, pause.last, request.words)),
            (
                request.gettext("It ends"),
                request.words.day(home.today) if done.last else request.gettext("before it begins"),
            ),
            *days_before_and_after(request, done.until_before, done.until),
        )
        page = page._replace(
            will=will, hidden=(("first", pause.first),), button=request.gettext("End the pause")
        )
    return show(request, page, form)


def _page(request: PageRequest, found: Subscription) -> FormPage:
    allowed = reader_pauses.allowance(request.books, request.subscriber_id, found.subscription_id)
    words = request.words
    about = [
        request.gettext(
            "Issues of these days do not come; you get them after the present end instead."
        )
    ]
    about += [
        words.ngettext(
            "%(left)s of %(num)s day are left for pauses in %(year)s.",
            "%(left)s of %(num)s days are left for pauses in %(year)s.",
            allowed.days,
            left=words.number(left),
            year=year,
        )
        for year, left in sorted(allowed.left.items())
    ]
    earliest = words.day(allowed.earliest)
    hint = request.gettext("%(day)s at the earliest.", day=earliest)
    return FormPage(
        request.gettext("Pause"),
        request.gettext("Look at what happens"),
        (
            Field(
                "first",
                request.gettext("First day"),
                "date",
                hint,
                required=True,
                least=allowed.earliest,
            ),
            Field(
                "last",
                request.gettext("Last day"),
                "date",
                request.gettext("Issues come again the day after."),
                required=True,
                least=allowed.earliest,
            ),
        ),
        title_of(found, words),
        about=about,
    )


def _is_offered(settings: PageSettings) -> bool:
    return settings.pause


pages = [
    get(f"{_PATH}/pause", show_pause, _is_offered),
    post(f"{_PATH}/pause", pause, _is_offered),
    get(f"{_PATH}/resume", show_resume, _is_offered),
    post(f"{_PATH}/resume", resume, _is_offered),
]
