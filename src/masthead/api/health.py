"""``GET /health``: whether the service and its database answer, for whoever watches it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from masthead.api.answers import json
from masthead.contract.encoding import encode

__all__ = ["routes"]


async def health(request: Request) -> Response:
    """Answer 200 where the database answers; its StoreUnavailable becomes 503."""
    request.app.state.service.database.rows("SELECT 1 FROM accounts LIMIT 1")
    return json(encode({"status": "ok"}))


routes = [Route("/health", health)]
