"""Money: what is open, what came, the credits of payers, and the page of an invoice."""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import debits_shown, invoice_documents, open_items, refunds
from masthead.books.open_items import Settlement, ShownInvoice
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get
from masthead.console.roles import Action
from masthead.contract.moments import in_words
from masthead.errors import NotFound

_SHOWN = 200
_MONTH = len("2026-11")
_GOODS = {
    "print": "printed",
    "digital": "digital",
    "product": "product",
    "shipping": "shipping",
    "fee": "fee",
}


def check_bills(request: PageRequest) -> None:
    """Raise NotFound if the account makes no invoices."""
    if not request.bills:
        raise NotFound("this account makes no invoices")


def money(request: PageRequest) -> Response:
    """Show how the money stands, or open the invoice whose number was searched."""
    check_bills(request)
    form = Form({"number": request.query.get("number", "")})
    if form["number"]:
        found = open_items.find(request.books, form["number"])
        if found is not None:
            return request.go(f"/invoices/{found.invoice_id}")
        form.refuse("number", f"There is no invoice {form['number']}.")
    today = request.account.today
    return request.page(
        "money",
        form=form,
        found=open_items.overview(request.books, _SHOWN),
        late=lambda day: _days_late(day, today),
        month=in_words(today[:_MONTH]),
    )


def _days_late(due_on: str | None, today: str) -> int:
    """Return how many days ago an invoice was due; 0 if it is not late."""
    if due_on is None or due_on >= today:
        return 0
    return (date.fromisoformat(today) - date.fromisoformat(due_on)).days


def pdf(request: PageRequest) -> Response:
    """Send the document of an invoice or a credit note."""
    check_bills(request)
    key = int(request.ids["id"])
    number = open_items.show(request.books, key).shown.invoice.number_text
    name = re.sub(r"[^A-Za-z0-9._-]", "-", number)
    return Response(
        invoice_documents.pdf_of(request.books, key),
        media_type="application/pdf",
        headers={"Content-Disposition": f'attachment; filename="{name}.pdf"'},
    )


class _Line(NamedTuple):
    """A line of what settled an invoice: its day, what it was, details, its amount."""

    day: str
    what: str
    about: str
    cents: int


def invoice(request: PageRequest) -> Response:
    """Show an invoice: what it says, what settled it, and what can be done."""
    check_bills(request)
    key = int(request.ids["id"])
    found = open_items.show(request.books, key)
    shown = found.shown.invoice
    items = refunds.refundable(request.books, shown.order_id) if shown.order_id is not None else ()
    is_to_come = any(each.unearned for each in items)
    actions = [
        (title, f"/invoices/{key}/{path}")
        for title, path in _actions(found, is_to_come=is_to_come)
        if request.may_write(Action.BILL)
    ]
    return request.page(
        "invoice",
        found=found,
        invoice=shown,
        lines=found.shown.lines,
        collection=debits_shown.collection_of(request.books, key),
        goods=_GOODS,
        settled=list(_settled(found)),
        main=actions[0] if actions and shown.open_cents else None,
        more=actions[1:] if shown.open_cents else actions,
        days_late=_days_late(shown.due_on, request.account.today) if shown.open_cents else 0,
    )


def _actions(found: ShownInvoice, *, is_to_come: bool) -> Iterator[tuple[str, str]]:
    """Yield what can be done with an invoice; for an open one, the payment comes first.

    ``is_to_come``: a part of what was paid is not delivered yet.
    """
    invoice = found.shown.invoice
    if invoice.kind == "credit_note":
        return
    if invoice.open_cents:
        yield "Payment came", "payment"
    elif found.left and is_to_come and not invoice.is_fee:
        yield "Credit a part", "credit"
    if found.left and not invoice.is_fee:
        yield "Cancel the invoice", "cancel"
    if invoice.open_cents:
        yield "Write off what is open", "write-off"


def _settled(found: ShownInvoice) -> Iterator[_Line]:
    numbers = {each.invoice_id: each.number_text for each in found.notes}
    for allocation, payment in found.settlements:
        if payment is not None:
            yield _of_payment(Settlement(allocation, payment))
        elif allocation.kind == "credit_note":
            number = numbers.get(allocation.credit_note_id or 0, "")
            what = "Credit note" if allocation.cents > 0 else "Credit note taken back"
            yield _Line(allocation.booked_on, what, number, allocation.cents)
        else:
            what = "Written off" if allocation.cents > 0 else "Write-off taken back"
            yield _Line(allocation.booked_on, what, "", allocation.cents)


def _of_payment(settlement: Settlement) -> _Line:
    allocation, payment = settlement
    assert payment is not None
    about = ", ".join(filter(None, (payment.payment_type, payment.reference)))
    what = "Payment" if allocation.cents > 0 else "Payment taken off the invoice"
    day = payment.value_date if allocation.cents > 0 else allocation.booked_on
    return _Line(day, what, about, allocation.cents)


pages = [
    get("/money", money),
    get("/invoices/{id:int}", invoice),
    get("/invoices/{id:int}/pdf", pdf),
]
