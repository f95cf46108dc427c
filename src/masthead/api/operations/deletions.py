"""``GET /deletions``: the ids of records that were removed, which the change feed cannot show."""

from collections.abc import Generator

from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import Responding
from masthead.api.http.routing import route_for
from masthead.api.operations import change_feed
from masthead.api.operations.json_arrays import array
from masthead.contract.operations import DELETIONS
from masthead.store import Connection
from masthead.store.deletions import has_noted, removed


def deletions(request: AuthenticatedRequest) -> Responding:
    """Return the ids of records removed at ``changed_since`` or later that do not exist now.

    Window, statuses and headers are those of the change feed (rules, "Records that are gone").
    """
    return change_feed.response(request, has_noted, _body)


def _body(
    connection: Connection, query: change_feed.FeedQuery, first: int | None
) -> Generator[bytes, None, None]:
    opening = "{"
    for entity in query.entities:
        yield f'{opening}"{entity.key}":'.encode()
        ids = () if first is None else removed(connection, entity.name, query.account_id, first)
        yield from array(map(str, ids))
        opening = ","
    yield b"}"


routes = [route_for(DELETIONS, deletions)]
