"""The page of a reader: answers without a click, a timeline, and notes."""

from starlette.responses import Response

from masthead.books import finding, notes, open_items, reader, reader_changes
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.pages.reader_cards import cards, money
from masthead.console.pages.reader_timeline import KINDS, timeline
from masthead.console.roles import Action
from masthead.errors import BadInput

_SHOWN, _SHOWN_ALL = 30, 1_000
_CHANGES = 10
_MENU = (
    ("Move", "move", Action.SERVE),
    ("Correct name and email", "edit", Action.SERVE),
    ("Code and password", "login", Action.SERVE),
    ("Qualifications", "qualifications", Action.LOOK),
    ("Merge with another reader", "merge", Action.SERVE),
    ("Erase", "erase", Action.ERASE),
)


def subscriber(request: PageRequest) -> Response:
    """Show a reader."""
    return _shown(request, Form({}))


def add_note(request: PageRequest) -> Response:
    """Add the note in the form."""
    form, key = Form(request.form), int(request.ids["id"])
    then = f"/subscribers/{key}#timeline"
    with form.refusing("text"):
        notes.add(request.books_for("add a note", then), key, request.form.get("text", ""))
    if not form.is_good:
        return _shown(request, form, 400)
    return request.go(then, "The note was added.")


def edit_note(request: PageRequest) -> Response:
    """Show the form that corrects a note."""
    note = notes.show(request.books, int(request.ids["id"]))
    return _note(request, note, Form({"text": note.text or ""}))


def save_note(request: PageRequest) -> Response:
    """Correct the note: one's own of today, as a manager any."""
    form = Form(request.form)
    note = notes.show(request.books, int(request.ids["id"]))
    then = f"/subscribers/{note.subscriber_id}#timeline"
    try:
        notes.correct(
            request.books_for("correct a note", then),
            note.note_id,
            request.form.get("text", ""),
            of_anybody=request.operator.role == "manager",
        )
    except BadInput as error:
        form.refuse("text", sentence(error))
        return _note(request, note, form, 400)
    return request.go(then, "The note was corrected.")


def _note(request: PageRequest, note: notes.Note, form: Form, status: int = 200) -> Response:
    return request.page(
        "note", status, note=note, form=form, may_correct=_may_correct(request, note)
    )


def _may_correct(request: PageRequest, note: notes.Note) -> bool:
    own = notes.may_correct(note, request.operator.name, request.account.today)
    return request.may_write(Action.NOTE) and (own or request.operator.role == "manager")


def _shown(request: PageRequest, form: Form, status: int = 200) -> Response:
    key = int(request.ids["id"])
    shows_all, kind = request.query.get("all") == "1", request.query.get("kind", "")
    most = _SHOWN_ALL if shows_all or kind in KINDS else _SHOWN
    found = reader.look(request.books, key, most=most + 1)
    billed = None
    if request.bills:
        unpaid = [each.unpaid for each in found.subscriptions if each.unpaid is not None]
        billed = open_items.billed(request.books, key, unpaid)
    entries = timeline(found, request.account.currency, lambda note: _may_correct(request, note))
    if kind in KINDS:
        kinds = {kind, "refund"} if kind == "payment" else {kind}
        entries = [each for each in entries if each.kind in kinds]
    return request.page(
        "subscriber",
        status,
        reader=found,
        changes=reader_changes.of_reader(request.books, key, limit=_CHANGES),
        alike=finding.likely_duplicates(request.books, key),
        key=key,
        menu=[
            (title, f"/subscribers/{key}/{path}")
            for title, path, action in _MENU
            if request.may_write(action)
            and (path != "qualifications" or request.account.has_free_titles)
        ],
        cards=cards(found, request.may_write, request.account.currency, billed),
        money=money(found, request.account.currency, billed),
        invoices=[
            each
            for each in (billed.invoices.values() if billed else ())
            if each.open_cents and each.subscriber_id == key
        ],
        owed=[
            each
            for each in found.money.owed
            if billed is None or each.order.order_id not in billed.invoices
        ],
        entries=entries[:most],
        has_more=len(entries) > most,
        kinds=KINDS,
        kind=kind,
        shows_all=shows_all,
        form=form,
    )


pages = [
    get("/subscribers/{id:int}", subscriber),
    post("/subscribers/{id:int}/notes", add_note, Action.NOTE),
    get("/notes/{id:int}/edit", edit_note, Action.NOTE),
    post("/notes/{id:int}/edit", save_note, Action.NOTE),
]
