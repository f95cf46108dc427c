"""The form of an order, as a clerk on the telephone fills it in, on both stores."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import cancelling, catalogue, orders
from masthead.circulation.ordering import Item, Order, Person
from tests.circulation.desk import at_desk
from tests.console.browser import input_values, serving_console
from tests.console.conftest import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from masthead.store.database import Value
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store

NEW = "/orders/new"
QUAY = {"address": "2 Quay", "city": "Hull"}


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """The publisher with Tide in print and digital for a year each, and an issue."""
    with at_desk(store) as desk:
        fill(desk)
        for bundle, kind, price in ((1, "Print", 7000), (2, "Digital", 2400)):
            name = f"Tide, {kind.lower()}"
            desk.put("bundles", bundle_id=bundle, name=name, price=price, tax=price * 7 // 100)
            line: dict[str, Value] = {"bundle_id": bundle, "line_number": 1, "publication_id": 1}
            desk.put("bundle_lines", **line, issues=12, type=kind, copies=1, price=price)
        desk.put("products", product_id=1, name="Mug", price=1000, tax=70)
        yield desk


@pytest.fixture(scope="module")
def console(desk: Desk) -> Iterator[Console]:
    with serving_console(desk.store) as console:
        for role in ("clerk", "finance", "manager"):
            console.add(role, role)
        yield console


@pytest.fixture(scope="module")
def clerk(console: Console) -> Browser:
    return console.signed_in("clerk")


def checked(browser: Browser, **typed: str) -> httpx2.Response:
    """Check an order; return the page."""
    return browser.post(NEW, {"bundle": "1", **typed})


def summary(response: httpx2.Response) -> str:
    """Return what the page says that the order brings."""
    found = re.search(r'<div class="summary" role="status">(.*?)</div>', response.text, re.DOTALL)
    assert found, response.text
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", found[1])).split())


def save(browser: Browser, response: httpx2.Response) -> httpx2.Response:
    """Save the order of a page that was checked; return the order's page."""
    saved = browser.post(NEW, {**input_values(response.text), "sure": "1"})
    assert saved.status_code == 303, saved.text
    return browser.get(saved.headers["location"])


def place(desk: Desk, reader: int, bundle: int = 1) -> orders.Placed:
    """Place an order of a reader who has an address."""
    return orders.place(desk.books, Order(Person(reader, address=QUAY), [Item(bundle)]))


def test_the_clerk_reads_to_the_caller_what_saving_does(desk: Desk, clerk: Browser) -> None:
    """The sentence comes from the books: what begins or is extended, until when, and the money."""
    new = {"payer_first_name": "Susan", "payer_last_name": "Lopez"}
    place = {f"payer_{name}": text for name, text in QUAY.items()}
    shown = checked(clerk, **new, **place)
    assert summary(shown) == (
        "Begins Tide (print) for Susan Lopez: 12 issues, from March (1 March 2190), until 28 "
        "February 2191, to 2 Quay, Hull; 74.90 USD including 4.90 tax, by invoice."
    )
    page = save(clerk, shown)
    assert "Susan Lopez" in page.text
    assert "74.90 USD" in page.text
    key = str(desk.table("subscribers")[-1]["subscriber_id"])
    extended = summary(checked(clerk, payer_id=key, payment="paid", payment_type="card"))
    assert extended.startswith("Extends Tide (print) of Susan Lopez: 12 more issues, until ")
    assert extended.endswith("; 74.90 USD including 4.90 tax, paid by card.")
    (held,) = orders.held_by(desk.books, [int(key)])
    cancelling.cancel(desk.books, held.subscription_id, refund=False, at_end=True)
    extended = summary(checked(clerk, payer_id=key))
    assert "Tide (print) of Susan Lopez, which was cancelled and goes on: 12 more" in extended
    second = summary(checked(clerk, payer_id=key, bundle="2"))
    assert second.startswith(
        "Begins a second subscription of Tide (digital) for Susan Lopez, who has a print one until "
    )
    gift = summary(checked(clerk, payer_id=key, to_1_id="11", to_1_address="3 Oak", to_1_city="X"))
    assert "Tide (print) for Ada Reader 11, a gift of Susan Lopez: 12 issues" in gift
    product = checked(clerk, payer_id=key, bundle="", product="1", product_copies="2")
    assert summary(product) == "Mug, 2 times; 21.40 USD including 1.40 tax, by invoice."


