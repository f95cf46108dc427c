"""Which checks a deviation concerns: only they need to be made to see what it causes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from masthead.checker import CHECKS, check, running
from tests.checker.altering import altered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from masthead.checker.running import Check
    from tests.checker.altering import Alter, Asked, Replies, Reply, Send
    from tests.mirror.publisher import Publisher


class _SentOtherwiseError(Exception):
    """A deviation sends something else than it was asked."""


class Heard(NamedTuple):
    """What one check alone asks a publisher, and the replies, if nothing is altered."""

    check: Check
    pairs: Sequence[tuple[Asked, Reply]]


def hear(publisher: Publisher, replies: Replies) -> list[Heard]:
    """Make each check alone, and return what it asks.

    The first request is left out: before all checks, it tells whether there is a service.
    """
    found = []
    for each in (each for group in CHECKS.values() for each in group):
        pairs: list[tuple[Asked, Reply]] = []

        def alter(asked: Asked, send: Send, pairs: list[tuple[Asked, Reply]] = pairs) -> Reply:
            reply = send(asked)
            pairs.append((asked, reply))
            return reply

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(running, "CHECKS", {"one": [each]})
            with altered(publisher.url, alter, replies) as server:
                report = check(server.url, publisher.key, publisher.login, 1000)
        assert report.findings == []
        found.append(Heard(each, pairs[1:]))
    return found


def touched(alter: Alter, heard: Sequence[Heard]) -> list[Check]:
    """Return the checks that ask something to which a deviation replies otherwise.

    All others find what they find without the deviation, which is nothing.
    """
    return [
        each.check
        for each in heard
        if any(_changes(alter, asked, was) for asked, was in each.pairs)
    ]


def _changes(alter: Alter, asked: Asked, was: Reply) -> bool:
    def send(other: Asked) -> Reply:
        if (other.method, other.path, other.query, other.body) != (
            *(asked.method, asked.path, asked.query, asked.body),
        ):
            raise _SentOtherwiseError
        return was

    try:
        reply = alter(asked, send)
    except (_SentOtherwiseError, ValueError):  # some cannot read each request, and hang up
        return True
    if reply is was:
        return False
    same = (reply.status, reply.headers, reply.is_cut) == (was.status, was.headers, was.is_cut)
    return not same or _content(reply.body) != _content(was.body)


def _content(body: bytes) -> str | bytes:
    """Return what a body says, whatever spaces it has; the body itself if it is not JSON."""
    try:
        # With all members of an object, and in their order.
        return json.dumps(json.loads(body, object_pairs_hook=lambda pairs: ("object", pairs)))
    except ValueError:
        return body
