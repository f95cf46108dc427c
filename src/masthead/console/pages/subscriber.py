"""A subscriber: all stored data on one page, with the available actions."""

from starlette.responses import Response

from masthead.books import subscribers
from masthead.console.page_request import PageRequest, get
from masthead.loading.subscriber_data import record_of


def subscriber(request: PageRequest) -> Response:
    """Show a subscriber with subscriptions, deliveries, orders, addresses, answers and changes."""
    key = int(request.ids["id"])
    found = subscribers.everything(request.books, key)
    return request.page(
        "subscriber",
        person=found.person,
        data=record_of(found.data),
        subscriptions=found.subscriptions,
        changes=found.changes,
        history=found.history_until,
        key=key,
    )


pages = [get("/subscribers/{id:int}", subscriber)]
