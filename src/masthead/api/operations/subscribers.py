"""Operations 3 and 8: the login check and the search for subscribers."""

from msgspec import Struct
from starlette.responses import Response

from masthead.api.http.parameters import Values
from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import Responding, encoded
from masthead.api.http.routing import route
from masthead.api.operations.lists import list_response, page_of
from masthead.api.operations.login_checks import respond_to_login
from masthead.contract.encoding import wire_of
from masthead.contract.shapes import (
    AuthenticatedSubscriber,
    AuthenticatedSubscription,
    ReceivedIssue,
    Subscriber,
    fields_of,
)
from masthead.store import interface_queries
from masthead.store.login_candidates import LoginMatch

PASSWORD_MD5 = [field.name for field in fields_of(Subscriber)].index("password_md5")
"""Index, in a subscriber's row, of the digest that an account may hide."""

_make_subscriber = wire_of(AuthenticatedSubscriber)
_make_subscription = wire_of(AuthenticatedSubscription)
_make_issue = wire_of(ReceivedIssue)


def authenticate_subscriber(request: AuthenticatedRequest) -> Responding:
    """Interface, operation 3: the subscriber who has the login and the password, if any.

    For the rules, see rules, "Login check".
    """
    return respond_to_login(request, _authenticated)


def _authenticated(request: AuthenticatedRequest, found: LoginMatch) -> Response:
    subscriber = _make_subscriber(*found[:5], _received(request, found.subscriber_id))
    return encoded({"authenticated": True, "subscribers": subscriber})


def _received(request: AuthenticatedRequest, subscriber_id: int) -> list[Struct]:
    found = interface_queries.received_subscriptions(
        request.connection, request.account_id, subscriber_id
    )
    return [
        _make_subscription(*subscription, [_make_issue(*issue) for issue in issues] or None)
        for subscription, issues in found
    ]


def search_subscribers(request: AuthenticatedRequest) -> Response:
    """Interface, operation 8: subscribers of shape Subscriber, by ascending id."""
    filters, after, limit = page_of(request)
    rows = interface_queries.search_subscribers(
        request.connection, request.account_id, filters, after=after, limit=limit
    )
    if request.caller.hide_password_md5:
        rows = [(*row[:PASSWORD_MD5], None, *row[PASSWORD_MD5 + 1 :]) for row in rows]
    return list_response(request, rows)


def _may_scan(values: Values) -> bool:
    """Return whether the search may visit many rows: it has no whole email or renewal code."""
    narrow = (str(values.get(name, "")) for name in ("email", "renewal_code"))
    return not any(asked and not asked.endswith("*") for asked in narrow)


routes = [
    route("authenticate_subscriber", authenticate_subscriber),
    route("search_subscribers", search_subscribers, may_scan=_may_scan),
]
