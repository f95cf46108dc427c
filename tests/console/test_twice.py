"""What is sent twice, and what changes between a look at what will happen and its confirmation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import orders, renewals
from masthead.circulation.ordering import Item, Order, Person
from masthead.store.books.operation import operation
from tests.circulation.desk import ACTOR, at_desk
from tests.console.browser import input_values, serving_console
from tests.console.conftest import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store.database import Value
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """The publisher with a bundle of twelve issues for 24.00 and tax of 1.20, and two issues."""
    with at_desk(store) as desk:
        fill(desk)
        desk.put("bundles", bundle_id=1, name="Tide for a year", price=2400, tax=120)
        line: dict[str, Value] = {
            "publication_id": 1,
            "issues": 12,
            "type": "Print",
            "copies": 1,
            "price": 2400,
        }
        desk.put("bundle_lines", bundle_id=1, line_number=1, **line)
        yield desk


@pytest.fixture
def console(desk: Desk) -> Iterator[Console]:
    with serving_console(desk.store) as console:
        for role in ("clerk", "finance", "manager"):
            console.add(role, role)
        yield console


def look(browser: Browser, path: str, **typed: str) -> dict[str, str]:
    """Send what was typed into the form of a page; return the form that confirms it."""
    response = browser.post(path, typed)
    assert response.status_code == 200, response.text
    return input_values(response.text)


def opened(browser: Browser, path: str) -> dict[str, str]:
    """Return the form of a page, which carries what the record is now."""
    return input_values(browser.get(path).text)


def order_ids(desk: Desk) -> list[int]:
    return [row["order_id"] for row in desk.table("orders")]


def test_an_order_that_is_sent_twice_is_saved_once(desk: Desk, console: Console) -> None:
    """rules, "What is sent twice"; the same order is taken again by a form of its own."""
    browser = console.signed_in("clerk")
    typed = {
        "bundle": "1",
        "payer_first_name": "Tom",
        "payer_last_name": "Twice",
        "payer_address": "2 Quay",
        "payer_city": "Hull",
    }
    form = look(browser, "/orders/new", **typed)
    saved = browser.post("/orders/new", {**form, "sure": "1"})
    assert saved.headers["location"] == "/orders/2"
    again = browser.post("/orders/new", {**form, "sure": "1"})
    assert again.headers["location"] == "/orders/2"
    assert order_ids(desk) == [1, 2]
    assert sum(row["first_name"] == "Tom" for row in desk.table("subscribers")) == 1
    other = look(browser, "/orders/new", **typed)
    assert browser.post("/orders/new", {**other, "sure": "1"}).headers["location"] == "/orders/3"


def test_who_looks_like_a_reader_is_shown_before_the_order_is_saved(
    desk: Desk, console: Console
) -> None:
    """decisions, "Who looks like a reader": a button takes the one who is there."""
    browser = console.signed_in("clerk")
    typed = {"bundle": "1", "payer_first_name": "Tom", "payer_last_name": "Twice"}
    place = {"payer_address": "2 Quay", "payer_city": "Hull"}
    form = look(browser, "/orders/new", **typed, **place)
    browser.post("/orders/new", {**form, "sure": "1"})
    (tom,) = (row for row in desk.table("subscribers") if row["first_name"] == "Tom")
    shown = browser.post("/orders/new", {**typed, **place, "gives": "no"})
    assert "Tom Twice looks like a reader who is there" in shown.text
    key = tom["subscriber_id"]
    assert f'value="payer:{key}"' in shown.text
    chosen = look(browser, "/orders/new", **input_values(shown.text), is_reader=f"payer:{key}")
    assert chosen["payer_id"] == f"{key}"
    browser.post("/orders/new", {**chosen, "sure": "1"})
    assert [row["first_name"] for row in desk.table("subscribers")].count("Tom") == 1
    assert desk.table("orders")[-1]["subscriber_id"] == key


def test_an_order_with_a_known_reference_says_so_before_it_is_saved(
    desk: Desk, console: Console
) -> None:
    """circulation, "Order": saving books the payment that has come since."""
    browser = console.signed_in("clerk")
    typed = {
        "bundle": "1",
        "payer_id": "10",
        "payer_address": "2 Quay",
        "payer_city": "Hull",
        "reference": "S1",
    }
    form = look(browser, "/orders/new", **typed)
    browser.post("/orders/new", {**form, "sure": "1"})
    shown = browser.post("/orders/new", {**typed, "payment": "paid"})
    assert "has this reference already" in " ".join(shown.text.split())
    assert "Saving books its payment" in shown.text
    browser.post("/orders/new", {**input_values(shown.text), "sure": "1"})
    assert "was there already, and is paid now" in browser.get("/orders/2").text
    assert order_ids(desk) == [1, 2]


def test_letters_are_written_once_and_the_next_ones_are_not_taken(
    desk: Desk, console: Console
) -> None:
    """rules, "What is sent twice": the second click finds other letters due, or none."""
    _place(desk, 10)
    renewals.set_effort(desk.books, renewals.Effort(1, 1, 12))
    browser = console.signed_in("manager")
    form = look(browser, "/renewals/send", publication="")
    assert form["will"] == "Tide, letter 1: 1 time"
    file = browser.post("/renewals/send", form)
    assert file.headers["content-type"].startswith("text/csv")
    for subscriber in (11, 12):
        _place(desk, subscriber)
    again = browser.post("/renewals/send", form)
    assert again.status_code == 409
    assert "Other letters are due now" in again.text
    assert input_values(again.text)["will"] == "Tide, letter 1: 2 times"
    assert [row["effort"] for row in desk.table("renewals_sent")] == [1]
    assert browser.get("/renewals/sent", day="2026-01-01").text == file.text
    assert browser.get("/renewals/sent", day="2025-12-31").text.count("\r\n") == 1
    assert "is still to come" in browser.get("/renewals/sent", day="2190-01-01").text
    browser.post("/renewals/send", input_values(again.text))
    none = browser.post("/renewals/send", input_values(again.text))
    assert (none.status_code, "No letter is due today" in none.text) == (409, True)
    assert [row["effort"] for row in desk.table("renewals_sent")] == [1, 1, 1]


def test_what_cannot_be_undone_is_done_as_it_was_shown_or_not_at_all(
    desk: Desk, console: Console
) -> None:
    """rules, "What is sent twice": an issue more, and the refund is looked at anew."""
    _place(desk, 11)
    browser = console.signed_in("finance")
    form = look(browser, "/orders/2/refund", **opened(browser, "/orders/2/refund"))
    assert "12 issues end" in form["will"]
    with operation(desk.store, 1, ACTOR) as books:
        books.connection.change("UPDATE terms SET issues_left = 11 WHERE account_id = 1")
        books.say("an issue was delivered")
    changed = browser.post("/orders/2/refund", form)
    assert changed.status_code == 409
    assert "look again at what will happen" in changed.text
    assert "11 issues end" in input_values(changed.text)["will"]
    assert [row["refund_date"] for row in desk.table("order_items")] == [None]
    assert browser.post("/orders/2/refund", input_values(changed.text)).status_code == 303


def test_an_unknown_item_is_reported_beside_the_typed_values(desk: Desk, console: Console) -> None:
    _place(desk, 12)
    browser = console.signed_in("finance")
    form = opened(browser, "/orders/2/refund")
    response = browser.post("/orders/2/refund", {**form, "item": "77", "amount": "3.10"})
    assert response.status_code == 400
    assert "The order has no such item" in response.text
    assert input_values(response.text)["amount"] == "3.10"


def test_who_may_not_refund_cancels_without_a_refund(desk: Desk, console: Console) -> None:
    """decisions, "Roles of the console": the box is not there, and does not help."""
    _place(desk, 13)
    clerk, manager = console.signed_in("clerk"), console.signed_in("manager")
    path = "/subscriptions/2/cancel"
    assert 'name="refund"' in manager.get(path).text
    shown = clerk.get(path).text
    assert 'name="refund"' not in shown
    for sure in ("", "1"):
        response = clerk.post(path, {**input_values(shown), "refund": "1", "sure": sure})
        assert response.status_code == 403
        assert "As clerk you cannot refund." in response.text
    assert desk.subscription(2)["cancelled_on"] is None
    page = clerk.post(path, {**opened(clerk, path), "when": "now"}).text
    assert "its share of the tax: a manager." in " ".join(page.split())
    form = look(clerk, path, **{**opened(clerk, path), "when": "now"})
    assert "nothing is given back" in form["will"]
    assert clerk.post(path, form).status_code == 303
    assert [row["kind"] for row in desk.table("revenue")] == ["received", "earned"]


def _place(desk: Desk, subscriber: int) -> None:
    """Place a paid order of a subscriber, which begins subscription 2."""
    person = Person(subscriber, address={"address": "2 Quay", "city": "Hull"})
    order = Order(person, [Item(1)], is_paid=True)
    orders.place(desk.books, order)
