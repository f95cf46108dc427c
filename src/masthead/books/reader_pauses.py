"""Pauses of a reader's subscription, within the days and the notice that the publisher allows.

A paused subscription skips the issues dated in that time, and keeps them: its last day moves on.
Days are ``YYYY-MM-DD``. Each operation raises NotFound for a subscription that is not the reader's,
and BadInput with a code of ``circulation.reader_rules.REFUSALS`` for what it refuses.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from masthead.books import subscriptions
from masthead.books.account import Books, refresh_touched
from masthead.books.reader_acts import (
    Act,
    acting,
    looking,
    own_subscription,
    running_subscription,
)
from masthead.books.reader_offers import offered_by
from masthead.circulation.reader_pages import Offered
from masthead.circulation.reader_rules import (
    PauseRules,
    check_pause,
    earliest_pause,
    paused_days,
    refused,
)
from masthead.circulation.spans import Span, ended, overlapped
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.books.last_days import last_day, last_day_with
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.reader_changes import ReaderChange
from masthead.store.books.subscription import add_suspension, end_span, spans

_TABLE = "suspensions"


class Allowance(NamedTuple):
    """What can still be paused: the first possible day, and the days left by year.

    ``days`` are those of a calendar year that are allowed. The years are this one and the next.
    """

    earliest: str
    days: int
    left: Mapping[int, int]


class Paused(NamedTuple):
    """A pause, both days included, and the last day of the subscription before and after."""

    subscription_id: int
    first: str
    last: str
    until_before: str | None
    until: str | None

    @property
    def sentence(self) -> str:
        """When the subscription is paused."""
        return f"subscription {self.subscription_id} is paused from {self.first} to {self.last}"


class Resumed(NamedTuple):
    """A pause that ends: ``last`` is its new last day, None if it was removed before it began."""

    subscription_id: int
    first: str
    last: str | None
    until_before: str | None
    until: str | None

    @property
    def sentence(self) -> str:
        """How the pause ends."""
        how = f"ends on {self.last}" if self.last else "was removed"
        return f"subscription {self.subscription_id}: the pause from {self.first} {how}"


def allowance(books: Books, subscriber_id: int, subscription_id: int) -> Allowance:
    """Return what can still be paused of a subscription."""
    with books.read() as reading:
        found = own_subscription(reading, subscriber_id, subscription_id)
        offered = offered_by(reading)
        used = paused_days(_spans(reading, subscription_id))
        year = int(reading.today[:4])
        return Allowance(
            earliest_pause(reading.today, offered.pause_notice, found.newest_closed),
            offered.pause_days,
            {each: max(offered.pause_days - used.get(each, 0), 0) for each in (year, year + 1)},
        )


def pause(
    books: Books,
    subscriber_id: int,
    subscription_id: int,
    first: str,
    last: str,
    *,
    dry_run: bool = False,
) -> Paused:
    """Pause a subscription from ``first`` to ``last``, both included.

    A dry run shows what it does to the last day. All days of a calendar year count, also those of
    pauses that a clerk entered (decisions, "Days of a pause").
    """
    with acting(books, subscriber_id, "pause", dry_run=dry_run) as act:
        _check(act.change, act.offered, subscriber_id, subscription_id, first, last)
        before = last_day(act.change, subscription_id)
        subscriptions.suspend(act.books, subscription_id, first, last)
        after = _new_last_day(act, subscription_id)
        act.note("pause", subscription_id, {"until": before}, _noted(first, last, after))
        act.confirm("pause", subscription_id, first=first, last=last, until=after)
        return Paused(subscription_id, first, last, before, after)


def look_at_pause(
    books: Books, subscriber_id: int, subscription_id: int, first: str, last: str
) -> Paused:
    """Return what a pause does to the last day; nothing is locked.

    Raises what :func:`pause` raises.
    """
    with looking(books, subscriber_id, "pause") as look:
        reading = look.reading
        present = _check(reading, look.offered, subscriber_id, subscription_id, first, last)
        before = last_day(reading, subscription_id)
        after = last_day_with(reading, subscription_id, [*present, Span(0, first, last)])
        return Paused(subscription_id, first, last, before, after)


def _check(
    reading: Reading,
    offered: Offered,
    subscriber_id: int,
    subscription_id: int,
    first: str,
    last: str,
) -> list[Span]:
    """Return the pauses of a subscription. Raises BadInput unless it can have another one."""
    found = running_subscription(reading, subscriber_id, subscription_id)
    if found.issues == UNLIMITED:
        raise refused("unlimited")
    present = _spans(reading, subscription_id)
    rules = PauseRules(offered.pause_days, offered.pause_notice)
    check_pause(rules, reading.today, first, last, present, found.newest_closed)
    return present


def resume(
    books: Books, subscriber_id: int, subscription_id: int, first: str, *, dry_run: bool = False
) -> Resumed:
    """End today the pause that began on ``first``, or remove it before it begins.

    A pause without a last day was made by a clerk, and only a clerk ends it.
    """
    with acting(books, subscriber_id, "pause", dry_run=dry_run) as act:
        paused, _ = _to_end(act.change, subscriber_id, subscription_id, first)
        before = last_day(act.change, subscription_id)
        done = subscriptions.resume(act.books, subscription_id)
        after = _new_last_day(act, subscription_id)
        act.note(
            "resume",
            subscription_id,
            _noted(first, paused.last, before),
            {"last": done.last, "until": after},
        )
        act.confirm("resume", subscription_id, first=first, last=done.last, until=after)
        return Resumed(subscription_id, first, done.last, before, after)


def look_at_resuming(books: Books, subscriber_id: int, subscription_id: int, first: str) -> Resumed:
    """Return what the end of a pause does to the last day; nothing is locked.

    Raises what :func:`resume` raises.
    """
    with looking(books, subscriber_id, "pause") as look:
        reading = look.reading
        paused, others = _to_end(reading, subscriber_id, subscription_id, first)
        ending = ended([paused], reading.today, reading.today)
        last = None if ending is None else ending.last
        left = [] if last is None else [paused._replace(last=last)]
        before = last_day(reading, subscription_id)
        after = last_day_with(reading, subscription_id, [*others, *left])
        return Resumed(subscription_id, first, last, before, after)


def _to_end(
    reading: Reading, subscriber_id: int, subscription_id: int, first: str
) -> tuple[Span, list[Span]]:
    """Return the pause that a reader ends, and the other ones. Raises BadInput if there is none."""
    running_subscription(reading, subscriber_id, subscription_id)
    present = _spans(reading, subscription_id)
    ahead = [each for each in present if each.last is None or each.last >= reading.today]
    if not ahead:
        raise refused("not_paused")
    if ahead[0].first != first:
        raise refused("changed_meanwhile")
    if ahead[0].last is None:
        raise refused("pause_not_yours")
    return ahead[0], [each for each in present if each != ahead[0]]


def undo(change: Operation, made: ReaderChange) -> None:
    """Take back a pause, or the end of one. Raises BadInput if it was changed since."""
    subscription_id = made.subscription_id or 0
    before, after = made.before or {}, made.after or {}
    present = _spans(change, subscription_id)
    first, last = (
        (after["first"], after["last"])
        if made.kind == "pause"
        else (before["first"], after["last"])
    )
    found = next((each for each in present if (each.first, each.last) == (first, last)), None)
    change.touch([subscription_id])
    if made.kind == "pause":
        if found is None:
            raise BadInput("the pause was changed since: it cannot be undone any more")
        end_span(change, _TABLE, found.span_id, None)
        return
    others = [each for each in present if each != found]
    if (last is not None and found is None) or overlapped(others, first, before["last"]):
        raise BadInput("there is another pause since: end that one first")
    if found is None:
        add_suspension(change, subscription_id, first, before["last"])
    else:
        end_span(change, _TABLE, found.span_id, before["last"])


def _noted(first: str, last: str | None, until: str | None) -> dict[str, Any]:
    return {"first": first, "last": last, "until": until}


def _new_last_day(act: Act, subscription_id: int) -> str | None:
    """Return the last day of what is left of a subscription, as the operation has left it."""
    refresh_touched(act.change)
    return last_day(act.change, subscription_id)


def _spans(reading: Reading, subscription_id: int) -> list[Span]:
    return spans(reading.connection, reading.account_id, _TABLE, subscription_id)
