"""Readers renew, buy and give on their pages, and see what it costs before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import billing_settings, gift_cards, mandates, refunds
from tests.billing.bureau import use_currency
from tests.console.browser import input_values
from tests.documents.shown import lines_of, made
from tests.readers.links import links_in, mails_to
from tests.readers_books.household import ADA, BEN, show_bundle
from tests.readers_pages.house import POSTAL_CODE, errors_of, name_by_day, said_after, send, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from httpx2 import Response

    from tests.readers.browser import Browser
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
    assert browser.get(path).status_code == 404


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


@pytest.fixture
def euros(house: House) -> Iterator[House]:
    """The household in an account that has euros, as direct debits need them."""
    use_currency(house.desk, "EUR")
    yield house
    use_currency(house.desk, "USD")


def test_an_order_that_is_collected_is_paid_in_no_other_way(euros: House) -> None:
    """decisions, "How a reader with a mandate pays"."""
    house, desk = euros, euros.desk
    show_bundle(desk)
    values = {"seller_iban": "DE89370400440532013000", "creditor_id": "DE98ZZZ09999999999"}
    billing_settings.set_values(desk.books, values)
    house.set(shop_url="https://shop.example/pay")
    given = mandates.Given("DE89370400440532013000", signed_on="2026-04-01")
    mandates.add(desk.books, ADA, given)
    browser = house.signed_in(ADA)
    assert "We collect €12.84 of invoice" in text_of(browser.get())
    assert "to be paid" not in text_of(browser.get())
    shown = browser.get("buy?offer=1")
    assert "Payment by direct debit" in text_of(shown)
    stale = {**input_values(shown.text), "payment": "invoice"}
    assert browser.post("buy", stale, token="").status_code == 400
    seen = browser.post("buy", input_values(shown.text), token="")
    sent = {**input_values(seen.text), "change": ""}
    said = said_after(browser, browser.post("buy", sent, token=""))
    assert "We collect the amount from your bank account." in said
    assert "Pay now" not in said


def test_how_to_pay_is_asked_only_where_there_is_a_choice(house: House) -> None:
    show_bundle(house.desk)
    browser, question = house.signed_in(BEN), "How you pay"
    house.set(shop_url="https://shop.example/pay")
    assert question in text_of(browser.get("buy?offer=1"))
    house.set(pay_by_invoice="no")
    shown = browser.get("buy?offer=1")
    assert question not in text_of(shown)
    assert "Payment in our shop" in text_of(shown)
    seen = browser.post("buy?offer=1", input_values(shown.text), token="")
    assert "Payment in our shop" in text_of(seen)
    house.set(shop_url="")
    shown = browser.get("buy?offer=1")
    assert "There is no way to pay here" in text_of(shown)
    assert "Look at the order" not in shown.text


def test_a_form_of_before_the_cancelling_does_not_renew(house: House) -> None:
    """Only the reader takes a cancelling back; another tab still has the form."""
    show_bundle(house.desk)
    browser, path = house.signed_in(BEN), f"subscriptions/{house.subscriptions.ben}"
    seen = send(browser, f"{path}/renew?offer=1", {"offer": "1", "payment": "invoice"})
    assert send(browser, f"{path}/cancel").status_code == 303
    before = house.desk.rows(ORDERS)
    sent = {**input_values(seen.text), "change": ""}
    refused = browser.post(f"{path}/renew", sent, token="")
    assert "The subscription is cancelled already." in text_of(refused)
    assert house.desk.rows(ORDERS) == before
    assert "There is no offer" in text_of(browser.get(f"{path}/renew"))


def test_who_buys_what_was_cancelled_reads_that_it_goes_on(house: House) -> None:
    show_bundle(house.desk)
    browser, path = house.signed_in(BEN), f"subscriptions/{house.subscriptions.ben}"
    said = "Your cancellation is taken back: your subscription goes on"
    order = {"offer": "1", "payment": "invoice"}
    assert said not in text_of(send(browser, "buy?offer=1", order))
    assert send(browser, f"{path}/cancel").status_code == 303
    assert said not in text_of(send(browser, "gift?offer=1", order | RECIPIENT))
    seen = send(browser, "buy?offer=1", order)
    assert said in text_of(seen)
    assert "cancelled" in text_of(browser.get())
    browser.post("buy", {**input_values(seen.text), "change": ""}, token="")
    assert "cancelled" not in text_of(browser.get())


def test_a_gift_begins_with_an_issue_that_is_named_by_its_day(house: House) -> None:
    show_bundle(house.desk)
    name_by_day(house, 7)
    form = {"offer": "1", "payment": "invoice", **RECIPIENT, "begins": "2026-06-15"}
    seen = send(house.signed_in(BEN, "de"), "gift?offer=1", form)
    assert "Beginnt mit 1. Juli 2026" in text_of(seen)
    seen = send(house.signed_in(BEN), "gift?offer=1", {**form, "begins": "2026-05-15"})
    assert "Begins with Tide 6, 1 June 2026" in text_of(seen)


def test_an_order_that_was_being_written_stays_after_the_session(house: House) -> None:
    """decisions, "A form whose session had ended"."""
    show_bundle(house.desk)
    browser = house.signed_in(BEN)
    form = {"offer": "1", "payment": "invoice", **RECIPIENT, "state": "Ohio", "country": "US"}
    (action,) = re.findall('action="/tide/(gift.*?)"', browser.get("gift?offer=1").text)
    token = browser.token()
    browser.post("sign-out")
    ended = browser.post(action, {**form, "form_token": token, "message": "Enjoy"}, token="")
    assert ended.status_code == 401
    assert "What you entered is kept" in text_of(ended)
    kept = input_values(ended.text)
    again = browser.sign_in("CODE2", POSTAL_CODE, next=kept["next"], kept=kept["kept"])
    shown = browser.client.get(again.headers["location"])
    assert "Enjoy" in shown.text
    assert input_values(shown.text)["last_name"] == "Burns"
    assert input_values(shown.text)["state"] == "Ohio"
    assert "ZIP code" in shown.text


def test_an_order_that_was_being_written_stays_for_a_link_by_mail(house: House) -> None:
    """decisions, "A form whose session had ended"."""
    show_bundle(house.desk)
    billing_settings.set_values(house.desk.books, {"mail_from": "press@example.org"})
    browser, other = house.signed_in(BEN), house.pages.browser()
    form = {"offer": "1", "payment": "invoice", **RECIPIENT, "form_token": browser.token()}
    browser.post("sign-out")
    ended = browser.post("gift?offer=1", {**form, "message": "Enjoy"}, token="")
    assert 'action="/tide/sign-in/link"' in ended.text
    kept = {name: input_values(ended.text)[name] for name in ("next", "kept")}
    asking = browser.post("sign-in/link", kept, token="")
    assert "A link by email" in text_of(asking)
    wrong = browser.post("sign-in/link", input_values(asking.text), token="")
    assert wrong.status_code == 400
    hidden = {name: input_values(wrong.text)[name] for name in ("next", "kept")}
    assert hidden == kept
    used = _signed_in_by_link(house, browser, hidden)
    assert used.headers["location"] == "/tide/gift?offer=1"
    shown = browser.client.get(used.headers["location"])
    assert "Enjoy" in shown.text
    assert input_values(shown.text)["last_name"] == "Burns"
    assert _signed_in_by_link(house, other, {}).headers["location"] == "/tide/"
    away = {"next": "//evil.example/"}
    assert _signed_in_by_link(house, other, away).headers["location"] == "/tide/"


def _signed_in_by_link(
    house: House, browser: Browser, hidden: dict[str, str], reader: int = BEN
) -> Response:
    """Ask for a link with what the form has; return the answer of the link.

    A reader gets three in 15 minutes, and the counters outlive a test.
    """
    email = {BEN: "ben@example.org", ADA: "ada@example.org"}[reader]
    browser.post("sign-in/link", {**hidden, "email": email}, token="")
    house.pages.app.state.link_mails.wait()
    (link,) = links_in(mails_to(house.desk, reader)[-1])
    return browser.post(link, token="")


def test_a_page_that_was_asked_for_follows_a_link_by_mail(house: House) -> None:
    billing_settings.set_values(house.desk.books, {"mail_from": "press@example.org"})
    browser = house.pages.browser()
    sign_in = browser.client.get(browser.get("data").headers["location"])
    (link,) = re.findall('href="(/tide/sign-in/link[^"]*)"', sign_in.text)
    hidden = {"next": input_values(browser.client.get(link).text)["next"]}
    assert _signed_in_by_link(house, browser, hidden, ADA).headers["location"] == "/tide/data"


def test_a_form_without_a_page_of_its_own_is_not_said_to_be_kept(house: House) -> None:
    """decisions, "A form whose session had ended"."""
    browser = house.signed_in(BEN)
    paths = {
        f"subscriptions/{house.subscriptions.ben}/address/end": {"first": "2026-05-01"},
        "data/message": {"text": "Hello"},
        "sign-out": {},
    }
    token = browser.token()
    browser.post("sign-out")
    for path, form in paths.items():
        ended = browser.post(path, {**form, "form_token": token}, token="")
        assert "nothing was saved. Please sign in again." in text_of(ended)
        again = browser.sign_in("CODE2", POSTAL_CODE, next=input_values(ended.text)["next"])
        assert browser.client.get(again.headers["location"]).status_code == 200
        browser.post("sign-out")


def test_who_has_no_address_enters_one_and_then_orders(house: House) -> None:
    show_bundle(house.desk)
    desk = house.desk
    desk.put(
        "subscribers", subscriber_id=6, first_name="Gus", last_name="Bay", renewal_code="CODE6"
    )
    desk.put("addresses", address_id=6, subscriber_id=6, address="1 Quay", zip_code=POSTAL_CODE)
    browser = house.signed_in(6)
    desk.connection.change("DELETE FROM addresses WHERE account_id = 1 AND subscriber_id = 6")
    shown = browser.get("buy?offer=1")
    assert "We have no address to send it to." in text_of(shown)
    assert "Look at the order" not in shown.text
    assert 'class="button main" href="/tide/address"' in shown.text
    assert "The new address is noted." in said_after(browser, send(browser, "address", RECIPIENT))
    sent = send(browser, "buy?offer=1", {"offer": "1", "payment": "invoice"})
    assert "Order with obligation to pay" in text_of(sent)


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
