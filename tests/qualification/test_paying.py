"""Readers who pay for a title for which they are qualified, and those who only qualify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import (
    cancelling,
    erasure,
    issues,
    orders,
    reader_cancelling,
    reader_home,
    renewals,
    requalifications,
)
from masthead.circulation.ordering import Item, Order, Person
from masthead.circulation.requalifying import Effort
from masthead.errors import BadInput
from tests.circulation.test_closing import balances, term
from tests.circulation.test_due_letters import letters_of
from tests.qualification.faults import FAULT_OF_LETTERS
from tests.qualification.press import CHIEF, qualify, said

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


def pay(desk: Desk, whose: int, *terms: dict[str, Any]) -> None:
    """Let the terms of a subscription be these."""
    for each in terms:
        desk.put("terms", **{"copies": 1, "subscription_id": whose} | each)
    desk.refresh()


def test_who_pays_gets_renewal_letters_by_the_issues_that_are_paid(
    press: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Who pays and is qualified"."""
    renewals.set_effort(press.books, renewals.Effort(1, 1, 3))
    renewals.set_effort(press.books, renewals.Effort(1, 2, 0))
    first, second, third = (
        qualify(press, reader, "2026-03-02", said(CHIEF)).subscription_id for reader in (1, 2, 3)
    )
    pay(press, first, term(1, first, 12, 2))
    pay(press, second, term(2, second, 12, 0))
    pay(press, third, term(3, third, 12, 2), term(4, third, -1, -1))
    assert {each["issues"] for each in press.table("subscriptions")} == {-1}
    (letter,) = letters_of(press)
    assert (letter["subscription_id"], letter["issues_left"], letter["effort"]) == (first, 2, 1)
    with monkeypatch.context() as patch:
        times = FAULT_OF_LETTERS(patch)
        assert letters_of(press) == []
        assert times() > 0
    press.to("2026-04-30")
    for issue in (5, 6):
        issues.close(press.books, issue)
    assert letters_of(press) == []


def test_who_paid_before_the_opening_is_not_asked_to_qualify(press: Desk) -> None:
    """decisions, "Who is asked to qualify again": the opening found issues that were paid."""
    requalifications.set_effort(press.books, Effort(1, 1, 90, "telephone"))
    for reader, price in ((1, 1000), (2, 0), (3, None)):
        key = qualify(press, reader, "2023-05-20", said(CHIEF)).subscription_id
        if price is not None:
            pay(press, key, term(reader, key, 12, 8, kind="opening", price=price))
    asked = requalifications.selected(press.books, 1, 1).asked
    assert [each.subscriber_id for each in asked] == [2, 3]


@pytest.mark.parametrize(
    ("terms", "pays"),
    [
        ([], False),
        ([term(1, 1, 12, 8, kind="opening")], True),
        ([term(1, 1, 12, 8)], True),
        ([term(1, 1, -1, -1)], True),
        ([term(1, 1, 12, 8, paid_on=None)], False),
        ([term(1, 1, 12, 8, price=0)], False),
        ([term(1, 1, 12, 0)], False),
        ([term(1, 1, 12, 0, ended_at="2026-04-01 00:00:00")], False),
        ([term(1, 1, 12, 8, price=0), term(2, 1, 12, 12)], True),
    ],
)
def test_who_is_asked_to_qualify_reads_the_same_on_the_pages(
    press: Desk, terms: list[dict[str, Any]], *, pays: bool
) -> None:
    """decisions, "Who is asked to qualify again": the page asks whom the effort asks."""
    requalifications.set_effort(press.books, Effort(1, 1, 90, "telephone"))
    key = qualify(press, 1, "2023-05-20", said(CHIEF)).subscription_id
    pay(press, key, *({**each, "subscription_id": key} for each in terms))
    assert (requalifications.selected(press.books, 1, 1).asked == []) is pays
    (shown,) = reader_home.home(press.books, 1).subscriptions
    assert (shown.qualified is None) is pays


def test_who_is_qualified_begins_paid_issues_with_the_next_one(press: Desk) -> None:
    """decisions, "A first issue for who is qualified"."""
    press.put("bundles", bundle_id=1, name="Forge", price=1200)
    line = {"bundle_id": 1, "line_number": 1, "publication_id": 1, "issues": 12, "price": 1200}
    press.put("bundle_lines", **line, type="Print", copies=1)
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id

    def order(reader: int, first_issue: int | None) -> tuple[int, ...]:
        item = Item(1, first_issue=first_issue)
        placed = orders.place(press.books, Order(Person(subscriber_id=reader), (item,)))
        return placed.subscriptions

    with pytest.raises(BadInput, match="free by a qualification until 2029-03-01, and its issues"):
        order(1, 8)
    assert order(1, 5) == (key,)
    assert issues.preview(press.books, 5).press_run[0].copies == 1
    ended = qualify(press, 2, "2023-04-20", said(CHIEF)).subscription_id
    assert order(2, 8) == (ended,)


