"""What is done to a subscription: copies and type, suspension, end, extension, and address."""

from collections.abc import Callable

from masthead.books import Books
from masthead.circulation.amounts import decimal
from masthead.console.forms import Form, sentence
from masthead.console.record_forms import Choices, Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.contract.printable import counted
from masthead.contract.subscription_types import TYPES
from masthead.store import Connection
from masthead.store.books import (
    cancel_reasons,
    cancelling,
    catalogue,
    details,
    extending,
    subscription,
    subscription_addresses,
    suspending,
    uncancelling,
)
from masthead.store.books.operation import Operation
from masthead.store.books.term_copies import How, set_copies

__all__ = ["ADDRESS", "address_in", "pages"]

_HOW: dict[str, tuple[How | None, str]] = {
    "": (None, "Do not change them"),
    "free": ("free", "Those that are more are free"),
    "convert": ("convert", "Fewer or more issues of what is left"),
}

ADDRESS = (
    Field("first_name", "First name"),
    Field("last_name", "Last name", hint="Without a name or company: the reader's own."),
    Field("company", "Company"),
    Field("address", "Street"),
    Field("zip_code", "Postal code"),
    Field("city", "City"),
    Field("state", "State"),
    Field("country_name", "Country"),
    Field("country_abbreviation", "Country code"),
)
"""The fields of an address."""


def address_in(form: Form, prefix: str = "") -> dict[str, str | None]:
    """Return the address that was typed; a field that was left empty is None."""
    return {
        name: form.text(f"{prefix}{name}", name.replace("_", " ").capitalize()) or None
        for name in subscription_addresses.FIELDS
    }


def _state(connection: Connection, account_id: int, key: int) -> State:
    found = details.look_at_subscription(connection, account_id, key)
    values = found.fields
    return {
        "type": values["type"],
        "copies": values["copies"],
        "how": "",
        "campaign": values["renew_campaign_active"],
        "issues_left": values["issues"],
        "unearned_revenue": values["unearned_revenue"],
        "cancelled_on": values["cancelled_on"],
        "cancellation": values["cancellation"],
        "suspensions": ", ".join(
            f"{each.first} to {each.last or '…'}" for each in found.suspensions
        ),
        "mailing_address": found.mailing.line if found.mailing else "",
        "temporary_addresses": ", ".join(
            f"{span.first} to {span.last}: {postal.line}" for span, postal in found.temporary
        ),
        "subscriber_id": values["subscriber_id"],
        "publication": values["publication"],
        "name": " ".join(str(values[each]) for each in ("first_name", "last_name") if values[each]),
    }


def _back(_key: int, state: State) -> str:
    return f"/subscribers/{state['subscriber_id']}"


def _subject(key: int, state: State) -> str:
    return f"{state['name']}, {state['publication']}, subscription {key}".lstrip(", ")


def _set(books: Operation, key: int, form: Form) -> str:
    copies = form.number("copies", "Copies", at_least=1, at_most=1_000_000)
    type_ = form.choice("type", "Type", TYPES)
    if copies is None:
        form.refuse("copies", "Copies are needed.")
    if not form.is_good or copies is None:
        return ""
    values: dict[str, int | str] = {
        "type": type_,
        "campaign": int(bool(form["campaign"] == "1")),
    }
    how = form.choice("how", "Other copies", tuple(_HOW))
    if not form.is_good:
        return ""
    changed = list(subscription.set_values(books, key, values))
    before, after, converted = set_copies(books, key, copies, _HOW[how][0])
    if before != after:
        changed.append("copies")
        books.say(f"subscription {key}: changed {', '.join(changed)}")
    if not changed:
        return "It is so already: nothing changed."
    said = f"Changed: {', '.join(changed)}."
    return f"{said} {sentence(converted)}" if converted else said


def _suspend(books: Operation, key: int, form: Form) -> str:
    first, last = form.day("from_date", "The first day"), form.day("to_date", "The last day")
    if not form.is_good:
        return ""
    span = suspending.suspend(books, key, first, last)
    until = f"to {span.last}" if span.last else "until it is resumed"
    return f"Suspended from {span.first} {until}."


