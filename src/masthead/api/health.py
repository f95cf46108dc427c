"""``GET /health``: whether the service and its database answer, for whoever watches it."""

from starlette.types import Receive, Scope, Send

from masthead.api.answers import Answer, Rest, json
from masthead.api.operation import in_time
from masthead.api.routes import Route
from masthead.api.service import Service
from masthead.contract.encoding import encode
from masthead.store import Store

__all__ = ["ask", "routes"]


def health(_scope: Scope, _path_id: int | None, service: Service) -> Rest:
    """Answer 200 where the database answers; its StoreUnavailable becomes 503."""

    async def rest(_scope: Scope, _receive: Receive, _send: Send) -> Answer:
        await in_time(lambda _: ask(service.store))
        return json(encode({"status": "ok"}))

    return rest


def ask(store: Store) -> None:
    """Ask the database the smallest question; raise StoreUnavailable where it does not answer."""
    store.check()
    with store.reader() as database:
        database.rows("SELECT 1 FROM accounts LIMIT 1")


routes = [Route("/health", "health", health)]
