"""Correcting a subscriber: name and email, and an address in place."""

from masthead.books import Books, subscribers
from masthead.console.forms import Form
from masthead.console.pages.subscription import ADDRESS, address_in
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action


def _edit(books: Books, key: int, form: Form) -> str:
    values = {name: form[name] or None for name in ("first_name", "last_name", "email")}
    return subscribers.edit(books, key, values).sentence


def _address(books: Books, key: int) -> State:
    found = subscribers.address(books, key)
    return {**found.fields, "subscriber_id": found.subscriber_id}


def _edit_address(books: Books, key: int, form: Form) -> str:
    values = address_in(form)
    return subscribers.edit_address(books, key, values).sentence if form.is_good else ""


def _subscriber(key: int, _state: State) -> str:
    return f"/subscribers/{key}"


def _name(key: int, state: State) -> str:
    names = (str(state[each]) for each in ("first_name", "last_name") if state[each])
    return " ".join((*names, str(key)))


pages = pages_of(
    RecordForm(
        "/subscribers/{id:int}/edit",
        "Correct a subscriber",
        "Save",
        Action.SERVE,
        (
            Field("first_name", "First name"),
            Field("last_name", "Last name"),
            Field("email", "Email", "email"),
        ),
        subscribers.names,
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
        lambda key, state: f"address {key} of subscriber {state['subscriber_id']}",
        "Where it stands, for all that goes there. To move a subscription, give it a new address.",
        starts_empty=False,
    ),
)
