"""The money of an order: booking its payment, refunds, allowances and disputes."""

from collections.abc import Sequence

from masthead.books import Books, disputes, open_items, orders, payments, refunds
from masthead.circulation.amounts import decimal, in_currency
from masthead.console.forms import Form, sentence
from masthead.console.pages.invoice_forms import what_settled
from masthead.console.record_forms import Choices, Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.console.templating import day_in_words
from masthead.errors import BadInput

_CREDIT = "is the payer's credit: the next invoice uses it, or you pay it back."
_DEPOSIT = f"What was paid {_CREDIT}"
_GIVEN_BACK = f"What is given back {_CREDIT}"
_BY_HAND = "You send the money yourself."

KINDS = ("transfer", "check", "card", "direct debit", "cash")


def _order(books: Books, key: int) -> State:
    """Return the state of an order that the books can change.

    Raises BadInput, with the reason, for an order from before the books.
    """
    found = orders.show(books, key)
    if found.is_history:
        raise BadInput(
            "this order is from before the books were opened: it can be neither paid nor refunded "
            "here"
        )
    fields = found.fields
    return {
        "ordered": day_in_words(str(fields["order_date"] or "")),
        "paid_on": fields["paid_on"],
        "amount": decimal(found.due),
        "disputed_on": fields["disputed_on"],
        "dispute_ended_on": fields["dispute_ended_on"],
        "refunded": ", ".join(
            f"{item.name}: {in_currency(item.refunded, books.currency)}"
            for item in found.items
            if item.refund_date or item.refunded
        ),
    }


def _to_pay(books: Books, key: int) -> State:
    state = _order(books, key)
    if state["paid_on"]:
        raise BadInput(
            f"this order was paid on {day_in_words(str(state['paid_on']))}: there is nothing left "
            "to pay"
        )
    bills = open_items.bills(books)
    if bills and (invoice := open_items.invoice_of_order(books, key)):
        raise BadInput(f"this order has {invoice.name}: its payment is booked on that page")
    return {**state, "bills": bills}


def _fields_to_pay(state: State) -> Sequence[Field]:
    amount = "What is due, with tax."
    if not state["bills"]:
        amount += " A part cannot be booked yet: book the payment when all of it has come."
    return (
        Field("paid_on", "Day of the payment", "date", "Today if it is left empty."),
        Field("amount", "Sum that came", "amount", amount),
        Field("payment_type", "How it was paid", hint=f"Such as {', '.join(KINDS)}."),
        Field("reference", "Reference", hint="Such as the number of the transfer or check."),
    )


def _pay(books: Books, key: int, form: Form) -> str:
    paid_on = form.day("paid_on", "The day of the payment")
    cents = form.amount("amount", "The sum")
    reference = form.text("reference", "The reference")
    kind = form.text("payment_type", "How it was paid")
    if not form.is_good:
        return ""
    due = in_currency(orders.show(books, key).due, books.currency)
    done = payments.pay(
        books, key, payments.Payment(kind or None, paid_on, reference or None, cents)
    )
    if done.settled is not None:
        return f"{in_currency(done.cents, done.currency)} came; {what_settled(done.settled)}."
    when = f" on {day_in_words(done.paid_on)}" if done.paid_on else ""
    if done.booked_on:
        when += f", whose month has ended, so it counts as of {day_in_words(done.booked_on)}"
    return f"{due} was paid{when}."


def _with_items(books: Books, key: int, *, is_allowance: bool) -> State:
    """Return the state, with the items of which something can be given back."""
    state = _order(books, key)
    found, currency = refunds.refundable(books, key), books.currency
    return {
        **state,
        "item": Choices(
            (
                str(each.order_item_id),
                f"{each.name}: {_most(each, currency, is_allowance=is_allowance)}",
            )
            for each in found
            if each.unearned or not is_allowance
        ),
    }


def _most(item: refunds.Refundable, currency: str, *, is_allowance: bool) -> str:
    """Return how much can be given back of an item."""
    unearned = in_currency(item.unearned, currency)
    if is_allowance:
        return f"at most {unearned}"
    if not item.most:
        return "no money to give back"
    return f"at most {in_currency(item.most, currency)}, of which {unearned} is unearned"


def _to_refund(books: Books, key: int) -> State:
    return _with_items(books, key, is_allowance=False)


def _to_allow(books: Books, key: int) -> State:
    state = _with_items(books, key, is_allowance=True)
    if state["paid_on"] and not state["item"]:
        raise BadInput("all that was paid is delivered: a refund gives back what is earned")
    return state


def _item(state: State) -> Field:
    """Return the field of the item, which is chosen if there is one only."""
    items = state["item"]
    assert isinstance(items, Choices)
    return Field("item", "Item", "choice", options=[*([("", "")] * (len(items) > 1)), *items])


def _fields_to_refund(state: State) -> Sequence[Field]:
    amount = "What is unearned and its share of the tax if it is left empty."
    return _item(state), Field("amount", "Amount with tax", "amount", amount)


