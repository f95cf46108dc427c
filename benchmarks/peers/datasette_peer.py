"""What a user would run instead, without writing a service: Datasette over the SQLite file.

An order and a list are queries of its configuration ("canned queries"), and so is an order's list
of items: JSON that SQLite makes. What favours it: nobody has to say who asks, as Datasette knows no
credentials but with a plugin. Its three threads for queries are its default; with one or none it
gave no more answers in a trial. Its answers have the values of the database as they are: ids and
booleans as numbers, amounts as text, null for whatever is missing. So they cannot be Masthead's
byte for byte.
"""

import os
from typing import Any

from datasette.app import Datasette
from datasette.database import Database

from benchmarks.publisher import ACCOUNT_ID
from masthead.contract import shapes
from masthead.contract.shapes import fields_of
from masthead.store.reading import columns_of

NAME = "masthead"
_ITEM = columns_of(shapes.OrderItem)
_ITEM_MEMBERS = ", ".join(f"'{field.name}', {field.name}" for field in fields_of(shapes.OrderItem))
_ORDER = f"""
    SELECT {columns_of(shapes.Order)}, (
        SELECT json_group_array(json_object({_ITEM_MEMBERS})) FROM (
            SELECT {_ITEM} FROM order_items
            WHERE account_id = {ACCOUNT_ID} AND order_id = o.order_id ORDER BY order_item_id
        )
    ) AS order_items
    FROM orders AS o WHERE account_id = {ACCOUNT_ID} AND order_id = :order_id
    """
_SUBSCRIPTIONS = f"""
    SELECT {columns_of(shapes.Subscription)} FROM subscriptions
    WHERE account_id = {ACCOUNT_ID} AND subscription_id > :after
    ORDER BY subscription_id LIMIT :limit
    """
# Those who name a query's parameters spare Datasette the question what they are.
_QUERIES = {
    "order": {"sql": _ORDER, "params": ["order_id"]},
    "list": {"sql": _SUBSCRIPTIONS, "params": ["after", "limit"]},
}


def app() -> Any:
    """Return the service over the database of the environment."""
    datasette = Datasette(metadata={"databases": {NAME: {"queries": _QUERIES}}})
    file = os.environ["MASTHEAD_DATABASE"].removeprefix("sqlite:///")
    datasette.add_database(Database(datasette, path=file, is_mutable=True), name=NAME)
    return _with_length(datasette.app())


def _with_length(app: Any) -> Any:
    """Return the app with a Content-Length in its answers, without which the load cannot read them.

    Datasette leaves it out, and uvicorn then sends the body, which is whole, as a chunk.
    """

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        start: dict[str, Any] = {}

        async def sized(message: dict[str, Any]) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start and not message.get("more_body"):
                length = str(len(message["body"])).encode()
                start = {**start, "headers": [*start["headers"], (b"content-length", length)]}
            if start:
                await send(start)
                start = {}
            await send(message)

        await app(scope, receive, sized)

    return wrapped
