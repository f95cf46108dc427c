"""A subscriber: everything that is held, in one page, with what can be done beside it."""

from starlette.responses import Response

from masthead.console.page_request import PageRequest, get
from masthead.loading.subscriber_data import record_of
from masthead.store.books import details
from masthead.store.books.earlier_orders import history_until
from masthead.store.console_facts import changes_of
from masthead.store.subscriber_data import held_of

__all__ = ["pages"]

_CHANGES = 50


def subscriber(request: PageRequest) -> Response:
    """Show a subscriber with subscriptions, deliveries, orders, addresses, answers and changes."""
    key = int(request.ids["id"])
    with request.reading() as connection:
        person = details.look_at_subscriber(connection, request.account_id, key)
        held = held_of(connection, request.account_id, key)
        subscriptions = [
            details.look_at_subscription(connection, request.account_id, row[0])
            for row in person.subscriptions
        ]
        until = history_until(connection, request.account_id)
        names = [f"subscriber {key}"]
        names += [f"subscription {row[0]}" for row in person.subscriptions]
        names += [f"order {row[0]}" for row, _ in held.orders]
        changes = changes_of(connection, request.account_id, names, limit=_CHANGES)
    return request.page(
        "subscriber",
        person=person,
        held=record_of(held),
        subscriptions=subscriptions,
        changes=changes,
        history=until,
        key=key,
    )


pages = [get("/subscribers/{id:int}", subscriber)]
