"""The rules of pauses and of what is offered, for all days and all settings."""

from __future__ import annotations

import datetime as dt
import re
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.reader_pages import NOTHING, May, Offered, may
from masthead.circulation.reader_rules import (
    REFUSALS,
    PauseRules,
    Standing,
    check_pause,
    days_by_year,
    earliest_pause,
    paused_days,
    refused,
    state_of,
)
from masthead.circulation.spans import Span, overlapped
from masthead.errors import BadInput

DAYS = st.dates(dt.date(2026, 1, 1), dt.date(2029, 12, 31))
TODAY = "2026-04-15"


@st.composite
def spans(draw: st.DrawFn) -> Span:
    first = draw(DAYS)
    last = first + dt.timedelta(days=draw(st.integers(0, 500)))
    return Span(0, first.isoformat(), last.isoformat())


@given(spans())
def test_the_days_of_the_years_add_up_to_those_of_the_span(span: Span) -> None:
    assert span.last is not None
    days = (dt.date.fromisoformat(span.last) - dt.date.fromisoformat(span.first)).days + 1
    found = days_by_year(span.first, span.last)
    assert sum(found.values()) == days
    assert all(0 < each <= 366 for each in found.values())


@given(st.lists(spans(), max_size=4), spans(), st.integers(0, 365), st.integers(0, 30))
def test_a_pause_that_is_allowed_leaves_no_year_with_more_days_than_allowed(
    present: list[Span], wanted: Span, days: int, notice: int
) -> None:
    assert wanted.last is not None
    total = paused_days([*present, wanted])
    wrong = {
        "pause_too_long": any(
            total[year] > days for year in days_by_year(wanted.first, wanted.last)
        ),
        "pause_notice": wanted.first < earliest_pause(TODAY, notice, None),
        "pause_overlaps": overlapped(present, wanted.first, wanted.last) is not None,
    }
    said = outcome(PauseRules(days, notice), wanted, present)
    assert wrong[said] if said else not any(wrong.values())


def outcome(rules: PauseRules, wanted: Span, present: list[Span]) -> str:
    """Return the code with which a pause is refused; '' if it is allowed."""
    try:
        check_pause(rules, TODAY, wanted.first, str(wanted.last), present, None)
    except BadInput as refusal:
        return refusal.code
    return ""


def test_a_pause_without_an_end_counts_until_its_year_ends() -> None:
    assert paused_days([Span(0, "2026-12-01", None)]) == {2026: 31}


@pytest.mark.parametrize(
    ("notice", "newest_closed", "earliest"),
    [
        (0, None, TODAY),
        (3, None, "2026-04-18"),
        (3, "2026-04-01", "2026-04-18"),
        (3, "2026-05-01", "2026-05-02"),
    ],
)
def test_a_pause_begins_after_the_notice_and_after_what_is_addressed(
    notice: int, newest_closed: str | None, earliest: str
) -> None:
    assert earliest_pause(TODAY, notice, newest_closed) == earliest


@pytest.mark.parametrize("day", ["2026-4-1", "yesterday", "", "2026-02-30", "20260401"])
def test_what_is_no_day_is_refused(day: str) -> None:
    with pytest.raises(BadInput) as refusal:
        check_pause(PauseRules(60, 0), TODAY, "2026-05-01", day, [], None)
    assert (refusal.value.code, refusal.value.values["field"]) == ("day_wrong", "last")


@pytest.mark.parametrize("code", REFUSALS)
def test_each_refusal_is_a_sentence_for_a_reader(code: str) -> None:
    values = dict.fromkeys(re.findall(r"%\((\w+)\)", REFUSALS[code]), "7")
    error = refused(code, **values)
    assert str(error)[0] not in ascii_lowercase
    assert str(error).endswith((".", ":"))
    assert "%" not in str(error)
    assert error.code == code


STANDINGS = st.builds(
    Standing,
    issues=st.sampled_from([-1, 0, 1, 12]),
    is_over=st.booleans(),
    is_cancelled=st.booleans(),
    is_final=st.booleans(),
    is_waiting=st.booleans(),
    is_own=st.booleans(),
    begins_on=st.sampled_from([None, "2026-01-01", "2026-09-01"]),
    pauses=st.lists(spans(), max_size=1).map(tuple),
    renews=st.booleans(),
)


@given(STANDINGS)
def test_where_nothing_is_offered_nothing_may_be_done(standing: Standing) -> None:
    assert may(NOTHING, standing, TODAY, has_issues=True) == May()


@given(STANDINGS)
def test_what_has_ended_is_only_ordered_again(standing: Standing) -> None:
    allowed = may(Offered(), standing, TODAY)
    if state_of(standing, TODAY) == "ended":
        assert not allowed.address
        assert not allowed.pause
        assert not allowed.resume
        assert allowed.cancel == "no"
    if standing.is_over:
        assert not allowed.renew
    if not standing.is_own:
        assert allowed.cancel == "no"
        assert not allowed.uncancel
        assert not allowed.renew_on
    if standing.renews:
        assert allowed.renew_off
