"""Finding readers, choosing them in forms, and merging two, over HTTP."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import Books, finding
from tests.console.browser import input_values

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

MERGE = "/subscribers/25/merge"


@pytest.fixture(scope="module")
def browser(console: Console) -> Browser:
    return console.signed_in("clerk")


def words(page: str) -> str:
    """Return the text of a page without its tags."""
    return " ".join(re.sub("<[^>]*>", " ", page.partition("<main")[2] or page).split())


def test_suggestions_say_what_tells_two_readers_apart(browser: Browser) -> None:
    """decisions, "Finding a caller": a name, a place, and what they get."""
    found = browser.get("/find/suggestions", q="reader 1").text
    assert 'data-href="/subscribers/1"' in found
    assert "Ada Reader 1 1 Quay Tide (print), ran out" in words(found)
    chosen = browser.get("/find/people", field="payer", payer="reader 1").text
    assert 'data-id="1" data-name="Ada Reader 1"' in chosen
    assert "No reader fits" in browser.get("/find/suggestions", q="nobody").text


def test_the_only_reader_or_order_is_opened(browser: Browser, desk: Desk) -> None:
    """Of several, all are shown, and why a number finds a reader."""
    for text, path in (
        ("20@example.org", "/subscribers/20"),
        ("20 2027-01-01", "/subscribers/20"),
        ("#1", "/orders/1"),
    ):
        answer = browser.get("/find", q=text)
        assert (answer.status_code, answer.headers.get("Location")) == (303, path), text
    for text in ("order 9999", "#9999"):
        assert "There is no order “9999”." in words(browser.get("/find", q=text).text)
        assert "There is no such order." in browser.get("/find/suggestions", q=text).text
    picked = browser.get("/find/people", field="payer", payer="order 1").text
    assert "No reader fits." in words(picked)
    both = words(browser.get("/find", q="1").text)
    assert "Order 1 of Ada Reader 1, 1 January 2026" in both
    assert "Ada Reader 1 has 1 on the label" in both
    desk.put("subscribers", subscriber_id=31, first_name="Bob", last_name="Solitary")
    similar = browser.get("/find", q="bob solitray")
    assert similar.status_code == 200
    assert "No name is spelt “bob solitray”" in words(similar.text)
    assert "Bob Solitary" in similar.text


def test_a_person_is_chosen_by_name_with_a_button_too(browser: Browser) -> None:
    """The button Find keeps the form, and shows who fits; a choice is void for another name."""
    merge = "/subscribers/24/merge"
    shown = browser.post(merge, {"other": "reader 26", "find": "other"})
    assert shown.status_code == 200
    assert '<input id="other-26" name="other_id"' in shown.text
    kept = input_values(shown.text)
    assert (kept["other"], kept["other_for"]) == ("reader 26", "reader 26")
    for other, sentence in (
        ({"other": "reader 26"}, "Choose who it is"),
        ({"other": "reader 26", "other_for": "reader", "other_id": "26"}, "Choose who it is"),
        ({}, "Type a name, and choose who it is"),
    ):
        refused = browser.post(merge, other)
        assert refused.status_code == 400
        assert sentence in refused.text


def test_merging_shows_both_and_what_will_happen_before_it_happens(
    browser: Browser, desk: Desk
) -> None:
    """circulation, "Merging": either of the two can be kept; nothing else than was shown."""
    desk.put("addresses", address_id=260, subscriber_id=26, address="2 Quay", city="Salem")
    assert 'value="26" checked' in browser.get(f"{MERGE}?other=26").text
    other = {"other": "x", "other_for": "x", "other_id": "26"}
    shown = browser.post(MERGE, other)
    said = words(shown.text)
    assert "Ada Reader 25 is kept" in said
    assert "1 address goes too" in said
    assert "Ada Reader 26, 2 Quay, Salem, is deleted and no longer logs in" in said
    will = input_values(shown.text)["will"]
    turned = browser.post(MERGE, {**other, "kept": "other", "will": will, "sure": "1"})
    assert turned.status_code == 400
    assert "This is not what was shown before" in turned.text
    assert "Ada Reader 26 is kept" in words(turned.text)
    will = input_values(turned.text)["will"]
    done = browser.post(MERGE, {**other, "kept": "other", "will": will, "sure": "1"})
    assert (done.status_code, done.headers["Location"]) == (303, "/subscribers/26")
    ((merged_into,),) = desk.connection.rows(
        "SELECT merged_into FROM subscribers WHERE account_id = 1 AND subscriber_id = 25"
    )
    assert merged_into == 26


def test_likely_duplicates_are_shown_with_what_they_have(desk: Desk, browser: Browser) -> None:
    """decisions, "Who looks like a reader"."""
    desk.put("subscribers", subscriber_id=30, last_name="Twin", email="1@example.org")
    (side,) = finding.likely_duplicates(Books(desk.store, 1), 30)
    assert (side.person.subscriber_id, side.why, side.addresses) == (1, "same email", ["1 Quay"])
    assert [each.publication for each in side.subscriptions] == ["Tide"]
    assert "Compare with this reader" in words(browser.get("/subscribers/30/merge").text)
    page = browser.get("/subscribers/30").text
    assert "May be the same person: Ada Reader 1 , 1 Quay (same email;" in words(page)
    assert 'href="/subscribers/30/merge?other=1"' in page
