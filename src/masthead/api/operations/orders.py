"""Operation 9: one order with its items."""

import msgspec
from starlette.responses import Response

from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import encoded
from masthead.api.http.routing import route
from masthead.contract.encoding import wire_of
from masthead.contract.shapes import Order, OrderItem
from masthead.errors import NotFound
from masthead.store import interface_queries

_make_order = wire_of(Order)
_make_item = wire_of(OrderItem)


def get_order(request: AuthenticatedRequest) -> Response:
    """Interface, operation 9: an order of shape Order.

    Raises NotFound for an order that does not exist.
    """
    found = interface_queries.order(request.connection, request.account_id, request.path_id)
    if found is None:
        raise NotFound(f"there is no order {request.path_id}")
    return encoded(order_record(*found))


def order_record(row: interface_queries.Row, items: list[interface_queries.Row]) -> msgspec.Struct:
    """Return the wire form of an order, from its row and the rows of its items."""
    return _make_order(*row, [_make_item(*item) for item in items])


routes = [route("get_order", get_order)]