def _resume(books: Operation, key: int, form: Form) -> str:
    resumed = form.day("from_date", "The first day of service")
    if not form.is_good:
        return ""
    ending = suspending.resume(books, key, resumed)
    how = f"ends on {ending.last}" if ending.last else "was removed"
    return f"The suspension from {ending.span.first} {how}."


def _cancelling(connection: Connection, account_id: int, key: int) -> State:
    """Return the state, with the issues that can be the last one and the publisher's reasons."""
    found = subscription.held(connection, account_id, key)
    return {
        **_state(connection, account_id, key),
        "after_issue": Choices(
            (str(issue_id), f"{name or issue_id}, {day}")
            for issue_id, publication_id, name, _, day, *_, closed_at in catalogue.listed(
                connection, account_id, "issue"
            )
            if publication_id == found.publication_id and not closed_at
        ),
        "reason": Choices(
            (str(name), str(name)) for _, name in cancel_reasons.reasons(connection, account_id)
        ),
    }


def _cancel(books: Operation, key: int, form: Form) -> str:
    when = form.choice("when", "When", tuple(value for value, _ in _WHEN))
    after_issue = form.number("after_issue", "The issue")
    if when == "issue" and after_issue is None:
        form.refuse("after_issue", "Say after which issue it ends.")
    if when == "end" and form["refund"]:
        form.refuse("refund", "Nothing is left to give back when its issues are used up.")
    if not form.is_good:
        return ""
    done = cancelling.cancel(
        books,
        key,
        refund=bool(form["refund"]),
        after_issue=after_issue if when == "issue" else None,
        at_end=when == "end",
        reason=form["reason"] or None,
    )
    if done.later is not None:
        money = "refunded" if form["refund"] else "earned"
        return f"It ends {done.later}; what is unearned then is {money}. Nobody is asked to renew."
    issues = counted(done.issues, "issue left ends", "issues left end")
    if done.issues < 0:
        issues = "an unlimited term ends"
    if form["refund"]:
        return (
            f"{issues}; {decimal(done.refunded + done.tax)} is refunded, of which tax "
            f"{decimal(done.tax)}. The money itself you send."
        )
    return f"{issues}; {decimal(done.earned)} is earned, and nothing is refunded."


def _uncancel(books: Operation, key: int, _form: Form) -> str:
    uncancelling.uncancel(books, key)
    return "The cancelling was undone: terms, issues, money and renewals are as before."


def _extend(books: Operation, key: int, form: Form) -> str:
    issues = form.number("issues", "Issues", at_least=1, at_most=10_000)
    if issues is None:
        form.refuse("issues", "How many issues are needed.")
        return ""
    extending.extend(books, key, issues)
    return f"{issues} free {'issue' if issues == 1 else 'issues'} more."


def _move(books: Operation, key: int, form: Form) -> str:
    address = address_in(form)
    if not any(address.values()):
        form.refuse("address", "Say where the copies are to go.")
    if not form.is_good:
        return ""
    subscription_addresses.move(books, key, address)
    return "The copies go to the new address from now on."


def _move_for_a_while(books: Operation, key: int, form: Form) -> str:
    address = address_in(form)
    first, last = form.day("from_date", "The first day"), form.day("to_date", "The last day")
    for name, day, label in (
        ("from_date", first, "The first day"),
        ("to_date", last, "The last day"),
    ):
        if day is None:
            form.refuse(name, f"{label} is needed.")
    if not any(address.values()):
        form.refuse("address", "Say where the copies are to go.")
    if not form.is_good or first is None or last is None:
        return ""
    subscription_addresses.move_for_a_while(books, key, address, first, last)
    return f"The copies go there from {first} to {last}."


def _go_back(books: Operation, key: int, form: Form) -> str:
    resumed = form.day("from_date", "The first day")
    if not form.is_good:
        return ""
    ending = subscription_addresses.go_back(books, key, resumed)
    how = f"ends on {ending.last}" if ending.last else "was removed"
    return f"The temporary address from {ending.span.first} {how}."


