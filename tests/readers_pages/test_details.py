"""The reader's own address, which moves with the subscriptions that the reader chooses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import billing_settings
from tests.billing.outboxes import MAIL_FROM
from tests.readers_books.household import ADA, BEN
from tests.readers_pages.house import errors_of, said_after, send, text_of

if TYPE_CHECKING:
    from tests.readers_pages.house import House

ADDRESS = {
    "first_name": "Ben",
    "last_name": "Ames",
    "address": "7 Elm",
    "city": "Berlin",
    "zip_code": "10115",
    "country": "DE",
}


def test_the_form_has_the_present_address(house: House) -> None:
    page = house.signed_in(BEN).get("address").text
    assert 'value="2 Oak"' in page
    assert re.search(r'value="IE"\s+selected', page)
    assert f'name="subscription_{house.subscriptions.ben}"' in page


def test_a_new_address_holds_for_the_chosen_subscriptions(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    said = said_after(browser, send(browser, "address", {**ADDRESS, f"subscription_{key}": "1"}))
    assert "The new address is noted." in said
    assert "7 Elm 10115 Berlin Germany" in text_of(browser.get(f"subscriptions/{key}"))
    other = text_of(house.signed_in(ADA).get(f"subscriptions/{house.subscriptions.ada}"))
    assert "7 Elm" not in other


@pytest.mark.parametrize(
    ("language", "subject"),
    [("en", "The address of your subscription"), ("de", "Die Adresse Ihres Abonnements")],
)
def test_the_mail_that_confirms_a_change_has_the_language_of_the_page(
    house: House, language: str, subject: str
) -> None:
    billing_settings.set_values(house.desk.books, {"mail_from": MAIL_FROM})
    browser, key = house.signed_in(BEN, language), house.subscriptions.ben
    assert send(browser, "address", {**ADDRESS, f"subscription_{key}": "1"}).status_code == 303
    (mail,) = house.desk.table("mails")
    assert str(mail["subject"]).startswith(subject)


def test_invoices_go_to_a_new_address_from_now_on(house: House) -> None:
    """Whatever first day the form has: that is the day of the issues."""
    billing_settings.set_values(house.desk.books, {"mail_from": MAIL_FROM})
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    day = {"bills": "1", "first": "2026-09-01"}
    alone = said_after(browser, send(browser, "address", {**ADDRESS, **day}))
    assert "The new address is noted. Invoices go there from now on." in alone
    both = {**ADDRESS, **day, f"subscription_{key}": "1"}
    said = said_after(browser, send(browser, "address", both))
    assert "noted from 1 September 2026 on. Invoices go there from now on." in said
    first, second = (str(each["text"]) for each in house.desk.table("mails"))
    assert "It holds from" not in first
    assert "Invoices go there from 15 April 2026 on." in first
    assert "It holds from 1 September 2026 on." in second


def test_an_address_for_nothing_is_refused(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    refused = send(browser, "address", ADDRESS)
    assert refused.status_code == 400
    assert list(errors_of(refused)) == [f"subscription_{key}"]
    assert 'value="7 Elm"' in refused.text


def test_another_readers_subscription_does_not_move(house: House) -> None:
    browser = house.signed_in(BEN)
    form = {**ADDRESS, f"subscription_{house.subscriptions.ada}": "1"}
    assert send(browser, "address", form).status_code == 400
    assert "7 Elm" not in text_of(
        house.signed_in(ADA).get(f"subscriptions/{house.subscriptions.ada}")
    )


def test_a_reader_changes_the_own_name(house: House) -> None:
    browser = house.signed_in(BEN)
    assert 'value="Ames"' in browser.get("address/name").text
    form = {"first_name": "Ben", "last_name": "<Ash>"}
    said = said_after(browser, browser.post("address/name", form))
    assert "The new name is noted." in said
    assert "Ben <Ash>" in text_of(browser.get())
    refused = browser.post("address/name", {"first_name": "", "last_name": ""})
    assert (refused.status_code, list(errors_of(refused))) == (400, ["last_name"])
    assert "Ash" not in house.signed_in(ADA).get().text


def test_where_addresses_are_switched_off_the_page_is_not_there(house: House) -> None:
    house.set(address="no")
    browser = house.signed_in(BEN)
    assert browser.get("address").status_code == 404
    assert "/address" in browser.get().text
    house.set(temporary_address="no")
    assert "/address" not in browser.get().text
