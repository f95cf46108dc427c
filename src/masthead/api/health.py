"""``GET /health``: whether the service and its database answer, for whoever watches it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from masthead.api.answers import json
from masthead.api.operation import Service, in_time
from masthead.contract.encoding import encode
from masthead.store import Store

__all__ = ["ask", "routes"]


async def health(request: Request) -> Response:
    """Answer 200 where the database answers; its StoreUnavailable becomes 503."""
    service: Service = request.app.service
    await in_time(lambda _: ask(service.store))
    return json(encode({"status": "ok"}))


def ask(store: Store) -> None:
    """Ask the database the smallest question; raise StoreUnavailable where it does not answer."""
    with store.reader() as database:
        database.rows("SELECT 1 FROM accounts LIMIT 1")


routes = [Route("/health", health)]
