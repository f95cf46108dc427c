"""Days are those of the account, and what came first is told by numbers, not by seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import cancelling, issues, orders, payments, refunds, subscribers
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import BadInput
from masthead.store import accounts, erasing
from masthead.store.books.expiry_counts import expiring_then, schedules
from masthead.store.books.operation import operation
from tests.circulation.desk import ACTOR, Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers import Store

LOCAL = "2026-01-16 01:00:00"
"""What time it is in Auckland at noon of 2026-01-15 (UTC)."""


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """A publisher in Auckland, at noon in Greenwich: there it is the next day already."""
    with at_desk(store) as found:
        accounts.set_account(found.store, 1, {"time_zone": "Pacific/Auckland"})
        found.to("2026-01-15")
        found.put("publications", publication_id=1, name="Tide")
        found.put("issues", issue_id=1, publication_id=1, name="1", date="2026-02-01")
        found.put("products", product_id=1, name="Mug", price=900, tax=63)
        for number in (1, 2):
            found.put("subscribers", subscriber_id=number, last_name=f"Reader {number}")
            found.put(
                "subscriptions",
                subscription_id=number,
                subscriber_id=number,
                publication_id=1,
                type="Digital",
                copies=1,
                begins_on="2026-01-02",
                date_created="2026-01-01",
            )
            found.put(
                "terms",
                term_id=number,
                subscription_id=number,
                issues=3,
                issues_left=3,
                kind="opening",
            )
        found.refresh()
        yield found


def do(desk: Desk, what: Callable[..., Any], *given: Any, **named: Any) -> Any:
    with operation(desk.store, 1, ACTOR) as books:
        return what(books, *given, **named)


def test_all_times_of_the_books_are_those_of_the_account(desk: Desk) -> None:
    """decisions, "One clock"."""
    issues.close(desk.books, 1)
    issues.mark_written(desk.books, 1)
    cancelling.cancel(desk.books, 2, refund=False)
    subscribers.merge(desk.books, 1, 2)
    erasing.erase(desk.store, 1, 1)
    (issue,) = desk.table("issues")
    assert (issue["closed_at"], issue["file_written_at"]) == (LOCAL, LOCAL)
    assert desk.table("list_downloads")[0]["date_created"] == LOCAL
    assert [term["ended_at"] for term in desk.table("terms")] == [None, LOCAL]
    assert [each["delete_date"] for each in desk.table("subscribers")] == [LOCAL, LOCAL]
    assert desk.table("erasures")[0]["erased_at"] == LOCAL


def test_what_ended_on_a_day_there_had_not_ended_the_day_before(desk: Desk) -> None:
    """circulation, "Reports": in Greenwich it was the day before still."""
    cancelling.cancel(desk.books, 2, refund=False)
    with desk.store.writer() as database:
        counts = {
            day: sum(
                each.subscriptions
                for each in expiring_then(database, 1, day, schedules(database, 1, day))
            )
            for day in ("2026-01-15", "2026-01-16")
        }
    assert counts == {"2026-01-15": 2, "2026-01-16": 1}


def test_a_merge_within_the_second_of_a_closing_is_before_it_or_after_it(desk: Desk) -> None:
    """circulation, "Reopen": refused only where the term has moved since."""
    subscribers.merge(desk.books, 1, 2)
    issues.close(desk.books, 1)
    issues.reopen(desk.books, 1)
    issues.close(desk.books, 1)
    desk.put("subscribers", subscriber_id=3, last_name="Reader 3")
    subscribers.merge(desk.books, 3, 1)
    with pytest.raises(BadInput, match="merged into another subscriber"):
        issues.reopen(desk.books, 1)


def test_a_product_that_ends_on_the_day_of_its_payment_was_paid(desk: Desk) -> None:
    """circulation, "Money": at most what was paid, on any day."""
    for is_dropped in (False, True):
        order = orders.place(desk.books, Order(Person(1), [Item(product_id=1)] * 2))
        first, second = (
            row["order_item_id"]
            for row in desk.table("order_items")
            if row["order_id"] == order.order_id
        )
        if is_dropped:
            refunds.refund(desk.books, order.order_id, first, 0)
        payments.pay(desk.books, order.order_id)
        if not is_dropped:
            refunds.refund(desk.books, order.order_id, first, 0)
            assert refunds.refund(desk.books, order.order_id, first, 963).cents == 963
        else:
            with pytest.raises(BadInput, match="since it ended unpaid"):
                refunds.refund(desk.books, order.order_id, first, 963)
        assert refunds.refund(desk.books, order.order_id, second).cents == 963
