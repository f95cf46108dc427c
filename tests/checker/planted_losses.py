"""Deviations that lose records or show others, and how the checker names each.

They only show when responses are compared with one another.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.checker.altering import Alter, Asked, Reply, Send
from tests.checker.edits import (
    ACCOUNT,
    CDC,
    GET_ACCOUNT,
    GET_CDC,
    GET_ORDER,
    GET_SUBSCRIBERS,
    GET_SUBSCRIPTIONS,
    ORDER,
    SUBSCRIBERS,
    SUBSCRIPTIONS,
    Deviation,
    differs,
    noted,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def _with(asked: Asked, **parameters: str) -> Asked:
    return replace(asked, target=f"{asked.path}?{urlencode(asked.query | parameters)}")


def _records(asked: Asked, reply: Reply) -> dict[str, list[Any]] | None:
    """Return the records of a list or of the feed, None for another response."""
    is_one = re.fullmatch(rf"{SUBSCRIPTIONS}|{SUBSCRIBERS}|{CDC}", asked.path)
    found: dict[str, list[Any]] | None = None
    if is_one and reply.status == 200 and reply.body:
        found = reply.json()
    return found


def filtered_loses_one(name: str, value: str | None = None) -> Alter:
    """Leave out the first record of what a filter of the subscriptions finds."""

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        records = _records(asked, reply)
        if not records or name not in asked.query or value not in {None, asked.query[name]}:
            return reply
        return reply.saying({key: found[1:] for key, found in records.items()})

    return alter


def first_match_alone(asked: Asked, send: Send) -> Reply:
    is_search = asked.path == SUBSCRIBERS and asked.query.keys() - {"limit"}
    return send(_with(asked, limit="1") if is_search else asked)


def limits(pattern: str, default: int, maximum: int) -> Alter:
    """Give a list another default and another maximum of `limit`."""

    def alter(asked: Asked, send: Send) -> Reply:
        text = asked.query.get("limit", str(default))
        if asked.path != pattern or asked.body or not text.isdigit():
            return send(asked)
        return send(_with(asked, limit=str(min(int(text), maximum))))

    return alter


def another_instead(pattern: str) -> Alter:
    """Answer for a record that does not exist with the one that was asked for before."""
    last: list[bytes] = []

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        if re.fullmatch(pattern, asked.path):
            if reply.status == 200:
                last[:] = [reply.body]
            elif reply.status == 404:
                return Reply(200, last[0])
        return reply

    return alter


def alone_loses_one(asked: Asked, send: Send) -> Reply:
    """Leave out the first record of an entity that is requested alone."""
    reply = send(asked)
    records = _records(asked, reply)
    if asked.path == CDC and records and len(records) == 1:
        return reply.saying({key: found[1:] for key, found in records.items()})
    return reply


def _is_since(changed: datetime, since: datetime) -> bool:
    return changed >= since


def changed_one_by_one(
    shows: Callable[[datetime, datetime], bool] = _is_since,
    hours_ahead: int = 0,
    apart: timedelta = timedelta(hours=2),
) -> Alter:
    """Let each subscriber have changed two hours before the next one, the last one 80 minutes ago.

    ``shows`` tells by both times whether a subscriber is in the feed. `modified_date` is in a time
    zone that is ``hours_ahead`` of UTC. ``apart`` is another time between two changes.
    """
    start = datetime.now(UTC) - timedelta(minutes=80)

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        records = _records(asked, reply) if asked.path == CDC else None
        if not records or "subscribers" not in records:
            return reply
        since = datetime.fromisoformat(asked.query["changed_since"])
        kept = []
        for one in records["subscribers"]:
            changed = start - (int(one["subscriber_id"]) - 1) * apart
            if shows(changed, since):
                local = changed + timedelta(hours=hours_ahead)
                kept.append({**one, "modified_date": f"{local:%Y-%m-%d %H:%M:%S}"})
        return reply.saying({**records, "subscribers": kept})

    return alter


def rounded(since: datetime, up: timedelta) -> datetime:
    """Return the full hour before a time, or before the time that is so much later."""
    return (since + up).replace(minute=0, second=0, microsecond=0)


UNEVENLY = timedelta(minutes=127)
_ROUNDED = {
    "up": timedelta(minutes=59, seconds=59),
    "down": timedelta(),
    "to the nearest": timedelta(minutes=30),
}


def minutes_of_an_offset_overlooked(asked: Asked, send: Send) -> Reply:
    """Take +05:30 for +05:00."""
    text = asked.query.get("changed_since", "")
    if asked.path != CDC or not text.endswith(":30") or len(text) < 25:
        return send(asked)
    since = datetime.fromisoformat(f"{text[:-2]}00").astimezone(UTC)
    moment = min(since, datetime.now(UTC)).isoformat(timespec="seconds")
    return send(_with(asked, changed_since=moment))


def begun_again(asked: Asked, send: Send) -> Reply:
    """Answer 410 to times of more than an hour ago, as after a new epoch."""
    reply = send(asked)
    if asked.path == CDC and reply.status == 200:
        with suppress(ValueError):
            since = datetime.fromisoformat(asked.query["changed_since"])
            if since.tzinfo and since < datetime.now(UTC) - timedelta(hours=1):
                return Reply(410, b'{"error":"the feed begins again: load everything again"}')
    return reply


def _is_wide(since: datetime) -> bool:
    return datetime.now(UTC) - since > timedelta(days=2)


DEVIATIONS_OF_LOSSES: dict[str, Deviation] = {
    **{
        f"the filter {name} loses a record of many": differs(
            filtered_loses_one(name), "Operation 7", GET_SUBSCRIPTIONS, name
        )
        for name in ("copies", "issues_left", "publication_id", "min_copies", "max_issues_left")
    },
    "the filter issues_left loses unlimited ones": differs(
        filtered_loses_one("issues_left", "-1"), "Operation 7", GET_SUBSCRIPTIONS, "issues_left"
    ),
    "the first match alone": differs(
        first_match_alone, "Operation 8", GET_SUBSCRIBERS, "last_name"
    ),
    **{
        f"a default of {default} and a maximum of {maximum} for {name}": differs(
            limits(path, default, maximum), "Limits", f"GET {path}", "limit"
        )
        for name, path in (("subscriptions", SUBSCRIPTIONS), ("subscribers", SUBSCRIBERS))
        for default, maximum in ((10, 100), (50, 100), (100, 50), (50, 50))
    },
    "an unknown order as another one": differs(
        another_instead(ORDER), "Operation 9", GET_ORDER, "order_id"
    ),
    "an unknown account as another one": differs(
        another_instead(ACCOUNT), "Operation 2", GET_ACCOUNT, "account.account_id"
    ),
    "an entity alone loses a record": differs(alone_loses_one, "Limits", GET_CDC, "addresses"),
    "the feed begins again": noted(begun_again, "Limits", GET_CDC, "changed_since"),
    "changed_since overlooked for subscribers": differs(
        changed_one_by_one(lambda _changed, _since: True),
        *("Operation 4", GET_CDC, "changed_since"),
    ),
    **{
        f"changed_since rounded {how} by an hour": noted(
            changed_one_by_one(
                lambda changed, since, up=up: changed >= rounded(since, up),  # type: ignore[misc]
                apart=UNEVENLY,
            ),
            *("Operation 4", GET_CDC, "changed_since"),
        )
        for how, up in _ROUNDED.items()
    },
    "the minutes of an offset overlooked": differs(
        minutes_of_an_offset_overlooked, "Operation 4", GET_CDC, "changed_since"
    ),
    "a short time shows nothing": differs(
        changed_one_by_one(lambda changed, since: changed >= since and _is_wide(since)),
        *("Operation 4", GET_CDC, "changed_since"),
    ),
}
OF_MANY_RECORDS = {
    name for name in DEVIATIONS_OF_LOSSES if name.endswith("of many") or "maximum" in name
}
"""What only shows with more records than a list shows."""
