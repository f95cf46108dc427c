"""When a renewal is announced, and when it is ordered (billing, "Automatic renewal")."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.automatic_renewals import Plan, Schedule, first_not_due, renews_on

_MONTHS = [date(2026, month, 1) for month in range(5, 13)]
_CLOSING = Plan([(day, day - timedelta(10)) for day in _MONTHS], _MONTHS[-1], 12)
_USUAL = Schedule(14, 30)
_DAYS = st.dates(date(2020, 1, 1), date(2035, 1, 1))


@st.composite
def _plans(draw: st.DrawFn) -> Plan:
    days = sorted(draw(st.sets(_DAYS, max_size=6)))
    closings = draw(st.lists(st.none() | _DAYS, min_size=len(days), max_size=len(days)))
    newest = days[-1] if days else draw(_DAYS)
    return Plan(list(zip(days, closings, strict=True)), newest, draw(st.integers(1, 60)))


_SCHEDULES = st.builds(Schedule, st.integers(0, 90), st.integers(0, 90))


def test_a_renewal_is_ordered_14_days_before_the_last_issue_closes() -> None:
    last_is_june = date(2026, 6, 30)
    assert renews_on(_CLOSING, _USUAL, last_is_june, date(2026, 4, 8)) == date(2026, 5, 8)


def test_the_announcement_is_due_30_days_before_that() -> None:
    june, july = date(2026, 6, 1), date(2026, 7, 1)
    assert first_not_due(_CLOSING, _USUAL, date(2026, 4, 7)) == june
    assert first_not_due(_CLOSING, _USUAL, date(2026, 4, 8)) == july


def test_an_announcement_that_is_late_puts_the_order_off() -> None:
    assert renews_on(_CLOSING, _USUAL, date(2026, 6, 30), date(2026, 4, 20)) == date(2026, 5, 20)


def test_a_subscription_whose_last_issue_is_closed_is_ordered_after_the_notice() -> None:
    assert renews_on(_CLOSING, _USUAL, date(2026, 4, 30), date(2026, 4, 20)) == date(2026, 5, 20)


def test_an_issue_without_a_closing_day_closes_on_its_date() -> None:
    plan = Plan([(date(2026, 6, 1), None)], date(2026, 6, 1), 12)
    assert renews_on(plan, Schedule(14, 0), date(2026, 6, 30), date(2026, 4, 1)) == (
        date(2026, 5, 18)
    )


def test_an_issue_beyond_the_plan_closes_on_its_expected_date() -> None:
    plan = Plan([], date(2026, 6, 1), 12)
    assert renews_on(plan, Schedule(14, 0), date(2026, 7, 31), date(2026, 4, 1)) == (
        date(2026, 6, 17)
    )


@given(_plans(), _SCHEDULES, _DAYS, _DAYS)
def test_nothing_is_ordered_before_the_notice_is_over(
    plan: Plan, schedule: Schedule, expired: date, today: date
) -> None:
    assert renews_on(plan, schedule, expired, today) >= today + timedelta(schedule.notice_days)


@given(_plans(), _SCHEDULES, _DAYS, _DAYS)
def test_what_is_not_due_today_is_announced_early_enough_later(
    plan: Plan, schedule: Schedule, expired: date, today: date
) -> None:
    """Who announces every day never puts an order off."""
    first = first_not_due(plan, schedule, today)
    assert first is not None
    if expired >= first:
        tomorrow = today + timedelta(1)
        last = max(each for each in _issues(plan, expired) if each[0] <= expired)
        assert renews_on(plan, schedule, expired, tomorrow) == last[1] - timedelta(
            schedule.order_days
        )


@given(_plans(), _SCHEDULES, _DAYS, _DAYS)
def test_what_is_due_stays_due(plan: Plan, schedule: Schedule, one: date, other: date) -> None:
    earlier, later = (first_not_due(plan, schedule, day) for day in sorted((one, other)))
    assert earlier is not None
    assert later is not None
    assert earlier <= later


def _issues(plan: Plan, until: date) -> list[tuple[date, date]]:
    found = []
    for each in plan.issues():
        if each.day > until:
            break
        found.append((each.day, each.closes_on))
    return found
