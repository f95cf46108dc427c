"""Readers renew, buy and give on their pages, and see what it costs before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from masthead.books import gift_cards, mandates, refunds
from tests.console.browser import input_values
from tests.documents.shown import lines_of, made
from tests.readers_books.household import ADA, BEN, show_bundle
from tests.readers_pages.house import errors_of, said_after, send, text_of

if TYPE_CHECKING:
    from tests.readers_pages.house import House

ORDERS = "SELECT count(*) FROM orders WHERE account_id = :account_id"
RECIPIENT = {
    "first_name": "Fay",
    "last_name": "Burns",
    "address": "9 Elm",
    "city": "Berlin",
    "zip_code": "10115",
    "country": "DE",
}


def test_an_offer_shows_its_total_and_its_tax(house: House) -> None:
    show_bundle(house.desk)
    browser = house.signed_in(BEN)
    assert "Subscribe" in text_of(browser.get())
    shown = text_of(browser.get("buy"))
    assert "Tide for a year" in shown
    assert "$12.84" in shown
    assert "It includes $0.84 tax." in shown


def test_an_order_is_shown_then_placed_once(house: House) -> None:
    show_bundle(house.desk)
    browser = house.signed_in(BEN)
    before = house.desk.rows(ORDERS)
    path = f"subscriptions/{house.subscriptions.ben}/renew"
    seen = send(browser, f"{path}?offer=1", {"offer": "1", "payment": "invoice"})
    assert seen.status_code == 200
    assert "Order with obligation to pay" in text_of(seen)
    assert house.desk.rows(ORDERS) == before
    sent = {**input_values(seen.text), "change": ""}
    placed = browser.post(path, sent, token="")
    said = said_after(browser, placed)
    assert "Thank you for your order" in said
    assert "You get an invoice." in said
    again = browser.post(path, sent, token="")
    assert "saved already" in said_after(browser, again)
    assert house.desk.rows(ORDERS) == [(before[0][0] + 1,)]


def test_a_gift_names_its_recipient(house: House) -> None:
    show_bundle(house.desk)
    browser = house.signed_in(BEN)
    form = {"offer": "1", "payment": "invoice", **RECIPIENT}
    seen = send(browser, "gift?offer=1", form)
    assert "Fay Burns, 9 Elm, 10115 Berlin, Germany" in text_of(seen)
    sent = {**input_values(seen.text), "change": ""}
    assert "Thank you" in said_after(browser, browser.post("gift", sent, token=""))
    assert "Tide for a year for Fay Burns" in text_of(browser.get())
    (order,) = re.findall(r"order/(\d+)", browser.get().text)
    path = f"order/{order}/card.pdf"
    assert path in browser.get(f"order/{order}").text
    card = browser.get(path)
    assert (card.headers["content-type"], card.content[:5]) == ("application/pdf", b"%PDF-")
    assert house.signed_in(ADA).get(path).status_code == 404
    refunds.refund(house.desk.books, int(order))
    assert path not in browser.get(f"order/{order}").text


def test_an_order_that_a_mandate_pays_is_not_paid_otherwise(house: House) -> None:
    show_bundle(house.desk)
    house.set(pay_by_mandate="yes", shop_url="https://shop.example/pay")
    given = mandates.Given("DE89370400440532013000", signed_on="2026-04-01")
    mandates.add(house.desk.books, BEN, given)
    browser = house.signed_in(BEN)
    pays = {"mandate": "We collect the amount from your bank account.", "shop": "Pay now"}
    for payment, words in pays.items():
        seen = send(browser, "buy?offer=1", {"offer": "1", "payment": payment})
        sent = {**input_values(seen.text), "change": ""}
        said = said_after(browser, browser.post("buy", sent, token=""))
        assert [each for each in (*pays.values(), "You get an invoice.") if each in said] == [words]


def test_an_unlimited_offer_says_its_months_and_its_type(house: House) -> None:
    house.desk.put("bundles", bundle_id=2, name="Tide unlimited", price=2400)
    house.desk.put(
        "bundle_lines",
        bundle_id=2,
        line_number=1,
        publication_id=1,
        issues=-1,
        months=12,
        type="Print",
        copies=1,
        price=2400,
    )
    show_bundle(house.desk, 2)
    assert "Tide: 12 months, print" in text_of(house.signed_in(BEN).get("buy"))


def test_the_card_of_a_gift_has_the_message_and_the_day(house: House) -> None:
    show_bundle(house.desk)
    browser = house.signed_in(BEN)
    words = 'Enjoy #panic("it") *all*\nyour Ben'
    form = {"offer": "1", "payment": "invoice", **RECIPIENT, "message": words}
    seen = send(browser, "gift?offer=1", {**form, "begins": "2026-05-15"})
    assert 'Enjoy #panic("it") *all* your Ben' in text_of(seen)
    sent = {**input_values(seen.text), "change": "", "message": words}
    assert "Thank you" in said_after(browser, browser.post("gift", sent, token=""))
    (order,) = re.findall(r"order/(\d+)", browser.get().text)
    assert browser.get(f"order/{order}/card.pdf").content[:5] == b"%PDF-"
    found = gift_cards.cards_of(house.desk.books, BEN, int(order))
    (card,) = found.cards
    assert (card.message, card.begins_on) == (words, "2026-05-15")
    assert words.replace("\n", " ") in lines_of(made(card, found.appearance))


def test_a_message_that_is_too_long_for_a_card_is_refused(house: House) -> None:
    show_bundle(house.desk)
    form = {"offer": "1", "payment": "invoice", **RECIPIENT, "message": "x" * 501}
    refused = send(house.signed_in(BEN), "gift?offer=1", form)
    assert refused.status_code == 400
    assert errors_of(refused) == {"message": "This text is too long: 500 characters are the most."}


def test_an_order_that_is_sent_again_leads_to_its_order(house: House) -> None:
    show_bundle(house.desk)
    browser = house.signed_in(BEN)
    seen = send(browser, "buy?offer=1", {"offer": "1", "payment": "invoice"})
    sent = {**input_values(seen.text), "change": ""}
    first = browser.post("buy", sent, token="")
    before = house.desk.rows(ORDERS)
    shown = said_after(browser, first)
    again = browser.post("buy", sent, token="")
    assert said_after(browser, again) == f"This was saved already. {shown}"
    assert house.desk.rows(ORDERS) == before
    other = house.signed_in(ADA)
    assert other.client.get(again.headers["location"]).status_code == 404
    assert browser.get("order/sent/x").status_code == 404


def test_a_gift_without_a_name_is_refused_beside_its_field(house: House) -> None:
    show_bundle(house.desk)
    form = {"offer": "1", "payment": "invoice", **RECIPIENT, "first_name": "", "last_name": ""}
    refused = send(house.signed_in(BEN), "gift?offer=1", form)
    assert refused.status_code == 400
    assert list(errors_of(refused)) == ["last_name"]
    assert 'value="9 Elm"' in refused.text


def test_an_order_that_was_taken_back_is_not_called_paid(house: House) -> None:
    """Its credit note is among the reader's documents."""
    ((key,),) = house.desk.rows(
        "SELECT order_id FROM orders WHERE account_id = :account_id AND subscriber_id = 1"
    )
    refunds.refund(house.desk.books, int(str(key)))
    browser = house.signed_in(ADA)
    shown = text_of(browser.get(f"order/{key}"))
    assert "It was taken back." in shown
    assert "It is paid." not in shown
    (path,) = re.findall(r'(documents/\d+\.pdf)">\s*Credit note', browser.get().text)
    assert "Credit note C2026-000001" in lines_of(browser.get(path).content)


def test_another_readers_order_is_not_there(house: House) -> None:
    ((mine,),) = house.desk.rows(
        "SELECT min(order_id) FROM orders WHERE account_id = :account_id AND subscriber_id = 1"
    )
    assert house.signed_in(ADA).get(f"order/{mine}").status_code == 200
    assert house.signed_in(BEN).get(f"order/{mine}").status_code == 404


def test_what_is_not_for_sale_is_not_there(house: House) -> None:
    browser = house.signed_in(BEN)
    assert "no offer" in text_of(browser.get("buy"))
    assert browser.post("buy", {"offer": "1", "payment": "invoice"}).status_code == 404
    house.set(buy="no")
    assert browser.get("buy").status_code == 404
