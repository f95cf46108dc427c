"""Why readers of a free title do not get an issue any more (decisions, "When the reason …")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import audit_report, cancelling, issues
from tests.circulation.test_closing import term
from tests.long import LONG_ON_SQLITE
from tests.qualification.faults import FAULTS_OF_REASONS
from tests.qualification.press import CHIEF, ENGINEER, LARGE, STUDENT, qualify, said
from tests.qualification.pumps import check_sums
from tests.qualification.test_paying import pay

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.circulation.faults import Plant

MAY, JUNE = 5, 6


def removed(desk: Desk, issue: int) -> dict[object, object]:
    """Return the copies that were removed since the issue before, by reason; check the sums."""
    report = audit_report.of_issue(desk.books, issue)
    check_sums(report)
    return {row[2]: row[5] for row in report.rows if row[:2] == ("change", "removal")}


def let_two_lapse(desk: Desk) -> None:
    """Close May, which two readers get, and June, by which both have lapsed."""
    for reader in (1, 2):
        qualify(desk, reader, "2023-05-20", said(CHIEF))
    desk.to("2026-04-30")
    issues.close(desk.books, MAY)
    desk.to("2026-05-31")
    issues.close(desk.books, JUNE)


def check(desk: Desk) -> None:
    """Let readers lapse with June; two of them answer again before its file is written."""
    qualify(desk, 3, "2022-01-10", said(CHIEF))
    let_two_lapse(desk)
    assert removed(desk, JUNE) == {"lapsed": 2}
    issues.reopen(desk.books, JUNE)
    assert [row["part"] for row in desk.table("audit_figures")] == []
    issues.close(desk.books, JUNE)
    # Ada answers after the date of the issue, so that no gap list brings it.
    desk.to("2026-06-02")
    qualify(desk, 1, "2026-06-02", said(CHIEF))
    assert removed(desk, JUNE) == {"lapsed": 2}
    # Cora's answer comes late: it is good for May and not for June.
    qualify(desk, 3, "2023-05-10", said(CHIEF))
    assert issues.make_gap_list(desk.books, MAY).entries == 1
    assert removed(desk, JUNE) == {"lapsed": 3}
    issues.mark_written(desk.books, JUNE)
    frozen = audit_report.of_issue(desk.books, JUNE)
    assert removed(desk, JUNE) == {"lapsed": 3}
    qualify(desk, 2, "2026-05-30", said(CHIEF))
    assert issues.make_gap_list(desk.books, JUNE).entries == 1
    assert audit_report.of_issue(desk.books, JUNE).rows == frozen.rows


def test_a_removal_has_the_reason_of_the_closing(press: Desk) -> None:
    check(press)


def test_a_gap_list_before_the_file_judges_again(press: Desk) -> None:
    """decisions, "When the reason of a removal is judged": who is on it is removed no more."""
    let_two_lapse(press)
    qualify(press, 1, "2026-05-31", said(CHIEF))
    press.to("2026-06-03")
    qualify(press, 2, "2026-06-03", said(CHIEF))
    issues.make_gap_list(press.books, JUNE)
    assert removed(press, JUNE) == {"qualified later": 1}


def test_a_later_answer_gives_no_reason_before_its_day(press: Desk) -> None:
    """decisions, "The qualification on the date of an issue": Ada was a student on that date."""
    qualify(press, 1, "2026-03-02", said(CHIEF))
    press.to("2026-04-30")
    issues.close(press.books, MAY)
    press.to("2026-06-03")
    qualify(press, 1, "2026-05-20", said(STUDENT))
    qualify(press, 1, "2026-06-03", said(CHIEF))
    issues.close(press.books, JUNE)
    assert removed(press, JUNE) == {"disqualified": 1}


def test_each_way_of_leaving_has_its_own_reason(press: Desk) -> None:
    """decisions, "When the reason of a removal is judged": no class has a quota here."""
    for reader in (1, 2, 3):
        qualify(press, reader, "2026-03-02", said(ENGINEER, LARGE))
    press.to("2026-04-30")
    issues.close(press.books, MAY)
    pay(press, 1, term(1, 1, 12, 11, paid_on=None))
    cancelling.cancel(press.books, 1, refund=False, at_end=True)
    press.put("addresses", address_id=4, subscriber_id=2, address="", city="Cork")
    days = {"from_date": "2026-05-20", "to_date": "2026-06-20"}
    press.put(
        "temporary_addresses", temporary_address_id=1, subscription_id=2, address_id=4, **days
    )
    later = (
        "UPDATE subscriptions SET begins_on = '2026-07-01' WHERE subscription_id = 3 RETURNING 1"
    )
    press.rows(later)
    press.to("2026-05-31")
    issues.close(press.books, JUNE)
    assert removed(press, JUNE) == {"begins later": 1, "cancelled": 1, "no address": 1}


def test_who_is_on_a_late_gap_list_waits_for_that_of_the_next_issue(press: Desk) -> None:
    """decisions, "When the reason of a removal is judged": the qualification came too late."""
    qualify(press, 1, "2026-03-02", said(STUDENT))
    press.to("2026-05-31")
    for issue in (MAY, JUNE):
        issues.close(press.books, issue)
    qualify(press, 1, "2026-03-03", said(ENGINEER, LARGE))
    issues.make_gap_list(press.books, MAY)
    assert removed(press, JUNE) == {"waits for a gap list": 1}


@LONG_ON_SQLITE
@pytest.mark.parametrize("plant", [pytest.param(v, id=k) for k, v in FAULTS_OF_REASONS.items()])
def test_each_planted_mistake_is_found(
    press: Desk, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """qualification, "What must hold"."""
    times = plant(monkeypatch)
    with pytest.raises(AssertionError):
        check(press)
    assert times() > 0
