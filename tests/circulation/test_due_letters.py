"""Which renewal letters are due, and which subscriptions get none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import cancelling, renewals, subscribers, subscriptions
from masthead.books.subscriptions import Values
from masthead.store.books import reports
from tests.circulation.two_readers import TODAY, fill

if TYPE_CHECKING:
    from masthead.store.database import Value
    from tests.circulation.desk import Desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account, filled."""
    fill(shared)
    return shared


def letters_of(desk: Desk) -> list[dict[str, Any]]:
    """Return the letters that are due."""
    with renewals.written_letters(desk.books) as letters:
        rows = list(letters.rows)
    return [dict(zip(renewals.LETTER, row, strict=True)) for row in rows]


def with_left(desk: Desk, left: int) -> None:
    """Let so many issues be left of both subscriptions."""
    with desk.store.writer() as database, database.transaction():
        database.change(
            "UPDATE terms SET issues_left = :n WHERE account_id = 1 AND kind = 'paid'", n=left
        )
    desk.refresh()


def efforts(desk: Desk, *points: int) -> None:
    """Set the efforts of the publication, numbered from 1."""
    for effort, point in enumerate(points, 1):
        renewals.set_effort(desk.books, renewals.Effort(1, effort, point))


def test_the_payer_of_a_gift_gets_the_letter(desk: Desk) -> None:
    """circulation, "Renewals"."""
    efforts(desk, 3)
    assert letters_of(desk) == []
    with_left(desk, 3)
    own, gift = letters_of(desk)
    assert (own["subscription_id"], own["is_gift"], own["to_subscriber_id"]) == (1, 0, 1)
    assert (gift["subscription_id"], gift["is_gift"], gift["to_subscriber_id"]) == (2, 1, 1)
    assert (gift["reader_first_name"], gift["first_name"]) == ("Ben", "Ada")
    assert (gift["renewal_code"], gift["address"]) == ("CODE1", "1 Oak")
    assert own["issues_left"] == 3


def test_free_copies_and_refunded_renewals_do_not_begin_the_letters_anew(desk: Desk) -> None:
    """rules, "The present term of letters"."""
    efforts(desk, 9, 1)
    with_left(desk, 3)
    renewals.send(desk.books, lambda _letters: None)
    assert letters_of(desk) == []
    subscriptions.extend(desk.books, 1, 1)
    assert letters_of(desk) == []
    desk.put("orders", order_id=2, subscriber_id=2, order_date=f"{TODAY} 10:00:00")
    desk.put("order_items", order_item_id=3, order_id=2, bundle_id=1)
    renewal: dict[str, Value] = {"subscription_id": 2, "order_item_id": 3, "kind": "free"}
    ended: dict[str, Value] = {"issues_left": 0, "ended_at": f"{TODAY} 12:00:00"}
    desk.put("terms", term_id=90, issues=12, price=0, **renewal, **ended)
    assert letters_of(desk) == []
    assert renewed(desk) == 0
    desk.put("terms", term_id=91, issues=1, issues_left=1, price=0, **renewal)
    assert renewed(desk) == 1
    assert [(each["subscription_id"], each["effort"]) for each in letters_of(desk)] == [(2, 1)]


def renewed(desk: Desk) -> int:
    """Return how many subscriptions were renewed by the first letter."""
    with reports.counting(desk.store, desk.account_id) as reading:
        return reports.efforts(reading, TODAY)[0].renewed


def test_after_the_last_issue_closed_issues_count_down(desk: Desk) -> None:
    """rules, "Efforts due below zero": unpaid grace does not count."""
    efforts(desk, -2)
    with_left(desk, 0)
    assert letters_of(desk) == []
    with desk.store.writer() as database, database.transaction():
        at = "2026-04-02 00:00:00"
        database.change("UPDATE issues SET closed_at = :at WHERE issue_id IN (5, 6)", at=at)
        database.change(
            "DELETE FROM subscription_issues WHERE subscription_id = 2 AND issue_id = 4"
        )
        database.change(
            "UPDATE subscription_issues SET is_grace = 1, term_id = NULL WHERE account_id = 1 "
            "AND subscription_id = 1 AND issue_id IN (3, 4)"
        )
    left = {letter["subscription_id"]: letter["issues_left"] for letter in letters_of(desk)}
    assert left == {1: -4, 2: -3}


@pytest.mark.parametrize("why", ["campaign", "cancelled", "suspended", "deleted", "unlimited"])
def test_who_is_not_written_to(desk: Desk, why: str) -> None:
    """circulation, "Renewals"."""
    efforts(desk, 3)
    with_left(desk, 3)
    if why == "campaign":
        subscriptions.set_values(desk.books, 1, Values(campaign=False))
    elif why == "cancelled":
        cancelling.cancel(desk.books, 1, refund=False)
    elif why == "suspended":
        subscriptions.suspend(desk.books, 1)
    elif why == "unlimited":
        with desk.store.writer() as database, database.transaction():
            database.change(
                "UPDATE terms SET issues = -1, issues_left = -1, months = 12, "
                "starts_on = '2026-01-10' WHERE account_id = 1 AND term_id = 1"
            )
        desk.refresh()
    else:
        subscribers.merge(desk.books, 3, 2)
        with desk.store.writer() as database, database.transaction():
            database.change(
                "UPDATE subscribers SET delete_date = '2026-04-01 00:00:00' "
                "WHERE account_id = 1 AND subscriber_id = 1"
            )
    (left,) = letters_of(desk)
    assert left["subscription_id"] == 2
    if why == "deleted":
        assert left["to_subscriber_id"] == 3, "a payer who is deleted gets no letter"
