"""Attacks on the readers' pages by a reader who is signed in, and by strangers.

The pages are found by the application's own list, so a new page is attacked, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import page_settings
from masthead.readers.pages import PAGES
from tests.console.browser import input_values
from tests.long import LONG_ON_SQLITE
from tests.readers_books.household import ADA, BEN, show_bundle
from tests.readers_pages.house import POSTAL_CODE

if TYPE_CHECKING:
    import httpx2

    from masthead.readers.page_request import Page
    from tests.readers.browser import Browser
    from tests.readers_pages.house import House

UNKNOWN = 999_999
SCRIPT = "<script>alert(1)</script>"
WITH_ID = [each for each in PAGES if "{id:int}" in each.path]
SHOWN = [each for each in PAGES if each.method == "GET" and each.path not in {"logo", "look.css"}]
SENT = [each for each in PAGES if each.method == "POST" and not each.is_open]
# What forms of the pages are filled with, besides what a page gives.
TYPED = {
    "first": "2026-06-01",
    "last": "2026-06-20",
    "when": "now",
    "address": "9 Bay",
    "city": "Galway",
    "country": "IE",
    "zip_code": "H91",
    "sure": "1",
}
_CHANGING = re.compile(r'name="(?:once|form_token)" value="[^"]*"|\d+')


def title(page: Page) -> str:
    return f"{page.method} {page.path}"


def path_of(page: Page, key: int) -> str:
    return page.path.replace("{id:int}", str(key))


def ask(browser: Browser, page: Page, key: int, form: dict[str, str]) -> httpx2.Response:
    path = path_of(page, key)
    return browser.get(path) if page.method == "GET" else browser.post(path, form)


def same(answer: httpx2.Response) -> str:
    """Return a page without what differs at each request."""
    return _CHANGING.sub("", answer.text)


def of_others(house: House) -> dict[str, list[dict[str, Any]]]:
    """Return the records that a change by Ada must leave alone."""
    found = {}
    own = house.subscriptions.ada
    for table, records in house.desk.everything().items():
        found[table] = [
            row
            for row in records
            if row.get("subscriber_id", BEN) != ADA and row.get("subscription_id", 0) != own
        ]
    return found


def test_the_id_of_another_readers_record_is_one_that_does_not_exist(house: House) -> None:
    """decisions, "The role of the readers' pages": not even that it exists is told."""
    show_bundle(house.desk)
    browser, subscriptions = house.signed_in(ADA), house.subscriptions
    others = [subscriptions.ben, subscriptions.dan, subscriptions.eve]
    assert subscriptions.ada not in others
    before = house.desk.everything()
    for page in WITH_ID:
        form = {"form_token": browser.token(), "once": title(page), **TYPED}
        unknown = ask(browser, page, UNKNOWN, form)
        for key in others:
            answer = ask(browser, page, key, form)
            assert (answer.status_code, unknown.status_code) == (404, 404), title(page)
            assert same(answer) == same(unknown), title(page)
    assert house.desk.everything() == before


@pytest.mark.parametrize("page", SENT, ids=title)
def test_a_form_with_the_ids_of_others_changes_nothing_of_others(house: House, page: Page) -> None:
    show_bundle(house.desk)
    browser, subscriptions = house.signed_in(ADA), house.subscriptions
    path = path_of(page, subscriptions.ada)
    shown = input_values(browser.get(path).text)
    before = of_others(house)
    for foreign in (subscriptions.ben, subscriptions.dan, UNKNOWN):
        form = {**TYPED, **shown, "form_token": browser.token()}
        form |= {name: str(foreign) for name, text in shown.items() if text.isdigit()}
        form |= {re.sub(r"\d+", str(foreign), name): "1" for name in shown}
        form |= {
            name: str(foreign)
            for name in ("subscription", "subscriber_id", "subscription_id", "address_id", "issue")
        }
        answer = browser.client.post(
            browser.at(path), data=form, headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert answer.status_code < 500
    after = of_others(house)
    for table, rows in before.items():
        assert [row for row in rows if row not in after[table]] == [], table
    if page.path != "sign-out":
        assert browser.is_in


@LONG_ON_SQLITE
def test_a_script_in_a_record_is_shown_as_text(house: House) -> None:
    show_bundle(house.desk)
    browser = house.signed_in(ADA)
    for table, columns in {
        "subscribers": ("first_name", "last_name"),
        "addresses": ("first_name", "last_name", "company", "address", "city"),
        "publications": ("name",),
        "bundles": ("name",),
        "issues": ("name",),
    }.items():
        values = ", ".join(f"{each} = :script" for each in columns)
        house.desk.connection.change(f"UPDATE {table} SET {values}", script=SCRIPT)
    house.set(name=SCRIPT)
    for page in [each for each in SHOWN if not each.is_open]:
        answer = browser.get(path_of(page, house.subscriptions.ada))
        if answer.headers["content-type"] == "application/json":
            # A file of data: no browser shows it, since it is to be saved.
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["x-content-type-options"] == "nosniff"
            continue
        assert "<script" not in answer.text.lower(), title(page)
        if page.path in {"", "subscriptions/{id:int}"}:
            assert "&lt;script&gt;" in answer.text, title(page)


@LONG_ON_SQLITE
@pytest.mark.parametrize("page", SENT, ids=title)
def test_a_script_or_a_header_in_a_field_is_kept_as_text_or_refused(
    house: House, page: Page
) -> None:
    """What is typed comes back in the form, in the messages, in records and in mails."""
    show_bundle(house.desk)
    browser = house.signed_in(ADA)
    path = path_of(page, house.subscriptions.ada)
    shown = input_values(browser.get(path).text)
    for typed in (SCRIPT, f'"><i onfocus="{SCRIPT}', "a\r\nBcc: eve@example.org\r\n\r\nx"):
        form = dict.fromkeys({*shown, *TYPED, "text"} - {"form_token", "once"}, typed)
        form |= {"form_token": browser.token(), "once": typed}
        answer = browser.client.post(
            browser.at(path), data=form, headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert answer.status_code < 500
        assert "<script" not in answer.text.lower()
        assert "<i onfocus" not in answer.text
        assert not {"bcc", "set-cookie2"} & {name.lower() for name in answer.headers}
        if page.path == "sign-out":
            return
        assert "<script" not in browser.get().text.lower()
    for table in ("subscribers", "addresses", "mails"):
        for row in house.desk.table(table):
            lines = {name: text for name, text in row.items() if name != "text"}
            assert not [text for text in lines.values() if "\n" in str(text)], lines


def test_a_stranger_sees_no_page_and_changes_nothing(house: House) -> None:
    page_settings.set_values(house.desk.books, {"paywall_url": "https://site.example/read"})
    try:
        before = house.desk.everything()
        for page in [each for each in PAGES if not each.is_open]:
            stranger, form = house.pages.browser(), {"once": title(page), **TYPED}
            answer = ask(stranger, page, house.subscriptions.ada, form)
            assert answer.status_code in {303, 401, 403}, title(page)
            assert "Ames" not in answer.text, title(page)
        assert house.desk.everything() == before
    finally:
        page_settings.set_values(house.desk.books, {"paywall_url": ""})


def test_guesses_at_one_code_lock_no_other_reader_out(house: House) -> None:
    """decisions, "Limits of the login check": a code has five characters, and 10 guesses."""
    stranger = house.pages.browser()
    statuses = [stranger.sign_in(f"CODE{BEN}", f"1000{guess}").status_code for guess in range(12)]
    assert set(statuses[:10]) == {403}
    assert statuses[-1] == 429
    assert house.pages.browser().sign_in(f"CODE{ADA}", POSTAL_CODE).status_code == 303


@LONG_ON_SQLITE
def test_a_form_that_is_too_large_is_refused_and_the_pages_go_on(house: House) -> None:
    stranger = house.pages.browser()
    for form in ({"login": "x" * 3_000_000}, {f"f{n}": "x" for n in range(20_000)}):
        answer = stranger.post("sign-in", form, token="")
        assert answer.status_code in {400, 413}
    assert house.signed_in(ADA).is_in
