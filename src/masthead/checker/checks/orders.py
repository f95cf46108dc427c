"""Operation 9: one order."""

from masthead.checker.findings import NotTried
from masthead.checker.forms import differing_fields
from masthead.checker.repeating import MadeUp
from masthead.checker.service import Record, Service, id_of, is_another, objects, unknown_id
from masthead.contract.operations import OPERATIONS
from masthead.contract.shapes import Order

_SECTION = "Operation 9"
_REQUEST = f"GET {OPERATIONS['get_order'].path}"
_ORDERS = 3


def orders_have_the_form_of_their_table(service: Service) -> None:
    """An order of the change feed is an object that matches its table, as do its items.

    Interface, operation 9; "Order".
    """
    for order in _changed(service):
        body = service.json_of(service.ask("get_order", order_id=id_of(order)), _SECTION)
        service.check_records(Order, [body], _REQUEST, "")
        if isinstance(body, dict):
            items = objects(body.get("order_items"))
            service.check_unique(items, "Order", _REQUEST, "order_items[].order_item_id")


def orders_are_as_in_the_feed(service: Service) -> None:
    """An order is the same as in the change feed.

    Interface, operations 4 and 9.
    """
    for order in _changed(service):
        body = service.json_of(service.ask("get_order", order_id=id_of(order)), _SECTION)
        if isinstance(body, dict):
            for name in differing_fields(order, body):
                text = "it differs from that of the same order in the change feed"
                service.differs(_SECTION, _REQUEST, name, text)


def an_unknown_order_is_an_error(service: Service) -> None:
    """The response for an order that does not exist is not an order.

    Interface, operation 9; "Errors".
    """
    unknown = unknown_id({id_of(one) for one in service.feed.get("orders", [])})
    response = service.ask("get_order", order_id=unknown)
    if response.status == 200:
        body = service.json_of(response, _SECTION)
        service.check_records(Order, [body], _REQUEST, "")
        if is_another(body, "order_id", unknown):
            text = "an order that does not exist is answered with another one"
            service.differs(_SECTION, _REQUEST, "order_id", text)
    service.refused(response, "Errors", "order_id", "an unknown order", 404)


def what_is_no_id_is_an_error(service: Service) -> None:
    """An id that is not a number is treated as unknown.

    Interface, operation 9, which leaves it open; "Errors".
    """
    response = service.ask("get_order", order_id=MadeUp("none"))
    service.refused(response, "Errors", "order_id", "an id that is no number", 404, 400)


def _changed(service: Service) -> list[Record]:
    orders = service.feed.get("orders", [])
    if not orders:
        raise NotTried("the change feed shows no order, and nothing else has the id of one")
    return orders[:_ORDERS]


CHECKS = (
    orders_have_the_form_of_their_table,
    orders_are_as_in_the_feed,
    an_unknown_order_is_an_error,
    what_is_no_id_is_an_error,
)
