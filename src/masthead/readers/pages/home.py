"""The first page after the sign-in: the reader's subscriptions."""

from starlette.responses import Response

from masthead.books import reader_home
from masthead.readers.home_view import home_in_words
from masthead.readers.page_request import PageRequest, get


def show(request: PageRequest) -> Response:
    """Show what the reader has."""
    home = reader_home.home(request.books, request.subscriber_id)
    return request.page(
        "home",
        home=home_in_words(home, request.words),
        currency=home.currency,
        has_orders=request.settings.renew or request.settings.buy or request.settings.gift,
    )


pages = [get("", show)]
