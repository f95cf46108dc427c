"""Operation 7: the list of subscriptions."""

from masthead.api.http.parameters import Values
from masthead.api.http.responses import Answer
from masthead.api.operation import Call, route
from masthead.api.operations.lists import list_answer, page_of
from masthead.store import reading

__all__ = ["routes"]

_INDEXED = {"subscriber_id", "limit", "after"}


def list_subscriptions(call: Call) -> Answer:
    """Answer interface, operation 7: subscriptions of shape Subscription, by ascending id."""
    filters, after, limit = page_of(call)
    rows = reading.subscriptions(
        call.connection, call.account_id, filters, after=after, limit=limit
    )
    return list_answer("list_subscriptions", call, rows)


def _may_scan(values: Values) -> bool:
    return "subscriber_id" not in values and not values.keys() <= _INDEXED


routes = [route("list_subscriptions", list_subscriptions, in_thread=_may_scan)]
