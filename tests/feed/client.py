"""Clients that keep a copy by polling: each by its own notion of the time to ask for next.

A client asks through the functions that the server's routes call, and applies a response only when
it has all of it. It asks for the changes and, once it has read them, for the deletions since the
same time; it applies the one and then the other, and goes on from the earlier time of both. Where
the deletions come from a replica that is behind, their answer is the older one: such a client asks
for them first.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from masthead.api.http.request import AuthenticatedRequest, Request
from masthead.api.http.streaming import Streamed
from masthead.api.operations import change_feed, deletions
from masthead.contract.operations import OPERATIONS
from masthead.errors import BadInput
from masthead.store.credentials import Caller
from tests.feed.model import ENTITIES, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from starlette.types import Message

    from masthead.api.http.responses import Responding
    from masthead.api.http.service import Service
    from masthead.store import Connection
    from tests.feed.model import Shown
    from tests.feed.world import World

BY_HEADER = "Masthead-Changes-Through"
BY_DATE = "Date"
BY_OWN_CLOCK = "the client's own clock"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Key = tuple[str, int]
"""A record's key in a response, and its id."""

Records = dict[Key, bytes]
"""The bytes of each record."""


class CopyDiffersError(AssertionError):
    """A client's copy is not what a full dump of the same snapshot has."""


class Form(NamedTuple):
    """How a client writes a time: in which offset from UTC, and whether only to the second."""

    offset_minutes: int
    floored: bool

    def of(self, moment_us: int) -> str:
        """Return the time as text."""
        offset = timezone(timedelta(minutes=self.offset_minutes))
        moment = (_EPOCH + moment_us * _MICROSECOND).astimezone(offset)
        return moment.isoformat(timespec="seconds" if self.floored else "microseconds")


class OpenContent(NamedTuple):
    """The headers and the body of a response, and what has to be closed in the end."""

    headers: Mapping[str, str]
    pieces: Iterator[bytes]
    source: ExitStack


class Answer(NamedTuple):
    """A response, the next time that it gives, and what there was when it was made.

    ``dump`` are all records of the same snapshot, ``shown`` is what they ought to show. ``written``
    counts what was written before.
    """

    content: OpenContent
    next_time: int
    dump: Records
    shown: Mapping[Key, Shown]
    written: int

    def check(self) -> None:
        """Raise CopyDiffersError unless the dump shows what it ought to."""
        shown = {key: seen(key[0], msgspec.json.decode(r)) for key, r in self.dump.items()}
        _compare(shown, self.shown, "what was loaded")


class _Poll(NamedTuple):
    """The changes that are being read, or everything where the copy begins again.

    ``first_deletions`` are those that were asked for before; None: they are asked for after it.
    """

    changes: Answer
    read: list[bytes]
    form: Form
    own_clock: int
    is_anew: bool
    first_deletions: Answer | None


def apply(records: Records, changed: Records, deleted: AbstractSet[Key]) -> Records:
    """Return a copy after a response: the changes first, then the deletions."""
    changed_first = records | changed
    return {key: record for key, record in changed_first.items() if key not in deleted}


def next_of(changes: Answer, deletions: Answer) -> int:
    """Return the time from which both have to be asked for again: the earlier one."""
    return min(changes.next_time, deletions.next_time)