def _in(apply: Callable[[Operation, int, Form], str]) -> Callable[[Books, int, Form], str]:
    def applied(books: Books, key: int, form: Form) -> str:
        with books.change() as change:
            return apply(change, key, form)

    return applied


def _of(state: Callable[[Connection, int, int], State]) -> Callable[[Books, int], State]:
    def found(books: Books, key: int) -> State:
        with books.read() as reading:
            return state(reading.connection, reading.account_id, key)

    return found


def _record_form(  # noqa: PLR0913 - the fields of a record form
    name: str,
    title: str,
    button: str,
    fields: tuple[Field, ...],
    apply: Callable[[Operation, int, Form], str],
    about: str = "",
    *,
    starts_empty: bool = True,
    confirms: bool = False,
    state: Callable[[Connection, int, int], State] = _state,
    undo: str = "",
) -> RecordForm:
    path = f"/subscriptions/{{id:int}}/{name}"
    return RecordForm(
        path,
        title,
        button,
        Action.SERVE,
        fields,
        _of(state),
        _in(apply),
        _back,
        _subject,
        about,
        starts_empty,
        confirms,
        undo,
    )


_WHEN = (
    ("now", "Now"),
    ("issue", "After an issue"),
    ("end", "When its issues are used up"),
)
_FROM = Field("from_date", "First day", "date", "Today if it is left empty.")
_TO = Field("to_date", "Last day", "date")

pages = pages_of(
    _record_form(
        "set",
        "Change a subscription",
        "Save",
        (
            Field("type", "Type", "choice", options=[(each, each) for each in TYPES]),
            Field("copies", "Copies of each issue", "number"),
            Field(
                "how",
                "Other copies",
                "choice",
                "What is left of a term has its copies: say how it comes to others.",
                options=[(name, label) for name, (_, label) in _HOW.items()],
            ),
            Field(
                "campaign",
                "Renewals",
                "choice",
                options=[("1", "Ask to renew"), ("0", "Do not ask")],
            ),
        ),
        _set,
        "It holds from the next issue on that is closed.",
        starts_empty=False,
    ),
    _record_form(
        "suspend",
        "Suspend a subscription",
        "Suspend",
        (_FROM, _TO._replace(hint="Until it is resumed if it is left empty.")),
        _suspend,
        "Issues dated in that time are skipped, and stay to come. Both days belong to it.",
    ),
    _record_form(
        "resume",
        "Resume a subscription",
        "Resume",
        (_FROM._replace(label="First day of service again"),),
        _resume,
        "Ends the suspension that lasts today, or else the next one.",
    ),
    _record_form(
        "cancel",
        "Cancel a subscription",
        "Cancel the subscription",
        (
            Field("when", "When", "choice", options=_WHEN),
            Field("after_issue", "After the issue", "choice"),
            Field("reason", "Reason", "choice"),
            Field(
                "refund",
                "Refund what is unearned, with its share of the tax",
                "check",
                action=Action.REFUND,
            ),
        ),
        _cancel,
        "No issue comes after the end, and nobody is asked to renew.",
        confirms=True,
        state=_cancelling,
        undo="It can be undone until the next issue after the end is closed.",
    ),
    _record_form(
        "uncancel",
        "Undo a cancelling",
        "Undo the cancelling",
        (),
        _uncancel,
        "Terms, issues, money and renewals are as before, until the next issue is closed.",
    ),
    _record_form(
        "extend",
        "Extend a subscription",
        "Extend",
        (
            Field(
                "issues", "Free issues", "number", "Such as for a copy that was lost in the mail."
            ),
        ),
        _extend,
    ),
    _record_form(
        "address", "Move a subscription", "Move", ADDRESS, _move, "For good, from now on."
    ),
    _record_form(
        "temporary-address",
        "A temporary address",
        "Save",
        (_FROM._replace(hint=""), _TO, *ADDRESS),
        _move_for_a_while,
        "Issues dated in that time go there.",
    ),
    _record_form(
        "usual-address",
        "The usual address again",
        "End the temporary address",
        (_FROM._replace(label="First day at the usual address"),),
        _go_back,
    ),
)
