"""The first page after the sign-in: the reader's subscriptions."""

from starlette.responses import Response

from masthead.books import reader_home
from masthead.readers.home_view import (
    home_in_words,
    letter_in_words,
    request_in_words,
    sent_in_words,
)
from masthead.readers.page_request import PageRequest, get

_ASKED_MAX = 5
"""How many of the newest requests to the desk are shown."""


def show(request: PageRequest) -> Response:
    """Show what the reader has."""
    home, asked, letters, sent = reader_home.first_page(
        request.books, request.subscriber_id, requests_max=_ASKED_MAX
    )
    words = request.words
    shown = home_in_words(home, words)
    documents = [
        *shown.documents,
        *(letter_in_words(each, words) for each in letters),
        *(sent_in_words(each, words) for each in sent),
    ]
    return request.page(
        "home",
        is_made_again=any(each.is_current for each in sent),
        documents=sorted(documents, key=lambda each: each.day, reverse=True),
        asked=[request_in_words(each, words) for each in asked],
        home=shown,
        currency=home.currency,
        has_orders=request.settings.renew or request.settings.buy or request.settings.gift,
    )


pages = [get("", show)]
