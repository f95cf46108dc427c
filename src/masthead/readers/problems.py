"""The page that says what is wrong and keeps the input, in the publisher's look.

Where no site is known, or the database does not answer, it is a bare page in English.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from masthead.readers.templating import template
from masthead.web.refusals import values_of
from masthead.web.words import marked

if TYPE_CHECKING:
    from masthead.readers.page_request import PageRequest

NOT_FOUND = marked("Not found")
NO_PAGE = marked("There is no such page.")
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
        return bare(status, title, sentence)
    values = values_of(found.gettext(title), found.gettext(sentence), form or {}, again)
    return found.page("problem", status, **values)


def bare(status: int, title: str, sentence: str) -> Response:
    """Return the page without a site; it needs no database."""
    return HTMLResponse(template("bare", "en").render(title=title, sentence=sentence), status)
