"""Letters on paper: welcome and cancellation letters that are due, and the letters of a day."""

from typing import NamedTuple

from starlette.responses import Response

from masthead.books import Books, letter_documents
from masthead.books.letter_documents import KINDS, TOGETHER, Counts, Kind
from masthead.books.letters import LetterKind
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action
from masthead.contract.moments import is_day
from masthead.errors import BadInput, NotFound

_PATH = "/renewals/letters"
_NAMES: dict[Kind, str] = {
    "welcome": "Welcome letters",
    "cancellation": "Cancellation letters",
    "renewal": "Renewal letters",
    "announcement": "Announcements of renewal",
}
_NOTED: dict[str, LetterKind] = {"welcome": "welcome", "cancellation": "cancellation"}


class _Due(NamedTuple):
    """The letters that are due, or why they cannot be written."""

    counts: list[Counts]
    why_not: str = ""


def letters(request: PageRequest) -> Response:
    """Show how many letters are due, and ask for the letters of a day."""
    return _shown(request, Form({}))


def send(request: PageRequest) -> Response:
    """Say what will be noted as written, and note it once the operator is sure.

    Others than those that were shown are not noted. The page of the day then has the PDFs.
    """
    form = Form(request.form)
    kind = _NOTED.get(form["kind"])
    if kind is None:
        raise NotFound("there is no such kind of letters")
    if not form["sure"]:
        due = _due(request.books)
        if due.why_not:
            form.refuse("", due.why_not)
        will = next((each for each in due.counts if each.kind == kind), None)
        return _shown(request, form, 400 if due.why_not else 200, will=will)
    of_day = f"{_PATH}/day?kind={kind}&day={request.account.today}"
    try:
        books = request.books_for("write letters", of_day)
        done = letter_documents.send(books, kind, seen=form["will"])
    except BadInput as error:
        form.refuse("", sentence(error))
        return _shown(request, form, 409)
    return request.go(of_day, sentence(done.sentence))


def _shown(
    request: PageRequest, form: Form, status: int = 200, *, will: Counts | None = None
) -> Response:
    day = request.account.today
    counted = request.counted(("letters", day), lambda: _due(request.books))
    found = counted.value
    return request.page(
        "letters",
        status,
        form=form,
        names=_NAMES,
        kinds=[*_NAMES.items()],
        counted=counted,
        due=found.counts if found else (),
        why_not=found.why_not if found else "",
        will=will,
    )


def _due(books: Books) -> _Due:
    try:
        return _Due(letter_documents.counts(books))
    except BadInput as error:
        return _Due([], sentence(error))


def of_day(request: PageRequest) -> Response:
    """Show the PDFs of the letters of a day."""
    kind, day = _asked(request)
    form = Form({"kind": kind, "day": day})
    try:
        number = letter_documents.number_of_day(request.books, kind, day)
    except BadInput as error:
        form.refuse("day", sentence(error))
        return _shown(request, form, 400)
    parts = range(1, -(-number // TOGETHER) + 1)
    return request.page("letters_of_day", title=_NAMES[kind], number=number, parts=parts, form=form)


def pdf(request: PageRequest) -> Response:
    """Send the letters of a day as one PDF, or a part of them."""
    kind, day = _asked(request)
    part = request.query.get("part", "1")
    if not (part.isascii() and part.isdigit() and len(part) < 6):
        raise NotFound("there are no such letters")
    books = request.books_for("print letters")
    return Response(
        letter_documents.together(books, kind, day, int(part)),
        media_type="application/pdf",
        headers={"Content-Disposition": f'attachment; filename="{kind}-{day}-{part}.pdf"'},
    )


def _asked(request: PageRequest) -> tuple[Kind, str]:
    kind = next((each for each in KINDS if each == request.query.get("kind", "")), None)
    day = request.query.get("day", "")
    if kind is None or not is_day(day):
        raise NotFound("there are no such letters: choose a kind and a day")
    return kind, day


pages = [
    get(_PATH, letters),
    post(f"{_PATH}/send", send, Action.RENEW),
    get(f"{_PATH}/day", of_day, Action.RENEW),
    get(f"{_PATH}/pdf", pdf, Action.RENEW),
]
