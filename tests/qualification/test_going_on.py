"""Free subscriptions that go on: after a cancelling, a refund, a merge, and an unpaid order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import cancelling, issues, refunds, requalifications, subscribers
from masthead.circulation.requalifying import Effort
from masthead.errors import BadInput
from tests.circulation.test_closing import term
from tests.qualification.press import CHIEF, STUDENT, qualify, said
from tests.qualification.test_adding import sell
from tests.qualification.test_paying import pay

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

TODAY = "2026-04-15"


def receivers(desk: Desk, *numbers: int) -> list[list[int]]:
    """Close issues; return which subscriptions get each of them."""
    desk.to("2026-06-30")
    found = []
    for number in numbers:
        made = issues.close(desk.books, number)
        rows = desk.table("mailing_list_entries")
        found.append(
            [e["subscription_id"] for e in rows if e["mailing_list_id"] == made.mailing_list_id]
        )
    return found


def asked(desk: Desk) -> list[int]:
    """Return the subscriptions whose readers an effort asks to qualify again in 2028."""
    desk.to("2028-06-01")
    requalifications.set_effort(desk.books, Effort(1, 1, 730, "telephone"))
    return [e.subscription_id for e in requalifications.selected(desk.books, 1, 1).asked]


def test_who_qualifies_again_withdraws_the_cancelling(press: Desk) -> None:
    """decisions, "Qualifying after cancelling"."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    cancelling.cancel(press.books, key, refund=False, after_issue=5)
    done = qualify(press, 1, TODAY, said(CHIEF))
    assert done.sentence.endswith("; subscription 1; it was cancelled, and goes on")
    assert asked(press) == [key]
    assert receivers(press, 5, 6) == [[key], [key]]


@pytest.mark.parametrize(
    ("day", "answer", "request_type"),
    [
        ("2026-04-14", CHIEF, "web"),
        (TODAY, STUDENT, "web"),
        (TODAY, CHIEF, "directory"),
    ],
)
def test_only_who_asks_for_copies_since_withdraws_the_cancelling(
    press: Desk, day: str, answer: int, request_type: str
) -> None:
    """decisions, "Qualifying after cancelling": the day of the answers, and who asked."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    cancelling.cancel(press.books, key, refund=False, after_issue=5)
    before = press.table("cancellations")
    assert not qualify(press, 1, day, said(answer), request_type).withdraws
    assert press.table("cancellations") == before
    assert receivers(press, 5, 6)[1] == []


def test_who_qualifies_after_a_refund_is_asked_again(press: Desk) -> None:
    """decisions, "Qualifying after cancelling": an order does the same."""
    sell(press, 12)
    refunds.refund(press.books, 1)
    assert press.subscription(1)["renew_campaign_active"] == 0
    qualify(press, 1, TODAY, said(CHIEF))
    assert asked(press) == [1]


def test_a_refund_leaves_a_free_reader_in_the_campaign(press: Desk) -> None:
    """rules, "A refund of several lines": the reader is asked to qualify again."""
    qualify(press, 1, "2026-03-02", said(CHIEF))
    sell(press, 12)
    assert asked(press) == []
    refunds.refund(press.books, 1)
    assert asked(press) == [1]


def test_who_has_not_paid_is_asked_to_qualify_again(press: Desk) -> None:
    """decisions, "Who is asked to qualify again": only who has paid is left out."""
    key = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    pay(press, key, term(1, key, 12, 11, paid_on=None))
    assert asked(press) == [key]


def test_a_cancelling_is_not_undone_beside_another_free_subscription(press: Desk) -> None:
    """decisions, "Qualifying after cancelling": one reader gets one free copy."""
    first = qualify(press, 1, "2026-03-02", said(CHIEF)).subscription_id
    cancelling.cancel(press.books, first, refund=False)
    second = qualify(press, 1, TODAY, said(CHIEF)).subscription_id
    with pytest.raises(
        BadInput, match=r"qualified again since Forge .* cancel the other one first"
    ):
        cancelling.uncancel(press.books, first)
    cancelling.cancel(press.books, second, refund=False)
    cancelling.uncancel(press.books, first)
    assert receivers(press, 5) == [[first]]


@pytest.mark.parametrize("is_at_end", [False, True])
def test_a_merged_free_subscription_goes_on_though_the_other_one_was_cancelled(
    press: Desk, *, is_at_end: bool
) -> None:
    """decisions, "When it ends": the qualification was not cancelled."""
    kept, gone = (
        qualify(press, reader, "2026-03-02", said(CHIEF)).subscription_id for reader in (1, 2)
    )
    if is_at_end:
        pay(press, kept, term(1, kept, 12, 1))
        cancelling.cancel(press.books, kept, refund=False, at_end=True)
    else:
        cancelling.cancel(press.books, kept, refund=False, after_issue=5)
    subscribers.merge(press.books, 1, 2)
    assert press.subscription(gone)["merged_into"] == kept
    assert receivers(press, 5, 6) == [[kept], [kept]]


def test_a_free_subscription_is_merged_into_an_unlimited_one(press: Desk) -> None:
    """decisions, "What merging joins": nothing of it would come behind the unlimited term."""
    free, paid = (
        qualify(press, reader, "2026-03-02", said(CHIEF)).subscription_id for reader in (1, 2)
    )
    pay(press, paid, term(1, paid, -1, -1))
    subscribers.merge(press.books, 1, 2)
    assert press.subscription(free)["merged_into"] == paid
    assert receivers(press, 5) == [[paid]]
