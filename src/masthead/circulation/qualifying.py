"""Who qualifies for a free title: the rules of forms, answers and audit classes.

All days are ``YYYY-MM-DD``.
"""

import json
from calendar import monthrange
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from masthead.contract.printable import printable

UNCLASSIFIED = "unclassified"
"""The code of the last class of each publication, which has no condition."""

REQUEST_TYPES = (
    ("written", "Request in writing", 1),
    ("telephone", "Request by telephone", 1),
    ("web", "Request on the web", 1),
    ("company", "By the company", 0),
    ("association", "Member of an association", 0),
    ("directory", "From a directory", 0),
    ("list", "From another list", 0),
)
"""The request types of an account at first: code, name, and whether the reader asked."""

TEXT_MAX = 2_000
"""The most characters of an answer in words."""

SEVERAL = "checkbox"
"""The type of a field with several answers."""

IN_WORDS = ("text", "textarea")
"""The types of fields that are answered in words."""


class Answer(NamedTuple):
    """The answer to a question: the ids of options in ascending order, and words."""

    options: tuple[int, ...] = ()
    text: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was answered."""
        return not self.options and not self.text


def shown(display_as: object, name: object) -> str:
    """Return what readers are shown of a field or an option: ``display_as``, else its name."""
    return str(display_as or name or "")


def told_apart(names: Mapping[int, str], what: str) -> dict[int, str]:
    """Return names by their ids, each another one: if they are equal or empty, with the id.

    ``what`` is what they name, such as ``field``.
    """
    counts = Counter(names.values())
    return {
        key: name if name and counts[name] == 1 else f"{name} ({what} {key})".strip()
        for key, name in names.items()
    }


def said_of(question: str, said: str) -> str:
    """Return a question with what is said of it: ``job: Owner``, or ``What is your job? Owner``."""
    return f"{question} {said}" if question.endswith("?") else f"{question}: {said}"


class Words(NamedTuple):
    """What readers are shown of the custom fields of an account and their options, by the ids.

    ``disqualifying`` are the options that disqualify.
    """

    questions: Mapping[int, str] = {}
    options: Mapping[int, str] = {}
    disqualifying: Collection[int] = ()

    def of(self, answers: str | None) -> list[tuple[str, str]]:
        """Return stored answers as pairs of a question and what was answered."""
        return [
            (
                self.questions.get(field_id, f"field {field_id}"),
                ", ".join(
                    [self.options.get(each, f"option {each}") for each in answer.options]
                    + [answer.text] * bool(answer.text)
                ),
            )
            for field_id, answer in answers_of(answers).items()
        ]

    def disqualifying_in(self, answers: str | None) -> list[str]:
        """Return the options of stored answers that disqualify."""
        return [
            self.options[each]
            for answer in answers_of(answers).values()
            for each in answer.options
            if each in self.disqualifying
        ]


class Option(NamedTuple):
    """An option of a question, by its words; ``disqualifies`` those who choose it."""

    option_id: int
    value: str
    display_as: str
    disqualifies: bool
    is_active: bool

    @property
    def words(self) -> str:
        """What readers are shown."""
        return shown(self.display_as, self.value)


class Question(NamedTuple):
    """A question of a form; ``name`` is that of its field, ``words`` is what readers are shown."""

    field_id: int
    name: str
    words: str
    type: str
    is_required: bool
    allows_other: bool
    options: tuple[Option, ...]

    @property
    def active_options(self) -> tuple[Option, ...]:
        """The options that are offered: not those that the publisher retired."""
        return self.options_for(())

    def options_for(self, chosen: Collection[int]) -> tuple[Option, ...]:
        """The options that are offered to who has ``chosen`` some: a retired one stays theirs."""
        return tuple(each for each in self.options if each.is_active or each.option_id in chosen)


class AuditClass(NamedTuple):
    """An audit class of a publication, with its conditions: options by the id of the field.

    ``quota`` is the most copies of an issue, None for no ceiling.
    """

    audit_class_id: int
    position: int
    code: str
    name: str
    is_served: bool
    quota: int | None
    conditions: Mapping[int, frozenset[int]]

    def holds(self, answers: Mapping[int, Answer]) -> bool:
        """Return whether all its conditions hold: one of the options of each was answered."""
        return all(
            not options.isdisjoint(answers.get(field_id, Answer()).options)
            for field_id, options in self.conditions.items()
        )


class RefusedAnswer(NamedTuple):
    """Why an answer is refused: the question by its name, and a sentence that goes on from it.

    ``name`` is empty if the form does not have the question.
    """

    field_id: int
    name: str
    why: str

    @property
    def sentence(self) -> str:
        """The reason with the name of the question."""
        return printable(f"{self.name}: {self.why}" if self.name else self.why)


def valid_until(day: str, months: int) -> str:
    """Return the last day of a qualification of a day: so many months, less a day.

    Where the month has no such day, it ends with the month.
    """
    given = date.fromisoformat(day)
    whole = given.year * 12 + given.month - 1 + months
    year, month = divmod(whole, 12)
    if year > date.max.year:
        return f"{date.max}"
    last = monthrange(year, month + 1)[1]
    return f"{date(year, month + 1, min(given.day, last)) - timedelta(days=1)}"


def class_of(classes: Iterable[AuditClass], answers: Mapping[int, Answer]) -> AuditClass | None:
    """Return the first class whose conditions hold; None if there is none."""
    return next((each for each in classes if each.holds(answers)), None)


def is_disqualified(questions: Iterable[Question], answers: Mapping[int, Answer]) -> bool:
    """Return whether an option was chosen that disqualifies."""
    return any(
        option.disqualifies and option.option_id in answers[question.field_id].options
        for question in questions
        if question.field_id in answers
        for option in question.options
    )


def refused_answers(
    questions: Sequence[Question], answers: Mapping[int, Answer]
) -> list[RefusedAnswer]:
    """Return why answers are refused, in the order of the form; an empty list if none is."""
    known = {each.field_id for each in questions}
    found = [
        RefusedAnswer(field_id, "", f"the form does not ask for field {field_id}")
        for field_id in sorted(answers.keys() - known)
    ]
    for question in questions:
        answer = answers.get(question.field_id, Answer())
        if why := _why_refused(question, answer):
            found.append(RefusedAnswer(question.field_id, question.name, why))
    return found


def _why_refused(question: Question, answer: Answer) -> str | None:
    if answer.is_empty:
        return "it has to be answered" if question.is_required else None
    unknown = set(answer.options) - {each.option_id for each in question.options}
    if unknown:
        return f"it has no option {min(unknown)}"
    if len(answer.text) > TEXT_MAX:
        return f"the answer is longer than {TEXT_MAX:,} characters"
    if answer.text and question.type not in IN_WORDS and not question.allows_other:
        return "it has no other answer than its options"
    if len(answer.options) + bool(answer.text) > 1 and question.type != SEVERAL:
        return "it has one answer"
    return None


def answers_text(answers: Mapping[int, Answer]) -> str:
    """Return answers as they are stored: JSON, sorted by field, without empty ones."""
    return json.dumps(
        {
            str(field_id): {"options": list(answer.options), "text": answer.text}
            for field_id, answer in sorted(answers.items())
            if not answer.is_empty
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def answers_of(text: str | None) -> dict[int, Answer]:
    """Return stored answers by the id of the field."""
    return {
        int(field_id): Answer(tuple(answer["options"]), answer["text"])
        for field_id, answer in json.loads(text or "{}").items()
    }


def answer(options: Collection[int] = (), text: str = "") -> Answer:
    """Return an answer with its options in ascending order, each once."""
    return Answer(tuple(sorted(set(options))), text.replace("\r\n", "\n").strip())
