"""Correcting a subscriber: name and email, and an address in place."""

from collections.abc import Sequence

from masthead.books import Books, subscribers
from masthead.console.forms import Form
from masthead.console.pages.subscription import ADDRESS, address_in
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action


def _reader(books: Books, key: int) -> State:
    return {**subscribers.names(books, key), "labels": subscribers.labels(books, key)}


def _fields(state: State) -> Sequence[Field]:
    fields = [
        Field("first_name", "First name"),
        Field("last_name", "Last name"),
        Field("email", "Email", "email"),
    ]
    if state["labels"]:
        addresses = "address" if state["labels"] == 1 else f"{state['labels']} addresses"
        fields.append(
            Field(
                "labels_too",
                "The name on the labels too",
                "check",
                f"The {addresses} of the reader with the same name.",
            )
        )
    return fields


def _edit(books: Books, key: int, form: Form) -> str:
    values = {name: form[name] or None for name in ("first_name", "last_name", "email")}
    return subscribers.edit(books, key, values, labels_too=bool(form["labels_too"])).sentence


def _address(books: Books, key: int) -> State:
    found = subscribers.address(books, key)
    return {
        **found.fields,
        "subscriber_id": found.subscriber_id,
        "goes_there": found.goes_there or "nothing yet",
    }


def _edit_address(books: Books, key: int, form: Form) -> str:
    values = address_in(form)
    return subscribers.edit_address(books, key, values).sentence if form.is_good else ""


def _subscriber(key: int, _state: State) -> str:
    return f"/subscribers/{key}"


def _name(key: int, state: State) -> str:
    names = (str(state[each]) for each in ("first_name", "last_name") if state[each])
    return " ".join(names) or str(key)


pages = pages_of(
    RecordForm(
        "/subscribers/{id:int}/edit",
        "Correct a subscriber",
        "Save",
        Action.SERVE,
        _fields,
        _reader,
        _edit,
        _subscriber,
        _name,
        starts_empty=False,
    ),
    RecordForm(
        "/addresses/{id:int}/edit",
        "Correct an address",
        "Save",
        Action.SERVE,
        ADDRESS,
        _address,
        _edit_address,
        lambda _key, state: f"/subscribers/{state['subscriber_id']}",
        lambda _key, state: f"to which go: {state['goes_there']}",
        "A mistake in the address, for all that goes there. If the reader has moved, use Move.",
        starts_empty=False,
    ),
)
