"""Correcting a subscriber: name and email, and an address in place."""

from collections.abc import Mapping, Sequence

from masthead.books import Books, subscribers
from masthead.books.subscribers import Edited
from masthead.console.forms import Form
from masthead.console.pages.subscription import ADDRESS, address_in
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.contract.printable import counted, full_name, listed

_CALLED = {field.name: field.label.lower() for field in (*ADDRESS, Field("email", "Email"))}


def _reader(books: Books, key: int) -> State:
    labels = subscribers.labels(books, key)
    return {
        **subscribers.names(books, key),
        "labels": labels,
        **({"labels_too": "1"} if labels else {}),
    }


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
    if values["email"] != subscribers.names(books, key)["email"]:
        form.check_email("email")
    if not form.is_good:
        return ""
    done = subscribers.edit(books, key, values, labels_too=bool(form["labels_too"]))
    return _told(done, _name(key, values))


def _told(done: Edited, what: str) -> str:
    """Return what is said about a correction of the reader or address that is called ``what``."""
    if not done.changed:
        return f"{what}: this is what was there already"
    labels = f" on {counted(done.labels, 'address', 'addresses')} too" if done.labels else ""
    return f"{what}: corrected the {listed([_CALLED[name] for name in done.changed])}{labels}"


def _address(books: Books, key: int) -> State:
    found = subscribers.address(books, key)
    return {
        **found.fields,
        "subscriber_id": found.subscriber_id,
        "goes_there": found.goes_there or "nothing yet",
    }


def _edit_address(books: Books, key: int, form: Form) -> str:
    values = address_in(form)
    if not form.is_good:
        return ""
    return _told(subscribers.edit_address(books, key, values), "The address")


def _subscriber(key: int, _state: State) -> str:
    return f"/subscribers/{key}"


def _name(_key: int, state: Mapping[str, object]) -> str:
    return full_name(state) or str(state["email"] or "") or "the reader"


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