def test_after_the_last_paid_issue_the_qualification_says_until_when(press: Desk) -> None:
    """decisions, "Issues of who qualifies": closing writes the date that refreshing computes."""
    key = qualify(press, 1, "2023-05-20", said(CHIEF)).subscription_id
    pay(press, key, term(1, key, 12, 1))
    assert press.subscription(key)["date_expired"] == "2026-05-31"
    issues.close(press.books, 5)
    assert press.subscription(key)["date_expired"] == "2026-05-19"
    balances(press)


def test_who_only_qualifies_is_erased_without_a_question(press: Desk) -> None:
    """decisions, "Erasing who only qualifies": the subscription ends, and nothing is booked."""
    found = qualify(press, 1, "2026-03-02", said(CHIEF))
    assert erasure.left(press.books, 1) == []
    done = erasure.erase(press.books, 1)
    assert [each.said for each in done.ended] == ["Forge: free by a qualification"]
    assert done.sentence.endswith(f"; subscription was cancelled: {found.subscription_id}")
    shown = press.subscription(found.subscription_id)
    assert (shown["issues"], shown["cancelled_on"]) == (0, "2026-04-15")
    assert issues.close(press.books, 5).entries == 0
    assert press.table("revenue") == []


def test_who_pays_and_is_qualified_is_erased_only_with_an_answer(press: Desk) -> None:
    """decisions, "Readers who are erased or deleted": the issues are those that were paid."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    pay(press, key, term(1, key, 12, 2))
    with pytest.raises(BadInput, match="Forge: 2 issues left"):
        erasure.erase(press.books, 1)
    assert erasure.erase(press.books, 1, "earn").ended[0].issues == 2


def test_what_is_cancelled_at_its_end_ends_with_the_last_paid_issue(press: Desk) -> None:
    """decisions, "Cancelling at the end": the qualification does not go on after it."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    pay(press, key, term(1, key, 12, 2))
    assert cancelling.endings(press.books, key).at_end == "2026-06-30"
    done = cancelling.cancel(press.books, key, refund=False, at_end=True)
    assert done.later == "when 2 issues left are used up"
    shown = press.subscription(key)
    assert (shown["issues"], shown["date_expired"]) == (2, "2026-06-30")
    cancelling.uncancel(press.books, key)
    shown = press.subscription(key)
    assert (shown["issues"], shown["date_expired"]) == (-1, "2029-03-01")
    cancelling.cancel(press.books, key, refund=False, at_end=True)
    press.to("2026-06-30")
    assert [issues.close(press.books, issue).entries for issue in (5, 6, 7)] == [1, 1, 0]
    assert press.subscription(key)["cancelled_on"] == "2026-06-30"
    balances(press)
    issues.reopen(press.books, 7)
    issues.reopen(press.books, 6)
    assert press.subscription(key)["issues"] == 1


def test_what_goes_by_a_qualification_alone_has_no_issues_to_use_up(press: Desk) -> None:
    """decisions, "Cancelling at the end": it is cancelled now, or after an issue."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    with pytest.raises(BadInput, match="goes by a qualification alone: cancel it now, or after an"):
        cancelling.cancel(press.books, key, refund=False, at_end=True)
    assert cancelling.endings(press.books, key).at_end is None
    cancelling.cancel(press.books, key, refund=False, after_issue=5)
    assert [issues.close(press.books, issue).entries for issue in (5, 6)] == [1, 0]


def test_who_cancels_at_the_end_gets_no_free_copy_for_an_unpaid_one(press: Desk) -> None:
    """decisions, "Cancelling at the end": what is not paid is held, as without a qualification."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    pay(press, key, term(1, key, 12, 11, paid_on=None))
    cancelling.cancel(press.books, key, refund=False, at_end=True)
    preview = issues.preview(press.books, 5)
    assert [each.why for each in preview.held] == ["unpaid"]
    made = issues.close(press.books, 5)
    assert tuple(preview) == (made.press_run, made.held, made.lapsed)
    assert made.entries == 0


def test_a_reader_who_cancels_gets_what_was_paid(press: Desk) -> None:
    """decisions, "Cancelling at the end": the readers' page says until when."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    pay(press, key, term(1, key, 12, 2, kind="opening"))
    done = reader_cancelling.cancel(press.books, 1, key)
    assert (done.issues_left, done.until) == (2, "2026-06-30")
    assert press.subscription(key)["date_expired"] == "2026-06-30"