def test_twelve_copies_go_to_three_addresses_in_one_order(desk: Desk, clerk: Browser) -> None:
    """A row is added and left out without JavaScript, and all that was typed stays."""
    typed = {"payer_id": "12", "bundle": "1", "rows": "2", "to_1_copies": "5", "to_2_copies": "9"}
    streets = {f"to_{n}_{name}": f"{n} Dock" for n in (1, 2) for name in ("address", "city")}
    form = clerk.post(NEW, {**typed, **streets, "add": "1"})
    assert form.status_code == 200
    kept = input_values(form.text)
    assert (kept["rows"], kept["to_2_address"], kept["to_3_copies"]) == ("3", "2 Dock", "")
    kept |= {**typed, "rows": "3", "to_3_copies": " 4 ", "to_3_address": "3 Dock"}
    kept |= {"to_3_city": "Hull"}
    kept = input_values(clerk.post(NEW, {**kept, "drop": "to_2"}).text)
    assert (kept["rows"], kept["to_2_copies"], kept["to_2_address"]) == ("2", "4", "3 Dock")
    kept |= {"rows": "3", "to_3_copies": "3", "to_3_address": "4 Dock", "to_3_city": "Hull"}
    shown = clerk.post(NEW, {**kept, "bundle": "1", "payment": "bill"})
    said = summary(shown)
    for copies, street in ((5, "1 Dock"), (4, "3 Dock"), (3, "4 Dock")):
        assert re.search(rf"12 issues in {copies} copies, [^.]*to {street}", said), said
    assert said.endswith("In all 898.80 USD including 58.80 tax, by invoice.")
    save(clerk, shown)
    own = [row for row in desk.table("subscriptions") if row["subscriber_id"] == 12]
    assert sorted(row["copies"] for row in own) == [3, 4, 5]


def test_one_of_several_parts_goes_to_the_usual_address(desk: Desk, clerk: Browser) -> None:
    place(desk, 29)
    typed = {"bundle": "2", "rows": "2", "to_2_address": "1 Dock", "to_2_city": "Hull"}
    said = summary(checked(clerk, payer_id="29", **typed))
    assert re.search(r"to 2 Quay, Hull\. .*to 1 Dock, Hull\.", said), said


def test_an_older_price_is_for_finance_and_managers(
    desk: Desk, console: Console, clerk: Browser
) -> None:
    """decisions, "Another price than the list price": the order and the log say which."""
    place(desk, 13)
    catalogue.set_bundle(desk.books, 1, {"price": 8000, "tax": 560})
    try:
        shown = checked(clerk, payer_id="13")
        assert "74.90 USD" in shown.text
        assert "at this price: finance or a manager." in " ".join(shown.text.split())
        assert 'name="at_price"' not in shown.text
        assert "Another price: finance or a manager." in clerk.get(NEW).text
        refused = checked(clerk, payer_id="13", price="74.90")
        assert refused.status_code == 403
        assert "is given by finance or a manager." in refused.text
        assert checked(clerk, payer_id="13", price=" 85,60 ").status_code == 200
        finance = console.signed_in("finance")
        shown = checked(finance, payer_id="13")
        taken = finance.post(NEW, {**input_values(shown.text), "at_price": "74.90"})
        text = "74.90 USD including 4.90 tax, at the older price of 74.90 instead of 85.60"
        assert text in summary(taken)
        assert "at 74.90 instead of 85.60" in " ".join(save(finance, taken).text.split())
        said = desk.rows("SELECT summary FROM audit WHERE account_id = :account_id")
        assert any("at the older price of 74.90 instead of 85.60" in text for (text,) in said)
        other = summary(checked(finance, payer_id="13", price="1.234,50"))
        assert other.split("; ")[1].startswith("1,234.50 USD including 80.76 tax, at the price")
    finally:
        catalogue.set_bundle(desk.books, 1, {"price": 7000, "tax": 490})


