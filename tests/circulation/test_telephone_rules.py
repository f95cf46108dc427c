"""The rules of the telephone desk as plain functions: spans of days, duplicates, letters, taxes."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.amounts import stored_cents
from masthead.circulation.duplicates import Person, alike
from masthead.circulation.first_day import begins_on
from masthead.circulation.refunding import tax_of
from masthead.circulation.spans import Span, day_after, day_before, ended, overlapped

_START = date(2026, 1, 1)
DAYS = st.integers(0, 40).map(lambda n: (_START + timedelta(n)).isoformat())


@st.composite
def spans(draw: st.DrawFn) -> list[Span]:
    """Spans that do not overlap; the last one can be open."""
    edges = sorted(draw(st.sets(DAYS, max_size=8)))
    found = [Span(n, *edges[n : n + 2]) for n in range(0, len(edges) - 1, 2)]
    if len(edges) % 2:
        found.append(Span(len(edges), edges[-1], None))
    return draw(st.permutations(found))


def days_of(first: str, last: str | None) -> set[str]:
    """Return the days of a span, an open one up to some day after all others."""
    start = date.fromisoformat(first)
    end = date.fromisoformat(last) if last else _START + timedelta(100)
    return {(start + timedelta(n)).isoformat() for n in range((end - start).days + 1)}


@given(spans(), DAYS, st.none() | DAYS)
def test_spans_overlap_if_they_have_a_day_in_common(
    present: list[Span], first: str, last: str | None
) -> None:
    if last is not None and last < first:
        first, last = last, first
    found = overlapped(present, first, last)
    common = [span for span in present if days_of(*span[1:]) & days_of(first, last)]
    assert found == min(common, key=lambda span: span.first, default=None)


@given(spans(), DAYS, DAYS)
def test_a_span_that_is_ended_keeps_the_days_before_and_no_other(
    present: list[Span], today: str, resumed: str
) -> None:
    ending = ended(present, today, resumed)
    lasting = [span for span in present if span.last is None or span.last >= today]
    if ending is None:
        first = min(lasting, key=lambda span: span.first, default=None)
        assert first is None or (first.last is not None and first.last < resumed)
        return
    assert ending.span == min(lasting, key=lambda span: span.first)
    left = set() if ending.last is None else days_of(ending.span.first, ending.last)
    assert left == {day for day in days_of(*ending.span[1:]) if day < resumed}


@given(DAYS)
def test_days_follow_each_other(day: str) -> None:
    assert day_before(day_after(day)) == day
    assert day < day_after(day)


NAMES = st.sampled_from(["", "a", "a.", "ada", "adam", "b.", "ben"])
PEOPLE = st.lists(st.builds(Person, st.integers(1, 30), NAMES, st.sampled_from(["ames", "birch"])))


@given(PEOPLE, st.randoms())
def test_nobody_is_in_two_groups_and_the_order_does_not_matter(
    people: list[Person], random: object
) -> None:
    one_each = list({person.subscriber_id: person for person in people}.values())
    groups = alike(one_each)
    ids = [subscriber_id for group in groups for subscriber_id in group]
    assert len(ids) == len(set(ids))
    assert all(len(group) > 1 for group in groups)
    assert alike(reversed(one_each)) == groups
    by_id = {person.subscriber_id: person for person in one_each}
    assert all(len({by_id[one].last_name for one in group}) == 1 for group in groups)


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["ada", "ada"], [[1, 2]]),
        (["a.", "ada"], [[1, 2]]),
        (["", "ada"], [[1, 2]]),
        (["ada", "ben"], []),
        (["adam", "ada"], [[1, 2]]),
        (["ada", "ben", "a."], [[1, 3]]),
    ],
)
def test_a_family_is_not_a_duplicate(names: list[str], groups: list[list[int]]) -> None:
    assert alike(Person(n, name, "ames") for n, name in enumerate(names, 1)) == groups


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**5))
def test_the_tax_of_a_part_is_its_share_to_the_nearest_cent(
    unearned: int, rest: int, tax: int
) -> None:
    net = unearned + rest
    share = tax_of(unearned, net, tax)
    if not net:
        assert share == 0
        return
    assert abs(share * net - tax * unearned) * 2 <= net
    assert tax_of(net, net, tax) == tax


@pytest.mark.parametrize(("text", "cents"), [("12", 1200), ("12.5", 1250), ("0.29", 29)])
def test_amounts_of_orders_are_read_to_the_cent(text: str, cents: int) -> None:
    assert stored_cents(text) == cents


@pytest.mark.parametrize(
    ("late_start", "closed", "planned", "before", "found"),
    [
        ("next", "2026-05-01", "2026-06-01", None, "2026-05-02"),
        ("current", "2026-05-01", "2026-06-01", None, "2026-05-01"),
        ("current", "2026-05-01", "2026-06-01", "2026-05-20", "2026-05-20"),
        ("next", None, "2026-06-01", None, "2026-05-10"),
        ("next", None, "2026-04-01", None, "2026-04-01"),
        ("next", None, None, None, "2026-05-10"),
    ],
)
def test_a_subscription_begins_with_the_next_issue_that_is_not_closed(
    late_start: str, closed: str | None, planned: str | None, before: str | None, found: str
) -> None:
    """circulation, "First issue"."""
    assert begins_on(late_start, closed, planned, "2026-05-10", before=before) == found
