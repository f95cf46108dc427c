"""Items of an order that ended before it was paid, or without giving anything back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import issues, orders, payments, refunds, subscriptions
from masthead.books.subscriptions import Values
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import BadInput
from tests.circulation.desk import Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store.database import Value
    from tests.servers import Store


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """A mug for 9.00 and tax of 0.63, a year for 35.00 and tax of 2.45, and Ada."""
    with at_desk(store) as found:
        found.to("2026-01-15")
        found.put("publications", publication_id=1, name="Tide", credit_issues=1)
        found.put("issues", issue_id=1, publication_id=1, name="1", date="2026-02-01")
        found.put("subscribers", subscriber_id=1, last_name="Ames")
        found.put("addresses", address_id=1, subscriber_id=1, address="1 Quay")
        found.put("products", product_id=1, name="Mug", price=900, tax=63)
        found.put("bundles", bundle_id=1, name="Tide for a year", price=3500, tax=245)
        line: dict[str, Value] = {"issues": 12, "type": "Print", "copies": 1, "price": 3500}
        found.put("bundle_lines", bundle_id=1, line_number=1, publication_id=1, **line)
        yield found


def place(desk: Desk, *items: Item, is_paid: bool = False) -> None:
    orders.place(desk.books, Order(Person(1), items, is_paid=is_paid))


def pay(desk: Desk) -> int:
    """Pay the order; return how many cents without tax were received."""
    return payments.pay(desk.books, 1).cents


def refund(desk: Desk, item_id: int, cents: int | None = None) -> int:
    """Refund an item; return the cents that are given back."""
    return refunds.refund(desk.books, 1, item_id, cents).cents


def due(desk: Desk) -> int:
    """Return what is still to be paid of the order."""
    return orders.show(desk.books, 1).due


def test_what_ended_before_the_payment_is_neither_due_nor_given_back(desk: Desk) -> None:
    """circulation, "Money": at most what was paid."""
    place(desk, Item(product_id=1), Item(1))
    assert due(desk) == 4708
    assert refund(desk, 1) == 0
    assert due(desk) == 3745
    assert pay(desk) == 3500
    assert due(desk) == 0
    with pytest.raises(BadInput, match="was refunded or cancelled before"):
        refund(desk, 1)
    with pytest.raises(BadInput, match=r"at most 0\.00 USD, since it ended unpaid"):
        refund(desk, 1, 963)
    assert refund(desk, 2) == 3745


def test_a_paid_product_that_ended_without_a_refund_can_still_be_given_back(desk: Desk) -> None:
    """circulation, "Money": an amount of 0 ends the item, and its money stays."""
    place(desk, Item(product_id=1), is_paid=True)
    desk.to("2026-01-16")
    assert refund(desk, 1, 0) == 0
    assert refund(desk, 1, 963) == 963


def test_what_is_delivered_and_earned_is_not_refunded_with_nothing(desk: Desk) -> None:
    """circulation, "Money": partners would see a refund, though nothing goes back."""
    place(desk, Item(1), is_paid=True)
    subscriptions.set_values(desk.books, 1, Values(copies=12, how="convert"))
    issues.close(desk.books, 1)
    for cents, words in ((None, "and nothing of it is unearned"), (0, "nothing was changed")):
        with pytest.raises(BadInput, match=f"the item has no issues left.*{words}"):
            refund(desk, 1, cents)
    (item,) = desk.table("order_items")
    assert (item["refunded"], item["refund_date"]) == (0, None)
    assert refund(desk, 1, 107) == 107
