"""Operation 4, the change feed, and the snapshot with which a client of it begins.

Which rows changed is told by ``masthead.store``; this module has the rules of the window, and puts
the answer together. All of an answer comes from one snapshot of the database, the header included.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from masthead.api.answers import stream
from masthead.api.custom_fields import answer_set
from masthead.api.moments import format_moment, format_second, parse_moment
from masthead.api.operation import Call, route, route_for
from masthead.api.orders import order_record
from masthead.api.records import array
from masthead.api.subscribers import PASSWORD_MD5
from masthead.contract.encoding import wire_of
from masthead.contract.operations import ENTITIES, SNAPSHOT, Entity
from masthead.contract.shapes import AnswerRecord, ChangedSubscriber
from masthead.errors import BadInput
from masthead.store import Database, accounts, commits, reading
from masthead.store.changes import CHANGED

__all__ = ["routes"]

_DAY_US = 86_400 * 1_000_000
WINDOW_US = 5 * _DAY_US
GRACE_US = 3_600 * 1_000_000
AHEAD_US = 300 * 1_000_000
_ALL = 0
_make_answers = wire_of(AnswerRecord)
_make_subscriber = wire_of(ChangedSubscriber)


def changes(call: Call) -> Response:
    """Answer interface, operation 4: all that changed at ``changed_since`` or later.

    The header ``Masthead-Changes-Through`` gives the time to ask for next. Raises HTTPException
    410 where that time lies before the window, and BadInput for one in the future.
    """
    text = str(call.values["changed_since"])
    entities = _entities(str(call.values["entities"]))
    try:
        since = parse_moment(text)
    except ValueError:
        raise BadInput(
            f"changed_since: {text!r} is not a time such as 2026-11-20T08:30:00+01:00"
        ) from None

    def first_commit(database: Database, through: int) -> int | None:
        _check_window(since, now=call.service.store.clock(), through=through)
        return commits.first_commit_since(database, call.account_id, since)

    return _feed(call, entities, first_commit)


def snapshot(call: Call) -> Response:
    """Answer ``GET /snapshot``: the feed without a lower bound (decisions, "Change feed")."""
    return _feed(call, _entities(str(call.values["entities"])), lambda _database, _through: _ALL)


def _entities(text: str) -> list[Entity]:
    by_name = {entity.name: entity for entity in ENTITIES}
    asked = dict.fromkeys(name.strip().lower() for name in text.split(","))
    asked.pop("", None)
    for name in asked:
        if name not in by_name:
            raise BadInput(f"entities: there is no {name!r}; the names are {', '.join(by_name)}")
    if not asked:
        raise BadInput(f"entities: names none; the names are {', '.join(by_name)}")
    return [by_name[name] for name in asked]


def _check_window(since: int, *, now: int, through: int) -> None:
    if since < now - WINDOW_US - GRACE_US:
        raise HTTPException(
            410,
            f"changed_since lies more than 5 days back, before {format_moment(now - WINDOW_US)}: "
            "earlier changes are lost to this client; load everything anew from "
            "GET /snapshot?entities=… and go on from the time in its Masthead-Changes-Through",
        )
    if since > now + AHEAD_US and since > through:
        raise BadInput(f"changed_since lies in the future: it is now {format_moment(now)}")


def _feed(
    call: Call,
    entities: list[Entity],
    first_commit: Callable[[Database, int], int | None],
) -> Response:
    with ExitStack() as stack:
        database = stack.enter_context(call.service.store.reader())
        stack.enter_context(database.snapshot())
        through = commits.newest_stamp(database, call.account_id) + 1
        first = first_commit(database, through)
        headers = {"Masthead-Changes-Through": format_moment(through)}
        pieces = _body(stack.pop_all(), database, call, entities, first)
        return stream(pieces, headers, is_head=call.is_head)


def _body(
    stack: ExitStack, database: Database, call: Call, entities: list[Entity], first: int | None
) -> Generator[bytes, None, None]:
    with stack:
        opening = "{"
        for entity in entities:
            yield f'{opening}"{entity.key}":'.encode()
            yield from array(_records(entity, database, call, first))
            opening = ","
        yield b"}"


def _records(entity: Entity, database: Database, call: Call, first: int | None) -> Iterator[Struct]:
    if first is None:
        return iter(())
    rows = CHANGED[entity.name](database, call.account_id, first)
    if entity.name == "customfields":
        defined = reading.custom_fields(database, call.account_id)
        return (
            _make_answers(*subscriber, answer_set(defined, given)) for subscriber, given in rows
        )
    if entity.name == "orders":
        return (order_record(order, items) for order, items in rows)
    if entity.name == "subscribers":
        # Asked of the snapshot, not of the caller: hiding is a change like any other.
        hidden = accounts.hides_password_md5(database, call.account_id)
        return (_subscriber(row, hidden=hidden) for row in rows)
    make = wire_of(entity.shape)
    return (make(*row) for row in rows)


def _subscriber(row: tuple[Any, ...], *, hidden: bool) -> Struct:
    *values, visible_at = row
    if hidden:
        values[PASSWORD_MD5] = None
    return _make_subscriber(*values, None if visible_at is None else format_second(visible_at))


routes = [
    route("changes", changes, in_thread=True),
    route_for(SNAPSHOT, snapshot, in_thread=True),
]
