"""The form of the efforts of a publication: one is chosen, and set or removed.

Renewal letters and the efforts that ask readers to qualify again have one each.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from masthead.books import Books, efforts
from masthead.console.forms import Form, sentence
from masthead.console.page_request import Page
from masthead.console.record_forms import Choices, Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.errors import BadInput


class EffortForm(NamedTuple):
    """What differs between the kinds of efforts.

    ``noun`` is what the console calls an effort, such as ``letter``. ``fields`` are those of an
    effort beside its number. ``known`` returns the efforts of a publication in words, by their
    numbers, and raises NotFound if the publication can have none. ``choices`` are those of the
    fields. ``put`` sets an effort of a publication to what the form says, or says in the form what
    is wrong.
    """

    kind: efforts.Kind[Any]
    path: str
    back: str
    title: str
    noun: str
    about: str
    fields: Sequence[Field]
    name: Callable[[Books, int], str]
    known: Callable[[Books, int], Mapping[int, str]]
    choices: Callable[[Books], State]
    put: Callable[[Books, int, int, Form], None]


def effort_pages(of: EffortForm) -> list[Page]:
    """Return the pages of the form."""

    def state(books: Books, key: int) -> State:
        known = of.known(books, key)
        numbers = range(1, max(known, default=0) + 2)
        chosen = [(str(n), f"{_named(of, n)}: {known.get(n, 'a new one')}") for n in numbers]
        return {
            "effort": Choices(chosen),
            "publication": of.name(books, key),
            **of.choices(books),
        }

    return pages_of(
        RecordForm(
            of.path,
            of.title,
            "Save",
            Action.RENEW,
            (
                Field("effort", of.noun.capitalize(), "choice"),
                *of.fields,
                Field("remove", f"Remove this {of.noun}", "check"),
            ),
            state,
            lambda books, key, form: _apply(of, books, key, form),
            lambda _key, _state: of.back,
            lambda _key, state: str(state["publication"]),
            of.about,
        )
    )


def _apply(of: EffortForm, books: Books, key: int, form: Form) -> str:
    number = form.number("effort", f"The {of.noun}")
    if number is None:
        form.refuse("effort", f"Say which {of.noun}.")
        return ""
    try:
        if form["remove"]:
            efforts.remove(books, of.kind, key, number)
            return f"{of.noun} {number} was removed"
        of.put(books, key, number, form)
    except BadInput as error:
        said = sentence(error).replace("effort ", f"{of.noun} ")
        raise BadInput(said.replace("Effort ", f"{of.noun.capitalize()} ")) from error
    return f"{_named(of, number)}: {of.known(books, key)[number]}" if form.is_good else ""


def _named(of: EffortForm, number: int) -> str:
    return f"{of.noun.capitalize()} {number}"
