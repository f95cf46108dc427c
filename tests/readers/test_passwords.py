"""Setting a password by a link, and what is kept of it."""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import reader_changes, subscribers
from masthead.store import accounts
from tests.readers.conftest import PASSWORD, POSTAL_CODE, code_of, email_of
from tests.readers.links import link_for, links_in, mails_to

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.readers.browser import Browser, Pages

NEW = "a password of mine"


def with_link(pages: Pages, desk: Desk, reader: int) -> Browser:
    """Return a browser in which a reader used a link."""
    desk.now += 15 * 60 * 1_000_000
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(reader), reader)
    assert browser.post(link, token="").status_code == 303
    return browser


def digests(desk: Desk, reader: int) -> tuple[Any, Any]:
    """Return both digests of a reader's password."""
    (row,) = [each for each in desk.table("subscribers") if each["subscriber_id"] == reader]
    return row["password_hash"], row["password_md5"]


def test_a_reader_sets_a_password_with_a_link(pages: Pages, desk: Desk) -> None:
    """decisions, "Passwords of readers"."""
    elsewhere = pages.signed_in(email_of(20), PASSWORD)
    browser = with_link(pages, desk, 20)
    before = browser.client.cookies["masthead_reader_tide"]
    saved = browser.post("password", {"password": f" {NEW} "})
    assert (saved.status_code, saved.headers["Location"]) == (303, "/tide/")
    assert "Your password is set" in browser.get().text
    assert browser.client.cookies["masthead_reader_tide"] != before
    assert not elsewhere.is_in
    (change,) = reader_changes.of_reader(desk.books, 20)
    assert change.said == "set a password"
    assert change.why_not
    digest, old = digests(desk, 20)
    assert digest.startswith("$argon2id$")
    assert old is None
    assert pages.browser().sign_in(email_of(20), PASSWORD).status_code == 403
    assert pages.browser().sign_in(email_of(20), f" {NEW} ").status_code == 303


def test_the_interface_keeps_an_md5_digest_if_the_account_does(pages: Pages, desk: Desk) -> None:
    """Readers' pages, "Rules": --keep-password-md5, as existing partners need it."""
    accounts.set_account(desk.store, 1, {"keep_password_md5": 1})
    try:
        browser = with_link(pages, desk, 21)
        assert browser.post("password", {"password": NEW}).status_code == 303
    finally:
        accounts.set_account(desk.store, 1, {"keep_password_md5": 0})
    assert digests(desk, 21)[1] == md5(NEW.encode(), usedforsecurity=False).hexdigest()
    assert pages.browser().sign_in(email_of(21), NEW).status_code == 303


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("short", "A password has 10 to 1000 characters."),
        ("x" * 1_001, "A password has 10 to 1000 characters."),
        ("abababababab", "A password has at least 4 different characters"),
        (email_of(22), "The password is your email address"),
        ("", "A password has 10 to 1000 characters."),
    ],
)
def test_a_password_that_is_easy_to_guess_is_refused(
    pages: Pages, desk: Desk, password: str, said: str
) -> None:
    browser = with_link(pages, desk, 22)
    before = digests(desk, 22)
    answer = browser.post("password", {"password": password})
    assert answer.status_code == 400
    assert said in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert len(password) < 6 or password not in answer.text
    assert digests(desk, 22) == before


def test_who_knows_the_label_sets_no_password(pages: Pages, desk: Desk) -> None:
    """A renewal code and a postal code stand on each label: they let nobody take a login over."""
    browser = pages.signed_in(code_of(23), POSTAL_CODE)
    before = digests(desk, 23)
    page = browser.get("password")
    assert 'name="password"' not in page.text
    assert browser.post("password", {"password": NEW}).headers["Location"] == "/tide/password"
    assert digests(desk, 23) == before


def test_a_reader_who_is_signed_in_gets_the_link_to_the_own_address(
    pages: Pages, desk: Desk
) -> None:
    desk.now += 15 * 60 * 1_000_000
    browser = pages.signed_in(code_of(24), POSTAL_CODE)
    assert browser.post("password/link", {"email": email_of(1)}).status_code == 303
    pages.app.state.link_mails.wait()
    assert not mails_to(desk, 1)
    (link,) = links_in(mails_to(desk, 24)[-1])
    used = browser.post(link, token="")
    assert used.headers["Location"] == "/tide/password"
    assert 'name="password"' in browser.get("password").text


def test_a_link_lets_a_password_be_set_for_half_an_hour(pages: Pages, desk: Desk) -> None:
    browser = with_link(pages, desk, 25)
    desk.now += 29 * 60 * 1_000_000
    assert 'name="password"' in browser.get("password").text
    desk.now += 60 * 1_000_000
    assert 'name="password"' not in browser.get("password").text
    before = digests(desk, 25)
    browser.post("password", {"password": NEW})
    assert digests(desk, 25) == before


def test_a_link_of_another_reader_lets_nobody_set_a_password(pages: Pages, desk: Desk) -> None:
    browser = with_link(pages, desk, 26)
    browser.post("sign-out")
    browser.sign_in(code_of(27), POSTAL_CODE)
    assert browser.post("password", {"password": NEW}).headers["Location"] == "/tide/password"
    assert pages.browser().sign_in(email_of(27), NEW).status_code == 403


def test_a_reader_without_an_email_has_no_password(pages: Pages, desk: Desk) -> None:
    subscribers.edit(desk.books, 28, {"email": ""})
    browser = pages.signed_in(code_of(28), POSTAL_CODE)
    assert browser.get("password").status_code == 404
    assert browser.post("password/link").status_code == 404
