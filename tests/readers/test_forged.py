"""Forged requests: what another site, or a page of another session, makes a browser send."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.web.forgery import form_token
from tests.console.test_forged import FORGED, filled
from tests.readers.conftest import POSTAL_CODE, code_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.readers.browser import Pages


@pytest.mark.parametrize("headers", FORGED, ids=str)
def test_another_site_signs_nobody_in_or_out(pages: Pages, headers: Mapping[str, str]) -> None:
    """rules, "Forged requests"; decisions, "One room for both kinds of pages"."""
    sent = filled(headers, pages.url)
    form = {"login": code_of(1), "password": POSTAL_CODE}
    assert pages.browser().post("sign-in", form, headers=sent, token="").status_code == 403
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    assert browser.post("sign-out", headers=sent).status_code == 403
    assert browser.is_in


def test_an_older_browser_says_where_the_form_comes_from_by_its_origin(pages: Pages) -> None:
    """RFC 6454: without Sec-Fetch-Site, the Origin has to be that of the pages."""
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    assert browser.post("sign-out", headers={"Origin": pages.url}).status_code == 303


def test_a_form_needs_the_token_of_its_own_session(pages: Pages) -> None:
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    other = pages.signed_in(code_of(10), POSTAL_CODE)
    for token in ("x", form_token(""), other.token()):
        assert browser.post("sign-out", token=token).status_code == 403
        assert browser.is_in


@pytest.mark.parametrize(
    "wanted",
    [
        *("https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example"),
        *("/tide/\\..", "javascript:alert(1)", "/ebb/", "/", "tide/", "/tide/ x", "/tide"),
    ],
)
def test_a_sign_in_leads_to_no_other_place(pages: Pages, wanted: str) -> None:
    browser = pages.browser()
    answer = browser.sign_in(code_of(1), POSTAL_CODE, next=wanted)
    assert answer.headers["Location"] == "/tide/"
    assert browser.get("sign-in", next=wanted).headers["Location"] == "/tide/"


def test_a_sign_in_leads_to_the_page_that_was_requested(pages: Pages) -> None:
    browser = pages.browser()
    asked = browser.client.get("/tide/?x=1&y=%2F")
    assert asked.status_code == 303
    assert asked.headers["Location"] == "/tide/sign-in?next=%2Ftide%2F%3Fx%3D1%26y%3D%252F"
    answer = browser.sign_in(code_of(1), POSTAL_CODE, next="/tide/?x=1&y=%2F")
    assert answer.headers["Location"] == "/tide/?x=1&y=%2F"
