"""Cancelling a subscription, and undoing it."""

from collections.abc import Sequence

from masthead.books import Books, cancelling, subscriptions
from masthead.books.cancelling import Cancelled, Endings
from masthead.circulation.amounts import in_currency
from masthead.console.forms import Form
from masthead.console.pages.subscription import name_of
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action, who_may
from masthead.console.templating import day_in_words
from masthead.contract.printable import full_name
from masthead.errors import BadInput

_ISSUES = 4
"""How many of the next issues the form has beside "Now" and "At the end"."""


def _subscription(books: Books, key: int) -> State:
    values = subscriptions.show(books, key).fields
    return {
        "subscriber_id": values["subscriber_id"],
        "publication": values["publication"],
        "name": full_name(values),
        "type": values["type"],
        "issues": values["issues"],
        "cancelled_on": values["cancelled_on"],
        "cancellation": values["cancellation"],
    }


def _to_cancel(books: Books, key: int) -> State:
    state = _subscription(books, key)
    if state["cancelled_on"]:
        raise BadInput(f"this subscription was cancelled on {state['cancelled_on']} already")
    return {
        **state,
        "endings": cancelling.endings(books, key),
        "currency": books.currency,
    }


def _fields_to_cancel(state: State) -> Sequence[Field]:
    found = state["endings"]
    assert isinstance(found, Endings)
    newest = f": the issue of {day_in_words(found.newest)} is the last" if found.newest else ""
    options = [("now", f"Now{newest}")]
    options += [
        (f"issue:{issue_id}", f"After {_issue(name, day_in_words(day))}")
        for issue_id, name, day in found.issues[:_ISSUES]
    ]
    if found.at_end:
        options.append(("end", f"When its issues are used up: {day_in_words(found.at_end)}"))
    return (
        Field("when", "When", "radios", options=options),
        Field("reason", "Reason", "choice", options=[("", ""), *((n, n) for n in found.reasons)]),
        Field(
            "refund",
            "Refund what is not delivered, with its share of the tax",
            "check",
            f"Otherwise the money is kept. The next page says the sum. {_then(found)}".rstrip(),
            action=Action.REFUND,
        ),
    )


def _then(found: Endings) -> str:
    """Return what becomes of the money of a subscription that is given back."""
    if found.owners.is_billed and found.owners.is_earlier:
        return "What was billed is the payer's credit; you send the rest yourself."
    if found.owners.is_billed:
        return "It is the payer's credit."
    return "You send the money yourself." if found.owners.is_earlier else ""


def _issue(name: str, day: str) -> str:
    """Return what people call an issue; some have their day as their name."""
    return f"the issue of {day}" if name == day else f"{name}, the issue of {day}"


def _cancel(books: Books, key: int, form: Form) -> str:
    state = _to_cancel(books, key)
    when = form.choice(
        "when", "When", tuple(value for value, _ in _fields_to_cancel(state)[0].options)
    )
    if not form.is_good:
        return ""
    done = cancelling.cancel(
        books,
        key,
        refund=bool(form["refund"]),
        after_issue=int(when.removeprefix("issue:")) if when.startswith("issue:") else None,
        at_end=when == "end",
        reason=form["reason"] or None,
    )
    return _told(state, done, when)


def _told(state: State, done: Cancelled, when: str) -> str:
    """Return what a clerk tells the caller."""
    found = state["endings"]
    assert isinstance(found, Endings)
    ends = "ends today"
    if when == "end":
        ends = f"ends on {found.at_end}, when its issues are used up"
    elif done.later:
        days = {f"issue:{issue_id}": (name, day) for issue_id, name, day in found.issues}
        name, day = days[when]
        ends = f"ends after {_issue(name, day_in_words(day))}"
    said = f"{name_of(state)} {ends}"
    if done.later and when != "end":
        if not done.is_refund:
            return f"{said}; what is not delivered then is kept"
        return f"{said}; what is not delivered then is given back. {_then(found)}".rstrip()
    if done.credit_notes:
        return f"{said}; {_credited(state, done)}"
    if done.refunded:
        currency = str(state["currency"])
        back = in_currency(done.refunded + done.tax, currency)
        return (
            f"{said}; {back} is given back, of which tax {in_currency(done.tax, currency)}; you "
            "send the money yourself"
        )
    return said if when == "end" else f"{said}; nothing is given back"


def _credited(state: State, done: Cancelled) -> str:
    """Return what the credit notes of a cancelling give, in an account that bills."""
    currency = str(state["currency"])
    said = "a credit note takes back what is not delivered, so that it is not owed"
    if done.credited:
        tax = ""
        if done.credited == done.refunded + done.tax:
            tax = f", of which tax {in_currency(done.tax, currency)},"
        said = (
            f"{in_currency(done.credited, currency)}{tax} is the payer's credit, by a credit note: "
            "the next invoice uses it, or finance pays it back"
        )
    if done.by_hand:
        said += f"; {in_currency(done.by_hand, currency)} is given back, you send it yourself"
    return said


def _to_undo(books: Books, key: int) -> State:
    found = cancelling.undoing(books, key)
    if found.why_not:
        raise BadInput(found.why_not)
    back = in_currency(found.refunded, books.currency) if found.refunded else ""
    return {**_subscription(books, key), "refunded": back}


def _fields_to_undo(state: State) -> Sequence[Field]:
    if not state["refunded"]:
        return ()
    return (
        Field(
            "takes_back",
            f"The refund of {state['refunded']} did not go out, or comes back",
            "check",
            action=Action.REFUND,
        ),
    )


def _undo(books: Books, key: int, form: Form) -> str:
    state = _to_undo(books, key)
    if state["refunded"] and not form["takes_back"]:
        form.refuse(
            "takes_back",
            f"{state['refunded']} was given back with the cancelling: "
            f"{who_may(Action.SERVE, Action.REFUND)} undoes it, and says that the money did not go "
            "out or comes back.",
        )
        return ""
    cancelling.uncancel(books, key)
    return f"{name_of(state)} goes on as before"


def _back(_key: int, state: State) -> str:
    return f"/subscribers/{state['subscriber_id']}"


def _subject(_key: int, state: State) -> str:
    return name_of(state)


pages = pages_of(
    RecordForm(
        "/subscriptions/{id:int}/cancel",
        "Cancel a subscription",
        "Cancel the subscription",
        Action.SERVE,
        _fields_to_cancel,
        _to_cancel,
        _cancel,
        _back,
        _subject,
        "No issue comes after the end, and no renewal letter is sent.",
        confirms=True,
        undo="It can be undone until the next issue after the end is closed, unless a credit note "
        "was made.",
    ),
    RecordForm(
        "/subscriptions/{id:int}/uncancel",
        "Undo a cancelling",
        "Undo the cancelling",
        Action.SERVE,
        _fields_to_undo,
        _to_undo,
        _undo,
        _back,
        _subject,
        "Issues, money and renewals are as before.",
    ),
)
