"""The statement of a payer adds up line by line, for any movements and any days."""

from __future__ import annotations

from datetime import date
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.payer_statements import (
    Movement,
    MovementKind,
    OpenItem,
    Statement,
    report,
    statement_of,
)
from masthead.circulation.tables import lines

days = st.dates(date(2026, 1, 1), date(2026, 12, 31)).map(date.isoformat)
movements = st.lists(
    st.builds(
        Movement,
        day=days,
        kind=st.sampled_from(get_args(MovementKind)),
        number=st.just("1"),
        about=st.just(""),
        cents=st.integers(-10_000, 10_000),
    )
)


@given(movements, days, days)
def test_two_statements_that_follow_each_other_are_one(
    found: list[Movement], one: str, other: str
) -> None:
    first, last = sorted((one, other))
    opening, within = statement_of(found, first, last)
    assert opening == sum(each.cents for each in found if each.day < first)
    assert within == [each for each in found if first <= each.day <= last]
    after, _ = statement_of(found, "2027-01-01", None)
    assert after == sum(each.cents for each in found)


@given(movements, st.integers(-5000, 5000))
def test_each_line_has_the_balance_after_it(found: list[Movement], opening: int) -> None:
    made = Statement(1, "Ada", "2026-01-01", None, opening, found, (), 0, "EUR")
    table = report(made)
    before: int = opening
    for row in table.rows[1:]:
        owed, paid, balance = (int(cell or 0) for cell in row[4:])
        assert balance == before + owed - paid
        before = balance
    ((*_, owed_in_all, paid_in_all, closing),) = table.totals
    assert closing == opening + int(owed_in_all or 0) - int(paid_in_all or 0) == before


def test_a_statement_as_text() -> None:
    made = Statement(
        7,
        "Ada Ames",
        "2026-11-01",
        None,
        1000,
        [
            Movement("2026-11-02", "invoice", "2026-000002", "", 5000),
            Movement("2026-11-20", "payment", "3", "transfer 9", -4000),
            Movement("2026-11-21", "write_off", "2026-000001", "", -1000),
        ],
        [OpenItem("2026-000002", "2026-11-02", "2026-11-16", 1250)],
        250,
        "EUR",
    )
    assert lines(report(made)) == [
        "Statement of Ada Ames (subscriber 7), all that is booked",
        "",
        "10.00 EUR is owed.",
        "",
        "date        what            number       about       owed EUR  paid EUR  balance EUR",
        "----------  --------------  -----------  ----------  --------  --------  -----------",
        "2026-11-01  balance before                                                     10.00",
        "2026-11-02  invoice         2026-000002                 50.00                  60.00",
        "2026-11-20  payment         3            transfer 9               40.00        20.00",
        "2026-11-21  write-off       2026-000001                           10.00        10.00",
        "----------  --------------  -----------  ----------  --------  --------  -----------",
        "            in total                                    50.00     50.00        10.00",
        "",
        "open: 2026-000002 of 2026-11-02, 12.50 EUR, due 2026-11-16",
        "credit: 2.50 EUR",
    ]


def test_a_credit_and_nothing_owed_are_said() -> None:
    nothing = Statement(7, "Ada", None, "2026-11-30", 0, (), (), 0, "EUR")
    assert report(nothing).summary == ("Nothing is owed.",)
    assert report(nothing).rows == ()
    credit = nothing._replace(opening=-1250)
    assert report(credit).summary == ("12.50 EUR is the payer's credit.",)
