"""What a subscription of the former system becomes (circulation, "Two modes of an account")."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.expiry_dates import Calendar, date_expired
from masthead.circulation.opening import (
    Choices,
    Finding,
    Given,
    OpeningTerm,
    coming_issues,
    opening_terms,
)


@pytest.mark.parametrize(
    ("issues", "paid", "unearned", "expected"),
    [
        (12, 12, "36.00", [OpeningTerm(12, 3600, True)]),
        (12, 5, "36.5", [OpeningTerm(5, 3650, True), OpeningTerm(7, 0, False)]),
        (12, None, "0.01", [OpeningTerm(12, 1, True)]),
        (12, None, None, [OpeningTerm(12, 0, False)]),
        (12, None, "0.00", [OpeningTerm(12, 0, False)]),
        (12, 0, None, [OpeningTerm(12, 0, False)]),
        (12, 5, None, [OpeningTerm(5, 0, True), OpeningTerm(7, 0, False)]),
        (12, 12, "0.00", [OpeningTerm(12, 0, True)]),
        (0, None, None, []),
        (None, None, None, []),
        (0, 0, "0.00", []),
        (-1, None, "8.40", [OpeningTerm(-1, 840, True)]),
        (-1, None, None, [OpeningTerm(-1, 0, False)]),
    ],
)
def test_the_issues_left_become_one_term_or_a_paid_and_a_free_part(
    issues: int | None, paid: int | None, unearned: str | None, expected: list[OpeningTerm]
) -> None:
    terms, findings = opening_terms(Given(issues, paid, unearned), Choices())
    assert terms == expected
    assert findings == ([Finding.UNKNOWN] if issues is None else [])


FROM_DATES = Choices(issues_from_dates=True)
UNTIL = Given(date_expired="2027-03-31", coming=3)
LEFT = Given(issues=4)
CANCELLED = LEFT._replace(cancelled_on="2026-01-01")


@pytest.mark.parametrize(
    ("given_", "choices", "finding"),
    [
        (Given(-2), Choices(), Finding.ISSUES),
        (Given(5, 6, "1.00"), Choices(), Finding.PAID),
        (Given(5, -1, "1.00"), Choices(), Finding.PAID),
        (Given(0, 1), Choices(), Finding.PAID),
        (Given(0, None, "1.00"), Choices(), Finding.NOTHING_PAID),
        (Given(5, 0, "1.00"), Choices(), Finding.NOTHING_PAID),
        (Given(5, None, "-1.00"), Choices(), Finding.NEGATIVE),
        (Given(5, 5, "1.005"), Choices(), Finding.CENTS),
        (UNTIL, Choices(), Finding.DATE),
        (UNTIL, FROM_DATES, Finding.NOT_SAID),
        (UNTIL._replace(paid_issues_left=4), FROM_DATES, Finding.PAID),
        (UNTIL._replace(coming=None), FROM_DATES, Finding.FAR),
        (CANCELLED, Choices(), Finding.CANCELLED),
        (CANCELLED._replace(issues=0, unearned_revenue="1"), Choices(), Finding.CANCELLED),
        (UNTIL._replace(cancelled_on="2026-01-01"), FROM_DATES, Finding.CANCELLED),
        (LEFT._replace(copies=None), Choices(), Finding.COPIES),
        (LEFT._replace(copies=0), Choices(), Finding.COPIES),
        (LEFT._replace(type=None), Choices(), Finding.TYPE),
        (Given(0, type="", in_campaign=True), Choices(), Finding.TYPE),
    ],
)
def test_what_cannot_be_taken_as_it_is_is_named(
    given_: Given, choices: Choices, finding: Finding
) -> None:
    """decisions, "Opening terms": no guess, and the publisher learns what to do."""
    terms, findings = opening_terms(given_, choices)
    assert not terms
    assert [each for each in findings if each.advice] == [finding]


@pytest.mark.parametrize(
    ("given_", "choices", "expected"),
    [
        (UNTIL, FROM_DATES._replace(paid="all"), [OpeningTerm(3, 0, True)]),
        (UNTIL, FROM_DATES._replace(paid="none"), [OpeningTerm(3, 0, False)]),
        (UNTIL._replace(unearned_revenue="9"), FROM_DATES, [OpeningTerm(3, 900, True)]),
        (
            UNTIL._replace(paid_issues_left=1),
            FROM_DATES._replace(paid="all"),
            [OpeningTerm(1, 0, True), OpeningTerm(2, 0, False)],
        ),
        (LEFT, Choices(paid="all"), [OpeningTerm(4, 0, True)]),
        (LEFT._replace(paid_issues_left=0), Choices(paid="all"), [OpeningTerm(4, 0, False)]),
        (Given(-1), Choices(paid="all"), [OpeningTerm(-1, 0, True)]),
        (CANCELLED, Choices(cancelled="serve"), [OpeningTerm(4, 0, False)]),
        (CANCELLED, Choices(cancelled="end"), []),
        (CANCELLED._replace(issues=0), Choices(), []),
        (UNTIL._replace(coming=0), Choices(), []),
        (Given(0, copies=None, type=None), Choices(), []),
    ],
)
def test_choices_say_how_these_are_taken(
    given_: Given, choices: Choices, expected: list[OpeningTerm]
) -> None:
    """circulation, "Two modes of an account"; what the files say counts first."""
    terms, findings = opening_terms(given_, choices)
    assert terms == expected
    assert not any(each.advice for each in findings)


@given(
    issues=st.none() | st.integers(-3, 60),
    paid=st.none() | st.integers(-1, 61),
    cents=st.none() | st.integers(-1, 10_000),
    coming=st.none() | st.integers(0, 60),
    choices=st.builds(
        Choices, st.booleans(), st.sampled_from([None, "all", "none"]), st.just("serve")
    ),
    cancelled_on=st.sampled_from([None, "2026-01-01"]),
)
def test_nothing_is_lost_and_nothing_added(
    issues: int | None,
    paid: int | None,
    cents: int | None,
    coming: int | None,
    choices: Choices,
    cancelled_on: str | None,
) -> None:
    unearned = None if cents is None else str(Decimal(cents) / 100)
    given_ = Given(issues, paid, unearned, 1, "Both", "2030-01-01", cancelled_on, coming=coming)
    terms, findings = opening_terms(given_, choices)
    if any(each.advice for each in findings):
        assert not terms
        return
    assert sum(term.issues for term in terms) == (coming if issues is None else issues)
    assert sum(term.price for term in terms) == (cents or 0)
    assert all(term.issues for term in terms)
    if paid is not None and issues != -1:
        assert sum(term.issues for term in terms if term.is_paid) == paid


@given(
    coming=st.lists(st.dates(date(2026, 3, 11), date(2028, 1, 1)), unique=True, max_size=9),
    earlier=st.lists(st.dates(date(2024, 1, 1), date(2026, 3, 10)), max_size=2),
    issues_per_year=st.integers(1, 366),
    until=st.dates(date(2026, 3, 10), date(2031, 1, 1)),
)
def test_issues_up_to_a_date_end_the_subscription_with_the_last_of_them(
    coming: list[date], earlier: list[date], issues_per_year: int, until: date
) -> None:
    """circulation, "Expiry": the new date is the day before the first issue after the old one."""
    calendar = Calendar([], sorted(coming), issues_per_year, sorted(earlier))
    days = list(coming_issues(calendar, "2026-03-10"))
    left = sum(day <= until for day in days)
    after = next(day for day in days if day > until)
    if left and (coming or not earlier):
        begins = date(2026, 3, 11)
        known = calendar if calendar.dates else calendar._replace(earlier=[date(2026, 3, 10)])
        assert date_expired(known, left, begins) == after - timedelta(days=1)
