"""Correcting a subscriber: name and email, an address where it stands, and two who are one."""

from collections.abc import Callable

from masthead.books import Books
from masthead.console.forms import Form
from masthead.console.pages.subscription import ADDRESS, address_in
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.store import Connection
from masthead.store.books import contact_details, merging_subscribers
from masthead.store.books.operation import Operation

__all__ = ["pages"]


def _edit(books: Operation, key: int, form: Form) -> str:
    values = {
        "first_name": form.text("first_name", "The first name", characters_max=50) or None,
        "last_name": form.text("last_name", "The last name", characters_max=50) or None,
        "email": form.text("email", "The email address", characters_max=50) or None,
    }
    if not form.is_good:
        return ""
    changed = contact_details.edit_subscriber(books, key, values)
    return "Saved." if changed else "It is so already: nothing changed."


def _address(connection: Connection, account_id: int, key: int) -> State:
    subscriber_id, values = contact_details.address_of(connection, account_id, key)
    return {**values, "subscriber_id": subscriber_id}


def _edit_address(books: Operation, key: int, form: Form) -> str:
    values = address_in(form)
    if not form.is_good:
        return ""
    changed = contact_details.edit_address(books, key, values)
    return "Saved." if changed else "It is so already: nothing changed."


def _merge(books: Operation, key: int, form: Form) -> str:
    kept = form.number("kept", "The number of the subscriber who is kept")
    if kept is None:
        form.refuse("kept", "The number of the subscriber who is kept is needed.")
        return ""
    merged = merging_subscribers.join(books, kept, key, keep_both=bool(form["keep_both"]))
    moved = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in merged.moved._asdict().items()
    )
    said = [f"Everything of subscriber {key} moves to {kept}: {moved}."]
    said += [
        f"Subscription {pair.other_id} is joined into {pair.subscription_id}: {pair.publication}, "
        f"{pair.type}."
        for pair in merged.united
    ]
    said += [
        f"Subscriptions {pair.subscription_id} and {pair.other_id} both go on: {pair.publication}, "
        f"{pair.type}."
        for pair in merged.apart
    ]
    return " ".join(said)


def _subscriber(key: int, _state: State) -> str:
    return f"/subscribers/{key}"


def _name(key: int, state: State) -> str:
    names = (str(state[each]) for each in ("first_name", "last_name") if state[each])
    return " ".join((*names, str(key)))


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
        _of(contact_details.names_of),
        _in(_edit),
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
        _of(_address),
        _in(_edit_address),
        lambda _key, state: f"/subscribers/{state['subscriber_id']}",
        lambda key, state: f"address {key} of subscriber {state['subscriber_id']}",
        "Where it stands, for all that goes there. To move a subscription, give it a new address.",
        starts_empty=False,
    ),
    RecordForm(
        "/subscribers/{id:int}/merge",
        "Merge two subscribers",
        "Merge",
        Action.SERVE,
        (
            Field("kept", "Number of the subscriber who is kept", "number"),
            Field(
                "keep_both",
                "Join no subscriptions",
                "check",
                "Where both have one of the same publication and type, both go on.",
            ),
        ),
        _of(contact_details.names_of),
        _in(_merge),
        _subscriber,
        _name,
        "Both are one person. Addresses, subscriptions, orders and answers move to the one who is "
        "kept; this one is then empty and deleted.",
        confirms=True,
    ),
)
