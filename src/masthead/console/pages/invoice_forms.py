"""What can be done with an invoice: its payment, cancelling, a credit, writing it off."""

from collections.abc import Sequence

from masthead.books import Books, invoices, open_items, payer_payments, refunds
from masthead.books.open_items import ShownInvoice
from masthead.books.payer_payments import Incoming
from masthead.circulation.amounts import decimal, in_currency
from masthead.console.forms import Form
from masthead.console.record_forms import Choices, Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.errors import BadInput, NotFound

KINDS = ("transfer", "check", "card", "direct debit", "cash")
"""How money can come, as the hint of a form says."""

USES_CREDIT = "the next invoice uses it, or you pay it back"


def _invoice(books: Books, key: int) -> ShownInvoice:
    """Return an invoice or a receipt, for a change.

    Raises NotFound if there is none, BadInput for a credit note.
    """
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    found = open_items.show(books, key)
    if found.shown.invoice.kind == "credit_note":
        raise BadInput("this is a credit note: it takes back an invoice, and is not changed")
    return found


def _state(found: ShownInvoice, books: Books) -> State:
    invoice = found.shown.invoice
    return {
        "number": invoice.number_text,
        "name": invoice.name,
        "payer": found.payer,
        "open": in_currency(invoice.open_cents, books.currency),
    }


def _open(books: Books, key: int) -> State:
    """Return the state of an invoice of which something is open."""
    found = _invoice(books, key)
    invoice = found.shown.invoice
    if not invoice.open_cents:
        raise BadInput(f"nothing of {invoice.name} is open")
    return {**_state(found, books), "amount": decimal(invoice.open_cents)}


def _pay(books: Books, key: int, form: Form) -> str:
    invoice = _invoice(books, key).shown.invoice
    cents = form.amount("amount", "The amount")
    day = form.day("value_date", "The day")
    kind, reference = form.text("type", "How it came"), form.text("reference", "The reference")
    fee = form.amount("fee", "The fee")
    if cents is None:
        form.refuse("amount", "Say how much came.")
    if not form.is_good or cents is None:
        return ""
    done = payer_payments.add(
        books,
        Incoming(cents, day, kind or None, reference or None, fee or 0),
        invoice=invoice.number_text,
    )
    return f"{in_currency(done.cents, done.currency)} came; {what_settled(done)}"


def what_settled(done: payer_payments.Received) -> str:
    """Return what a payment settled, without its id."""
    said = []
    for each in done.invoices:
        if each.open_cents:
            said.append(f"{in_currency(each.open_cents, done.currency)} of {each.name} stays open")
        else:
            said.append(f"{each.name} is paid")
    if done.credit > 0:
        said.append(
            f"the payer has a credit of {in_currency(done.credit, done.currency)}: {USES_CREDIT}"
        )
    return "; ".join(said)


def _to_cancel(books: Books, key: int) -> State:
    found = _invoice(books, key)
    if not found.left:
        raise BadInput(f"nothing of {found.shown.invoice.name} is left to take back")
    return _state(found, books)


def _cancel(books: Books, key: int, form: Form) -> str:
    found = _invoice(books, key)
    reason = form.text("reason", "The reason", characters_max=invoices.REASON_MAX)
    if not reason:
        form.refuse("reason", "Say why: the credit note has the reason.")
    if not form.is_good:
        return ""
    done = invoices.cancel(books, found.shown.invoice.number_text, reason=reason)
    return _credited(found, done, "; its order ends")


def _credited(found: ShownInvoice, done: invoices.Credited, more: str = "") -> str:
    """Return what a credit note takes back; its number is not known before it is made."""
    said = (
        f"a credit note takes back {in_currency(done.note.total, done.currency)} of "
        f"{found.shown.invoice.name}{more}"
    )
    if done.credit:
        credit = in_currency(done.credit, done.currency)
        said += f"; the payer has a credit of {credit}: {USES_CREDIT}"
    return said


