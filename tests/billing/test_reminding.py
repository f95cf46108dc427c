"""Which reminder an invoice is due for (decisions, "Which reminder is due")."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.reminding import (
    REST_DAYS,
    Level,
    Overdue,
    checked_level,
    day_after,
    days_between,
    level_due,
    select,
)
from masthead.errors import BadInput

_LEVELS = [
    Level(1, 10, 0, "nothing", None),
    Level(2, 24, 500, "nothing", None),
    Level(3, 40, 1000, "stop", None),
]
_DUE = "2026-11-01"


def _overdue(**values: object) -> Overdue:
    row = {
        "invoice_id": 1,
        "number_text": "2026-000001",
        "subscriber_id": 7,
        "order_id": 1,
        "issued_on": "2026-10-18",
        "due_on": _DUE,
        "total": 10700,
        "open_cents": 10700,
        "payment_reference": "RF18",
        "reminded": 0,
        "quiet_since": None,
        "first_name": None,
        "last_name": "Ames",
        "company": None,
    }
    return Overdue(**(row | values))  # type: ignore[arg-type]


@st.composite
def _levels(draw: st.DrawFn) -> list[Level]:
    numbers = sorted(draw(st.sets(st.integers(1, 9), min_size=1, max_size=5)))
    size = {"min_size": len(numbers), "max_size": len(numbers)}
    days = sorted(draw(st.sets(st.integers(1, 60), **size)))
    return [
        Level(number, after, 0, "nothing", None)
        for number, after in zip(numbers, days, strict=True)
    ]


@given(_levels(), st.sets(st.integers(0, 200)))
def test_an_invoice_gets_each_level_once_in_order_whenever_the_operator_looks(
    levels: list[Level], looks: set[int]
) -> None:
    """However rarely reminders are sent, no level is left out, and seven days pass between two."""
    reminded, quiet, sent = 0, None, list[tuple[int, str]]()
    for after in sorted(looks | set(range(200, 320))):
        today = day_after(_DUE, after)
        found = level_due(levels, _DUE, today, reminded, quiet)
        if found is None:
            continue
        assert days_between(_DUE, today) >= found.days
        assert quiet is None or days_between(quiet, today) >= REST_DAYS
        reminded, quiet = found.level, today
        sent.append((found.level, today))
    assert [level for level, _ in sent] == [each.level for each in levels]


@pytest.mark.parametrize(
    ("after", "reminded", "quiet", "level"),
    [
        (9, 0, None, None),
        (10, 0, None, 1),
        (90, 0, None, 1),
        (23, 1, 10, None),
        (24, 1, 10, 2),
        (24, 1, 18, None),
        (25, 1, 18, 2),
        (90, 3, 40, None),
        (10, 0, 5, None),
        (12, 0, 5, 1),
    ],
)
def test_a_level_counts_from_the_due_day_and_seven_days_after_what_came_before(
    after: int, reminded: int, quiet: int | None, level: int | None
) -> None:
    """A payment that came back gives the payer seven days too (the last two)."""
    since = None if quiet is None else day_after(_DUE, quiet)
    found = level_due(_LEVELS, _DUE, day_after(_DUE, after), reminded, since)
    assert (found and found.level) == level


def test_a_payer_gets_one_letter_with_all_invoices_and_the_fee_of_the_highest_level() -> None:
    today = day_after(_DUE, 24)
    (letter,), write_offs = select(
        _LEVELS,
        [
            _overdue(invoice_id=2, due_on=day_after(_DUE, 14)),
            _overdue(reminded=1, quiet_since=day_after(_DUE, 10)),
            _overdue(invoice_id=3, due_on=day_after(_DUE, 15)),
        ],
        today,
        tolerance=50,
        credits_={},
    )
    assert [(each.invoice.invoice_id, each.level.level) for each in letter.due] == [(1, 2), (2, 1)]
    assert (letter.fee, letter.open, letter.leading.invoice.invoice_id) == (500, 21400, 1)
    assert not write_offs


@pytest.mark.parametrize(
    ("credit", "open_"), [(-1, [300, 400]), (0, [300, 400]), (100, [200, 400]), (500, [200])]
)
def test_what_a_payer_has_with_the_publisher_is_not_asked_for(
    credit: int, open_: list[int]
) -> None:
    """The credit settles the invoice that is due for longest; who has enough gets no letter."""
    overdue = [
        _overdue(invoice_id=2, open_cents=400, due_on=day_after(_DUE, 1)),
        _overdue(open_cents=300),
    ]
    today = day_after(_DUE, 20)
    (letter,), _ = select(_LEVELS, overdue, today, tolerance=0, credits_={7: credit, 8: 1000})
    assert [each.invoice.open_cents for each in letter.due] == open_
    assert not select(_LEVELS, overdue, today, tolerance=0, credits_={7: 700}).letters
    assert not select(_LEVELS, overdue, today, tolerance=50, credits_={7: 650}).letters


def test_nobody_is_reminded_of_what_is_within_the_tolerance() -> None:
    for cents, letters in ((51, 1), (50, 0)):
        found = select(
            _LEVELS,
            [_overdue(open_cents=cents)],
            day_after(_DUE, 20),
            tolerance=50,
            credits_={},
        )
        assert len(found.letters) == letters


def test_what_is_written_off_gets_no_letter() -> None:
    """Each payer has an invoice at the last level; only one has another invoice."""
    levels = [_LEVELS[0], Level(2, 24, 0, "write_off", None)]
    overdue = [
        _overdue(reminded=1),
        _overdue(invoice_id=2),
        _overdue(invoice_id=3, subscriber_id=8, reminded=1),
    ]
    today = day_after(_DUE, 24)
    (letter,), write_offs = select(levels, overdue, today, tolerance=0, credits_={})
    assert [each.invoice.invoice_id for each in letter.due] == [2]
    assert [each.invoice.invoice_id for each in write_offs] == [1, 3]


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (Level(0, 10, 0, "nothing", None), "0 is no level"),
        (Level(10, 90, 0, "nothing", None), "10 is no level"),
        (Level(1, 0, 0, "nothing", None), "1 to 365 days after the due day, not 0"),
        (Level(1, 366, 0, "nothing", None), "not 366"),
        (Level(1, 10, -1, "nothing", None), "0 or more"),
        (Level(1, 10, 0, "nothing", "x" * 1001), "1001 characters: 1000 is the most"),
        (Level(1, 24, 0, "nothing", None), "level 2 24 days: a later level needs more days"),
        (Level(2, 10, 0, "nothing", None), "level 1 comes 10 days after the due day"),
        (Level(2, 24, 0, "write_off", None), "level 2 is to write off: only the last level can"),
        (Level(3, 40, 100, "write_off", None), "writes no letter: it has neither a fee nor"),
        (Level(3, 40, 0, "write_off", "Bye"), "writes no letter: it has neither a fee nor"),
    ],
)
def test_levels_that_would_not_follow_each_other_are_refused(level: Level, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        checked_level(level, _LEVELS)


def test_a_level_replaces_the_one_with_its_number() -> None:
    level = Level(2, 30, 700, "nothing", "  Please   pay ")
    assert checked_level(level, _LEVELS) == level._replace(text="Please pay")
    assert checked_level(Level(3, 40, 0, "nothing", " "), _LEVELS).text is None


@given(st.dates(date(2020, 1, 1), date(2100, 1, 1)), st.integers(0, 1000))
def test_days_between_is_the_reverse_of_day_after(day: date, days: int) -> None:
    later = day_after(day.isoformat(), days)
    assert later == (day + timedelta(days)).isoformat()
    assert days_between(day.isoformat(), later) == days
