"""Reminders: whom to remind today, sending it, the letters of a day, and the levels."""

from starlette.responses import Response

from masthead.billing.reminding import LEVEL_MAX
from masthead.books import Books, open_items, reminder_documents, reminder_levels
from masthead.books import reminders as operations
from masthead.circulation.amounts import decimal
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.pages.money import check_bills
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.contract.moments import is_day
from masthead.errors import BadInput, NotFound

_SHOWN = 200
_THEN = [
    ("nothing", "Nothing more"),
    ("stop", "What is not paid ends, with a credit note"),
    ("write_off", "What is open is written off, without a letter"),
]


def reminders(request: PageRequest) -> Response:
    """Show whom to remind today, the letters of the last days, and the levels."""
    check_bills(request)
    return _shown(request, Form({}))


def send(request: PageRequest) -> Response:
    """Say what will be sent, and record it once the operator is sure.

    Others than those that were shown are not sent (decisions, "What was seen of reminders is what
    is sent").
    """
    check_bills(request)
    form = Form(request.form)
    if not form["sure"]:
        return _shown(request, form, is_asked=True)
    try:
        done = operations.send(request.books_for("send reminders", "/reminders"), seen=form["will"])
    except BadInput as error:
        form.refuse("", sentence(error))
        return _shown(request, form, 409)
    return request.go("/reminders", sentence(done.sentence))


def _shown(
    request: PageRequest, form: Form, status: int = 200, *, is_asked: bool = False
) -> Response:
    levels = reminder_levels.levels(request.books)
    found = operations.due(request.books) if levels else None
    highest = levels[-1].level.level if levels else 0
    return request.page(
        "reminders",
        status,
        form=form,
        levels=levels,
        then=dict(_THEN),
        found=found,
        letters=found.letters[:_SHOWN] if found else (),
        write_offs=found.write_offs[:_SHOWN] if found else (),
        named=lambda each: open_items.payer_of(each.first_name, each.last_name, each.company),
        is_asked=is_asked and found and (found.letters or found.write_offs),
        days=operations.letter_days(request.books),
        together=reminder_documents.TOGETHER,
        free=highest + 1 if highest < LEVEL_MAX else None,
    )


def letters(request: PageRequest) -> Response:
    """Send the letters of a day as one PDF, or a part of them."""
    check_bills(request)
    day, part = request.query.get("day", ""), request.query.get("part", "1")
    if not is_day(day) or not (part.isascii() and part.isdigit() and len(part) < 6):
        raise NotFound("there are no letters of reminders of this day")
    return Response(
        reminder_documents.together(request.books, day, int(part)),
        media_type="application/pdf",
        headers={"Content-Disposition": f'attachment; filename="reminders-{day}-{part}.pdf"'},
    )


def _level(books: Books, key: int) -> State:
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    if not 1 <= key <= LEVEL_MAX:
        raise NotFound("there is no such level of reminders")
    found = {each.level.level: each.level for each in reminder_levels.levels(books)}
    level = found.get(key)
    if level is None:
        return {"days": "", "fee": "", "then_do": "nothing", "text": ""}
    return {
        "days": level.days,
        "fee": decimal(level.fee),
        "then_do": level.then_do,
        "text": level.text or "",
    }


def _set_level(books: Books, key: int, form: Form) -> str:
    if form["remove"]:
        return reminder_levels.remove_level(books, key).sentence
    days, fee = form.number("days", "Days"), form.amount("fee", "The fee")
    if days is None:
        form.refuse("days", "Say how many days after the due day.")
    if not form.is_good or days is None:
        return ""
    level = reminder_levels.Level(
        key,
        days,
        fee or 0,
        form["then_do"] or "nothing",  # type: ignore[arg-type]
        form["text"] or None,
    )
    return reminder_levels.set_level(books, level).sentence


pages = [
    get("/reminders", reminders),
    post("/reminders/send", send, Action.BILL),
    get("/reminders/letters", letters, Action.BILL),
    *pages_of(
        RecordForm(
            "/reminders/{id:int}/level",
            "Level of reminders",
            "Save",
            Action.BILL,
            (
                Field("days", "Days after the due day", "number"),
                Field("fee", "Fee of the letter", "amount", "Empty for none."),
                Field("then_do", "Then", "choice", "Only the last level does more.", _THEN),
                Field("text", "Text of the letter", hint="Empty for that of the template."),
                Field("remove", "Remove this level", "check"),
            ),
            _level,
            _set_level,
            lambda _key, _state: "/reminders",
            lambda key, _state: f"Level {key}",
            "An invoice gets one level after the other, with at least 7 days between two.",
            starts_empty=False,
        )
    ),
]
