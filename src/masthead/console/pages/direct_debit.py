"""Direct debit: handing invoices to the bank, its file, and what came of it."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from starlette.responses import Response

from masthead.books import Books, debit_collections, debit_runs, debits_shown, open_items
from masthead.books.debit_runs import Made
from masthead.books.debits_shown import ShownRun
from masthead.circulation.amounts import in_currency
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.pages.money import check_bills
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.console.templating import day_in_words
from masthead.contract.printable import counted, listed
from masthead.errors import BadInput, NotFound
from masthead.web.downloads import download
from masthead.web.forms import ChangedError

_SHOWN = 200
_SATURDAY = 5
_LEFT_OUT = (
    (
        "announced",
        "was made too late to be announced before that day",
        "were made too late to be announced before that day",
    ),
    ("resting", "has a payer whose mandate rests", "have payers whose mandates rest"),
    ("with_bank", "is with the bank already", "are with the bank already"),
)


def overview(request: PageRequest) -> Response:
    """Show the debit runs, and the form of another one."""
    check_bills(request)
    return _shown(request, Form({"collected_on": _next_bank_day(request.account.today)}))


def make(request: PageRequest) -> Response:
    """Say which invoices a run collects, and make it once the operator is sure."""
    check_bills(request)
    form = Form(request.form)
    is_sure = bool(form["sure"])
    day = form.day("collected_on", "The day")
    if form.is_good and day is None:
        form.refuse("collected_on", "Say on which day the bank collects.")
    if not form.is_good or day is None:
        return _shown(request, form, 400)
    books = request.books_for("make a debit run", "/direct-debit")
    made, will, is_other = None, "", False
    try:
        with form.refusing(), books.together(dry_run=not is_sure) as inside:
            made = debit_runs.run(inside, day)
            will = _what_happens(made)
            is_other = is_sure and will != form["will"]
            if is_other:
                raise ChangedError
    except ChangedError:
        form.refuse("", "Something has changed meanwhile: look again at what is collected.")
    if made is not None and not made.run.claims:
        form.refuse("collected_on", will)
    if made is None or not made.run.claims:
        return _shown(request, form, 400)
    if is_sure and not is_other:
        return request.go("/direct-debit", f"{will} Give the file to your bank now.")
    return _shown(request, form, 409 if is_other else 200, made=made, will=will)


def _shown(
    request: PageRequest,
    form: Form,
    status: int = 200,
    *,
    made: Made | None = None,
    will: str = "",
) -> Response:
    return request.page(
        "direct_debit",
        status,
        form=form,
        made=made,
        will=will,
        left_out=list(_left_out(made)) if made else [],
        runs=debits_shown.latest_runs(request.books, _SHOWN),
        state=_state,
    )


def _next_bank_day(today: str) -> str:
    """Return the next day after today that is no Saturday and no Sunday."""
    day = date.fromisoformat(today) + timedelta(days=1)
    while day.weekday() >= _SATURDAY:
        day += timedelta(days=1)
    return day.isoformat()


def _what_happens(made: Made) -> str:
    day = day_in_words(made.run.collected_on)
    if not made.run.claims:
        return f"No invoice can be collected on {day}."
    return (
        f"{counted(made.run.claims, 'invoice')} of {in_currency(made.run.cents, made.currency)} "
        f"will be collected on {day}."
    )


def _left_out(made: Made) -> Iterator[str]:
    for name, of_one, of_many in _LEFT_OUT:
        number = getattr(made.left_out, name)
        if number:
            yield f"{counted(number, 'invoice')} {of_one if number == 1 else of_many}."
    if made.settled:
        verb = "is" if made.settled == 1 else "are"
        yield f"{counted(made.settled, 'invoice')} {verb} paid by the credit of the payer."


def _state(run: ShownRun) -> tuple[str, str]:
    """Return what became of a run, and the kind of its badge."""
    parts = [
        f"{number} {words}"
        for number, words in (
            (run.with_bank, "with the bank"),
            (run.paid, "collected"),
            (run.returned, "came back"),
            (run.cancelled, "cancelled"),
        )
        if number
    ]
    kind = "warn" if run.with_bank else "bad" if run.returned else "good" if run.paid else ""
    return listed(parts), kind


def one(request: PageRequest) -> Response:
    """Show a run with its claims."""
    check_bills(request)
    key = int(request.ids["id"])
    found = debits_shown.run(request.books, key, _SHOWN)
    return request.page(
        "direct_debit_run",
        key=key,
        run=found.run,
        claims=found.claims,
        state=_state(found.run),
        more=max(found.run.claims - len(found.claims), 0),
    )


def file(request: PageRequest) -> Response:
    """Send the file of a run for the bank; it is the same each time."""
    check_bills(request)
    key = int(request.ids["id"])

    def write(path: Path) -> None:
        with debit_runs.file_of(request.books, key) as made, path.open("w", encoding="utf-8") as to:
            to.writelines(made.pieces)

    return download(f"direct-debit-{key}.xml", write)


def _run(books: Books, key: int) -> State:
    """Return the state of a run of which something is with the bank."""
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    run = debits_shown.run(books, key, 1).run
    if not run.with_bank:
        raise BadInput("nothing of this run is with the bank any more")
    return {"collected_on": run.collected_on, "cents": run.cents}


def _collected(books: Books, key: int, form: Form) -> str:
    day = form.day("value_date", "The day")
    if form.is_good and day is None:
        form.refuse("value_date", "Say on which day the money came.")
    if not form.is_good or day is None:
        return ""
    taken = debit_collections.collected(books, key, day).taken
    said = f"{counted(taken.claims, 'payment')} of {in_currency(taken.cents, books.currency)}"
    said += " is booked" if taken.claims == 1 else " are booked"
    if taken.over:
        said += f"; {in_currency(taken.over, books.currency)} of it is credit of payers"
    return said


def _cancelled(books: Books, key: int, _form: Form) -> str:
    run = debit_runs.cancel(books, key).run
    invoices = counted(run.claims, "invoice")
    return f"{invoices} of {in_currency(run.cents, books.currency)} can be handed in again"


pages = [
    get("/direct-debit", overview),
    post("/direct-debit/new", make, Action.BILL),
    get("/direct-debit/{id:int}", one),
    get("/direct-debit/{id:int}/file", file, Action.BILL),
    *pages_of(
        RecordForm(
            "/direct-debit/{id:int}/collected",
            "The bank has collected",
            "The money came",
            Action.BILL,
            (Field("value_date", "Day on which the money came", "date"),),
            _run,
            _collected,
            lambda key, _state: f"/direct-debit/{key}",
            lambda _key, state: day_in_words(str(state["collected_on"])),
            "A bank file that you read books this itself. Do it here if you read none.",
            confirms=True,
        ),
        RecordForm(
            "/direct-debit/{id:int}/cancel",
            "The bank never got this file",
            "Cancel it",
            Action.BILL,
            (),
            _run,
            _cancelled,
            lambda key, _state: f"/direct-debit/{key}",
            lambda _key, state: day_in_words(str(state["collected_on"])),
            "Its invoices are open as before, and the next file collects them. If the bank has the "
            "file, cancel it at the bank.",
            confirms=True,
        ),
    ),
]
