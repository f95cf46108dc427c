"""Payments by keyboard: many at a time, such as a batch of checks, in one operation."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import Books, finding, open_items, payer_payments
from masthead.books.finding import Hit
from masthead.books.payer_payments import Incoming
from masthead.circulation.amounts import in_currency
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.pages.invoice_forms import KINDS, what_settled
from masthead.console.pages.money import check_bills
from masthead.console.roles import Action
from masthead.contract.printable import counted
from masthead.errors import BadInput, MastheadError, NotFound
from masthead.web.forms import id_in

LINES, LINES_MAX = 10, 50
_FITTING = 8


class _Line(NamedTuple):
    """A line that was filled in: an invoice by its number, or a payer."""

    n: int
    invoice: str | None
    subscriber_id: int | None
    cents: int
    reference: str | None


class _Settled(NamedTuple):
    """What a line settles: who paid, and a sentence."""

    n: int
    payer: str
    cents: int
    said: str


def new(request: PageRequest) -> Response:
    """Show empty lines."""
    check_bills(request)
    return _shown(request, Form({"type": "check"}))


def book(request: PageRequest) -> Response:
    """Show what the lines settle, or book them all: either all of them are booked, or none is."""
    check_bills(request)
    form = Form(request.form)
    if form["more"] or form["change"]:
        return _shown(request, form)
    fitting: dict[int, Sequence[Hit]] = {}
    day = form.day("value_date", "The day")
    kind = form.text("type", "How they came")
    lines = _lines(request, form, fitting)
    if form.is_good and not lines:
        form.refuse("for_1", "Fill in a line: an invoice or a payer, and the amount.")
    if not form.is_good:
        return _shown(request, form, 400, fitting)
    is_sure = bool(form["sure"])
    settled: list[_Settled] = []
    books = request.books_for("book payments", "/money")
    try:
        with books.together(dry_run=not is_sure) as inside:
            settled = [_book(inside, form, line, day, kind or None) for line in lines]
            if form.errors or (is_sure and form["will"] != _will(settled)):
                raise _RefusedError
    except _RefusedError:
        pass
    if form.errors:
        return _shown(request, form, 400, fitting)
    if is_sure and form["will"] == _will(settled):
        return request.go("/money", _sum(request, settled))
    if is_sure:
        form.refuse("", "Something has changed meanwhile: look again at what will happen.")
    return _shown(request, form, 409 if is_sure else 200, settled=settled)


class _RefusedError(MastheadError):
    """Raised to leave the operation of lines that are not booked."""


def _lines(request: PageRequest, form: Form, fitting: dict[int, Sequence[Hit]]) -> list[_Line]:
    """Return the lines that were filled in; errors name the line."""
    found = []
    with request.books.snapshot() as inside:
        for n in range(1, _count(form) + 1):
            who, cents = form[f"for_{n}"], form.amount(f"amount_{n}", f"Line {n}, the amount")
            reference = form.text(f"reference_{n}", f"Line {n}, the reference")
            if not (who or form[f"amount_{n}"] or reference):
                continue
            if not who:
                form.refuse(f"for_{n}", f"Line {n}: say which invoice, or who paid.")
                continue
            if not form[f"amount_{n}"]:
                form.refuse(f"amount_{n}", f"Line {n}: say how much came.")
            invoice, subscriber_id = _whose(inside, form, n, fitting)
            if cents is not None:
                found.append(_Line(n, invoice, subscriber_id, cents, reference or None))
    return found


def _whose(
    books: Books, form: Form, n: int, fitting: dict[int, Sequence[Hit]]
) -> tuple[str | None, int | None]:
    """Return the number of the invoice, or the payer, whom a line names.

    If several readers fit, the line has an error, and the page lets one of them be chosen.
    """
    text = form[f"for_{n}"]
    if (invoice := open_items.find(books, text)) is not None:
        return invoice.number_text, None
    hits = finding.look(books, text, limit=_FITTING).people
    chosen = id_in(form[f"who_{n}"]) if form[f"who_for_{n}"] == text else None
    if chosen is not None and any(each.person.subscriber_id == chosen for each in hits):
        fitting[n] = hits
        return None, chosen
    if len(hits) == 1:
        return None, hits[0].person.subscriber_id
    if hits:
        fitting[n] = hits
        form.refuse(f"who_{n}", f"Line {n}: several readers fit “{text}”. Choose who paid.")
    else:
        form.refuse(
            f"for_{n}", f"Line {n}: no invoice has the number, and no reader fits “{text}”."
        )
    return None, None


def _book(books: Books, form: Form, line: _Line, day: str | None, kind: str | None) -> _Settled:
    """Book a line; an error belongs to the field of the line."""
    fields = {"amount": f"amount_{line.n}", "reference": f"reference_{line.n}"}
    common = {"value_date", "type"}
    try:
        done = payer_payments.add(
            books,
            Incoming(line.cents, day, kind, line.reference),
            invoice=line.invoice,
            subscriber_id=line.subscriber_id,
        )
    except (BadInput, NotFound) as error:
        field = str(getattr(error, "values", {}).get("field", ""))
        if field in common:
            form.refuse(field, sentence(error))
        else:
            form.refuse(fields.get(field, f"for_{line.n}"), f"Line {line.n}: {sentence(error)}")
        return _Settled(line.n, "", line.cents, "")
    return _Settled(
        line.n, open_items.named(books, done.subscriber_id), line.cents, what_settled(done)
    )


def _will(settled: Sequence[_Settled]) -> str:
    """Return what the lines settle as one text, by which a form says what it had shown."""
    return " | ".join(f"{each.n} {each.payer}: {each.said}" for each in settled)


def _sum(request: PageRequest, settled: Sequence[_Settled]) -> str:
    amount = in_currency(sum(each.cents for each in settled), request.account.currency)
    return f"{counted(len(settled), 'payment was', 'payments were')} booked, {amount} in all."


def _count(form: Form) -> int:
    """Return how many lines the form has."""
    count = id_in(form["lines"]) or LINES
    return min(max(count, LINES), LINES_MAX)


def _shown(
    request: PageRequest,
    form: Form,
    status: int = 200,
    fitting: dict[int, Sequence[Hit]] | None = None,
    *,
    settled: Sequence[_Settled] = (),
) -> Response:
    if request.kept:
        form.values.update(request.kept)
    count = _count(form)
    if form["more"]:
        count = min(count + LINES, LINES_MAX)
    form.values["lines"] = str(count)
    return request.page(
        "payments_new",
        status,
        form=form,
        numbers=range(1, count + 1),
        may_have_more=count < LINES_MAX,
        first_new=count - LINES + 1 if form["more"] else 1,
        fitting=fitting or {},
        settled=settled,
        will=_will(settled),
        kinds=KINDS,
        total=in_currency(sum(each.cents for each in settled), request.account.currency),
    )


pages = [
    get("/payments/new", new, Action.BILL),
    post("/payments/new", book, Action.BILL),
]
