"""The questions of a free title, by which a reader qualifies again in one visit."""

from starlette.responses import Response

from masthead.books import reader_qualifying
from masthead.books.reader_qualifying import Asked
from masthead.circulation.page_settings import PageSettings
from masthead.circulation.qualifying import Answer, answer
from masthead.errors import BadInput
from masthead.readers.forms import Form
from masthead.readers.page_request import PageRequest, get, post
from masthead.readers.questions import question_of
from masthead.web.middleware import address_of
from masthead.web.question_fields import given_in, name_of, values_of

_PATH = "subscriptions/{id:int}/qualify"


def show_questions(request: PageRequest) -> Response:
    """Show the questions with the answers of the last time."""
    asked = _asked(request)
    values: dict[str, str] = {}
    for each in asked.questions:
        given = asked.answers.get(each.field_id, Answer())
        values.update(values_of(each, given.options, given.text))
    return _page(request, asked, request.new_form(values))


def qualify(request: PageRequest) -> Response:
    """Save the answers as a qualification of today."""
    asked, form, then = _asked(request), request.new_form(), f"subscriptions/{request.ids['id']}"
    try:
        done = reader_qualifying.qualify(
            request.books_for("qualification", request.at(then)),
            request.subscriber_id,
            request.ids["id"],
            {each.field_id: answer(*given_in(each, form)) for each in asked.questions},
            has_agreed=bool(form["agreed"]),
            ip_address=address_of(request.http.scope, behind_proxy=request.site.behind_proxy),
        )
    except BadInput as error:
        field = str(error.values.get("field", ""))
        wrong = name_of(error.values["question"]) if "question" in error.values else field
        form.refuse(wrong, form.sentence(error))
        return _page(request, asked, form)
    if done.is_served:
        said = request.gettext(
            "Thank you. You receive %(publication)s free of charge until %(day)s.",
            publication=done.publication,
            day=request.words.day(done.valid_until),
        )
    else:
        said = request.gettext(
            "Thank you. With these answers, %(publication)s is not free for you any more.",
            publication=done.publication,
        )
    return request.go(request.at(then), said)


def _asked(request: PageRequest) -> Asked:
    return reader_qualifying.asked(request.books, request.subscriber_id, request.ids["id"])


def _page(request: PageRequest, asked: Asked, form: Form) -> Response:
    return request.page(
        "qualify",
        400 if form.errors else 200,
        form=form,
        asked=asked,
        back=f"subscriptions/{request.ids['id']}",
        questions=[
            question_of(
                request,
                each,
                each.options_for(asked.answers.get(each.field_id, Answer()).options),
                is_required=each.is_required,
            )
            for each in asked.questions
        ],
    )


def _is_offered(settings: PageSettings) -> bool:
    return settings.questionnaire


pages = [
    get(_PATH, show_questions, _is_offered),
    post(_PATH, qualify, _is_offered),
]
