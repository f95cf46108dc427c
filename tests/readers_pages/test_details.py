"""The reader's own address, which moves with the subscriptions that the reader chooses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

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


def test_where_addresses_are_switched_off_the_page_is_not_there(house: House) -> None:
    house.set(address="no")
    browser = house.signed_in(BEN)
    assert browser.get("address").status_code == 404
    assert "/address" in browser.get().text
    house.set(temporary_address="no")
    assert "/address" not in browser.get().text
