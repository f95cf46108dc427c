"""Operation 4: how exactly the change feed takes `changed_since`."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from itertools import combinations
from typing import NamedTuple

from masthead.checker.checks.feed import TOO_LONG, lacking
from masthead.checker.findings import NotTried
from masthead.checker.service import ALL, Feed, Service, id_of
from masthead.checker.times import time_of
from masthead.contract.operations import ENTITIES, OPERATIONS

_SECTION = "Operation 4"
_REQUEST = f"GET {OPERATIONS['changes'].path}"
_TEN_HOURS = timedelta(hours=10)
"""Less than the greatest UTC offset: a service that ignores the offset sees a future time."""

_HOUR = timedelta(hours=1)
_NEAR = timedelta(minutes=5)
_WITHIN = timedelta(minutes=10)
_CLOSELY = timedelta(seconds=15)
_RECENT = 50


class _Edge(NamedTuple):
    """Two times, since the first of which the feed shows a record, and not since the second."""

    shown: datetime
    hidden: datetime


def the_offset_of_a_time_is_kept(service: Service) -> None:
    """The same moment with another UTC offset returns the same records.

    Interface, operation 4: a time has a UTC offset.
    """
    moment = service.asker.now() - _TEN_HOURS
    _compare_offsets(service, ALL, moment, (timedelta(hours=14), timedelta(hours=-12)))


def half_hours_of_an_offset_are_kept(service: Service) -> None:
    """The same moment with an offset of half an hour returns the same records.

    Interface, operation 4: a time has a UTC offset.
    """
    found = {entity.name: service.feed.get(entity.key, []) for entity in ENTITIES}
    counts = {name: len(records) for name, records in found.items() if records}
    if not counts:
        raise NotTried("nothing has changed in the last five days")
    name = min(counts, key=counts.__getitem__)
    edge = _edge(service, name, _hidden_now(service, name)[-1], _WITHIN)
    offsets = (timedelta(hours=5, minutes=30), timedelta(hours=-3, minutes=-30))
    # Half an hour more or less would hide the record, or show it.
    for moment in (edge.shown - _NEAR, edge.hidden + _NEAR):
        if moment <= service.asker.now():
            _compare_offsets(service, [name], moment, offsets)


def a_time_counts_to_the_minute(service: Service) -> None:
    """A changed record leaves the feed at any minute, and not only at full hours.

    Interface, operation 4. How early a feed begins is open, and so is the time zone of
    `modified_date`; but two changes are as far apart in the feed as in `modified_date`.
    """
    (one, at), (other, earlier) = _changes_at_other_minutes(service)
    first = _edge(service, "subscribers", one, _CLOSELY)
    due = first.hidden - (at - earlier)
    if due - _NEAR < service.feed_since:
        raise NotTried("the feed shows changes at other times than modified_date")
    if other in _ids(service, "subscribers", due - _NEAR) and other not in _ids(
        service, "subscribers", due + _NEAR
    ):
        return
    second = _edge(service, "subscribers", other, _CLOSELY)
    if _from_full_hour(first.hidden - second.hidden) <= 2 * _CLOSELY:
        text = (
            "records leave the feed a number of full hours apart, however they changed: a rounded "
            "time loses changes or repeats them"
        )
        service.notes(_SECTION, _REQUEST, "changed_since", text)


def _compare_offsets(
    service: Service, names: Sequence[str], moment: datetime, offsets: Sequence[timedelta]
) -> None:
    before = _changes(service, names, moment)
    for offset in offsets:
        local = moment.astimezone(timezone(offset))
        shifted = _changes(service, names, local)
        repeat = service.asker.repeats[_REQUEST]
        after = _changes(service, names, moment)
        # The later response includes what changes meanwhile.
        if any(lacking(before, shifted).values()) or any(lacking(shifted, after).values()):
            text = f"a moment in the offset {local.isoformat()[-6:]} shows other records"
            service.differs(_SECTION, _REQUEST, "changed_since", text, repeat)
        before = after


def _edge(service: Service, name: str, record_id: str, within: timedelta) -> _Edge:
    """Return when the feed no longer shows a record; raises NotTried if it changes meanwhile."""
    edge = _Edge(service.feed_since, service.asker.now())
    while edge.hidden - edge.shown > within:
        middle = edge.shown + (edge.hidden - edge.shown) / 2
        is_shown = record_id in _ids(service, name, middle)
        edge = edge._replace(shown=middle) if is_shown else edge._replace(hidden=middle)
    if record_id in _ids(service, name, edge.hidden):
        raise NotTried("the record that was followed has changed meanwhile")
    return edge


def _hidden_now(service: Service, name: str) -> list[str]:
    """Return the ids that the feed of five days shows, and the feed of now does not."""
    now = _ids(service, name, service.asker.now())
    key = next(entity.key for entity in ENTITIES if entity.name == name)
    found = [id_of(one) for one in service.feed.get(key, []) if id_of(one) not in now]
    if not found:
        raise NotTried("the feed shows the same records since any time")
    return found


def _changes_at_other_minutes(service: Service) -> tuple[tuple[str, datetime], ...]:
    """Return two subscribers whose changes are no number of full hours apart, and the times.

    The last one comes first. Raises NotTried if there are none.
    """
    times = {id_of(one): time_of(one) for one in service.feed.get("subscribers", [])}
    known = [(time, key) for key, time in times.items() if time]
    if len({time for time, _ in known}) > 1:
        hidden = set(_hidden_now(service, "subscribers"))
        recent = [(key, time) for time, key in sorted(known, reverse=True) if key in hidden]
        for pair in combinations(recent[:_RECENT], 2):
            if _from_full_hour(pair[0][1] - pair[1][1]) >= 2 * _NEAR:
                return pair
    raise NotTried("no two subscribers of the feed changed at different minutes of an hour")


def _from_full_hour(distance: timedelta) -> timedelta:
    return min(distance % _HOUR, -distance % _HOUR)


def _changes(service: Service, names: Sequence[str], since: datetime) -> Feed:
    found, is_whole = service.changes(names, since)
    if not is_whole:
        raise NotTried(TOO_LONG)
    return found


def _ids(service: Service, name: str, since: datetime) -> set[str]:
    found = _changes(service, [name], since)
    return {id_of(one) for records in found.values() for one in records}


CHECKS = (
    the_offset_of_a_time_is_kept,
    half_hours_of_an_offset_are_kept,
    a_time_counts_to_the_minute,
)
