"""The first page after the sign-in: the reader's subscriptions."""

from starlette.responses import Response

from masthead.books import reader_home, reader_requests
from masthead.readers.home_view import home_in_words, request_in_words
from masthead.readers.page_request import PageRequest, get

_ASKED_MAX = 5
"""How many of the newest requests to the desk are shown."""


def show(request: PageRequest) -> Response:
    """Show what the reader has."""
    home = reader_home.home(request.books, request.subscriber_id)
    asked = reader_requests.of_reader(request.books, request.subscriber_id, limit=_ASKED_MAX)
    return request.page(
        "home",
        asked=[request_in_words(each, request.words) for each in asked],
        home=home_in_words(home, request.words),
        currency=home.currency,
        has_orders=request.settings.renew or request.settings.buy or request.settings.gift,
    )


pages = [get("", show)]