class Client:
    """A partner's copy of some entities of an account."""

    def __init__(
        self, world: World, account_id: int, entities: Sequence[str], goes_by: str, late_us: int = 0
    ) -> None:
        self.goes_by = goes_by
        self.poll: _Poll | None = None
        self._world = world
        self._account_id = account_id
        self._entities = entities
        self._late_us = late_us
        self.is_busy = False
        """Whether it waits for a response to begin."""
        self._first_deletions: Answer | None = None
        self._time: int | None = None
        self._records: Records = {}

    def ask_for_deletions(self, form: Form) -> None:
        """Ask for the deletions before the changes of the next poll.

        So a client does whose deletions come from a replica that is behind.
        """
        own_clock = self._world.clock.now - self._late_us
        with self._being_busy():
            if content := self._ask(form, deletions.deletions):
                self._first_deletions = self._answer(content, own_clock)

    def open_poll(self, form: Form) -> None:
        """Ask for what is new, or for everything where there is no copy or it comes too late.

        Raises CopyDiffersError where the time is refused that was handed out.
        """
        own_clock = self._world.clock.now - self._late_us
        with self._being_busy():
            content = self._ask(form, change_feed.changes)
            changes = self._answer(content or self._snapshot(), own_clock)
        first, self._first_deletions = self._first_deletions, None
        if first and content is None:
            first.content.source.close()
        self.poll = _Poll(changes, [], form, own_clock, content is None, first)

    def _answer(self, content: OpenContent, own_clock: int, before: Answer | None = None) -> Answer:
        """Return the response with what there is now: nothing was written since it was made.

        There is the same as ``before`` if nothing was written since then.
        """
        headers = content.headers
        self._world.clock.interruptions.clear()
        next_time = {
            BY_HEADER: _microseconds(datetime.fromisoformat(headers[BY_HEADER])),
            BY_DATE: _microseconds(parsedate_to_datetime(headers[BY_DATE])),
            BY_OWN_CLOCK: own_clock,
        }[self.goes_by]
        written = self._world.changes
        if before and before.written == written:
            return before._replace(content=content, next_time=next_time)
        keys = [ENTITIES[name] for name in self._entities]
        dump = _records(_rest(self._snapshot()))
        shown = self._world.models[self._account_id].shown(keys)
        return Answer(content, next_time, dump, shown, written)

    def _ask(
        self, form: Form, handler: Callable[[AuthenticatedRequest], Responding]
    ) -> OpenContent | None:
        """Return the response since the copy's time, or None if the client has to start again."""
        if self._time is None:
            return None
        try:
            with self._request(changed_since=form.of(self._time)) as request:
                response = handler(request)
            return opened(response)
        except HTTPException as refusal:
            if refusal.status_code == HTTPStatus.GONE:
                return None
            raise
        except BadInput as refusal:
            raise CopyDiffersError(f"for ever, because {refusal}") from refusal

    def _snapshot(self) -> OpenContent:
        with self._request() as request:
            response = change_feed.snapshot(request)
        return opened(response)

    def read_on(self) -> None:
        """Read the next piece of the response, if there is one."""
        assert self.poll
        pieces = self.poll.changes.content.pieces
        self.poll.read.extend(piece for piece in [next(pieces, b"")] if piece)

    def abandon(self) -> None:
        """Lose the connection, if there is one: what was read of the response is thrown away."""
        if self.poll:
            for answer in (self.poll.changes, self.poll.first_deletions):
                if answer:
                    answer.content.source.close()
            self.poll = None

    def finish(self) -> None:
        """Read the rest, ask for the deletions, apply both, and hold the copy against the dumps.

        Raises CopyDiffersError.
        """
        assert self.poll
        poll, self.poll = self.poll, None
        changes, gone = poll.changes, poll.first_deletions
        changed = _records(b"".join(poll.read) + _rest(changes.content))
        if poll.is_anew:
            self._records, self._time = changed, changes.next_time
            _compare(self._records, changes.dump, "a dump of the same snapshot")
            changes.check()
            return
        if gone is None:
            with self._being_busy():
                content = self._ask(poll.form, deletions.deletions)
            if content is None:
                # Both are thrown away, and next time the copy begins again.
                self._time = None
                return
            gone = self._answer(content, poll.own_clock, changes)
        deleted = _keys(_rest(gone.content))
        before, self._records = self._records, apply(self._records, changed, deleted)
        self._time = next_of(changes, gone)
        expected = {
            key: changes.dump.get(key, before.get(key, b""))
            for key in gone.dump
            if key in changes.dump or key in before
        }
        if poll.first_deletions:
            # What has come since then may have been removed before it.
            expected |= {
                key: changes.dump[key] for key in self._records.keys() & changes.dump.keys()
            }
        _compare(self._records, expected, "the dumps of the same snapshots")
        for answer in (changes, gone):
            answer.check()

    @contextmanager
    def _being_busy(self) -> Iterator[None]:
        self.is_busy = True
        yield
        self.is_busy = False

    @contextmanager
    def _request(self, **parameters: str) -> Iterator[AuthenticatedRequest]:
        with self._world.reader(self._account_id) as connection:
            asked = {**parameters, "entities": ",".join(self._entities)}
            yield request_for(self._world.service, connection, self._account_id, asked)


def request_for(
    service: Service, connection: Connection, account_id: int, parameters: Mapping[str, int | str]
) -> AuthenticatedRequest:
    """Return a request that has come as far as its handler."""

    async def receive() -> Message:
        raise AssertionError("no request asks for a body")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "http_version": "1.1"}
    request = Request(scope, receive, service)
    caller = Caller(account_id, 0, 0)
    feed = OPERATIONS["changes"]
    return AuthenticatedRequest(request, feed, caller, 0, dict(parameters), connection)


def opened(response: Responding) -> OpenContent:
    """Return what a response says; its source has to be closed."""
    if isinstance(response, Streamed):
        with ExitStack() as stack:
            content = stack.enter_context(response.open_content())
            return OpenContent(content.headers, content.pieces, stack.pop_all())
    assert isinstance(response, Response)
    return OpenContent(response.headers, iter([bytes(response.body)]), ExitStack())


def _rest(content: OpenContent) -> bytes:
    with content.source:
        return b"".join(content.pieces)


def _records(body: bytes) -> Records:
    answer = msgspec.json.decode(body, type=dict[str, list[msgspec.Raw]])
    return {
        (key, int(next(iter(msgspec.json.decode(record).values())))): bytes(record)
        for key, records in answer.items()
        for record in records
    }


def _keys(body: bytes) -> set[Key]:
    """Return the records that a response says are gone."""
    answer = msgspec.json.decode(body, type=dict[str, list[str]])
    return {(key, int(number)) for key, numbers in answer.items() for number in numbers}


def _compare(found: Mapping[Key, Any], expected: Mapping[Key, Any], what: str) -> None:
    if found != expected:
        differing = {key for key, _ in found.items() ^ expected.items()}
        raise CopyDiffersError(f"{sorted(differing)} differ from {what}")


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
