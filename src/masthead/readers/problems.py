"""The page that says what is wrong and keeps the input, in the publisher's look.

Where no site is known, or the database does not answer, it is a bare page, in the language that
the browser asks for.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from masthead.readers import languages
from masthead.readers.templating import template, words_of
from masthead.web.refusals import values_of
from masthead.web.words import marked

if TYPE_CHECKING:
    from masthead.readers.page_request import PageRequest

NOT_FOUND = marked("Not found")
NO_PAGE = marked("There is no such page.")
NOT_ACCEPTED = marked("This page does not accept that.")
FAULT = marked("Something went wrong")


def problem(
    request: Request,
    status: int,
    title: str,
    sentence: str,
    *,
    form: Mapping[str, str] | None = None,
    again: str = "",
) -> Response:
    """Return the page with a title and a sentence, which are translated.

    ``form`` is the input that it keeps; ``again`` the path to send the same form to again, "" if
    that is of no use.
    """
    found: PageRequest | None = getattr(request.state, "page_request", None)
    if found is None:
        return bare(request, status, title, sentence)
    values = values_of(found.gettext(title), found.gettext(sentence), form or {}, again)
    return found.page("problem", status, **values)


def bare(
    request: Request | None, status: int, title: str, sentence: str, **values: object
) -> Response:
    """Return the page without a site; it needs no database.

    ``values`` stand in place of ``%(name)s`` in the sentence. It is in English for a request that
    was not read.
    """
    language = languages.SOURCE
    if request is not None:
        language = languages.chosen(request, languages.known())
    words = words_of(language)
    said = words.gettext(sentence, **values)
    shown = template("bare", language).render(
        language=language, title=words.gettext(title), sentence=said
    )
    return HTMLResponse(shown, status)