def _fields_to_allow(state: State) -> Sequence[Field]:
    return _item(state), Field("amount", "Amount with tax", "amount", "At most what is unearned.")


def _refund(books: Books, key: int, form: Form) -> str:
    item, amount = form.number("item", "The item"), form.amount("amount", "The amount")
    if not form.is_good:
        return ""
    is_billed, deposit = _paid_of_invoice(books, key)
    done = refunds.refund(books, key, item, amount)
    then = _DEPOSIT if deposit else ""
    if done.cents:
        then = _GIVEN_BACK if is_billed else _BY_HAND
    return _given_back(done.sentence, then)


def _allow(books: Books, key: int, form: Form) -> str:
    item, amount = form.number("item", "The item"), form.amount("amount", "The amount")
    if amount is None:
        form.refuse("amount", "Say how much is given back.")
    if not form.is_good or amount is None:
        return ""
    is_billed, _ = _paid_of_invoice(books, key)
    done = refunds.allow(books, key, item, amount)
    return _given_back(done.sentence, _GIVEN_BACK if is_billed else _BY_HAND)


def _paid_of_invoice(books: Books, key: int) -> tuple[bool, bool]:
    """Return whether an order has an invoice, and whether a part of that was paid, and not all."""
    invoice = open_items.invoice_of_order(books, key) if open_items.bills(books) else None
    if invoice is None:
        return False, False
    return True, 0 < invoice.open_cents < invoice.total


def _given_back(said: str, then: str) -> str:
    """Return what a refund or an allowance did, without the ids of its item and order."""
    return f"{sentence(said.partition(': ')[2])} {then}".rstrip()


def _dispute(books: Books, key: int, form: Form) -> str:
    day = form.day("disputed_on", "The day")
    text = form["dispute"]
    if not text:
        form.refuse("dispute", "Say what the reader or the bank says.")
    if not form.is_good:
        return ""
    return _of_the_order(key, disputes.dispute(books, key, text, day).sentence)


def _settle(books: Books, key: int, form: Form) -> str:
    result = form.choice("result", "Who is right", tuple(value for value, _ in _RESULTS))
    if not result:
        form.refuse("result", "Say who is right.")
        return ""
    is_billed, deposit = _paid_of_invoice(books, key)
    done = disputes.settle(books, key, is_upheld=result == "upheld")
    said = _of_the_order(key, done.sentence)
    then = ""
    if done.refunded:
        then = _GIVEN_BACK if is_billed else _BY_HAND
    elif deposit and result == "upheld":
        then = _DEPOSIT
    return f"{said}. {then}" if then else said


def _of_the_order(key: int, said: str) -> str:
    return said.replace(f"order {key}", "the order")


def _back(key: int, _state: State) -> str:
    return f"/orders/{key}"


def _subject(key: int, state: State) -> str:
    return f"the order of {state['ordered']}" if state["ordered"] else f"order {key}"


_RESULTS = (
    ("", ""),
    ("upheld", "The reader or the bank: refund what was paid, and end the order"),
    ("rejected", "We are: all stays as it was"),
)

pages = pages_of(
    RecordForm(
        "/orders/{id:int}/pay",
        "Book a payment",
        "It is paid",
        Action.PAY,
        _fields_to_pay,
        _to_pay,
        _pay,
        _back,
        _subject,
        "The order is paid once all that is due has come, and its issues come as before.",
        starts_empty=False,
    ),
    RecordForm(
        "/orders/{id:int}/refund",
        "Refund an item",
        "Refund",
        Action.REFUND,
        _fields_to_refund,
        _to_refund,
        _refund,
        _back,
        _subject,
        "The remaining issues of the item go, whatever the amount. An allowance keeps them.",
        confirms=True,
    ),
    RecordForm(
        "/orders/{id:int}/allowance",
        "Give an allowance",
        "Give it back",
        Action.REFUND,
        _fields_to_allow,
        _to_allow,
        _allow,
        _back,
        _subject,
        "Money goes back, and the issues are kept: what remains is spread over them.",
        confirms=True,
    ),
    RecordForm(
        "/orders/{id:int}/dispute",
        "Note a dispute",
        "Note the dispute",
        Action.PAY,
        (
            Field("disputed_on", "Since", "date", "Today if it is left empty."),
            Field("dispute", "What the reader or the bank says"),
        ),
        _order,
        _dispute,
        _back,
        _subject,
        "Until it is settled, no renewal letter goes to the subscriptions of the order, and it is "
        "on the page Today. Issues go on: suspend the subscription to stop them.",
    ),
    RecordForm(
        "/orders/{id:int}/settle",
        "Settle a dispute",
        "Settle it",
        Action.REFUND,
        (Field("result", "Who is right", "choice", options=_RESULTS),),
        _order,
        _settle,
        _back,
        _subject,
        confirms=True,
    ),
)
