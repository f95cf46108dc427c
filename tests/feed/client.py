"""Clients that keep a copy by polling: each by its own notion of the time to ask for next.

A client asks through the functions that the server's routes call, and applies an answer only when
it has all of it.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from masthead.api.http.request import Request
from masthead.api.http.streaming import Streamed
from masthead.api.operations import change_feed
from masthead.errors import BadInput
from masthead.store.keys import Caller
from tests.feed.model import ENTITIES, seen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.types import Message

    from masthead.api.http.responses import Responding
    from masthead.api.http.service import Service
    from masthead.store import Connection
    from tests.feed.model import Shown
    from tests.feed.world import World

__all__ = [
    "BY_DATE",
    "BY_HEADER",
    "BY_OWN_CLOCK",
    "Client",
    "CopyDiffersError",
    "Form",
    "opened",
    "request_for",
]

BY_HEADER = "Masthead-Changes-Through"
BY_DATE = "Date"
BY_OWN_CLOCK = "the client's own clock"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Records = dict[tuple[str, int], bytes]
"""The bytes of each record, by its key in an answer and its id."""


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
    """The headers and the body of an answer, and what has to be closed in the end."""

    headers: Mapping[str, str]
    pieces: Iterator[bytes]
    source: ExitStack


class _Poll(NamedTuple):
    """An answer that is being read, and what the copy must be once it is applied."""

    content: OpenContent
    read: list[bytes]
    next_time: int
    is_anew: bool
    dump: Records
    expected: Mapping[tuple[str, int], Shown]


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
        self._time: int | None = None
        self._records: Records = {}

    def open_poll(self, form: Form) -> None:
        """Ask for what is new, or for everything where there is no copy or it comes too late.

        Raises CopyDiffersError where the time is refused that was handed out.
        """
        own_clock = self._world.clock.now - self._late_us
        answer = self._ask(form)
        is_anew = answer is None
        content = answer or self._snapshot()
        headers = content.headers
        self._world.clock.interruptions.clear()
        dump = self._snapshot()
        keys = [ENTITIES[name] for name in self._entities]
        self.poll = _Poll(
            content,
            [],
            {
                BY_HEADER: _microseconds(datetime.fromisoformat(headers[BY_HEADER])),
                BY_DATE: _microseconds(parsedate_to_datetime(headers[BY_DATE])),
                BY_OWN_CLOCK: own_clock,
            }[self.goes_by],
            is_anew,
            _records(_rest(dump)),
            self._world.models[self._account_id].shown(keys),
        )

    def _ask(self, form: Form) -> OpenContent | None:
        """Return the changes, or None where the client has to begin anew."""
        if self._time is None:
            return None
        try:
            with self._request(changed_since=form.of(self._time)) as request:
                response = change_feed.changes(request)
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
        """Read the next piece of the answer, if there is one."""
        assert self.poll
        self.poll.read.extend(piece for piece in [next(self.poll.content.pieces, b"")] if piece)

    def abandon(self) -> None:
        """Lose the connection, if there is one: what was read of the answer is thrown away."""
        if self.poll:
            self.poll.content.source.close()
            self.poll = None

    def finish(self) -> None:
        """Read the rest, apply the answer, and hold the copy against everything there was.

        Raises CopyDiffersError.
        """
        assert self.poll
        poll, self.poll = self.poll, None
        answer = _records(b"".join(poll.read) + _rest(poll.content))
        self._records = answer if poll.is_anew else self._records | answer
        self._time = poll.next_time
        if self._records != poll.dump:
            differing = {key for key, _ in self._records.items() ^ poll.dump.items()}
            raise CopyDiffersError(f"{sorted(differing)} differ from a dump of the same snapshot")
        shown = {k: seen(k[0], msgspec.json.decode(v)) for k, v in self._records.items()}
        if shown != poll.expected:
            differing = {key for key, _ in shown.items() ^ poll.expected.items()}
            raise CopyDiffersError(f"{sorted(differing)} differ from what was loaded")

    @contextmanager
    def _request(self, **parameters: str) -> Iterator[Request]:
        with self._world.reader(self._account_id) as connection:
            asked = {**parameters, "entities": ",".join(self._entities)}
            yield request_for(self._world.service, connection, self._account_id, asked)


def request_for(
    service: Service, connection: Connection, account_id: int, parameters: Mapping[str, int | str]
) -> Request:
    """Return a request that has come as far as its handler."""

    async def receive() -> Message:
        raise AssertionError("nobody asks for a body")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "http_version": "1.1"}
    request = Request(scope, receive)
    request.service = service
    request.connection = connection
    request.caller = Caller(account_id, 0, 0)
    request.parameters = dict(parameters)
    return request


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


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
