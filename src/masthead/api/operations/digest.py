"""``GET /digest``: the digest of all records, with which a client can verify its copy."""

from collections.abc import Generator
from functools import partial

from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import Responding
from masthead.api.http.routing import route_for
from masthead.api.http.streaming import Streamed
from masthead.api.operations import change_feed
from masthead.contract.digest import SHAPES, Digest
from masthead.contract.encoding import encode
from masthead.contract.operations import DIGEST
from masthead.store import Connection

_BATCH_ROWS = 500


def digest(request: AuthenticatedRequest) -> Responding:
    """Return the count and the digest of each entity's records (decisions, "Digest").

    The header ``Masthead-Changes-Through`` gives the state of the data, as in the change feed.
    Reading all records takes long. So the response starts immediately, and contains a space after
    every 500 records, to show the client that it is in progress.
    """
    entities = change_feed.entities_in(str(request.parameters["entities"]))
    query = change_feed.FeedQuery(request.service, request.account_id, entities, None)
    return Streamed(
        request.received,
        request.account_id,
        partial(change_feed.opened, query, _body),
        whole_bytes_max=0,
    )


def _body(
    connection: Connection, query: change_feed.FeedQuery, first: int | None
) -> Generator[bytes, None, None]:
    opening = "{"
    for entity in query.entities:
        yield f'{opening}"{entity.key}":'.encode()
        found = Digest()
        undated = entity._replace(shape=SHAPES[entity.name])
        for record in change_feed.records(undated, connection, query.account_id, first):
            found.add(encode(record))
            if found.count % _BATCH_ROWS == 0:
                yield b" "
        yield encode({"count": str(found.count), "digest": found.hex()})
        opening = ","
    yield b"}"


routes = [route_for(DIGEST, digest)]
