"""Questions with options as fields of a form, and the answers in what the form sent.

A question has the field ``q`` with its id. Several options have a field each, such as ``q3_12``.
Another answer than the options has the field ``q3_other``.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from masthead.web.forms import Form

_KINDS = {"checkbox": "many", "select": "one", "radio": "one", "textarea": "area"}


class Option(Protocol):
    """A preset answer."""

    @property
    def option_id(self) -> int:
        """Its id."""

    @property
    def words(self) -> str:
        """What it says."""


class Question(Protocol):
    """A question as the books know it; ``type`` is that of a custom field."""

    @property
    def field_id(self) -> int:
        """Its id."""

    @property
    def words(self) -> str:
        """What it asks."""

    @property
    def type(self) -> str:
        """How it is answered, such as ``checkbox``."""

    @property
    def options(self) -> Sequence[Option]:
        """The preset answers."""

    @property
    def allows_other(self) -> bool:
        """Whether another answer is possible."""


class QuestionShown(NamedTuple):
    """A question as its field shows it; ``options`` are the value and the text of each.

    ``kind`` is many, one, area or text. ``hint`` stands above its field. ``other`` is the label of
    the field of another answer, '' for none, and ``other_hint`` its hint.
    """

    name: str
    kind: str
    label: str
    options: list[tuple[str, str]]
    is_required: bool
    hint: str
    other: str
    other_hint: str


def name_of(field_id: object) -> str:
    """Return the name of the field of a question."""
    return f"q{field_id}"


def question_shown(
    each: Question,
    options: Iterable[Option],
    *,
    is_required: bool = False,
    hint: str = "",
    other: str,
    other_hint: str = "",
) -> QuestionShown:
    """Return a question with the options that are offered, as its field shows it.

    ``other`` and ``other_hint`` are for a question that allows another answer.
    """
    kind = _kind(each)
    choices = [(str(one.option_id), one.words) for one in options]
    if kind == "one":
        choices.insert(0, ("", ""))
    if not each.allows_other or kind not in {"many", "one"}:
        other = ""
    return QuestionShown(
        name_of(each.field_id), kind, each.words, choices, is_required, hint, other, other_hint
    )


def values_of(each: Question, chosen: Sequence[int], text: str) -> dict[str, str]:
    """Return an answer as the fields have it."""
    name, kind = name_of(each.field_id), _kind(each)
    if kind == "many":
        return {**{f"{name}_{option}": "1" for option in chosen}, f"{name}_other": text}
    if kind == "one":
        return {name: str(chosen[0]) if chosen else "", f"{name}_other": text}
    return {name: text}


def given_in(each: Question, form: Form) -> tuple[list[int], str]:
    """Return the options and the words of the answer; an option that there is not is left out.

    Words in place of one option win over it.
    """
    name, kind = name_of(each.field_id), _kind(each)
    other = form[f"{name}_other"] if each.allows_other else ""
    if kind == "many":
        return [one.option_id for one in each.options if form[f"{name}_{one.option_id}"]], other
    if kind == "one":
        chosen = [one.option_id for one in each.options if str(one.option_id) == form[name]]
        return ([] if other else chosen), other
    return [], form[name]


def _kind(each: Question) -> str:
    return _KINDS.get(each.type, "text")
