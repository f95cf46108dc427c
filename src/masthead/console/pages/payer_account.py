"""The account of a payer: the statement, credit that is paid back, payments that came back."""

from starlette.responses import Response

from masthead.books import (
    Books,
    mandates,
    open_items,
    outbox,
    payer_payments,
    payment_reversals,
    reminders,
)
from masthead.circulation.amounts import decimal, in_currency
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get
from masthead.console.pages.invoice_forms import KINDS
from masthead.console.pages.mail import KINDS as MAIL_KINDS
from masthead.console.pages.mail import STATES as MAIL_STATES
from masthead.console.pages.mandates import in_words
from masthead.console.pages.money import check_bills
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.console.templating import day_in_words
from masthead.errors import BadInput, NotFound

_MAILS_SHOWN = 50
_WORDS = {
    "invoice": "Invoice",
    "receipt": "Receipt",
    "credit_note": "Credit note",
    "payment": "Payment",
    "reversal": "Payment came back",
    "paid_back": "Paid back",
    "write_off": "Written off",
}


def account(request: PageRequest) -> Response:
    """Show what a payer was billed and paid, line by line."""
    check_bills(request)
    key = int(request.ids["id"])
    found = open_items.account_of(request.books, key)
    statement = found.statement
    return request.page(
        "payer_account",
        key=key,
        statement=statement,
        lines=list(zip(statement.movements, statement.balances, strict=True)),
        words=_WORDS,
        invoices=found.invoices,
        payments=found.payments,
        mandates=list(reversed(mandates.of_payer(request.books, key))),
        mandate_in_words=in_words,
        mailed=outbox.of_payer(request.books, key, _MAILS_SHOWN),
        kinds=MAIL_KINDS,
        states=MAIL_STATES,
        reminders=reminders.of_payer(request.books, key),
    )


def _payer(books: Books, key: int) -> State:
    """Return the state of a payer with a credit, and raise BadInput for one without."""
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    name, credit = open_items.credit_of(books, key)
    if credit <= 0:
        raise BadInput(f"{name} has no credit: there is nothing to pay back")
    return {
        "name": name,
        "credit": in_currency(credit, books.currency),
        "amount": decimal(credit),
    }


def _pay_back(books: Books, key: int, form: Form) -> str:
    cents = form.amount("amount", "The amount")
    day = form.day("value_date", "The day")
    kind, reference = form.text("type", "How it went"), form.text("reference", "The reference")
    if cents is None:
        form.refuse("amount", "Say how much is paid back.")
    if not form.is_good or cents is None:
        return ""
    done = payer_payments.pay_back(
        books,
        key,
        cents,
        day=day,
        payment_type=kind or None,
        reference=reference or None,
    )
    said = f"{in_currency(done.cents, done.currency)} is paid back"
    if done.left:
        said += f"; a credit of {in_currency(done.left, done.currency)} is left"
    return said


def _payment(books: Books, key: int) -> State:
    """Return the state of a payment that can come back."""
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    payment, is_back = open_items.payment(books, key)
    if payment.kind != "payment":
        raise BadInput("this is money that went out: it cannot come back")
    if is_back:
        raise BadInput("this payment came back before: nothing was changed")
    return {
        "subscriber_id": payment.subscriber_id,
        "name": open_items.named(books, payment.subscriber_id),
        "came": payment.value_date,
        "payment": in_currency(payment.cents, books.currency),
        "about": ", ".join(filter(None, (payment.payment_type, payment.reference))),
    }


def _came_back(books: Books, key: int, form: Form) -> str:
    state = _payment(books, key)
    day, fee = form.day("value_date", "The day"), form.amount("fee", "The fee")
    reason = form.text("reason", "The reason", characters_max=payer_payments.TEXT_MAX)
    if day is not None and day < str(state["came"]):
        came = day_in_words(str(state["came"]))
        form.refuse("value_date", f"The payment came on {came}: it did not come back before.")
    if not form.is_good:
        return ""
    done = payment_reversals.reverse(books, key, day=day, fee=fee or 0, reason=reason or None)
    said = [f"{in_currency(done.cents, done.currency)} came back"]
    if done.fee:
        said.append(f"the bank took a fee of {in_currency(done.fee, done.currency)}")
    said += [
        f"{each.name} is open with {in_currency(each.open_cents, done.currency)}"
        for each in done.invoices
    ]
    return "; ".join(said)


def _back(key: int, _state: State) -> str:
    return f"/subscribers/{key}/account"


def _back_to_payer(_key: int, state: State) -> str:
    return f"/subscribers/{state['subscriber_id']}/account"


pages = [
    get("/subscribers/{id:int}/account", account),
    *pages_of(
        RecordForm(
            "/subscribers/{id:int}/pay-back",
            "Pay a credit back",
            "It is paid back",
            Action.BILL,
            (
                Field("amount", "Amount", "amount", "At most the credit."),
                Field("value_date", "Day of the payment", "date", "Today if it is left empty."),
                Field("type", "How it is paid", hint=f"Such as {', '.join(KINDS)}."),
                Field("reference", "Reference", hint="Such as the number of the transfer."),
            ),
            _payer,
            _pay_back,
            _back,
            lambda _key, state: f"{state['name']}, {state['credit']}",
            "You send the money yourself. This notes that it went.",
            starts_empty=False,
        ),
        RecordForm(
            "/payments/{id:int}/back",
            "A payment came back",
            "It came back",
            Action.BILL,
            (
                Field("value_date", "Day on which it came back", "date", "Today if empty."),
                Field("fee", "Fee of the bank", "amount", "Empty for none."),
                Field("reason", "Reason", hint="Such as a bounced check or a chargeback."),
            ),
            _payment,
            _came_back,
            _back_to_payer,
            lambda _key, state: ", ".join(
                filter(
                    None,
                    (
                        str(state["name"]),
                        str(state["payment"]),
                        day_in_words(str(state["came"])),
                        str(state["about"]),
                    ),
                )
            ),
            "Its invoices are open again from that day on.",
            confirms=True,
        ),
    ),
]
