"""Operation 7: the list of subscriptions."""

from starlette.responses import Response

from masthead.api.http.parameters import Values
from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.routing import route
from masthead.api.operations.lists import list_response, page_of
from masthead.store import interface_queries

_INDEXED = {"subscriber_id", "limit", "after"}


def list_subscriptions(request: AuthenticatedRequest) -> Response:
    """Interface, operation 7: subscriptions of shape Subscription, by ascending id."""
    filters, after, limit = page_of(request)
    rows = interface_queries.subscriptions(
        request.connection, request.account_id, filters, after=after, limit=limit
    )
    return list_response(request, rows)


def _may_scan(values: Values) -> bool:
    return "subscriber_id" not in values and not values.keys() <= _INDEXED


routes = [route("list_subscriptions", list_subscriptions, may_scan=_may_scan)]
