"""My data: all that is held as a file, what the reader agrees to, and erasure."""

from typing import NamedTuple

from starlette.responses import Response

from masthead.books import reader_requests
from masthead.circulation.page_settings import PageSettings
from masthead.loading import reader_data
from masthead.readers.form_page import save
from masthead.readers.forms import Form
from masthead.readers.page_request import PageRequest, get, post

_PATH = "data"


class PurposeShown(NamedTuple):
    """A purpose: the name of its field, its words, and when the reader agreed."""

    name: str
    label: str
    given_on: str | None


def show_data(request: PageRequest) -> Response:
    """Show the page."""
    return _page(request, request.new_form({}))


def file(request: PageRequest) -> Response:
    """Send all that is held of the reader."""
    return Response(
        reader_data.everything(request.books, request.subscriber_id),
        media_type="application/json",
        headers={"Content-Disposition": 'attachment; filename="my-data.json"'},
    )


def choose(request: PageRequest) -> Response:
    """Save what the reader agrees to."""
    form = request.new_form()

    def change() -> str:
        known = reader_requests.purposes(request.books, request.subscriber_id)
        names = [each.name for each in known if form[_field(each.name)]]
        books = request.books_for("consents", request.at(_PATH))
        reader_requests.choose(books, request.subscriber_id, names)
        return request.gettext("What you agree to is saved.")

    return save(request, form, change, _PATH) or _page(request, form)


def ask_erasure(request: PageRequest) -> Response:
    """Ask the desk to erase the reader's data."""
    form = request.new_form()

    def change() -> str:
        books = request.books_for("erasure", request.at(_PATH))
        reader_requests.ask_erasure(books, request.subscriber_id, form["text"])
        return request.gettext("You have asked us to erase your data. We will write to you.")

    return save(request, form, change, _PATH) or _page(request, form)


def write(request: PageRequest) -> Response:
    """Send a message to the desk."""
    form = request.new_form({**request.form, "message": request.form.get("text", "")})

    def change() -> str:
        books = request.books_for("message", request.at(_PATH))
        reader_requests.message(books, request.subscriber_id, form["text"])
        return request.gettext("We have your message.")

    saved = save(request, form, change, _PATH)
    if saved:
        return saved
    form.errors = {"message" if name == "text" else name: x for name, x in form.errors.items()}
    form.values["text"] = ""
    return _page(request, form)


def _page(request: PageRequest, form: Form) -> Response:
    known = reader_requests.purposes(request.books, request.subscriber_id)
    if not form.errors:
        form.values.update({_field(each.name): "1" for each in known if each.given_at})
    asked = reader_requests.of_reader(request.books, request.subscriber_id)
    erasures = [each for each in asked if each.kind == "erasure" and each.answered_at is None]
    return request.page(
        "data",
        400 if form.errors else 200,
        form=form,
        purposes=[PurposeShown(_field(one.name), one.words, one.given_at) for one in known],
        may_ask=request.keeps_books,
        may_erase=request.settings.erasure and request.keeps_books,
        erasure_asked_on=erasures[0].made_at if erasures else None,
    )


def _field(purpose: str) -> str:
    return f"purpose_{purpose}"


def _is_offered(settings: PageSettings) -> bool:
    return settings.my_data


def _may_erase(settings: PageSettings) -> bool:
    return settings.my_data and settings.erasure


pages = [
    get(_PATH, show_data, _is_offered),
    get(f"{_PATH}/file", file, _is_offered),
    post(f"{_PATH}/consents", choose, _is_offered),
    post(f"{_PATH}/message", write, _is_offered),
    post(f"{_PATH}/erasure", ask_erasure, _may_erase),
]