def _to_credit(books: Books, key: int) -> State:
    found = _invoice(books, key)
    invoice = found.shown.invoice
    if invoice.open_cents:
        raise BadInput(
            f"{invoice.name} is not paid: cancel it and order again at the other price, or write "
            "off what is missing"
        )
    assert invoice.order_id is not None
    items = Choices(
        (
            str(each.order_item_id),
            f"{each.name}: at most {in_currency(each.unearned, books.currency)}",
        )
        for each in refunds.refundable(books, invoice.order_id)
        if each.unearned
    )
    if not items:
        raise BadInput(
            f"all of {invoice.name} is delivered: a refund, on the page of its order, gives back "
            "what is earned"
        )
    return {**_state(found, books), "item": items}


def _fields_to_credit(state: State) -> Sequence[Field]:
    items = state["item"]
    assert isinstance(items, Choices)
    return (
        Field("item", "What", "choice", options=[*([("", "")] * (len(items) > 1)), *items]),
        Field("amount", "Amount with tax", "amount", "At most what is not delivered yet."),
        Field("reason", "Reason", hint="The credit note has it."),
    )


def _credit(books: Books, key: int, form: Form) -> str:
    found = _invoice(books, key)
    item, cents = form.number("item", "The item"), form.amount("amount", "The amount")
    reason = form.text("reason", "The reason", characters_max=invoices.REASON_MAX)
    if cents is None:
        form.refuse("amount", "Say how much is credited.")
    if not form.is_good or cents is None:
        return ""
    done = invoices.credit(
        books, found.shown.invoice.number_text, cents, item_id=item, reason=reason or None
    )
    return _credited(found, done, "; the subscriptions go on")


def _write_off(books: Books, key: int, form: Form) -> str:
    invoice = _invoice(books, key).shown.invoice
    keeps = form.choice("then", "What happens then", tuple(each for each, _ in _THEN)) == "go on"
    if not form.is_good:
        return ""
    done = invoices.write_off(books, invoice.number_text, keep=keeps)
    said = f"{in_currency(done.cents, done.currency)} of {invoice.name} is written off"
    if not done.terms:
        return said
    return f"{said}; what was ordered {'goes on' if done.is_kept else 'ends'}"


_THEN = (
    ("end", "The subscriptions end"),
    ("go on", "They go on: for what was paid, or free if nothing was"),
)


def _back(key: int, _state: State) -> str:
    return f"/invoices/{key}"


def _subject(_key: int, state: State) -> str:
    return f"{state['number']}, {state['payer']}"


pages = pages_of(
    RecordForm(
        "/invoices/{id:int}/payment",
        "Payment of an invoice",
        "The payment came",
        Action.BILL,
        (
            Field("amount", "Amount that came", "amount", "With what the bank kept, if it did."),
            Field("value_date", "Day of the payment", "date", "Today if it is left empty."),
            Field("type", "How it came", hint=f"Such as {', '.join(KINDS)}."),
            Field("reference", "Reference", hint="Such as the number of the transfer or check."),
            Field("fee", "Fee that the bank kept", "amount", "Empty for none."),
        ),
        _open,
        _pay,
        _back,
        _subject,
        "Less than what is open leaves the rest open. More becomes a credit of the payer.",
        starts_empty=False,
    ),
    RecordForm(
        "/invoices/{id:int}/cancel",
        "Cancel an invoice",
        "Cancel the invoice",
        Action.BILL,
        (Field("reason", "Reason", hint="The credit note has it."),),
        _to_cancel,
        _cancel,
        _back,
        _subject,
        "A credit note takes it back, and its order ends. What was paid becomes a credit of the "
        "payer.",
        confirms=True,
    ),
    RecordForm(
        "/invoices/{id:int}/credit",
        "Credit a part of an invoice",
        "Credit it",
        Action.BILL,
        _fields_to_credit,
        _to_credit,
        _credit,
        _back,
        _subject,
        "A credit note gives back a part of what was paid, as a credit of the payer. The "
        "subscriptions go on.",
        confirms=True,
    ),
    RecordForm(
        "/invoices/{id:int}/write-off",
        "Write off an invoice",
        "Write it off",
        Action.BILL,
        (Field("then", "What happens then", "radios", options=_THEN),),
        _open,
        _write_off,
        _back,
        _subject,
        "What is open is not expected any more.",
        confirms=True,
    ),
)
