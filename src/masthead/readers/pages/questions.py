"""The questionnaire: the publisher's questions and the reader's answers."""

from typing import NamedTuple

from starlette.responses import Response

from masthead.books import reader_answers
from masthead.books.reader_answers import Given, Question
from masthead.circulation.page_settings import PageSettings
from masthead.errors import BadInput
from masthead.readers.forms import Form
from masthead.readers.page_request import PageRequest, get, post

_PATH = "questionnaire"
_KINDS = {"checkbox": "many", "select": "one", "radio": "one", "textarea": "area"}


class QuestionShown(NamedTuple):
    """A question as its field shows it; ``options`` are the value and the text of each."""

    name: str
    kind: str
    label: str
    options: list[tuple[str, str]]
    has_other: bool
    answered_on: str | None


def show_questions(request: PageRequest) -> Response:
    """Show the questions with the reader's answers."""
    asked = reader_answers.questions(request.books, request.subscriber_id)
    values: dict[str, str] = {}
    for each in asked:
        values.update(_values(each))
    return _page(request, asked, request.new_form(values))


def answer(request: PageRequest) -> Response:
    """Save the answers."""
    asked = reader_answers.questions(request.books, request.subscriber_id)
    form = request.new_form()
    given = {each.field_id: _given(each, form) for each in asked}
    try:
        books = request.books_for("answers", request.at(_PATH))
        reader_answers.answer(books, request.subscriber_id, given)
    except BadInput as error:
        wrong = f"q{error.values.get('question', '')}"
        known = {_name(each) for each in asked}
        form.refuse(wrong if wrong in known else "", form.sentence(error))
        return _page(request, asked, form)
    return request.go(request.at(_PATH), request.gettext("Your answers are saved. Thank you."))


def _page(request: PageRequest, asked: list[Question], form: Form) -> Response:
    return request.page(
        "questionnaire",
        400 if form.errors else 200,
        form=form,
        questions=[_shown(each) for each in asked],
    )


def _shown(each: Question) -> QuestionShown:
    kind = _KINDS.get(each.type, "text")
    options = [(str(one.option_id), one.words) for one in each.options]
    if kind == "one":
        options.insert(0, ("", ""))
    return QuestionShown(
        _name(each),
        kind,
        each.words,
        options,
        each.allows_other and kind in {"many", "one"},
        each.answered_on,
    )


def _values(each: Question) -> dict[str, str]:
    """Return the answer as the fields have it."""
    name, kind = _name(each), _KINDS.get(each.type, "text")
    if kind == "many":
        chosen = {f"{name}_{option}": "1" for option in each.chosen}
        return {**chosen, f"{name}_other": each.text}
    if kind == "one":
        return {name: str(each.chosen[0]) if each.chosen else "", f"{name}_other": each.text}
    return {name: each.text}


def _given(each: Question, form: Form) -> Given:
    """Return the answer that the fields have; an option that there is not is none."""
    name, kind = _name(each), _KINDS.get(each.type, "text")
    other = form[f"{name}_other"] if each.allows_other else ""
    if kind == "many":
        ticked = [one.option_id for one in each.options if form[f"{name}_{one.option_id}"]]
        return Given(ticked, other)
    if kind == "one":
        chosen = [one.option_id for one in each.options if str(one.option_id) == form[name]]
        return Given([] if other else chosen, other)
    return Given((), form[name])


def _name(each: Question) -> str:
    return f"q{each.field_id}"


def _is_offered(settings: PageSettings) -> bool:
    return settings.questionnaire


pages = [
    get(_PATH, show_questions, _is_offered),
    post(_PATH, answer, _is_offered),
]
