"""A reader who is signed in goes to the publisher's site with a one-time code."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from masthead.books import page_settings
from masthead.books.account import Books
from masthead.store.entitlement_codes import use_code
from tests.readers.conftest import POSTAL_CODE, code_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from tests.circulation.desk import Desk
    from tests.readers.browser import Pages

URL = "https://site.example/enter?from=pages"


@contextmanager
def site(desk: Desk, url: str = URL) -> Iterator[None]:
    """The publisher has a site while the block runs."""
    books = Books(desk.store, 1, desk.actor)
    page_settings.set_values(books, {"paywall_url": url})
    yield
    page_settings.set_values(books, {"paywall_url": ""})


def given(answer: httpx2.Response) -> dict[str, list[str]]:
    """Return what the site gets, which the link on the page has too."""
    assert answer.status_code == 200
    seconds, _, target = answer.headers["Refresh"].partition("; url=")
    assert seconds == "0"
    assert f'href="{target.replace("&", "&amp;")}"' in answer.text
    parts = urlsplit(target)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://site.example/enter"
    return parse_qs(parts.query, strict_parsing=True)


def test_the_code_is_of_the_reader_and_works_once(pages: Pages, desk: Desk) -> None:
    """decisions, "One-time codes"."""
    with site(desk):
        found = given(pages.signed_in(code_of(1), POSTAL_CODE).get("read", state="a b&c=d"))
    assert found["from"] == ["pages"]
    assert found["state"] == ["a b&c=d"]
    (code,) = found["code"]
    assert use_code(desk.store, 1, code) == 1
    assert use_code(desk.store, 1, code) is None


def test_without_a_site_there_is_no_such_page(pages: Pages) -> None:
    assert pages.signed_in(code_of(1), POSTAL_CODE).get("read").status_code == 404


def test_a_stranger_signs_in_first_and_then_comes_back(pages: Pages, desk: Desk) -> None:
    with site(desk):
        answer = pages.browser().get("read", state="x")
    assert answer.status_code == 303
    wanted = parse_qs(urlsplit(answer.headers["Location"]).query)["next"]
    assert wanted == ["/tide/read?state=x"]


def test_a_long_state_is_left_out_and_no_address_but_the_settings_is_used(
    pages: Pages, desk: Desk
) -> None:
    with site(desk):
        browser = pages.signed_in(code_of(1), POSTAL_CODE)
        assert "state" not in given(browser.get("read", state="x" * 201))
        found = given(browser.get("read", paywall_url="https://evil.example", next="//evil"))
    assert found.keys() == {"from", "code"}