def test_errors_stand_at_their_fields_and_what_was_typed_stays(clerk: Browser) -> None:
    typed = {"bundle": "", "to_1_copies": "some", "notes": "a  note", "payer": "Zzyzx"}
    refused = checked(clerk, **typed)
    assert refused.status_code == 400
    for field, said in (
        ("bundle", "Say what is ordered"),
        ("payer", "Choose who it is"),
    ):
        assert re.search(rf'id="{field}-error">{said}', refused.text), field
    kept = input_values(refused.text)
    assert (kept["to_1_copies"], kept["notes"], kept["payer"]) == ("some", "a  note", "Zzyzx")
    for field, typed in (
        ("to_1_copies", {"to_1_copies": "0"}),
        ("to_2_address", {"rows": "2", "to_1_id": "15", "to_2_city": "Hull"}),
        ("payer_email", {"payer_id": "", "payer_email": "x" * 51}),
        ("payer", {"payer_first_name": "Both"}),
        ("product_copies", {"bundle": "", "product": "1", "product_copies": "1.5"}),
        ("price", {"price": "much"}),
        ("to_2_address", {"rows": "3", "to_3_address": "1 Dock", "to_3_city": "Hull"}),
    ):
        refused = checked(clerk, **{"payer_id": "14", **typed})
        assert refused.status_code == 400, (field, refused.text)
        assert f'id="{field}-error"' in refused.text, (field, refused.text)


def test_a_person_is_found_by_name_without_javascript(clerk: Browser) -> None:
    shown = checked(clerk, payer="Reader 15", find="payer")
    assert shown.status_code == 200
    assert 'id="payer-15"' in shown.text
    assert 'id="errors"' not in shown.text


def test_what_is_extended_is_chosen_by_name(desk: Desk, clerk: Browser) -> None:
    """The choice has the publication, the end and the address, and no number."""
    for _ in range(2):
        place(desk, 16)
    orders.place(desk.books, Order(Person(16), [Item(1, is_new=True)]))
    form = clerk.get(NEW, subscriber="16").text
    options = re.findall(r'<option value="([0-9]+)"\s*>(Tide \(print\), until [^<]*)<', form)
    assert len(options) == 2
    assert {text.rpartition(", 2 Quay")[2] for _, text in options} == {", Hull"}
    older, newer = (int(key) for key, _ in options)
    for key in (older, newer):
        assert "Extends Tide (print)" in summary(
            checked(clerk, payer_id="16", to_1_subscription=str(key))
        )
    assert "Begins a second" in summary(checked(clerk, payer_id="16", to_1_subscription="new"))
    named = clerk.get(NEW, subscriber="16", subscription=str(newer)).text
    assert re.search(rf'<option value="{newer}"\s+selected', named)
    assert re.search(
        r'<option value="1"\s+selected>Tide, print: 74.90 USD, 12 issues of Tide', named
    )


def test_a_renewal_begins_with_a_bundle_that_gives_the_same(desk: Desk) -> None:
    sold = catalogue.orderable(desk.books)
    for kind, last, found in (
        ("Print", 1, 1),
        ("Print", 2, 1),
        ("Print", None, 1),
        ("Both", 1, None),
    ):
        assert sold.renewing(1, kind, last) == found, (kind, last)


def test_an_order_that_brings_something_else_meanwhile_is_looked_at_again(
    desk: Desk, clerk: Browser
) -> None:
    shown = checked(clerk, payer_id="17", payer_address="2 Quay", payer_city="Hull")
    place(desk, 17, 2)
    again = clerk.post(NEW, {**input_values(shown.text), "sure": "1"})
    assert again.status_code == 409
    assert "Something has changed meanwhile" in again.text
    assert "Begins a second subscription" in summary(again)
    assert save(clerk, again).status_code == 200


def test_the_first_issue_is_chosen_among_those_of_what_is_ordered(
    desk: Desk, clerk: Browser
) -> None:
    """Without JavaScript, by the names of the publications; an issue of another one is refused."""
    desk.put("publications", publication_id=2, name="Gale")
    desk.put("issues", issue_id=2, publication_id=2, name="Winter", date="2190-12-01")
    page = " ".join(clerk.get(NEW).text.split())
    assert 'name="bundle" data-narrows="first_issue"' in page
    assert '<optgroup label="Tide" data-of="1 2"> <option value="1">March' in page
    assert '<optgroup label="Gale" data-of=""> <option value="2">Winter' in page
    refused = checked(clerk, payer_id="27", first_issue="2")
    assert refused.status_code == 400
    assert '<a href="#first_issue">Gale Winter (1 December 2190) is no issue of' in " ".join(
        refused.text.split()
    )
