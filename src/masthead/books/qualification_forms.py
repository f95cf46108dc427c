"""Forms of free titles: what is asked, which classes are served, and how requests come.

Fields and options are custom fields of the account, named by their names; classes name them too, so
that the same file fits another account (decisions, "Classes that change").
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from masthead.books.account import Books
from masthead.circulation.qualifying import (
    IN_WORDS,
    UNCLASSIFIED,
    Answer,
    AuditClass,
    Option,
    Question,
    answer,
)
from masthead.contract.printable import counted, is_name, printable, single_spaced
from masthead.contract.qualification import FILLS, MONTHS_MAX
from masthead.contract.subscription_types import TYPES
from masthead.errors import BadInput
from masthead.store.books import qualification_forms as stored
from masthead.store.books import qualifications
from masthead.store.books.operation import Operation
from masthead.store.books.qualification_forms import Field, Form, RequestType
from masthead.store.database import Value

__all__ = [
    "Asked",
    "Form",
    "FormValues",
    "GivenClass",
    "Reclassified",
    "RequestType",
    "SetForm",
    "add_request_type",
    "form",
    "forms",
    "option_named",
    "publications",
    "question_named",
    "read_answers",
    "request_types",
    "set_classes",
    "set_form",
]

QUOTA_MAX = 1_000_000_000
_CODE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,29}")
_CODE_WORDS = "lower-case letters, digits, '.', '-' and '_', at most 30"
_TEXT_MAX = 2_000
_NAME_MAX = 80

Thing = TypeVar("Thing", Field, Question, Option)


class Asked(NamedTuple):
    """A question of a form: the name of its field, and how it is answered."""

    field: str
    is_required: bool = False
    allows_other: bool = False


class FormValues(NamedTuple):
    """What a form is to be; None leaves what there is.

    ``questions`` replace all. ``fills`` is by what quotas are filled. ``type`` is that of the
    subscriptions that begin.
    """

    questions: Sequence[Asked] | None = None
    months: int | None = None
    fills: str | None = None
    type: str | None = None
    agreed_text: str | None = None


class GivenClass(NamedTuple):
    """An audit class: options by the name of their field, all of which must hold.

    ``quota`` is the most copies of an issue, None for no ceiling.
    """

    code: str
    name: str = ""
    is_served: bool = True
    quota: int | None = None
    conditions: Mapping[str, Sequence[str]] = {}


class SetForm(NamedTuple):
    """A form as it is now."""

    form: Form
    is_new: bool

    @property
    def sentence(self) -> str:
        """What the form asks, and how long a qualification is valid."""
        form = self.form
        done = "has a form" if self.is_new else "has another form"
        asked = counted(len(form.questions), "question")
        return (
            f"publication {form.publication_id} ({form.publication}) {done}: {asked}, valid for "
            f"{counted(form.months, 'month')}, quotas filled by {form.fills}, {form.type}"
        )


class Reclassified(NamedTuple):
    """The classes of a publication, and how many subscriptions have another one than before."""

    publication_id: int
    publication: str
    classes: int
    moved: int

    @property
    def sentence(self) -> str:
        """How many classes there are, and how many subscriptions moved."""
        moved = counted(self.moved, "subscription")
        return (
            f"publication {self.publication_id} ({self.publication}) has "
            f"{counted(self.classes, 'audit class', 'audit classes')}; {moved} came to another one"
        )


class AddedType(NamedTuple):
    """A request type that was added."""

    code: str
    name: str
    is_request: bool

    @property
    def sentence(self) -> str:
        """Its code and name, and whether the reader asks."""
        asks = "the reader asks" if self.is_request else "the reader does not ask"
        return f"request type {self.code} ({self.name}) was added: {asks}"


def form(books: Books, publication_id: int) -> Form:
    """Return the form of a publication, with its classes. Raises NotFound if it has none."""
    with books.read() as reading:
        return stored.form_of(reading, publication_id)


def forms(books: Books) -> list[Form]:
    """Return the forms of all publications."""
    with books.read() as reading:
        return stored.forms(reading)


def publications(books: Books) -> list[int]:
    """Return the ids of the publications that have a form."""
    with books.read() as reading:
        return stored.publications(reading)


def request_types(books: Books) -> list[RequestType]:
    """Return the request types of the account in their order."""
    with books.read() as reading:
        return stored.request_types(reading)


def set_form(
    books: Books, publication_id: int, given: FormValues, *, dry_run: bool = False
) -> SetForm:
    """Add a form to a publication, or change it.

    Qualifications of before stay valid as long as they were. Raises NotFound for an unknown
    publication, and BadInput, with the ``field``, for a field that there is not or that is asked
    twice, and for values out of their limits.
    """
    values = _values(given)
    with books.change(dry_run=dry_run) as change:
        is_new = stored.find_form(change, publication_id) is None
        asked = None if given.questions is None else _asked(change, given.questions)
        if asked is not None:
            _check_conditions(change, publication_id, {key for key, *_ in asked})
        stored.write_form(change, publication_id, values, asked)
        done = SetForm(stored.form_of(change, publication_id), is_new)
        change.say(done.sentence)
    return done


def _check_conditions(change: Operation, publication_id: int, fields: Collection[int]) -> None:
    """Raise BadInput if a class needs an answer that the form would not ask."""
    for each in stored.classes_of(change, publication_id):
        if not each.conditions.keys() <= set(fields):
            raise BadInput(
                f"the class {each.code} needs an answer that the form would not ask any more: "
                "change the classes first",
                field="questions",
            )


def _values(given: FormValues) -> dict[str, Value]:
    months, fills, type_ = given.months, given.fills, given.type
    if months is not None and not 1 <= months <= MONTHS_MAX:
        raise BadInput(
            f"{months} months: a qualification is valid for 1 to {MONTHS_MAX} months",
            field="months",
        )
    if fills is not None and fills not in FILLS:
        raise BadInput(f"{fills!r}: a quota is filled by {', '.join(FILLS)}", field="fills")
    if type_ is not None and type_ not in TYPES:
        raise BadInput(f"{type_!r} is not one of {', '.join(TYPES)}", field="type")
    values: dict[str, Value] = {"months": months, "fills": fills, "type": type_}
    values = {name: value for name, value in values.items() if value is not None}
    if given.agreed_text is not None:
        values["agreed_text"] = _text(given.agreed_text)
    return values


def _text(text: str) -> str | None:
    text = text.replace("\r\n", "\n").strip()
    if len(text) > _TEXT_MAX:
        raise BadInput(f"the text that readers agree to is longer than {_TEXT_MAX:,} characters")
    return text or None


def _asked(change: Operation, questions: Sequence[Asked]) -> list[tuple[int, bool, bool]]:
    known = stored.fields(change)
    found = [
        (_field_named(known, each.field).field_id, each.is_required, each.allows_other)
        for each in questions
    ]
    ids = [key for key, *_ in found]
    for each, key in zip(questions, ids, strict=True):
        if ids.count(key) > 1:
            raise BadInput(f"the field {each.field!r} is asked twice", field="questions")
    return found


def _field_named(known: Sequence[Field], name: str) -> Field:
    found = _named(known, name, lambda each: (each.name, each.display_as))
    if found is not None:
        return found
    raise BadInput(
        f"there is no custom field {name!r}, or several: those of the account are "
        f"{printable(', '.join(each.name for each in known)) or 'none yet'}",
        field="questions",
    )


def question_named(form: Form, name: str) -> Question:
    """Return the question of a form by the name of its field, or by what readers are shown.

    Raises BadInput if there is none, or several.
    """
    found = _named(form.questions, name, lambda each: (each.name, each.words))
    if found is not None:
        return found
    raise BadInput(
        f"the form of {printable(form.publication)} does not ask for {name!r}: it asks for "
        f"{printable(', '.join(each.name for each in form.questions)) or 'nothing yet'}",
        field="answers",
    )


def option_named(question: Question, name: str) -> Option | None:
    """Return the option of a question by its value, or by what readers are shown; None: none."""
    return _named(question.options, name, lambda each: (each.value, each.display_as))


def _named(
    things: Sequence[Thing], name: str, names: Callable[[Thing], tuple[str, str]]
) -> Thing | None:
    """Return the thing whose first name it is, or else its second one; None for none or several."""
    text = single_spaced(name)
    found = [each for each in things if single_spaced(names(each)[0]) == text]
    found = found or [each for each in things if single_spaced(names(each)[1]) == text]
    return found[0] if len(found) == 1 else None


def _names_of_options(question: Question) -> str:
    return ", ".join(each.value or each.display_as for each in question.options)


def read_answers(form: Form, given: Iterable[tuple[str, str]]) -> dict[int, Answer]:
    """Return answers by the id of the field, from pairs of a field and an answer by their names.

    What is no option is an answer in words; several make one line, as the pages have for it. Raises
    BadInput for a field that the form does not ask, and for words where only options are.
    """
    found: dict[int, tuple[set[int], list[str]]] = {}
    for name, text in given:
        question = question_named(form, name)
        options, words = found.setdefault(question.field_id, (set(), []))
        option = option_named(question, text)
        if option is not None:
            options.add(option.option_id)
        elif question.type in IN_WORDS or question.allows_other:
            words.append(text)
        else:
            raise BadInput(
                f"{printable(question.name)} has no option {text!r}: its options are "
                f"{printable(_names_of_options(question)) or 'none'}",
                field="answers",
            )
    return {
        key: answer(options, ", ".join(filter(None, words)))
        for key, (options, words) in found.items()
    }


def set_classes(
    books: Books, publication_id: int, classes: Sequence[GivenClass], *, dry_run: bool = False
) -> Reclassified:
    """Replace the audit classes of a publication, all of them or none.

    The last one takes those who are in no other; it is added if it is missing. Subscriptions come
    to the class of their newest answers at once; what was added before, and the reports of closed
    issues, stay as they are. Raises NotFound if the publication has no form, and BadInput for a
    wrong code, name, quota or condition.
    """
    with books.change(dry_run=dry_run) as change:
        form = stored.form_of(change, publication_id)
        stored.replace_classes(change, publication_id, _classes(form, classes))
        moved = qualifications.reclassify(change, publication_id)
        count = len(stored.classes_of(change, publication_id))
        done = Reclassified(publication_id, form.publication, count, moved)
        change.say(done.sentence)
    return done


def _classes(form: Form, given: Sequence[GivenClass]) -> list[AuditClass]:
    found: list[AuditClass] = []
    for each in given:
        try:
            _check_class(each, [one.code for one in found])
            conditions = {
                key: ids
                for name, options in each.conditions.items()
                for key, ids in [_condition(form, name, options)]
            }
        except BadInput as error:
            raise BadInput(f"class {each.code!r}: {error}", field="classes") from error
        name = single_spaced(each.name) or each.code
        found.append(AuditClass(0, 0, each.code, name, each.is_served, each.quota, conditions))
    if not found or found[-1].code != UNCLASSIFIED:
        found.append(AuditClass(0, 0, UNCLASSIFIED, "Unclassified", True, None, {}))
    return found


def _check_class(given: GivenClass, before: Sequence[str]) -> None:
    if not _CODE.fullmatch(given.code):
        raise BadInput(f"a code has {_CODE_WORDS}")
    if given.code in before:
        raise BadInput("it stands there twice")
    if UNCLASSIFIED in before:
        raise BadInput(f"{UNCLASSIFIED!r} takes all others, so it is the last class")
    if given.quota is not None and not 0 <= given.quota <= QUOTA_MAX:
        raise BadInput("a quota is a number of copies, 0 or more")
    if given.code == UNCLASSIFIED and given.conditions:
        raise BadInput("it takes all others, so it has no condition")
    if given.code != UNCLASSIFIED and not given.conditions:
        raise BadInput(f"it has no condition, which only {UNCLASSIFIED!r} may lack")
    if len(given.name) > _NAME_MAX:
        raise BadInput(f"a name has at most {_NAME_MAX} characters")


def _condition(form: Form, name: str, options: Sequence[str]) -> tuple[int, frozenset[int]]:
    question = question_named(form, name)
    found = {each: option_named(question, each) for each in options}
    missing = [each for each, option in found.items() if option is None]
    if missing or not options:
        what = f"no option {missing[0]!r}" if missing else "no option that would hold"
        raise BadInput(
            f"{name!r} has {what}: its options are "
            f"{printable(_names_of_options(question)) or 'none'}"
        )
    return question.field_id, frozenset(each.option_id for each in found.values() if each)


def add_request_type(
    books: Books, code: str, name: str, *, is_request: bool = True, dry_run: bool = False
) -> AddedType:
    """Add a request type to the account, after the others.

    Raises BadInput for a code that is wrong or there already, and for a name that is too long.
    """
    name = single_spaced(name)
    if not _CODE.fullmatch(code):
        raise BadInput(f"{code!r}: the code of a request type has {_CODE_WORDS}", field="code")
    if not name or not is_name(name, _NAME_MAX):
        raise BadInput(f"a name has 1 to {_NAME_MAX} characters", field="name")
    with books.change(dry_run=dry_run) as change:
        stored.add_first_request_types(change)
        if code in {each.code for each in stored.request_types(change)}:
            raise BadInput(f"there is a request type {code} already", field="code")
        stored.add_request_type(change, code, name, is_request=is_request)
        done = AddedType(code, name, is_request)
        change.say(done.sentence)
    return done
