"""The questionnaire: the publisher's questions and the reader's answers."""

from starlette.responses import Response

from masthead.books import reader_answers
from masthead.books.reader_answers import Given, Question
from masthead.circulation.page_settings import PageSettings
from masthead.errors import BadInput
from masthead.readers.forms import Form
from masthead.readers.page_request import PageRequest, get, post
from masthead.readers.questions import question_of
from masthead.web.question_fields import given_in, name_of, values_of

_PATH = "questionnaire"


def show_questions(request: PageRequest) -> Response:
    """Show the questions with the reader's answers."""
    asked = reader_answers.questions(request.books, request.subscriber_id)
    values: dict[str, str] = {}
    for each in asked:
        values.update(values_of(each, each.chosen, each.text))
    return _page(request, asked, request.new_form(values))


def answer(request: PageRequest) -> Response:
    """Save the answers."""
    asked = reader_answers.questions(request.books, request.subscriber_id)
    form = request.new_form()
    given = {each.field_id: Given(*given_in(each, form)) for each in asked}
    try:
        books = request.books_for("answers", request.at(_PATH))
        reader_answers.answer(books, request.subscriber_id, given)
    except BadInput as error:
        wrong = name_of(error.values.get("question", ""))
        known = {name_of(each.field_id) for each in asked}
        form.refuse(wrong if wrong in known else "", form.sentence(error))
        return _page(request, asked, form)
    return request.go(request.at(_PATH), request.gettext("Your answers are saved. Thank you."))


def _page(request: PageRequest, asked: list[Question], form: Form) -> Response:
    return request.page(
        "questionnaire",
        400 if form.errors else 200,
        form=form,
        questions=[
            question_of(request, each, each.options, answered_on=each.answered_on) for each in asked
        ],
    )


def _is_offered(settings: PageSettings) -> bool:
    return settings.questionnaire


pages = [
    get(_PATH, show_questions, _is_offered),
    post(_PATH, answer, _is_offered),
]
