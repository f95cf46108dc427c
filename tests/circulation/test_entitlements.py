"""What a reader may read now: the rule (rules, "What a reader may read")."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.entitlements import (
    Entitlement,
    HeldSubscription,
    entitlements,
    first_end,
)

TODAY = "2026-11-28"
YESTERDAY, TOMORROW = "2026-11-27", "2026-11-29"


def held(**given_: Any) -> HeldSubscription:
    """Return a paid digital subscription without an end, except for what is given."""
    usual = HeldSubscription(1, "Weekly", "Digital", -1, None, None, None, None, 1)
    return usual._replace(**given_)


def formats(*subscriptions: HeldSubscription) -> list[tuple[str, str | None]]:
    return [(each.format, each.until) for each in entitlements(subscriptions, TODAY)]


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        ("Digital", ["digital"]),
        ("Print", ["print"]),
        ("Both", ["digital", "print"]),
        (None, []),
        ("Braille", []),
    ],
)
def test_a_type_gives_its_formats(type_: str | None, found: list[str]) -> None:
    assert [format_ for format_, _ in formats(held(type=type_))] == found


@pytest.mark.parametrize(
    ("change", "may_read"),
    [
        ({"last_day": TODAY}, True),
        ({"last_day": YESTERDAY}, False),
        ({"last_day": YESTERDAY, "issues": 3}, False),
        ({"last_day": TODAY, "issues": 0}, True),
        ({"last_day": None, "issues": 0}, False),
        ({"last_day": None, "issues": None}, True),
        ({"last_day": None, "issues": 3}, True),
        ({"begins_on": TODAY}, True),
        ({"begins_on": TOMORROW}, False),
        ({"cancelled_on": TODAY}, False),
        ({"paused_from": TODAY}, False),
        ({"paused_from": YESTERDAY}, False),
        ({"paused_from": TOMORROW}, True),
        ({"is_paid": 0}, False),
    ],
)
def test_who_may_read(change: dict[str, Any], may_read: bool) -> None:
    """rules, "What a reader may read"."""
    assert bool(formats(held(**change))) is may_read


@pytest.mark.parametrize(
    ("last_day", "paused_from", "until"),
    [
        (None, None, None),
        ("2027-01-31", None, "2027-01-31"),
        ("2027-01-31", "2026-12-24", "2026-12-23"),
        ("2027-01-31", "2027-03-01", "2027-01-31"),
        (None, "2026-12-01", "2026-11-30"),
    ],
)
def test_it_ends_with_the_last_day_or_before_a_pause(
    last_day: str | None, paused_from: str | None, until: str | None
) -> None:
    found = formats(held(last_day=last_day, paused_from=paused_from))
    assert found == [("digital", until)]


def test_of_several_subscriptions_the_one_that_ends_last_counts() -> None:
    short = held(type="Both", last_day="2026-12-31")
    long = held(type="Digital", last_day="2027-12-31")
    endless = held(type="Print")
    assert formats(short, long) == [("digital", "2027-12-31"), ("print", "2026-12-31")]
    assert formats(long, short) == formats(short, long)
    assert formats(endless, short, long) == [("digital", "2027-12-31"), ("print", None)]


def test_the_first_end_is_that_of_the_earliest_entitlement() -> None:
    one, other, endless = (
        Entitlement(1, None, "print", until) for until in ("2026-12-31", "2026-12-01", None)
    )
    assert first_end([one, other, endless]) == "2026-12-01"
    assert first_end([endless]) is None
    assert first_end([]) is None


days = st.dates(date(2026, 11, 1), date(2026, 12, 31)).map(date.isoformat)
day_or_none = st.none() | days
any_held = st.builds(
    HeldSubscription,
    publication_id=st.integers(1, 3),
    publication=st.just("Weekly"),
    type=st.sampled_from(["Digital", "Print", "Both", None]),
    issues=st.sampled_from([None, -1, 0, 4]),
    begins_on=day_or_none,
    last_day=day_or_none,
    cancelled_on=day_or_none,
    paused_from=day_or_none,
    is_paid=st.sampled_from([0, 1]),
)


@given(subscriptions=st.lists(any_held, max_size=6), today=days)
def test_each_entitlement_holds_until_its_last_day_and_comes_once(
    subscriptions: list[HeldSubscription], today: str
) -> None:
    found = entitlements(subscriptions, today)
    keys = [(each.publication_id, each.format) for each in found]
    assert all(one < other for one, other in pairwise(keys))
    for each in found:
        assert each.until is None or each.until >= today
        # On its last day it still holds, unless an unpaid or planned one was never asked for.
        day = date.fromisoformat(each.until or today)
        later = {(e.publication_id, e.format) for e in entitlements(subscriptions, str(day))}
        assert (each.publication_id, each.format) in later


@given(subscriptions=st.lists(any_held, max_size=6), today=days)
def test_more_subscriptions_never_give_less(
    subscriptions: list[HeldSubscription], today: str
) -> None:
    found = {(e.publication_id, e.format): e.until for e in entitlements(subscriptions, today)}
    for left_out in subscriptions:
        rest = [each for each in subscriptions if each is not left_out]
        for each in entitlements(rest, today):
            until = found[each.publication_id, each.format]
            assert until is None or (each.until is not None and until >= each.until)


@given(each=any_held, today=days)
def test_the_day_after_its_end_nothing_is_left(each: HeldSubscription, today: str) -> None:
    for found in entitlements([each], today):
        if found.until is not None:
            after = date.fromisoformat(found.until) + timedelta(days=1)
            assert entitlements([each], after.isoformat()) == []
