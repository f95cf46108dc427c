"""The pages, one module each: what the page shows, and what its forms do."""

from masthead.readers.page_request import Page, PageRequest
from masthead.readers.pages import home, look, sign_in
from masthead.web.words import marked

__all__ = ["PAGES", "tabs"]

PAGES: list[Page] = [
    *home.pages,
    *sign_in.pages,
    *look.pages,
]


def tabs(request: PageRequest) -> list[tuple[str, str]]:
    """Return the title and the path of each page in the menu of a reader who is signed in."""
    return [(request.gettext(marked("Your subscriptions")), "")]
