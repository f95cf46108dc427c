"""What a term has earned, in whole cents."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.shares import earned, earned_by_months, months_between, share

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
def test_an_unlimited_term_is_earned_by_months(cents: int, months: int, elapsed: int) -> None:
    found = earned_by_months(cents, months, elapsed)
    assert 0 <= found <= earned_by_months(cents, months, elapsed + 1) <= cents
    assert (found == cents) >= (elapsed >= months)


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
    assert months_between(date.fromisoformat(start), date.fromisoformat(end)) == months
