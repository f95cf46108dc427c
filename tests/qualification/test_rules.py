"""The rules of qualification as plain functions."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.qualifying import (
    Answer,
    AuditClass,
    Option,
    Question,
    answers_of,
    answers_text,
    class_of,
    is_disqualified,
    refused_answers,
    valid_until,
)

OPTIONS = (
    Option(1, "chief", "Chief", disqualifies=False, is_active=True),
    Option(2, "student", "Student", disqualifies=True, is_active=True),
)


def question(type_: str = "radio", *, required: bool = False, other: bool = False) -> Question:
    return Question(1, "job", "Your job?", type_, required, other, OPTIONS)


def audit_class(key: int, conditions: dict[int, frozenset[int]]) -> AuditClass:
    return AuditClass(key, key, f"c{key}", "", is_served=True, quota=None, conditions=conditions)


@pytest.mark.parametrize(
    ("day", "months", "last"),
    [
        ("2026-04-15", 36, "2029-04-14"),
        ("2026-01-01", 12, "2026-12-31"),
        ("2026-03-01", 12, "2027-02-28"),
        # Where the month has no such day, it ends with the month.
        ("2026-01-31", 1, "2026-02-27"),
        ("2024-02-29", 12, "2025-02-27"),
        ("9999-12-31", 12, "9999-12-31"),
    ],
)
def test_a_qualification_is_valid_for_so_many_months_less_a_day(
    day: str, months: int, last: str
) -> None:
    """decisions, "Until when a qualification is valid"."""
    assert valid_until(day, months) == last


@given(st.dates(date(1900, 1, 1), date(2200, 1, 1)), st.integers(1, 120))
def test_more_months_end_later_and_a_later_day_never_ends_earlier(day: date, months: int) -> None:
    last = valid_until(f"{day}", months)
    assert f"{day}" <= last < valid_until(f"{day}", months + 1)
    assert last <= valid_until(f"{day + timedelta(days=1)}", months)


@pytest.mark.parametrize(
    ("asked", "answer", "why"),
    [
        (question(required=True), Answer(), "it has to be answered"),
        (question(), Answer((3,)), "it has no option 3"),
        (question(), Answer((), "words"), "it has no other answer than its options"),
        (question(other=True), Answer((1,), "words"), "it has one answer"),
        (question(), Answer((1, 2)), "it has one answer"),
        (question("text"), Answer((), "x" * 2_001), "the answer is longer than 2,000 characters"),
        (question(), Answer(), None),
        (question(other=True), Answer((), "words"), None),
        (question("checkbox", other=True), Answer((1, 2), "words"), None),
        (question("textarea"), Answer((), "words"), None),
    ],
)
def test_an_answer_is_refused_with_its_reason(
    asked: Question, answer: Answer, why: str | None
) -> None:
    found = [each.sentence for each in refused_answers([asked], {1: answer})]
    assert found == ([] if why is None else [f"job: {why}"])


def test_what_the_form_does_not_ask_is_refused() -> None:
    (refused,) = refused_answers([question()], {7: Answer((1,))})
    assert refused.sentence == "the form does not ask for field 7"


def test_the_first_class_whose_conditions_all_hold_is_that_of_the_reader() -> None:
    both = audit_class(1, {1: frozenset({1, 2}), 2: frozenset({5})})
    one = audit_class(2, {1: frozenset({1})})
    rest = audit_class(3, {})
    for answers, found in (
        ({1: Answer((2,)), 2: Answer((5, 6))}, both),
        ({1: Answer((1,)), 2: Answer((6,))}, one),
        ({1: Answer((1,)), 2: Answer((5,))}, both),
        ({1: Answer((2,))}, rest),
        ({}, rest),
    ):
        assert class_of([both, one, rest], answers) is found
    assert class_of([both], {}) is None


def test_one_option_that_disqualifies_is_enough() -> None:
    assert is_disqualified([question("checkbox")], {1: Answer((1, 2))})
    assert not is_disqualified([question()], {1: Answer((1,))})
    assert not is_disqualified([question()], {})


@given(
    st.dictionaries(
        st.integers(1, 99),
        st.tuples(st.frozensets(st.integers(1, 99)), st.text()).map(
            lambda found: Answer(tuple(sorted(found[0])), found[1])
        ),
    )
)
def test_answers_are_read_as_they_were_written(answers: dict[int, Answer]) -> None:
    written = answers_text(answers)
    assert answers_of(written) == {key: each for key, each in answers.items() if not each.is_empty}
    assert written == answers_text(dict(reversed(answers.items())))
