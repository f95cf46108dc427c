"""The questions of the publisher as a page shows them, in the reader's language."""

from collections.abc import Iterable

from masthead.readers.page_request import PageRequest
from masthead.web.question_fields import Option, Question, QuestionShown, question_shown


def question_of(
    request: PageRequest,
    each: Question,
    options: Iterable[Option],
    *,
    is_required: bool = False,
    answered_on: str | None = None,
) -> QuestionShown:
    """Return a question with the options that are offered, and the day of the last answer."""
    hint = ""
    if answered_on:
        hint = request.gettext("Answered on %(day)s.", day=request.words.day(answered_on))
    return question_shown(
        each,
        options,
        is_required=is_required,
        hint=hint,
        other=request.gettext("Other"),
        other_hint=request.gettext("If none of the answers fits."),
    )
