"""Adding qualifications, and what follows for the subscription of the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import orders, qualification_forms, qualifications, subscribers
from masthead.books.cancelling import cancel
from masthead.books.qualification_forms import GivenClass
from masthead.books.qualifications import Given
from masthead.circulation.ordering import Item, Order, Person
from masthead.circulation.qualifying import Answer
from masthead.errors import BadInput, MastheadError, NotFound
from masthead.store import audit
from masthead.store.entitlements import entitlements_of
from masthead.store.erasing import erase
from tests.qualification.press import (
    CHIEF,
    CLASSES,
    ENGINEER,
    INDUSTRY,
    JOB,
    LARGE,
    SIZE,
    SMALL,
    STEEL,
    STUDENT,
    qualify,
    said,
)

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


def shown(desk: Desk, subscription_id: int = 1) -> tuple[Any, ...]:
    """Return what the interface shows of a subscription that follows from its qualification."""
    found = desk.subscription(subscription_id)
    names = ("issues", "date_expired", "audit_classification", "audit_request_type")
    return tuple(found[each] for each in names)


def current(desk: Desk) -> dict[int, tuple[Any, ...]]:
    """Return the newest qualification of each subscription: its id, class, and whether served."""
    names = ("qualification_id", "audit_class_id", "served", "lapsed_by")
    return {
        row["subscription_id"]: tuple(row[each] for each in names)
        for row in desk.table("qualified_subscriptions")
    }


def test_the_first_qualification_begins_a_subscription(press: Desk) -> None:
    """decisions, "Issues of who qualifies": every issue comes, until the last day."""
    done = qualify(press, 1, "2026-04-10", said(CHIEF, STEEL), evidence={"address": "192.0.2.7"})
    assert done.sentence == (
        "subscriber 1 qualified for publication 1 (Forge) on 2026-04-10 (web): class chief, valid "
        "until 2029-04-09; subscription 1 began"
    )
    assert shown(press) == (-1, "2029-04-09", "chief", "web")
    subscription = press.subscription(1)
    assert (subscription["begins_on"], subscription["type"]) == ("2026-04-02", "Print")
    assert (subscription["copies"], subscription["mailing_address_id"]) == (1, 1)
    (stored,) = press.table("qualifications")
    assert (stored["answers"], stored["evidence"], stored["recorded_at"]) == (
        '{"1":{"options":[11],"text":""},"2":{"options":[21],"text":""}}',
        '{"address": "192.0.2.7"}',
        "2026-04-15 12:00:00",
    )
    answers = {row["field_id"]: row for row in press.table("custom_field_answers")}
    assert answers[JOB]["option_ids"] == "11"
    assert answers[JOB]["answered_on"] == "2026-04-10"
    marks = press.rows("SELECT custom_fields_commit_id FROM subscribers WHERE subscriber_id = 1")
    assert marks == [(subscription_commit(press),)]


def subscription_commit(desk: Desk) -> int:
    ((commit_id,),) = desk.rows("SELECT commit_id FROM subscriptions WHERE subscription_id = 1")
    return int(commit_id)


def test_an_answer_that_was_taken_back_does_not_come_back_by_an_older_one(press: Desk) -> None:
    """decisions, "The newest qualification": not a single answer of the questionnaire."""
    qualify(press, 1, "2026-03-01", said(CHIEF, STEEL))
    qualify(press, 1, "2026-04-10", said(CHIEF) | {INDUSTRY: Answer(), SIZE: Answer()})
    qualify(press, 1, "2026-04-01", said(ENGINEER, STEEL, LARGE))
    known = qualifications.known_answers(press.books, 1)
    assert {key: each.options for key, each in known.items() if not each.is_empty} == {
        JOB: (CHIEF,),
        SIZE: (LARGE,),
    }
    qualify(press, 1, "2026-04-12", said(STEEL, CHIEF))
    assert qualifications.known_answers(press.books, 1)[INDUSTRY].options == (STEEL,)


def test_a_later_answer_wins_by_its_day_not_by_the_day_of_the_load(press: Desk) -> None:
    """decisions, "The newest qualification": also of single answers."""
    qualify(press, 1, "2026-04-10", said(CHIEF))
    late = qualify(press, 1, "2026-03-01", said(ENGINEER, LARGE), "telephone")
    assert late.sentence.endswith("; subscription 1; a later one counts")
    assert shown(press) == (-1, "2029-04-09", "chief", "web")
    options = {row["field_id"]: row["option_ids"] for row in press.table("custom_field_answers")}
    # What was not answered since stays as it was said.
    assert options == {JOB: "11", SIZE: "32"}
    qualify(press, 1, "2026-04-10", said(ENGINEER, LARGE))
    assert shown(press)[2] == "engineer"
    assert current(press) == {1: (3, 3, 1, None)}


@pytest.mark.parametrize(
    ("answers", "code", "why"),
    [
        (said(STUDENT, LARGE), "engineer", "an answer disqualifies"),
        (said(ENGINEER, SMALL), "unclassified", "the class is not served"),
    ],
)
def test_who_is_not_served_has_no_issue(
    press: Desk, answers: dict[int, Any], code: str, why: str
) -> None:
    done = qualify(press, 1, "2026-04-10", answers)
    assert f"{why}, so no copy goes out" in done.sentence
    assert shown(press) == (0, "2026-04-30", code, "web")
    qualify(press, 1, "2026-04-11", said(CHIEF))
    assert shown(press) == (-1, "2029-04-10", "chief", "web")
    qualify(press, 1, "2026-04-12", answers)
    assert shown(press)[0] == 0


def test_an_answer_that_is_too_old_has_lapsed_with_the_issue_that_noted_it(press: Desk) -> None:
    """The first issue with a list after the last day: that closing would have noted it."""
    qualify(press, 1, "2023-03-20", said(CHIEF))
    assert current(press) == {1: (1, 2, 1, 2)}
    assert shown(press)[0] == 0
    qualify(press, 2, "2023-01-20", said(CHIEF))
    assert current(press)[2] == (2, 2, 1, 1)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (Given(9, "2026-04-10", "web", said(CHIEF)), "there is no subscriber 9"),
        (Given(1, "2026-04-16", "web", said(CHIEF)), "2026-04-16 is still to come"),
        (Given(1, "2026-4-1", "web", said(CHIEF)), "'2026-4-1' is not a day"),
        (Given(1, "2026-04-10", "fax", said(CHIEF)), "'fax' is not a request type"),
        (Given(1, "2026-04-10", "web", {}), "job: it has to be answered"),
        (Given(1, "2026-04-10", "web", said(CHIEF), type="Paper"), "'Paper' is not one of Print"),
        (
            Given(1, "2026-04-10", "web", said(CHIEF), evidence={"x": "y" * 5_001}),
            "the value of 'x' is too long",
        ),
        (
            Given(1, "2026-04-10", "web", said(CHIEF), evidence={f"{n}": "" for n in range(21)}),
            "it has at most 20 values",
        ),
        (Given(1, "2026-04-10", "web", said(CHIEF), "x" * 201), "it has at most 200 characters"),
    ],
)
def test_what_is_refused_changes_nothing(press: Desk, given: Given, why: str) -> None:
    before = press.everything()
    with pytest.raises(BadInput, match=why):
        qualifications.add(press.books, 1, given)
    assert press.everything() == before


def test_a_publication_without_a_form_has_no_qualification(press: Desk) -> None:
    with pytest.raises(NotFound, match="publication 2 has no form"):
        qualifications.add(press.books, 2, Given(1, "2026-04-10", "web", {}))
    with pytest.raises(NotFound, match="no publication 3"):
        qualification_forms.form(press.books, 3)


def test_a_dry_run_leaves_no_trace(press: Desk) -> None:
    before = press.everything()
    given = Given(1, "2026-04-10", "web", said(CHIEF))
    done = qualifications.add(press.books, 1, given, dry_run=True)
    assert done.is_served
    assert press.everything() == before


def test_the_type_says_which_subscription_qualifies(press: Desk) -> None:
    qualify(press, 1, "2026-04-10", said(CHIEF))
    assert qualify(press, 1, "2026-04-11", said(CHIEF), type="Digital").subscription_id == 2
    assert qualify(press, 1, "2026-04-12", said(CHIEF), type="Print").subscription_id == 1
    assert qualify(press, 1, "2026-04-13", said(CHIEF)).subscription_id == 2
    cancel(press.books, 2, refund=False)
    assert qualify(press, 1, "2026-04-14", said(CHIEF)).subscription_id == 1


def sell(desk: Desk, issues: int) -> None:
    """Sell the first reader issues of Forge."""
    desk.put("bundles", bundle_id=1, name="Forge", price=1200, tax=0)
    desk.put(
        "bundle_lines",
        bundle_id=1,
        line_number=1,
        publication_id=1,
        issues=issues,
        type="Print",
        copies=1,
        price=1200,
    )
    orders.place(desk.books, Order(Person(subscriber_id=1), (Item(bundle_id=1),), is_paid=True))


def test_issues_that_were_paid_are_used_up_first(press: Desk) -> None:
    """decisions, "Issues of who qualifies": the later of both ends says until when it comes."""
    sell(press, 12)
    assert shown(press)[:2] == (12, "2027-04-30")
    qualify(press, 1, "2024-01-10", said(CHIEF))
    # The qualification ends earlier than the terms.
    assert shown(press)[:2] == (-1, "2027-04-30")
    qualify(press, 1, "2026-04-10", said(CHIEF))
    assert shown(press)[:2] == (-1, "2029-04-09")
    assert press.subscription(1)["paid_issues_left"] == 12
    qualify(press, 1, "2026-04-11", said(STUDENT))
    assert shown(press)[:2] == (12, "2027-04-30")


def test_all_that_is_derived_is_the_same_when_it_is_derived_again(press: Desk) -> None:
    sell(press, 12)
    for reader, answers in ((1, said(CHIEF)), (2, said(STUDENT)), (3, said(ENGINEER, LARGE))):
        qualify(press, reader, "2026-04-10", answers)
    before = press.everything()
    press.refresh()
    assert press.everything() == before


def test_a_cancelled_subscription_has_no_issue_and_one_that_qualifies_again_is_another(
    press: Desk,
) -> None:
    qualify(press, 1, "2026-04-10", said(CHIEF))
    cancel(press.books, 1, refund=False)
    assert shown(press)[0] == 0
    assert qualify(press, 1, "2026-04-11", said(CHIEF)).subscription_id == 2


def test_who_qualifies_may_read_until_the_last_day(press: Desk) -> None:
    """rules, "What a reader may read": a qualification is a right too."""
    qualify(press, 1, "2026-04-10", said(CHIEF), type="Digital")

    def until(day: str) -> list[str | None]:
        found = entitlements_of(press.connection, 1, 1, today=day) or []
        return [each.until for each in found]

    assert until("2026-04-15") == ["2029-04-09"]
    assert until("2029-04-09") == ["2029-04-09"]
    assert until("2029-04-10") == []
    qualify(press, 1, "2026-04-11", said(STUDENT))
    assert until("2026-05-15") == []


def test_an_order_that_is_not_paid_takes_no_right_of_a_qualification_away(press: Desk) -> None:
    """rules, "What a reader may read"."""
    qualify(press, 1, "2026-04-10", said(CHIEF), type="Digital")
    press.put(
        "terms",
        term_id=1,
        subscription_id=1,
        issues=12,
        issues_left=11,
        price=1200,
        kind="paid",
    )
    found = entitlements_of(press.connection, 1, 1, today="2026-04-15") or []
    assert [each.until for each in found] == ["2029-04-09"]
    qualify(press, 1, "2026-04-11", said(STUDENT))
    assert entitlements_of(press.connection, 1, 1, today="2026-04-15") == []


def test_other_classes_apply_to_the_newest_answers_at_once(press: Desk) -> None:
    """decisions, "Classes that change": what was added stays as it was."""
    for reader, answers in ((1, said(CHIEF)), (2, said(ENGINEER, SMALL)), (3, said(STUDENT))):
        qualify(press, reader, "2026-04-10", answers)
    before = [row["audit_class_id"] for row in press.table("qualifications")]
    classes = (
        GivenClass("engineer", "All engineers", conditions={"job": ["Engineer"]}),
        GivenClass("unclassified", "All others", is_served=False),
    )
    done = qualification_forms.set_classes(press.books, 1, classes)
    assert done.sentence == (
        "publication 1 (Forge) has 2 audit classes; 2 subscriptions came to another one"
    )
    assert [row["audit_class_id"] for row in press.table("qualifications")] == before
    assert [shown(press, n)[0] for n in (1, 2, 3)] == [0, -1, 0]
    assert [shown(press, n)[2] for n in (1, 2, 3)] == ["unclassified", "engineer", "unclassified"]
    found = qualifications.of_reader(press.books, 1)[0].qualification
    assert (found.audit_class, found.current_class, found.served) == ("chief", "unclassified", 0)
    qualification_forms.set_classes(press.books, 1, CLASSES)
    assert [shown(press, n)[0] for n in (1, 2, 3)] == [-1, 0, 0]
    assert {row["new_class_id"] for row in press.table("qualifications")} == {None}
    assert [row["code"] for row in press.table("audit_classes")] == [
        "unclassified",
        "chief",
        "engineer",
    ]


def test_a_merged_reader_brings_the_qualifications(press: Desk) -> None:
    """The newest of both counts, and one subscription is left."""
    qualify(press, 1, "2026-04-10", said(CHIEF))
    qualify(press, 2, "2026-04-12", said(ENGINEER, LARGE), "telephone")
    subscribers.merge(press.books, 1, 2)
    assert current(press) == {1: (2, 3, 1, None)}
    assert shown(press, 1) == (-1, "2029-04-11", "engineer", "telephone")
    assert shown(press, 2)[0] == 0
    assert {row["subscriber_id"] for row in press.table("qualifications")} == {1}


def test_of_an_erased_reader_only_what_is_of_the_business_stays(press: Desk) -> None:
    qualify(press, 1, "2026-04-10", said(CHIEF), evidence={"call": "7"}, reference="r")
    cancel(press.books, 1, refund=False)
    erase(press.store, 1, 1, leave_traces=True)
    (stored,) = press.table("qualifications")
    assert (stored["answers"], stored["evidence"]) == (None, None)
    assert stored["external_reference"] == "r"
    assert (stored["qualified_on"], stored["audit_class_id"]) == ("2026-04-10", 2)
    with pytest.raises(BadInput, match="was deleted on"):
        qualify(press, 1, "2026-04-11", said(CHIEF))


def test_what_a_reader_said_is_shown_in_words(press: Desk) -> None:
    qualify(press, 1, "2026-04-10", said(CHIEF, STEEL, industry="Glass"), taken_by="Ben")
    (found,) = qualifications.of_reader(press.books, 1, 1)
    assert [*found.answers] == [("Your job?", "Chief"), ("Your industry?", "Steel, Glass")]
    assert found.qualification.taken_by == "Ben"
    assert found.is_served
    assert qualifications.of_reader(press.books, 1, 2) == []


def test_no_answer_is_in_the_audit_log(press: Desk) -> None:
    qualify(press, 1, "2026-04-10", said(CHIEF, industry="Glass"))
    said_there = [each.summary for each in audit.entries(press.connection)]
    assert any(each.startswith("subscriber 1 qualified for") for each in said_there)
    assert not any("Glass" in each for each in said_there)


def test_only_an_account_with_books_has_forms(press: Desk) -> None:
    press.connection.change("DELETE FROM books WHERE account_id = 1")
    try:
        with pytest.raises(MastheadError, match="mode elsewhere"):
            qualify(press, 1, "2026-04-10", said(CHIEF))
    finally:
        press.put("books", books_id=1, opened_on="2026-01-01", opened_at="2026-01-01 12:00:00")
