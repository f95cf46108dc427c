"""Signing in with a pair, and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.readers.conftest import PASSWORD, POSTAL_CODE, code_of, email_of

if TYPE_CHECKING:
    from tests.readers.browser import Pages


@pytest.mark.parametrize(
    ("login", "password"),
    [(email_of(1), PASSWORD), (email_of(1).upper(), PASSWORD), (code_of(1), POSTAL_CODE)],
)
def test_either_pair_signs_in(pages: Pages, login: str, password: str) -> None:
    browser = pages.browser()
    answer = browser.sign_in(login, password)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/tide/")
    assert browser.is_in
    assert "Ada Reader 1" in browser.get().text


def test_signing_out_ends_the_session(pages: Pages) -> None:
    browser = pages.signed_in(code_of(10), POSTAL_CODE)
    session = dict(browser.client.cookies)
    assert browser.post("sign-out").headers["Location"] == "/tide/sign-in"
    assert not browser.is_in
    browser.client.cookies.update(session)
    assert not browser.is_in
