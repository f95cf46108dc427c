"""The language of a page: chosen by the reader, or wanted by the browser."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import page_settings
from masthead.books.account import Books

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.readers.browser import Browser, Pages

GERMAN = "Passwort oder Postleitzahl"
ENGLISH = "Password or postal code"


def language_of(browser: Browser, wanted: str) -> str:
    """Return the language of the sign-in for a browser that wants some languages."""
    page = browser.client.get(browser.at("sign-in"), headers={"Accept-Language": wanted}).text
    language = page.partition('<html lang="')[2][:2]
    assert {"en": ENGLISH, "de": GERMAN}[language] in page
    return language


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("de", "de"),
        ("de-AT,en;q=0.5", "de"),
        ("fr, de;q=0.4, en;q=0.6", "en"),
        ("fr", "en"),
        ("", "en"),
        ("*", "en"),
        ("de;q=0", "en"),
        ("de;q=x,,;;", "en"),
        ("x" * 5_000, "en"),
        ("../de, <de>", "en"),
    ],
)
def test_a_page_has_the_first_language_that_the_browser_wants(
    pages: Pages, wanted: str, shown: str
) -> None:
    """RFC 9110 section 12.5.4; without one that the publisher offers, the publisher's first."""
    assert language_of(pages.browser(), wanted) == shown


def test_a_language_that_a_reader_chooses_stays(pages: Pages) -> None:
    browser = pages.browser()
    answer = browser.client.get("/tide/sign-in?next=%2Ftide%2F&language=de")
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/tide/sign-in?next=%2Ftide%2F"
    assert language_of(browser, "en") == "de"
    browser.get("sign-in", language="xx")
    assert language_of(browser, "en") == "de"
    browser.get("sign-in", language="en")
    assert language_of(browser, "de") == "en"


def test_the_link_to_another_language_leads_to_the_same_page(pages: Pages) -> None:
    browser = pages.browser()
    shown = browser.client.get("/tide/sign-in?next=%2Ftide%2Fbuy%3Foffer%3D1").text
    (link,) = re.findall(r'href="([^"]+)" lang="de"', shown)
    answer = browser.client.get(html.unescape(link))
    assert answer.headers["Location"] == "/tide/sign-in?next=%2Ftide%2Fbuy%3Foffer%3D1"
    assert language_of(browser, "en") == "de"


def test_a_language_is_chosen_at_no_other_place(pages: Pages) -> None:
    answer = pages.browser().client.get(f"{pages.url}//evil.example/tide/sign-in?language=de")
    assert answer.status_code == 404
    assert "Location" not in answer.headers


def test_the_publisher_decides_which_languages_there_are(pages: Pages, desk: Desk) -> None:
    """A language without a catalogue is not one of them."""
    books = Books(desk.store, 2, desk.actor)
    browser = pages.browser("ebb")
    page_settings.set_values(books, {"languages": "de,xx"})
    assert language_of(browser, "en") == "de"
    assert "Deutsch" not in browser.get("sign-in").text
    page_settings.set_values(books, {"languages": "xx"})
    assert language_of(browser, "de") == "en"
    page_settings.set_values(books, {"languages": ""})
    assert "Deutsch" in browser.get("sign-in").text
