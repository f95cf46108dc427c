"""What a reader may read now: the rule of entitlements (rules, "What a reader may read")."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Literal, NamedTuple

from masthead.contract.subscription_types import DIGITAL, PRINTED

Format = Literal["digital", "print"]

_DAY = timedelta(days=1)


class HeldSubscription(NamedTuple):
    """What decides whether a subscription lets its reader read; days are ``YYYY-MM-DD``.

    ``issues`` are the issues left, -1 for unlimited, None if unknown. ``paused_from`` is the first
    day of the earliest pause that has not ended. ``is_paid`` is 0 if the next issue waits for the
    payment.
    """

    publication_id: int
    publication: str | None
    type: str | None
    issues: int | None
    begins_on: str | None
    last_day: str | None
    cancelled_on: str | None
    paused_from: str | None
    is_paid: int


class Entitlement(NamedTuple):
    """A publication that a reader may read, in one format.

    ``until`` is the last day, ``YYYY-MM-DD``, None if no end is known.
    """

    publication_id: int
    publication: str | None
    format: Format
    until: str | None


def entitlements(held: Iterable[HeldSubscription], today: str) -> list[Entitlement]:
    """Return what may be read on a day, by publication and format.

    Of several subscriptions of a publication in one format, the one that ends last counts.
    """
    found: dict[tuple[int, Format], Entitlement] = {}
    for each in held:
        if not _may_read(each, today):
            continue
        for format_ in _formats(each.type):
            key = each.publication_id, format_
            until = _until(each)
            if key not in found or _is_later(until, found[key].until):
                found[key] = Entitlement(each.publication_id, each.publication, format_, until)
    return [found[key] for key in sorted(found)]


def first_end(found: Iterable[Entitlement]) -> str | None:
    """Return the earliest last day of some entitlements, None if none of them has one."""
    return min((each.until for each in found if each.until is not None), default=None)


def _may_read(each: HeldSubscription, today: str) -> bool:
    if each.cancelled_on is not None or not each.is_paid:
        return False
    if each.begins_on is not None and each.begins_on > today:
        return False
    if each.paused_from is not None and each.paused_from <= today:
        return False
    if each.last_day is None:
        return each.issues != 0
    return each.last_day >= today


def _until(each: HeldSubscription) -> str | None:
    if each.paused_from is None:
        return each.last_day
    before = (date.fromisoformat(each.paused_from) - _DAY).isoformat()
    return before if each.last_day is None else min(each.last_day, before)


def _is_later(until: str | None, other: str | None) -> bool:
    return other is not None and (until is None or until > other)


def _formats(type_: str | None) -> list[Format]:
    formats: list[Format] = []
    if type_ in DIGITAL:
        formats.append("digital")
    if type_ in PRINTED:
        formats.append("print")
    return formats
