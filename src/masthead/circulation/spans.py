"""Spans of days, such as those of a suspension or of a temporary address.

A span includes its first and its last day; a span without a last day is open. The spans of a
subscription never overlap (circulation, "What is stored in addition").
"""

import datetime as dt
from collections.abc import Iterable
from typing import NamedTuple

_DAY = dt.timedelta(days=1)
_LAST_DAY = dt.date.max.isoformat()
"""The last day that can be stored; a span until then has no day after it."""


class Span(NamedTuple):
    """A span with its id: the first and the last day, ``YYYY-MM-DD``; None: it is open."""

    span_id: int
    first: str
    last: str | None


class Ending(NamedTuple):
    """How a span ends: ``last`` is its new last day; None: it is removed, as it has not begun."""

    span: Span
    last: str | None


def day_before(day: str) -> str:
    """Return the day before a day, both ``YYYY-MM-DD``."""
    return (dt.date.fromisoformat(day) - _DAY).isoformat()


def day_after(day: str) -> str:
    """Return the day after a day, both ``YYYY-MM-DD``."""
    return (dt.date.fromisoformat(day) + _DAY).isoformat()


def overlapped(spans: Iterable[Span], first: str, last: str | None) -> Span | None:
    """Return the earliest span that overlaps ``first`` to ``last``; None if none does."""
    found = (
        span
        for span in spans
        if (last is None or span.first <= last) and (span.last is None or first <= span.last)
    )
    return min(found, key=lambda span: span.first, default=None)


def uncovered(span: Span, present: Iterable[Span]) -> list[tuple[str, str | None]]:
    """Return the first and last days of the parts of a span that no span in ``present`` covers."""
    parts: list[tuple[str, str | None]] = []
    first: str | None = span.first
    for other in sorted(present, key=lambda each: each.first):
        if first is None or not overlapped([other], first, span.last):
            continue
        if first < other.first:
            parts.append((first, day_before(other.first)))
        first = None if other.last in {None, _LAST_DAY} else day_after(other.last)
    if first is not None and (span.last is None or first <= span.last):
        parts.append((first, span.last))
    return parts


def ended(spans: Iterable[Span], today: str, resumed: str) -> Ending | None:
    """Return how the span that lasts today, or else the next one, ends before ``resumed``.

    ``resumed`` is the first day that the span no longer includes. Returns None if no span lasts
    today or begins later, or if the span ends before ``resumed`` anyway.
    """
    lasting = [span for span in spans if span.last is None or span.last >= today]
    if not lasting:
        return None
    span = min(lasting, key=lambda each: each.first)
    if span.last is not None and span.last < resumed:
        return None
    return Ending(span, None if resumed <= span.first else day_before(resumed))
