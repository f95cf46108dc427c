"""The pages, one module each: what the page shows, and what its forms do."""

from masthead.readers.page_request import Page, PageRequest
from masthead.readers.pages import (
    addresses,
    cancelling,
    details,
    documents,
    email,
    home,
    links,
    look,
    missing,
    my_data,
    ordering,
    password,
    pausing,
    qualifying,
    questions,
    renewal,
    sign_in,
    subscription,
    to_site,
)

__all__ = ["PAGES", "tabs"]

PAGES: list[Page] = [
    *home.pages,
    *sign_in.pages,
    *links.pages,
    *password.pages,
    *look.pages,
    *addresses.pages,
    *cancelling.pages,
    *details.pages,
    *documents.pages,
    *email.pages,
    *missing.pages,
    *my_data.pages,
    *ordering.pages,
    *pausing.pages,
    *qualifying.pages,
    *questions.pages,
    *renewal.pages,
    *subscription.pages,
    *to_site.pages,
]


def tabs(request: PageRequest) -> list[tuple[str, str]]:
    """Return the title and the path of each page in the menu of a reader who is signed in."""
    found = [(request.gettext("Your subscriptions"), "")]
    if request.settings.address and request.keeps_books:
        found.append((request.gettext("Your address"), "address"))
    if request.settings.questionnaire and request.keeps_books:
        found.append((request.gettext("Questions"), "questionnaire"))
    if request.settings.my_data:
        found.append((request.gettext("Your data"), "data"))
    return found
