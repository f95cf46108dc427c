"""The rules of the audit report: the age of a qualification, and parts that add up."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.books import audit_report, issues
from masthead.circulation.audit_report import (
    Answered,
    Copies,
    Figure,
    average,
    figures,
    first_days,
)
from masthead.circulation.qualifying import valid_until
from masthead.errors import BadInput, NotFound
from tests.qualification.press import CHIEF, LARGE, SMALL, STEEL, qualify, said
from tests.qualification.pumps import check_sums

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

DAYS = st.dates(date(2004, 1, 1), date(2032, 12, 31)).map(str)

CHANGES = "Additions and removals"


@given(DAYS, DAYS)
def test_age_is_reckoned_like_validity(day: str, issue: str) -> None:
    """decisions, "The age of a qualification": so many years, if it were valid on the issue."""
    for years, first in enumerate(first_days(issue), 1):
        assert (day >= first) == (valid_until(day, 12 * years) >= issue)


def paid(count: int) -> Copies:
    """Return printed copies that are paid."""
    return Copies("Print", "paid", None, None, None, count, count)


def test_several_options_are_one_answer() -> None:
    """decisions, "Several answers to one question": the rows add up to the whole."""
    copies = [Copies("Both", "qualified", "a", "web", 0, 2, 3), paid(1)]
    answered = [
        Answered("Both", {"trade": "oil + water"}, 2, 3),
        Answered("Print", None, 1, 1),
    ]
    found = figures("No. 1", copies, answered, (), (), ["trade"])
    assert [each for each in found if each.part in {"issue", "answer"}] == [
        Figure("issue", "No. 1", "", "", 3, 4, 4, 3),
        Figure("answer", "trade", "not qualified", "", 1, 1, 1, 0),
        Figure("answer", "trade", "oil + water", "", 2, 3, 3, 3),
    ]


def test_questions_and_answers_with_one_name_or_none_are_told_apart(press: Desk) -> None:
    """decisions, "Several answers to one question": each question adds up to the whole."""
    press.rows("UPDATE custom_fields SET name = 'job' WHERE field_id = 3 RETURNING 1")
    press.rows("UPDATE custom_fields SET name = NULL WHERE field_id = 2 RETURNING 1")
    press.rows("UPDATE custom_field_options SET value = 'small' WHERE field_id = 3 RETURNING 1")
    for reader, size in ((1, SMALL), (2, LARGE)):
        qualify(press, reader, "2026-04-10", said(CHIEF, STEEL, size))
    press.to("2026-04-30")
    issues.close(press.books, 5)
    report = audit_report.of_issue(press.books, 5)
    assert [(*row[1:3], row[4]) for row in report.rows if row[0] == "answer"] == [
        ("job (field 1)", "chief", 2),
        ("(field 2)", "steel", 2),
        ("job (field 3)", "small (option 31)", 1),
        ("job (field 3)", "small (option 32)", 1),
    ]
    check_sums(report)


def test_an_average_rounds_a_half_up() -> None:
    """qualification, "The audit report": average of a half-year."""
    found = [figures("No.", [paid(count)], (), (), (), ()) for count in (1, 2)]
    (whole, *_) = average("Average", found, (), "2026-07-01").rows
    assert whole == ("issue", "all issues", "", "", 3, 2)


def test_what_cannot_be_reported_is_refused(press: Desk) -> None:
    """qualification, "The audit report": the sentence says what would be right."""
    books = press.books
    refused = {"2026": "'2026' is not a half-year", "2031-1": "no issue of Forge in 2031-1"}
    for half, why in refused.items():
        with pytest.raises(BadInput, match=why):
            audit_report.of_half_year(books, 1, half)
    for every, seed in ((0, 1), (10, -1)):
        with pytest.raises(BadInput, match="is not from"):
            audit_report.sample(books, 3, every, seed)
    with pytest.raises(NotFound, match="no form"):
        audit_report.of_half_year(books, 2, "2026-1")


def test_a_report_counts_the_qualified_copies_of_a_closed_issue(press: Desk) -> None:
    """qualification, "The audit report": copies by class, request type and age."""
    qualify(press, 1, "2026-03-02", said(CHIEF))
    issues.close(press.books, 5)
    report = audit_report.of_issue(press.books, 5)
    assert report.rows[0][4:] == (1, 1, 1, 0)
    assert ("audit class", "chief", "web", "up to 1 year", 1, 1, 1, 0) in report.rows
    qualified, changes = (part for part in report.parts if part.title in {"Audit classes", CHANGES})
    assert qualified.rows == (("chief", "web", "up to 1 year", 1, 1, 1, 0),)
    assert qualified.totals == (("all", "", "", 1, 1, 1, 0),)
    assert changes.totals == (("this issue", "", 1, 1, 1, 0),)
    assert sum(len(part.rows) for part in report.parts) == len(report.rows)
