"""What a term has earned, in whole cents."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.earned_share import Spread, earned, last_day_reached, month_number, share

CENTS = st.integers(0, 10**9)
ISSUES = st.integers(1, 400)


@pytest.mark.parametrize(
    ("cents", "issues", "shares"),
    [(1000, 3, [333, 333, 334]), (1, 4, [0, 0, 0, 1]), (1200, 4, [300] * 4), (0, 2, [0, 0])],
)
def test_the_last_delivery_takes_the_remainder(cents: int, issues: int, shares: list[int]) -> None:
    """circulation, "Money"."""
    assert [share(cents, issues, nth) for nth in range(1, issues + 1)] == shares


@given(CENTS, ISSUES)
def test_shares_add_up_to_the_price(cents: int, issues: int) -> None:
    shares = [share(cents, issues, nth) for nth in range(1, issues + 1)]
    assert sum(shares) == earned(cents, issues, issues) == cents
    assert max(shares) - min(shares) <= 1


@given(CENTS, ISSUES, st.integers(-5, 1000))
def test_no_more_than_the_price_is_earned(cents: int, months: int, elapsed: int) -> None:
    """Of an unlimited term too, which is earned by months."""
    found = earned(cents, months, elapsed)
    assert 0 <= found <= earned(cents, months, elapsed + 1) <= cents
    assert (found == cents) >= (elapsed >= months)


@given(CENTS, st.integers(2, 60), st.data())
def test_what_is_spread_again_adds_up_too(cents: int, issues: int, data: st.DataObject) -> None:
    """circulation, "Money": an allowance, and "Copies": other copies for the issues left."""
    after = data.draw(st.integers(1, issues - 1))
    before, copies = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    so_far = earned(cents, issues, after)
    allowed = data.draw(st.integers(0, cents - so_far))
    parts = (issues - after) * before
    whole = after + parts // copies
    spread = Spread(allowed, after, so_far, parts, copies)
    found = [earned(cents, whole, done, spread) for done in range(whole + 1)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, cents - allowed)
    assert whole == after or found[after] == so_far


@pytest.mark.parametrize(
    ("start", "end", "months"),
    [
        ("2026-01-15", "2026-01-15", 0),
        ("2026-01-15", "2026-02-14", 0),
        ("2026-01-15", "2026-02-15", 1),
        ("2026-01-31", "2026-02-27", 0),
        ("2026-01-31", "2026-02-28", 1),
        ("2026-01-31", "2026-04-30", 3),
        ("2026-01-31", "2026-03-01", 1),
        ("2025-12-01", "2027-01-01", 13),
        ("2026-02-01", "2026-01-01", -1),
    ],
)
def test_whole_months_are_counted(start: str, end: str, months: int) -> None:
    first, last = date.fromisoformat(start), date.fromisoformat(end)
    found = month_number(last) - month_number(first) - (first.day > last_day_reached(last))
    assert found == months
