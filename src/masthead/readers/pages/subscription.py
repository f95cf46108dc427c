"""One subscription: what the reader has, its address, its issues, and what can be done."""

from starlette.responses import Response

from masthead.readers.form_page import own_subscription
from masthead.readers.home_view import subscription_in_words
from masthead.readers.page_request import PageRequest, get


def show(request: PageRequest) -> Response:
    """Show a subscription of the reader."""
    home, found = own_subscription(request)
    return request.page("subscription", each=subscription_in_words(home, found, request.words))


pages = [get("subscriptions/{id:int}", show)]
