"""``GET /digest``: the digest of all records, with which a client proves its copy complete."""

from collections.abc import Generator
from functools import partial

from masthead.api import changes
from masthead.api.operation import Call, route_for
from masthead.api.spool import Spooled, spooled
from masthead.contract.digest import SHAPES, Digest
from masthead.contract.encoding import encode
from masthead.contract.operations import DIGEST
from masthead.store import Database

__all__ = ["routes"]

_BATCH_ROWS = 500


def digest(call: Call) -> Spooled:
    """Answer with the count and the digest of each entity's records (decisions, "Digest").

    The header ``Masthead-Changes-Through`` tells the state of the data, as that of the change feed
    does. The answer begins at once and has some space now and then, since its end takes as long as
    reading everything: whoever waits for it can tell that it is being made.
    """
    entities = changes.entities_in(str(call.values["entities"]))
    question = changes.Question(call.service, call.account_id, entities, None)
    return spooled(call, partial(changes.opened, question, _body), whole_bytes_max=0)


def _body(
    database: Database, question: changes.Question, first: int | None
) -> Generator[bytes, None, None]:
    opening = "{"
    for entity in question.entities:
        yield f'{opening}"{entity.key}":'.encode()
        found = Digest()
        undated = entity._replace(shape=SHAPES[entity.name])
        for record in changes.records(undated, database, question.account_id, first):
            found.add(encode(record))
            if found.count % _BATCH_ROWS == 0:
                yield b" "
        yield encode({"count": str(found.count), "digest": found.hex()})
        opening = ","
    yield b"}"


routes = [route_for(DIGEST, digest)]
