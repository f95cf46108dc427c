"""Orders from before the opening are history: shown, never unpaid, and without bookings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from masthead.books import orders, payments, refunds, subscribers
from masthead.books.opening import open_books
from masthead.circulation.ordering import Item, Order, Person
from masthead.cli import cli
from masthead.errors import BadInput
from tests.circulation.desk import Desk, at_desk
from tests.console.browser import serving_console, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """Books that were opened on 2026-03-10; orders 1 (a bundle) and 2 (a product) are older."""
    with at_desk(store) as found:
        found.to("2026-03-10")
        with found.store.writer() as database, database.transaction():
            database.change("DELETE FROM books")
        found.put("publications", publication_id=1, name="Tide")
        found.put("issues", issue_id=1, publication_id=1, name="1", date="2026-04-01")
        found.put("subscribers", subscriber_id=1, last_name="Ames")
        found.put("bundles", bundle_id=1, name="Year", price=3500, tax=245)
        found.put("products", product_id=1, name="Mug", price=900, tax=63)
        found.put("purchases", purchase_id=7, subscriber_id=1, payment_type="card", total="37.45")
        for number, reference, paid_on in ((1, "shop-1", None), (2, None, "2026-02-02")):
            found.put(
                "orders",
                order_id=number,
                subscriber_id=1,
                order_date="2026-03-10 09:00:00",
                external_reference=reference,
                grand_total="37.45",
                paid_on=paid_on,
            )
        item = {"order_item_id": 1, "order_id": 1, "bundle_id": 1, "purchase_id": 7}
        found.put("order_items", grand_total="37.45", **item)
        found.put("order_items", order_item_id=2, order_id=2, product_id=1, grand_total="9.63")
        found.put(
            "subscriptions",
            subscription_id=1,
            subscriber_id=1,
            publication_id=1,
            type="Digital",
            copies=1,
            issues=12,
            unearned_revenue="30.00",
        )
        open_books(found.books)
        yield found


def test_an_order_of_before_is_neither_paid_nor_refunded_nor_owed(desk: Desk) -> None:
    """circulation, "Two modes of an account": and the sentence says what can be done instead."""
    before = desk.everything()
    for order in (1, 2):
        for act in (payments.pay, refunds.refund):
            with pytest.raises(BadInput, match=r"before the books were opened on 2026-03-10.*term"):
                act(desk.books, order)
    assert desk.everything() == before
    placed = orders.place(desk.books, Order(Person(1), [Item(1)], reference="shop-1", is_paid=True))
    assert (placed.is_known, placed.was_paid) == (True, False)
    assert desk.everything() == before
    shown = [orders.show(desk.books, number) for number in (1, 2)]
    person = subscribers.show(desk.books, 1)
    assert [(each.is_history, each.due) for each in shown] == [(True, 0)] * 2
    assert [row[-1] for row in person.orders] == [True, True]


def test_an_order_of_the_day_of_opening_is_one_of_the_books(desk: Desk) -> None:
    """rules, "Orders of before the opening": the order of numbers decides, and no clock."""
    placed = orders.place(desk.books, Order(Person(1), [Item(product_id=1)]))
    assert placed.order_id == 3
    shown = orders.show(desk.books, 3)
    assert (shown.is_history, shown.due) == (False, 963)
    assert payments.pay(desk.books, 3).cents == 0
    assert refunds.refund(desk.books, 3).cents == 963


def test_an_order_of_before_shows_what_the_files_say_of_its_payment(desk: Desk) -> None:
    """rules, "Orders of before the opening": pages and commands never call it not paid."""
    with serving_console(desk.store) as console:
        console.add("ada")
        browser = console.signed_in("ada")
        pages = [text_of(browser.get(f"/{page}").text) for page in PAGES]
    unpaid, paid, reader = pages
    assert "Order 1 Ames before the books" in unpaid
    assert "37.45 USD Purchase 7 for 37.45 USD, card" in unpaid
    assert "Order 2 Ames paid before the books" in paid
    assert "Paid 2 February 2026" in paid
    assert "Paid 37.45 USD on 2 February 2026." in reader
    assert "The former system did not say whether they were paid." in reader
    assert not [page for page in pages if "no payment" in page or "not paid" in page]
    assert not [page for page in pages if "Refund" in page or "Book the payment" in page]


PAGES = ("orders/1", "orders/2", "subscribers/1")


def test_commands_show_it_too(desk: Desk) -> None:
    def shown(*words: str) -> list[str]:
        done = CliRunner().invoke(cli, [*words, "1", "--account=1", f"--database={desk.url}"])
        return done.output.splitlines()

    order = shown("order", "show")
    assert "history: before the books, so it is neither paid nor refunded here" in order
    assert order[-1].endswith("37.45 USD of which tax 0.00 USD, purchase 7 for 37.45 USD, card")
    assert shown("subscriber", "show")[-2:] == [
        "order 2 of 2026-03-10: 37.45 USD, paid on 2026-02-02, before the books",
        "order 1 of 2026-03-10: 37.45 USD, before the books",
    ]
