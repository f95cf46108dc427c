"""``GET /health``: whether the service and its database respond, for monitoring."""

from asyncio import create_task, shield
from functools import partial

from starlette.responses import Response

from masthead.api.http.request import Request
from masthead.api.http.responses import encoded
from masthead.api.http.routing import PublicRoute
from masthead.api.http.service import Service
from masthead.api.http.threads import deadline, in_thread, retrieve
from masthead.errors import StoreUnavailable
from masthead.store.accounts import ask


async def health(request: Request) -> Response:
    """Return 200 if the database responds; raise StoreUnavailable, which becomes 503, if not.

    The path needs no credentials, so its rate is not limited. Concurrent requests wait for the same
    query, which uses one thread and one connection at most.
    """
    service = request.service
    if service.health_check is None or service.health_check.done():
        service.health_check = create_task(_query(service))
        service.health_check.add_done_callback(retrieve)
    await shield(service.health_check)
    return encoded({"status": "ok"})


async def _query(service: Service) -> None:
    if not service.health_checks.are_free():
        raise StoreUnavailable("the database has not responded to an earlier query yet")
    await in_thread(service, service.health_checks, partial(ask, service.store), ends_at=deadline())


routes = [PublicRoute("/health", "health", health)]
