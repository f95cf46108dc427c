"""Signing in with a pair, and out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import subscribers
from masthead.store import accounts
from tests.console.browser import input_values
from tests.readers.conftest import PASSWORD, POSTAL_CODE, code_of, email_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
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


SEEN = [
    ((email_of(1), "a wrong password"), ("nobody@example.org", "a wrong password")),
    ((code_of(1), "99999"), ("NONE1", "99999")),
    ((email_of(1), "a wrong password"), (email_of(12), PASSWORD)),
]
"""A login of a reader and one of nobody, with what does not belong to it; 12 is merged."""


@pytest.mark.parametrize(("of_reader", "of_nobody"), SEEN, ids=["email", "code", "merged"])
def test_a_wrong_pair_tells_nobody_who_is_a_reader(
    pages: Pages,
    desk: Desk,
    statements: list[str],
    of_reader: tuple[str, str],
    of_nobody: tuple[str, str],
) -> None:
    """decisions, "Limits of the login check": by words, status, headers and statements."""
    if of_nobody[0] == email_of(12):
        subscribers.merge(desk.books, 1, 12)
    pages.signed_in(code_of(1), POSTAL_CODE)  # opens the connections
    seen = []
    for login, password in (of_reader, of_nobody):
        statements.clear()
        answer = pages.browser().sign_in(login, password)
        asked = list(statements)
        typed = answer.text.replace(login, "LOGIN")
        seen.append((answer.status_code, sorted(answer.headers.keys()), without_once(typed), asked))
    assert seen[0] == seen[1]
    assert seen[0][0] == 403
    assert "do not belong together" in seen[0][2]


def without_once(page: str) -> str:
    """Return a page without the values that are other ones each time."""
    return re.sub(r'name="(?:once|form_token)" value="[^"]*"', "", page)


@pytest.mark.parametrize("login", [email_of(13), "nobody2@example.org", code_of(13), "NONE2"])
def test_after_ten_wrong_guesses_a_login_waits_whether_it_is_a_readers_or_not(
    pages: Pages, login: str
) -> None:
    """rules, "Login check": the same limit as operation 3, and the password is no more compared."""
    browser = pages.browser()
    for number in range(10):
        assert browser.sign_in(login, f"wrong {number}").status_code == 403
    for password in ("wrong 11", PASSWORD, POSTAL_CODE):
        limited = browser.sign_in(login, password)
        assert limited.status_code == 429
        assert "Try again in 15 minutes" in limited.text
        assert 0 < int(limited.headers["Retry-After"]) <= 15 * 60
    assert pages.browser().sign_in(code_of(1), POSTAL_CODE).status_code == 303


@pytest.mark.parametrize("form", [{}, {"login": email_of(1)}, {"password": PASSWORD}])
def test_half_a_pair_signs_nobody_in(pages: Pages, form: dict[str, str]) -> None:
    assert pages.browser().post("sign-in", form, token="").status_code == 403


def test_an_account_without_codes_lets_nobody_in_by_one(pages: Pages, desk: Desk) -> None:
    assert "renewal code" in pages.browser().get("sign-in").text
    accounts.set_account(desk.store, 1, {"renewal_code_login": 0})
    try:
        assert pages.browser().sign_in(code_of(1), POSTAL_CODE).status_code == 403
        for path in ("sign-in", "sign-in/sent"):
            assert "renewal code" not in pages.browser().get(path).text
        assert pages.browser().sign_in(email_of(1), PASSWORD).status_code == 303
    finally:
        accounts.set_account(desk.store, 1, {"renewal_code_login": 1})


def test_what_was_typed_when_a_session_had_ended_is_kept_without_passwords(
    pages: Pages, desk: Desk
) -> None:
    """decisions, "A form whose session had ended"."""
    browser = pages.signed_in(code_of(14), POSTAL_CODE)
    token = browser.token()
    desk.now += 31 * 60 * 1_000_000
    sent = browser.post("password", {"password": "correct battery", "note": "typed"}, token=token)
    assert sent.status_code == 401
    assert "correct battery" not in sent.text
    kept = input_values(sent.text)
    assert kept["next"] == "/tide/password"
    assert "typed" in kept["kept"]


def test_a_page_of_a_reader_who_is_signed_in_is_not_the_sign_in(pages: Pages) -> None:
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    assert browser.get("sign-in").headers["Location"] == "/tide/"
