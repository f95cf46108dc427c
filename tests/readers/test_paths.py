"""What the paths of the server lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import page_settings
from masthead.books.account import Books
from tests.readers.conftest import POSTAL_CODE, code_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.readers.browser import Pages


def test_the_root_leads_to_the_only_site(pages: Pages, desk: Desk) -> None:
    client = pages.browser().client
    assert client.get("/").status_code == 404
    books = Books(desk.store, 2, desk.actor)
    page_settings.set_values(books, {"site": ""})
    answer = client.get("/")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/tide/")
    assert client.get("/ebb/").status_code == 404
    page_settings.set_values(books, {"site": "ebb"})


@pytest.mark.parametrize(
    "path", ["/none/", "/tide", "/tide/none", "/TIDE/", "/tide//", "/static/", "/static/x.css"]
)
def test_other_paths_are_not_found(pages: Pages, path: str) -> None:
    assert pages.browser().client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("wanted", "language", "said"),
    [
        ("de-AT, en;q=0.5", "de", "Diese Seite gibt es nicht."),
        ("fr", "en", "There is no such page."),
    ],
)
def test_a_page_without_a_site_has_the_language_of_the_browser(
    pages: Pages, wanted: str, language: str, said: str
) -> None:
    for path in ("/none/", "/static/x.css", "/a/b/c/d"):
        answer = pages.browser().client.get(path, headers={"Accept-Language": wanted})
        assert answer.status_code == 404
        assert f'<html lang="{language}">' in answer.text
        assert said in answer.text


def test_the_look_is_the_publishers(pages: Pages) -> None:
    browser = pages.browser()
    assert "--brand: #1f4e79" in browser.get("look.css").text
    assert browser.get("icon.svg").headers["Content-Type"] == "image/svg+xml"
    assert browser.get("logo").status_code == 404


def test_an_account_whose_books_are_elsewhere_has_pages_too(pages: Pages) -> None:
    assert pages.browser("ebb").get("sign-in").status_code == 200


def test_no_page_is_kept_shown_elsewhere_or_runs_anything(pages: Pages) -> None:
    """Headers are those of the console (decisions, "One room for both kinds of pages")."""
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    for answer in (browser.get(), browser.get("none"), pages.browser().get("sign-in")):
        assert answer.headers["Cache-Control"] == "no-store"
        policy = answer.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert answer.headers["Referrer-Policy"] == "same-origin"
    assert pages.browser().client.get("/health").text == "ok\n"
