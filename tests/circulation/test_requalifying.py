"""When readers are asked to qualify again (qualification, "Requalification")."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.requalifying import Effort, check_efforts, windows
from masthead.errors import BadInput

TODAY = "2026-11-29"
DAYS = st.integers(0, 60)


@st.composite
def _efforts(draw: st.DrawFn) -> list[Effort]:
    days = sorted(draw(st.sets(DAYS, max_size=5)), reverse=True)
    found = [Effort(1, number, day, "letter") for number, day in enumerate(days, 1)]
    return draw(st.permutations(found))


@given(_efforts(), st.integers(-5, 65))
def test_a_qualification_gets_the_last_effort_that_is_due_and_none_after_its_end(
    efforts: list[Effort], left: int
) -> None:
    end = (dt.date.fromisoformat(TODAY) + dt.timedelta(days=left)).isoformat()
    got = [each.effort for each in windows(efforts, TODAY) if each.first <= end <= each.last]
    fitting = [each for each in efforts if 0 <= left <= each.days_before]
    assert got == ([max(fitting, key=lambda each: each.effort)] if fitting else [])
    check_efforts(efforts)


@pytest.mark.parametrize(
    ("efforts", "said"),
    [
        ([(1, 30), (2, 60)], "effort 2 is due 60 days before the end: effort 1, which comes"),
        ([(1, 30), (2, 30)], "effort 2 is due 30 days before the end: effort 1, which comes"),
        ([(0, 30)], "an effort has a number from 1 to 9, not 0"),
        ([(1, -1)], "an effort is due 0 to 730 days before the end, not -1"),
    ],
)
def test_efforts_that_are_not_due_in_their_order_are_refused(
    efforts: list[tuple[int, int]], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        check_efforts([Effort(1, number, days, "letter") for number, days in efforts])
