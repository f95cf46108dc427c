"""A complaint about an issue of a subscription, and its answer."""

from masthead.books import Books, complaints, subscriptions
from masthead.console.forms import Form
from masthead.console.pages.replacements import issues_in
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.contract.printable import counted, full_name
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput

_KINDS: dict[complaints.Kind, str] = {
    "lost": "It did not come",
    "damaged": "It came damaged",
    "late": "It came late",
    "other": "Something else",
}
_ANSWERS: dict[complaints.Answer, str] = {
    "extended": "A free issue at the end",
    "sent_again": "The issue is sent again",
    "nothing": "Nothing, only note it",
}


def _state(books: Books, key: int) -> State:
    fields = subscriptions.show(books, key).fields
    found = complaints.received(books, key)
    if not found.issues:
        raise BadInput("no issue came yet, so a complaint is about none: write a note instead")
    return {
        "issue": issues_in(found.issues),
        "issues_left": fields["issues"],
        "complaints": found.complaints,
        "cancelled_on": fields["cancelled_on"],
        "subscriber_id": fields["subscriber_id"],
        "publication": fields["publication"],
        "name": full_name(fields),
    }


def _answer(books: Books, key: int, form: Form) -> str:
    issue = form.number("issue", "The issue")
    kind = form.choice("kind", "What was wrong", tuple(_KINDS))
    answer = form.choice("answer", "The answer", tuple(_ANSWERS))
    if issue is None:
        form.refuse("issue", "Say which issue it is about.")
    if issue is None or not form.is_good:
        return ""
    done = complaints.answer(
        books,
        key,
        issue,
        next(each for each in _KINDS if each == kind),
        next(each for each in _ANSWERS if each == answer),
        form["text"],
    )
    fields = subscriptions.show(books, key).fields
    said = f"The complaint about {done.issue} was noted"
    if answer == "sent_again":
        return f"{said}, and the issue is sent again"
    if answer == "extended" and fields["issues"] != UNLIMITED:
        left = counted(int(str(fields["issues"])), "issue is", "issues are")
        return f"{said}, and the subscription has a free issue more: {left} left"
    return said


pages = pages_of(
    RecordForm(
        "/subscriptions/{id:int}/complaint",
        "Note a complaint",
        "Note the complaint",
        Action.SERVE,
        (
            Field("issue", "About the issue", "choice"),
            Field("kind", "What was wrong", "choice", options=[*_KINDS.items()]),
            Field("answer", "What the reader gets", "choice", options=[*_ANSWERS.items()]),
            Field("text", "What the reader said", hint="It may stay empty."),
        ),
        _state,
        _answer,
        lambda _key, state: f"/subscribers/{state['subscriber_id']}",
        lambda _key, state: f"{state['name']}, {state['publication']}".lstrip(", "),
    )
)
