"""Months of the books: their days, their numbers, and the first day that is open."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing import months
from masthead.errors import BadInput

days = st.dates(date(2000, 1, 1), date(2100, 1, 1))


@given(days)
def test_each_day_is_in_its_month(day: date) -> None:
    month = months.month_of(day.isoformat())
    assert months.first_day(month) <= day.isoformat() <= months.last_day(month)
    after = date.fromisoformat(months.last_day(month)) + timedelta(1)
    assert after.isoformat() == months.first_day(months.month_after(month))


@given(days)
def test_the_number_of_a_month_is_read_again(day: date) -> None:
    month = f"{day:%Y-%m}"
    assert months.month_id(month) == int(f"{day:%Y%m}")
    assert months.month_named(months.month_id(month)) == month
    assert months.check_month(month) == month


@pytest.mark.parametrize("text", ["", "2026", "2026-13", "2026-1", "2026-11-01", "November"])
def test_what_is_no_month_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=f"{text!r} is not a month such as 2026-11"):
        months.check_month(text)


def test_the_first_open_day_follows_the_closed_months() -> None:
    assert months.first_open_day("2026-10-15", None) == "2026-10-15"
    assert months.first_open_day("2026-10-15", "2026-10") == "2026-11-01"
    assert months.first_open_day("2026-10-15", "2026-12") == "2027-01-01"
