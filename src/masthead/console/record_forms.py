"""Record forms: each changes one record, such as suspending a subscription.

A record form opens with the record's current values. One operation of the books saves it. If
another operator has changed the record meanwhile, it keeps that operator's values of the fields
that this one did not touch, and asks about the others. If the change cannot be undone, the form
first previews the effect, with a dry run of the same operation. It saves only if the effect is
still the same.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from starlette.responses import Response

from masthead.books import Books
from masthead.console.forms import Form, sentence
from masthead.console.page_request import Page, PageRequest, get, post
from masthead.console.person_picker import is_finding, look_up_people
from masthead.console.roles import Action, refusal
from masthead.errors import MastheadError, NotFound
from masthead.web.forms import Change, Choices, StaleError, seen_of, take_over, text_of

__all__ = ["Choices", "Field", "RecordForm", "State", "pages_of"]

State = Mapping[str, object]

Kind = Literal["text", "email", "date", "number", "amount", "choice", "radios", "check", "person"]

_WORDS = {
    "cancellation": "How it ends",
    "cancelled_on": "Ends on",
}
"""What a form calls the values on which it depends, if their names are no words of clerks."""


class Field(NamedTuple):
    """A field of a record form; ``options`` are the values and labels of a choice or of radios.

    Without ``options``, a choice has an empty value and those of the state (:class:`Choices`). A
    person is chosen by name (``person_picker``).

    ``action``: only roles that may do this action see the field.
    """

    name: str
    label: str
    kind: Literal[
        "text", "email", "date", "number", "amount", "choice", "radios", "check", "person"
    ] = "text"
    hint: str = ""
    options: Sequence[tuple[str, str]] = ()
    action: Action | None = None


class RecordForm(NamedTuple):
    """A record form on a record that has an id in the path.

    ``fields`` are the fields, or a function that returns them for the record's state.
    ``state`` returns what the form shows or depends on, and raises NotFound if the record does not
    exist; ``subject`` returns the record's name. ``apply`` makes the change and returns its
    message; it records field errors in the form. ``back`` returns the page that follows, from the
    record's id and state. ``starts_empty``: the state does not fill the fields. ``confirms``: the
    form first shows the effect and, from ``undo``, how to undo it.
    """

    path: str
    title: str
    button: str
    action: Action
    fields: Sequence[Field] | Callable[[State], Sequence[Field]]
    state: Callable[[Books, int], State]
    apply: Callable[[Books, int, Form], str]
    back: Callable[[int, State], str]
    subject: Callable[[int, State], str]
    about: str = ""
    starts_empty: bool = True
    confirms: bool = False
    undo: str = ""

    def fields_for(self, state: State) -> Sequence[Field]:
        """Return the fields of the form for a record's state."""
        return self.fields(state) if callable(self.fields) else self.fields


def pages_of(*record_forms: RecordForm) -> list[Page]:
    """Return the pages of record forms: each shows its form and receives it."""
    return [page for record_form in record_forms for page in _pages(record_form)]


def _pages(record_form: RecordForm) -> list[Page]:
    def show(request: PageRequest) -> Response:
        with request.books.snapshot() as inside:
            state = record_form.state(inside, _id(request))
        start = (
            {}
            if record_form.starts_empty
            else {name: text_of(value) for name, value in state.items()}
        )
        return _shown(request, record_form, Form(start), state)

    def save(request: PageRequest) -> Response:
        return _save(request, record_form)

    return [
        get(record_form.path, show, record_form.action),
        post(record_form.path, save, record_form.action),
    ]


def _save(request: PageRequest, record_form: RecordForm) -> Response:
    form, key = Form(request.form), _id(request)
    is_sure = not record_form.confirms or bool(form["sure"])
    said, taken, changes, is_as_shown = "", list[str](), list[Change](), True
    with request.books.snapshot() as inside:
        state = record_form.state(inside, key)
    books = request.books_for(record_form.title.lower(), record_form.back(key, state))
    if not _may_type(request, record_form.fields_for(state), form) or is_finding(form):
        return _shown(request, record_form, form, state, status=200 if form.is_good else 403)
    try:
        with form.refusing(), books.together(dry_run=not is_sure) as inside:
            state = record_form.state(inside, key)
            names = {field.name for field in record_form.fields_for(state)}
            taken = take_over(form, state, names)
            said = sentence(record_form.apply(inside, key, form))
            is_as_shown = not record_form.confirms or not is_sure or said == form["will"]
            if not form.is_good or not is_as_shown:
                raise _RefusedError
    except _RefusedError:
        pass
    except NotFound as error:
        form.refuse("", sentence(error))
    except StaleError as error:
        changes = [_in_words(record_form, state, change) for change in error.changes]
    if changes or not form.is_good:
        status = 409 if changes else 400
        return _shown(request, record_form, form, state, status=status, changes=changes)
    if not is_as_shown:
        form.refuse("", "Something has changed meanwhile: look again at what will happen.")
        return _shown(request, record_form, form, state, status=409, will=said)
    if not is_sure:
        return _shown(request, record_form, form, state, will=said)
    if taken:
        fields = record_form.fields_for(state)
        labels = [field.label for field in fields if field.name in taken]
        said += f" Somebody else changed {', '.join(labels)} meanwhile, and that stays."
    return request.go(record_form.back(key, state), said)


def _may_type(request: PageRequest, fields: Sequence[Field], form: Form) -> bool:
    """Return whether the role may fill all fields of the form that are filled."""
    for field in fields:
        if form[field.name] and field.action and not request.may(field.action):
            form.refuse(field.name, refusal(request.operator.role, field.action))
    return form.is_good


class _RefusedError(MastheadError):
    """Raised to leave the operation of a form that has errors."""


def _in_words(record_form: RecordForm, state: State, change: Change) -> Change:
    """Return a change with the label of its field, and with the labels of a choice."""
    fields = record_form.fields_for(state)
    field = next((each for each in fields if each.name == change.field), None)
    if field is None:
        label = _WORDS.get(change.field) or change.field.replace("_", " ").capitalize()
        return change._replace(field=label, typed="")
    choices = state.get(field.name)
    labels = dict(choices if isinstance(choices, Choices) else field.options)
    if field.kind == "check":
        labels = {"": "no", "1": "yes"}
    _, *texts = change
    return Change(field.label, *(labels.get(text, text) for text in texts))


def _shown(
    request: PageRequest,
    record_form: RecordForm,
    form: Form,
    state: State,
    *,
    status: int = 200,
    changes: Sequence[Change] = (),
    will: str = "",
) -> Response:
    people = [f.name for f in record_form.fields_for(state) if f.kind == "person"]
    look_up_people(request.books, form, *people)
    return request.page(
        "record_form",
        status,
        record_form=record_form,
        fields=record_form.fields_for(state),
        form=form,
        choices={
            name: [("", ""), *found] for name, found in state.items() if isinstance(found, Choices)
        },
        seen=seen_of(state),
        changes=changes,
        will=will,
        back=record_form.back(_id(request), state),
        subject=record_form.subject(_id(request), state),
    )


def _id(request: PageRequest) -> int:
    return int(request.ids["id"])
