"""Orders of several copies, for one address or several, on both stores (circulation, "Order")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import order_files, orders, subscriptions
from masthead.circulation.ordering import Item, Order, Person, RefusedOrder
from masthead.loading.order_files import read_orders

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.store.database import Value
    from tests.circulation.desk import Desk

YEAR, MUG = 1, 1
COMPANY = Person(1)
TO_THREE = (
    Item(YEAR, copies=5, recipient=Person(address_id=1)),
    Item(YEAR, copies=4, recipient=Person(address={"address": "2 Dock", "city": "Hull"})),
    Item(YEAR, copies=3, recipient=Person(address={"address": "3 Dock", "city": "Hull"})),
)


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """A publication, a bundle of 12 issues for 35.00 and 2.45 of tax, and a company."""
    shared.empty()
    shared.to("2026-04-15")
    shared.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    shared.put("issues", issue_id=1, publication_id=1, name="May", date="2026-05-01")
    shared.put("bundles", bundle_id=YEAR, name="Tide for a year", price=3500, tax=245)
    line: dict[str, Value] = {"bundle_id": YEAR, "line_number": 1, "publication_id": 1}
    shared.put("bundle_lines", **line, issues=12, type="Print", copies=1, price=3500)
    shared.put("products", product_id=MUG, name="Mug", price=900, tax=63)
    shared.put("subscribers", subscriber_id=1, renewal_code="CODE1")
    shared.put("addresses", address_id=1, subscriber_id=1, company="Dock Ltd", address="1 Dock")
    return shared


def _goes(desk: Desk) -> list[tuple[object, ...]]:
    """Return the street, the copies and the issues of each subscription."""
    streets = {row["address_id"]: row["address"] for row in desk.table("addresses")}
    return [
        (streets[row["mailing_address_id"]], row["copies"], row["issues"])
        for row in desk.table("subscriptions")
    ]


def test_copies_go_to_several_addresses_in_one_order(desk: Desk) -> None:
    """decisions, "Several addresses in one order": the next order extends each of them."""
    placed = orders.place(desk.books, Order(COMPANY, TO_THREE))
    assert placed.cents == 12 * 3745
    assert _goes(desk) == [("1 Dock", 5, 12), ("2 Dock", 4, 12), ("3 Dock", 3, 12)]
    again = orders.place(desk.books, Order(COMPANY, TO_THREE[::-1]))
    assert set(again.subscriptions) == set(placed.subscriptions)
    assert _goes(desk) == [("1 Dock", 5, 24), ("2 Dock", 4, 24), ("3 Dock", 3, 24)]
    other = Person(address={"address": "4 Dock", "city": "Hull"})
    orders.place(desk.books, Order(COMPANY, (*TO_THREE[:2], Item(YEAR, recipient=other))))
    assert _goes(desk)[2:] == [("3 Dock", 3, 24), ("4 Dock", 1, 12)]


def test_one_address_moves_the_subscription_that_is_extended(desk: Desk) -> None:
    orders.place(desk.books, Order(COMPANY, TO_THREE[:1]))
    orders.place(desk.books, Order(COMPANY, TO_THREE[1:2]))
    assert _goes(desk) == [("2 Dock", 5, 24)]
    (key,) = (row["subscription_id"] for row in desk.table("subscriptions"))
    assert [term.copies for term in subscriptions.show(desk.books, key).terms] == [5, 4]


def test_a_price_is_that_of_one_copy(desk: Desk) -> None:
    """The order says what one cost in the catalogue if it has another price."""
    items = (Item(YEAR, price=3000, tax=210, copies=3), Item(product_id=MUG, copies=2))
    shown = orders.show(desk.books, orders.place(desk.books, Order(COMPANY, items)).order_id)
    assert shown.fields["grand_total"] == "115.56"
    assert [(item.copies, item.list_price) for item in shown.items] == [(3, 3745), (2, None)]
    assert [term.price for term in shown.items[0].terms] == [9000]


@pytest.mark.parametrize("copies", [0, -1, 1_000_001])
def test_an_order_has_a_possible_number_of_copies(desk: Desk, copies: int) -> None:
    for item in (Item(YEAR, copies=copies, price=0), Item(product_id=MUG, copies=copies)):
        with pytest.raises(RefusedOrder, match="copies is a number from 1"):
            orders.place(desk.books, Order(COMPANY, [item]))
    assert desk.table("orders") == []


def test_a_file_of_orders_has_copies(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(
        "external_reference,subscriber_id,bundle_id,copies,recipient_address,recipient_city\n"
        "S1,1,1,5,,\nS1,1,1,4,2 Dock,Hull\nS1,1,1,,3 Dock,Hull\n"
    )
    found, problems = read_orders([path])
    assert problems == []
    for _ in range(2):
        order_files.place_many(desk.books, [each.order for each in found], described_max=1)
        assert _goes(desk) == [("1 Dock", 5, 12), ("2 Dock", 4, 12), ("3 Dock", 1, 12)]
    path.write_text("external_reference,subscriber_id,bundle_id,copies\nS2,1,1,two\n")
    assert [problem.column for problem in read_orders([path])[1]] == ["copies"]
