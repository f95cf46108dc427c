"""When a subscription ends, by the rule alone."""

from __future__ import annotations

from datetime import date
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.expiry_dates import Calendar, Range, covers, date_expired
from masthead.circulation.issue_calendar import date_beyond, dates_beyond

MONTHLY = Calendar(
    listed=[date(2026, 1, 1), date(2026, 2, 1)],
    coming=[date(2026, 3, 1), date(2026, 4, 1), date(2026, 5, 1)],
    issues_per_year=12,
)
DAYS = st.dates(date(2025, 1, 1), date(2027, 12, 31))


def expiry(
    left: int,
    begins_on: str | None = "2026-03-01",
    received: tuple[str, ...] = (),
    suspensions: tuple[tuple[str, str | None], ...] = (),
    calendar: Calendar = MONTHLY,
) -> str | None:
    """Return the date as text."""
    found = date_expired(
        calendar,
        left,
        date.fromisoformat(begins_on) if begins_on else None,
        received=[date.fromisoformat(day) for day in received],
        suspensions=[
            Range(date.fromisoformat(start), date.fromisoformat(end) if end else None)
            for start, end in suspensions
        ],
    )
    return found.isoformat() if found else None


@pytest.mark.parametrize(
    ("per_year", "dates"),
    [
        (12, ["2026-02-28", "2026-03-31", "2026-04-30"]),
        (4, ["2026-04-30", "2026-07-31", "2026-10-31"]),
        (1, ["2027-01-31", "2028-01-31", "2029-01-31"]),
        (52, ["2026-02-07", "2026-02-14", "2026-02-21"]),
        (26, ["2026-02-14", "2026-02-28", "2026-03-14"]),
        (10, ["2026-03-08", "2026-04-14", "2026-05-20"]),
    ],
)
def test_dates_beyond_the_plan(per_year: int, dates: list[str]) -> None:
    """circulation, "Expiry"; 36.5 days are 36, 73, 109."""
    found = [f"{day}" for day in islice(dates_beyond(date(2026, 1, 31), per_year), 3)]
    assert found == dates


@given(DAYS, st.integers(1, 365), st.integers(1, 500))
def test_dates_beyond_the_plan_go_on(last: date, per_year: int, nth: int) -> None:
    assert last < date_beyond(last, per_year, nth) < date_beyond(last, per_year, nth + 1)
    year = date_beyond(last, per_year, per_year)
    assert 364 <= (year - last).days <= 366


def test_dates_end_with_the_calendar() -> None:
    found = list(dates_beyond(date(9999, 6, 1), 12))
    assert found[-1] == date(9999, 12, 1)
    assert expiry(10**9, calendar=MONTHLY._replace(coming=[date(9990, 1, 1)])) == "9999-12-31"


@pytest.mark.parametrize(
    ("left", "expected"),
    [(1, "2026-03-31"), (2, "2026-04-30"), (3, "2026-05-31"), (4, "2026-06-30"), (-1, None)],
)
def test_it_is_the_day_before_the_first_issue_it_will_not_get(
    left: int, expected: str | None
) -> None:
    """circulation, "Expiry": planned issues by their dates, beyond these by ``issues_per_year``."""
    assert expiry(left) == expected


def test_a_suspension_with_an_end_is_reckoned_in() -> None:
    assert expiry(1, suspensions=(("2026-03-01", "2026-04-01"),)) == "2026-05-31"
    assert expiry(1, suspensions=(("2026-02-15", None),)) == "2026-03-31"
    assert expiry(2, suspensions=(("2026-05-02", "2026-07-01"),)) == "2026-04-30"
    assert expiry(3, suspensions=(("2026-05-02", "2026-07-01"),)) == "2026-07-31"


def test_what_a_gap_list_would_bring_comes_first() -> None:
    assert expiry(2, "2026-02-01") == "2026-03-31"
    assert expiry(2, "2026-02-01", received=("2026-02-01",)) == "2026-04-30"
    assert expiry(2, "2026-02-01", suspensions=(("2026-02-01", None),)) == "2026-04-30"
    assert expiry(1, "2026-01-01") == "2026-01-31"


def test_where_nothing_is_left_it_is_past() -> None:
    assert expiry(0, received=("2026-01-01", "2026-02-01")) == "2026-02-28"
    assert expiry(0, received=("2026-01-01",)) == "2026-01-31"
    assert expiry(0) == "2026-02-28"
    assert expiry(0, None) is None
    bare = Calendar(listed=[date(2026, 2, 1)], coming=[], issues_per_year=4)
    assert expiry(0, received=("2026-02-01",), calendar=bare) == "2026-04-30"


def test_without_any_issue_nothing_can_be_told() -> None:
    assert expiry(3, calendar=Calendar([], [], 12)) is None


@given(
    st.integers(1, 40),
    DAYS,
    st.lists(st.tuples(DAYS, st.integers(0, 200)), max_size=3),
    st.sampled_from([1, 4, 12, 26, 52, 10]),
)
def test_one_issue_more_never_ends_it_earlier(
    left: int, begins_on: date, holidays: list[tuple[date, int]], per_year: int
) -> None:
    """And between both dates is exactly one issue that it gets."""
    calendar = MONTHLY._replace(issues_per_year=per_year)
    away = [Range(day, date.fromordinal(day.toordinal() + length)) for day, length in holidays]
    end = date_expired(calendar, left, begins_on, suspensions=away)
    later = date_expired(calendar, left + 1, begins_on, suspensions=away)
    assert end
    assert later
    days = [*calendar.listed, *calendar.coming, *islice(calendar.beyond(), 200)]
    got = [day for day in days if end < day <= later and day >= begins_on]
    assert len([day for day in got if not covers(away, day)]) == 1
