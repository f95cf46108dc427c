"""Acts: forms that change one record, such as suspending a subscription.

An act is opened with what its record is now; it is saved in one operation of the books, which first
looks whether somebody else has changed the record meanwhile. One that cannot be undone says before
what will happen: that is a dry run of the same operation. It is saved if that is still so.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from starlette.responses import Response

from masthead.console.forms import (
    Change,
    Form,
    StaleError,
    changed_since,
    seen_of,
    sentence,
    text_of,
)
from masthead.console.roles import Action
from masthead.console.visit import Page, Visit, get, post
from masthead.errors import MastheadError, NotFound
from masthead.store import Connection
from masthead.store.books.operation import Operation

__all__ = ["Act", "Choices", "Field", "pages_of"]

State = Mapping[str, object]


class Choices(list[tuple[str, str]]):
    """The values and words of a choice that the state of a record has, by the field's name."""


class Field(NamedTuple):
    """A field of an act's form; ``options`` are the values and words of a choice.

    Without them, a choice has those of the state (:class:`Choices`), and an empty one before.

    ``action``: the field is only for roles that may do this too.
    """

    name: str
    label: str
    kind: Literal["text", "email", "date", "number", "amount", "choice", "check"] = "text"
    hint: str = ""
    options: Sequence[tuple[str, str]] = ()
    required: bool = False
    action: Action | None = None


class Act(NamedTuple):
    """An act on a record that has an id in the path.

    ``state`` returns what the form shows or depends on, and raises NotFound if there is no such
    record; ``subject`` returns what the record is called. ``apply`` does it and returns what it has
    to say; it notes what is wrong with a field in the form. ``back`` is the page that follows, of
    the record's id and state. ``starts_empty``: the fields are not filled with the state.
    ``confirms``: it says first what will happen, and then ``undo``, how it can be undone.
    """

    path: str
    title: str
    button: str
    action: Action
    fields: Sequence[Field]
    state: Callable[[Connection, int, int], State]
    apply: Callable[[Operation, int, Form], str]
    back: Callable[[int, State], str]
    subject: Callable[[int, State], str]
    about: str = ""
    starts_empty: bool = True
    confirms: bool = False
    undo: str = ""


def pages_of(*acts: Act) -> list[Page]:
    """Return the pages of acts: each shows its form, and takes it."""
    return [page for act in acts for page in _pages(act)]


def _pages(act: Act) -> list[Page]:
    def show(visit: Visit) -> Response:
        with visit.reading() as connection:
            state = act.state(connection, visit.account_id, _id(visit))
        start = {} if act.starts_empty else {name: text_of(value) for name, value in state.items()}
        return _shown(visit, act, Form(start), state)

    def save(visit: Visit) -> Response:
        return _save(visit, act)

    return [get(act.path, show, act.action), post(act.path, save, act.action)]


def _save(visit: Visit, act: Act) -> Response:
    form, key = Form(visit.form), _id(visit)
    is_sure = not act.confirms or bool(form["sure"])
    said, changes, is_as_shown = "", list[Change](), True
    with visit.reading() as connection:
        state = act.state(connection, visit.account_id, key)
    for field in act.fields:
        if form[field.name] and field.action and not visit.may(field.action):
            form.refuse(field.name, f"As {visit.operator.role} you cannot {field.action.value}.")
            return _shown(visit, act, form, state, status=403)
    try:
        with form.refusing(), visit.operation(act.title.lower(), dry_run=not is_sure) as books:
            changed_since(form, act.state(books.connection, visit.account_id, key))
            said = act.apply(books, key, form)
            is_as_shown = not act.confirms or not is_sure or said == form["will"]
            if not form.is_good or not is_as_shown:
                raise _RefusedError
    except _RefusedError:
        pass
    except NotFound as error:
        form.refuse("", sentence(error))
    except StaleError as error:
        changes = error.changes
    if changes or not form.is_good:
        status = 409 if changes else 400
        return _shown(visit, act, form, state, status=status, changes=changes)
    if not is_as_shown:
        form.refuse("", "Something has changed meanwhile: look again at what will happen.")
        return _shown(visit, act, form, state, status=409, will=said)
    if not is_sure:
        return _shown(visit, act, form, state, will=said)
    return visit.go(act.back(key, state), said)


class _RefusedError(MastheadError):
    """Leaves the operation of a form that has errors."""


def _shown(
    visit: Visit,
    act: Act,
    form: Form,
    state: State,
    *,
    status: int = 200,
    changes: Sequence[Change] = (),
    will: str = "",
) -> Response:
    return visit.page(
        "act",
        status,
        act=act,
        form=form,
        choices={
            name: [("", ""), *found] for name, found in state.items() if isinstance(found, Choices)
        },
        seen=seen_of(state),
        changes=changes,
        will=will,
        back=act.back(_id(visit), state),
        subject=act.subject(_id(visit), state),
    )


def _id(visit: Visit) -> int:
    return int(visit.ids["id"])
