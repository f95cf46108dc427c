"""Operation 4, the change feed, and the snapshot with which a client of the feed starts.

``masthead.store`` finds the rows that changed; this module applies the rules of the window, and
makes the response. ``deletions.py`` applies the same rules to removed records. All of a response,
with its headers, comes from one snapshot of the database.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from masthead.api.http.media_types import media_type_for
from masthead.api.http.metrics import count_feed_rows
from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import Responding, encoded
from masthead.api.http.routing import route, route_for
from masthead.api.http.service import Service
from masthead.api.http.streaming import Content, Streamed
from masthead.api.operations.custom_fields import AnswerEncoder
from masthead.api.operations.json_arrays import array, lines
from masthead.api.operations.orders import order_record
from masthead.api.operations.subscribers import PASSWORD_MD5
from masthead.contract.encoding import encode, wire_of
from masthead.contract.moments import format_moment, format_second, http_date, parse_moment
from masthead.contract.operations import ENTITIES, NDJSON, SNAPSHOT, Entity
from masthead.contract.shapes import AnswerRecord, ChangedSubscriber, Subscriber
from masthead.errors import BadInput, StoreUnavailable
from masthead.store import Connection, accounts, commits, epochs, interface_queries
from masthead.store.changes import CHANGED, has_changed

_DAY_US = 86_400 * 1_000_000
WINDOW_US = 5 * _DAY_US
GRACE_US = 3_600 * 1_000_000
AHEAD_US = 300 * 1_000_000
_ALL = 0
_LOAD_AGAIN = (
    "load everything again from GET /snapshot?entities=… and go on from the time in "
    "its Masthead-Changes-Through"
)
_make_answers = wire_of(AnswerRecord)
_make_subscriber = wire_of(ChangedSubscriber)
_make_undated = wire_of(Subscriber)


class FeedQuery(NamedTuple):
    """The changes of some entities since a time in microseconds; None: all records."""

    service: Service
    account_id: int
    entities: list[Entity]
    since: int | None


Body = Callable[[Connection, FeedQuery, int | None], Generator[bytes, None, None]]
"""Yields the body in pieces; the last argument is the first commit (None: nothing changed)."""

HasAny = Callable[[Connection, str, int, int], bool]
"""Returns whether an entity of an account may have anything to show since a commit."""


def changes(request: AuthenticatedRequest) -> Responding:
    """Interface, operation 4: all that changed at ``changed_since`` or later.

    The header ``Masthead-Changes-Through`` gives the ``changed_since`` of the next request. Raises
    HTTPException 410 for a time before the window or the epoch, and BadInput for an invalid one or
    one in the future.
    """
    return response(request, has_changed, _body)


def snapshot(request: AuthenticatedRequest) -> Responding:
    """``GET /snapshot``: the feed without a lower bound (rules, "Change feed").

    The body is JSON, or has a line for each record (rules, "Snapshot in lines").
    """
    entities = entities_in(str(request.parameters["entities"]))
    query = FeedQuery(request.service, request.account_id, entities, None)
    accept = ",".join(request.received.headers.getlist("accept"))
    media_type = media_type_for(accept, SNAPSHOT.media_types)
    return Streamed(
        request.received, request.account_id, partial(_opened_snapshot, query, media_type)
    )


@contextmanager
def _opened_snapshot(query: FeedQuery, media_type: str) -> Iterator[Content]:
    """Do the same as :func:`opened`, with a body of the media type."""
    is_in_lines = media_type == NDJSON
    with opened(query, _lines if is_in_lines else _body) as content:
        headers = {
            **content.headers,
            "Content-Type": media_type,
            "Vary": "Accept, Accept-Encoding",
        }
        pieces = content.pieces
        yield Content(headers, _with_last_line(headers, pieces) if is_in_lines else pieces)


def response(request: AuthenticatedRequest, has_any: HasAny, body: Body) -> Responding:
    """Return the response to a request with ``changed_since``; raise the errors of `changes`."""
    query = _query_of(request)
    if empty := _empty_response(query, request.connection, has_any):
        return empty
    return Streamed(request.received, request.account_id, partial(opened, query, body))


def _query_of(request: AuthenticatedRequest) -> FeedQuery:
    """Return what a request with ``changed_since`` asks for; raise BadInput if it is invalid."""
    text = str(request.parameters["changed_since"])
    entities = entities_in(str(request.parameters["entities"]))
    try:
        since = parse_moment(text)
    except ValueError:
        raise BadInput(
            f"changed_since: {text!r} is not a time such as 2026-11-20T08:30:00+01:00"
        ) from None
    return FeedQuery(request.service, request.account_id, entities, since)


@contextmanager
def opened(query: FeedQuery, body: Body) -> Iterator[Content]:
    """Open a snapshot of the database, and yield the response with this body.

    ``Date`` is the database's clock, read before the snapshot: a client that uses it as
    ``changed_since`` gets a record twice rather than never. While a commit waits for its stamp,
    ``Date`` is not later than the newest stamp, since the next stamp may already have been read
    from the clock. Raises the errors of :func:`changes`.
    """
    store = query.service.store
    history = epochs.current_history(store, query.account_id)
    with store.reader() as connection:
        connection.set_tenant(query.account_id)
        now = connection.now()
        with connection.snapshot():
            headers, first = _bounds(query, connection, now, history)
            with closing(body(connection, query, first)) as pieces:
                yield Content(headers, pieces)


def _empty_response(query: FeedQuery, connection: Connection, has_any: HasAny) -> Response | None:
    """Return the response if a few index look-ups find nothing to show; else None.

    Also returns None if a new epoch is due: starting one takes too long for the event loop.
    """
    history = epochs.history_of(query.service.store, query.account_id)
    if history.current != history.known:
        return None
    now = connection.now()
    with connection.snapshot():
        headers, first = _bounds(query, connection, now, history.current)
        if first is not None and any(
            has_any(connection, entity.name, query.account_id, first) for entity in query.entities
        ):
            return None
    body = {entity.key: () for entity in query.entities}
    return encoded(body, {**headers, "Vary": "Accept-Encoding"})


def entities_in(text: str) -> list[Entity]:
    """Return the entities that the parameter names; raise BadInput for an unknown name or none."""
    by_name = {entity.name: entity for entity in ENTITIES}
    asked = dict.fromkeys(name.strip().lower() for name in text.split(","))
    asked.pop("", None)
    for name in asked:
        if name not in by_name:
            raise BadInput(f"entities: there is no {name!r}; the names are {', '.join(by_name)}")
    if not asked:
        raise BadInput(f"entities: names none; the names are {', '.join(by_name)}")
    return [by_name[name] for name in asked]


def _bounds(
    query: FeedQuery, connection: Connection, now: int, history: str | None
) -> tuple[dict[str, str], int | None]:
    """Return the headers of a response and its first commit (None: nothing has changed).

    Raises StoreUnavailable if a replica does not have the epoch of the primary's ``history`` yet.
    """
    earliest = (query.since or 0) - query.service.settings.feed_overlap * 1_000_000
    position = commits.position_of(connection, query.account_id, earliest)
    if history not in {None, position.history}:
        raise StoreUnavailable("the replica does not have the newest epoch of the primary yet")
    through = position.newest_stamp + 1
    first: int | None = _ALL
    if query.since is not None:
        _check_window(query.since, now, through, position.epoch_at)
        first = position.first_commit
    date = min(now, position.newest_stamp) if position.is_stamp_awaited else now
    return {"Masthead-Changes-Through": format_moment(through), "Date": http_date(date)}, first


def _check_window(since: int, now: int, through: int, epoch_at: int | None) -> None:
    if since < now - WINDOW_US - GRACE_US:
        raise HTTPException(
            410,
            f"changed_since lies more than 5 days back, before {format_moment(now - WINDOW_US)}: "
            f"earlier changes are lost to this client; {_LOAD_AGAIN}",
        )
    if epoch_at is not None and since < epoch_at:
        raise HTTPException(
            410,
            f"changed_since lies before {format_moment(epoch_at)}, when a new epoch "
            "of this service began, such as from a backup: what a client read before "
            f"may be gone; {_LOAD_AGAIN}",
        )
    if since > now + AHEAD_US and since > through:
        raise BadInput(f"changed_since lies in the future: it is now {format_moment(now)}")


def _body(
    connection: Connection, query: FeedQuery, first: int | None
) -> Generator[bytes, None, None]:
    opening = "{"
    for entity in query.entities:
        yield f'{opening}"{entity.key}":'.encode()
        found = records(entity, connection, query.account_id, first)
        yield from array(found, counted=partial(count_feed_rows, entity.name))
        opening = ","
    yield b"}"


def _lines(
    connection: Connection, query: FeedQuery, first: int | None
) -> Generator[bytes, None, None]:
    for entity in query.entities:
        found = records(entity, connection, query.account_id, first)
        yield from lines(found, entity.name, counted=partial(count_feed_rows, entity.name))


def _with_last_line(
    headers: Mapping[str, str], pieces: Iterator[bytes]
) -> Generator[bytes, None, None]:
    """Yield the lines, and a last one that only a complete response has."""
    count = 0
    for piece in pieces:
        count += piece.count(b"\n")
        yield piece
    last = {"changes_through": headers["Masthead-Changes-Through"], "records": count}
    yield encode(last) + b"\n"


def records(
    entity: Entity, connection: Connection, account_id: int, first: int | None
) -> Iterator[Struct]:
    """Return the wire forms of the entity's records since commit ``first``; none if it is None."""
    if first is None:
        return iter(())
    rows = CHANGED[entity.name](connection, account_id, first)
    if entity.name == "customfields":
        encoder = AnswerEncoder(interface_queries.custom_fields(connection, account_id))
        return (_make_answers(*subscriber, encoder.entries(given)) for subscriber, given in rows)
    if entity.name == "orders":
        return (order_record(order, items) for order, items in rows)
    if entity.name == "subscribers":
        # Read from the snapshot, not from the caller: hiding is a change like any other.
        hidden = accounts.hides_password_md5(connection, account_id)
        make_one = _undated if entity.shape is Subscriber else _dated
        return (make_one(_without_digest(row) if hidden else row) for row in rows)
    make = wire_of(entity.shape)
    return (make(*row) for row in rows)


def _without_digest(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*row[:PASSWORD_MD5], None, *row[PASSWORD_MD5 + 1 :])


def _dated(row: tuple[Any, ...]) -> Struct:
    *values, visible_at = row
    return _make_subscriber(*values, None if visible_at is None else format_second(visible_at))


def _undated(row: tuple[Any, ...]) -> Struct:
    return _make_undated(*row[:-1])


routes = [
    route("changes", changes),
    route_for(SNAPSHOT, snapshot),
]
