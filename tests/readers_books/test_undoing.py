"""A clerk undoes what a reader did only while the record is as the reader left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import cancelling, reader_cancelling, reader_changes
from tests.readers_books.household import BEN, of, reader, refused

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

CHANGED = "the cancelling was changed since: it cannot be undone any more"


def undo(desk: Desk, kind: str) -> None:
    """Undo the newest change of Ben's that has a kind, as a clerk does."""
    made = [each.made for each in reader_changes.of_reader(desk.books, BEN)]
    newest = next(each for each in made if each.kind == kind)
    reader_changes.undo(desk.books, newest.reader_change_id)


@pytest.fixture
def without_billing(household: Desk) -> Desk:
    """The household, in an account that does not bill, whose readers can cancel at once."""
    household.connection.change("DELETE FROM billing WHERE account_id = 1")
    household.put("page_settings", setting_id=1, name="cancel", value="at_once")
    return household


# Cancelling


def test_undoing_takes_no_refund_back_that_a_clerk_made_since(without_billing: Desk) -> None:
    desk, key = without_billing, of(without_billing).ben
    reader_cancelling.cancel(reader(desk, BEN), BEN, key, at_once=True)
    cancelling.uncancel(desk.books, key)
    cancelling.cancel(desk.books, key, refund=True)
    assert str(refused(desk, undo, desk, "cancel")) == CHANGED


def test_undoing_leaves_a_cancelling_that_a_clerk_made_on_a_later_day(
    without_billing: Desk,
) -> None:
    desk, key = without_billing, of(without_billing).ben
    reader_cancelling.cancel(reader(desk, BEN), BEN, key, at_once=True)
    cancelling.uncancel(desk.books, key)
    desk.to("2026-04-16")
    cancelling.cancel(desk.books, key, refund=False)
    assert str(refused(desk, undo, desk, "cancel")) == CHANGED


def test_undoing_begins_no_subscription_again_that_a_clerk_ended_since(household: Desk) -> None:
    key = of(household).ben
    reader_cancelling.cancel(reader(household, BEN), BEN, key)
    cancelling.cancel(household.books, key, refund=False)
    assert str(refused(household, undo, household, "cancel")) == CHANGED


def test_undoing_leaves_the_refund_that_a_clerk_added_to_an_unlimited_one(household: Desk) -> None:
    key = of(household).ben
    household.connection.change(
        "UPDATE terms SET issues = -1, issues_left = -1, months = 3, starts_on = '2026-04-10' "
        "WHERE account_id = 1 AND subscription_id = :key",
        key=key,
    )
    household.refresh()
    reader_cancelling.cancel(reader(household, BEN), BEN, key)
    (noted,) = [each for each in household.table("cancellations") if each["subscription_id"] == key]
    cancelling.cancel(household.books, key, refund=True, after_issue=noted["after_issue_id"])
    assert str(refused(household, undo, household, "cancel")) == CHANGED
