"""Links by email: once, for half an hour, in the browser that asked; and what they tell nobody."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from masthead.books import billing_settings, reader_logins, subscribers
from masthead.store.sign_in_links import LINK_US
from tests.readers.conftest import POSTAL_CODE, code_of, email_of
from tests.readers.links import ask, link_for, links_in, mails_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk
    from tests.readers.browser import Pages

QUARTER_US = 15 * 60 * 1_000_000
STRANGER = "nobody@example.org"
DOES_NOT_WORK = "This link does not work."


@pytest.fixture(autouse=True)
def _a_quarter_later(desk: Desk, pages: Pages) -> Iterator[None]:
    """Each test begins when the limits have forgotten those before."""
    desk.now += QUARTER_US
    yield
    pages.app.state.link_mails.wait()


def test_a_link_signs_its_reader_in(pages: Pages, desk: Desk) -> None:
    """decisions, "Links by email"."""
    browser = pages.browser()
    answer = ask(browser, email_of(20).upper())
    assert answer.headers["Location"] == "/tide/sign-in/sent"
    assert "a mail with a link is on its way" in browser.get("sign-in/sent").text
    pages.app.state.link_mails.wait()
    (link,) = links_in(mails_to(desk, 20)[-1])
    used = browser.post(link, token="")
    assert (used.status_code, used.headers["Location"]) == (303, "/tide/")
    assert "Reader 20<" in browser.get().text


def test_a_link_works_once(pages: Pages, desk: Desk) -> None:
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(21), 21)
    assert browser.post(link, token="").status_code == 303
    browser.post("sign-out")
    again = browser.post(link, token="")
    assert again.status_code == 403
    assert DOES_NOT_WORK in again.text
    assert not browser.is_in


def test_looking_at_a_link_uses_nothing(pages: Pages, desk: Desk) -> None:
    """Mail programs open links before their readers do."""
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(22), 22)
    for opened in (pages.browser(), pages.browser(), browser):
        for answer in (opened.get(link), opened.client.head(opened.at(link))):
            assert answer.status_code == 200
            assert "Set-Cookie" not in answer.headers
        assert not opened.is_in
    assert browser.post(link, token="").status_code == 303


def test_a_link_works_only_in_the_browser_that_asked(pages: Pages, desk: Desk) -> None:
    """A link that was forwarded, or that a stranger asked for, signs nobody in."""
    asking, other, with_own = pages.browser(), pages.browser(), pages.browser()
    ask(with_own, email_of(1))
    link = link_for(pages, desk, asking, email_of(23), 23)
    for browser in (other, with_own):
        assert DOES_NOT_WORK in browser.post(link, token="").text
        assert not browser.is_in
    assert asking.post(link, token="").status_code == 303


def test_a_link_works_for_half_an_hour(pages: Pages, desk: Desk) -> None:
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(24), 24)
    desk.now += LINK_US - 1
    late = link_for(pages, desk, browser, email_of(24), 24)
    desk.now += 1
    assert DOES_NOT_WORK in browser.post(link, token="").text
    assert browser.post(late, token="").status_code == 303


def test_a_link_ends_with_its_reader(pages: Pages, desk: Desk) -> None:
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(25), 25)
    subscribers.merge(desk.books, 1, 25)
    assert DOES_NOT_WORK in browser.post(link, token="").text


def test_a_link_is_one_of_its_account(pages: Pages, desk: Desk) -> None:
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(26), 26)
    elsewhere = browser.client.post(f"/ebb/{link}", headers={"Sec-Fetch-Site": "same-origin"})
    assert elsewhere.status_code == 403
    assert browser.post(link, token="").status_code == 303


def test_another_site_uses_no_link_and_asks_for_none(pages: Pages, desk: Desk) -> None:
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(27), 27)
    before = len(mails_to(desk, 27))
    forged = {"Sec-Fetch-Site": "cross-site"}
    assert browser.post(link, token="", headers=forged).status_code == 403
    sent = browser.post("sign-in/link", {"email": email_of(27)}, token="", headers=forged)
    assert sent.status_code == 403
    pages.app.state.link_mails.wait()
    assert len(mails_to(desk, 27)) == before
    assert not browser.is_in


def test_two_readers_with_one_email_get_a_link_each(pages: Pages, desk: Desk) -> None:
    """decisions, "Links by email": a mail each, since a mail is one of its reader's data."""
    for reader in (28, 29):
        subscribers.edit(desk.books, reader, {"email": "home@example.org"})
    browser = pages.browser()
    ask(browser, "home@example.org")
    pages.app.state.link_mails.wait()
    for reader in (28, 29):
        (mail,) = mails_to(desk, reader)
        assert f"Reader {reader}," in mail
        (link,) = links_in(mail)
        assert browser.post(link, token="").status_code == 303
        assert f"Reader {reader}<" in browser.get().text


def test_one_address_is_not_flooded(pages: Pages, desk: Desk) -> None:
    """decisions, "Links by email": three in a quarter of an hour, whoever asks, and silently."""
    for _ in range(6):
        assert ask(pages.browser(), email_of(30)).headers["Location"] == "/tide/sign-in/sent"
    pages.app.state.link_mails.wait()
    assert len(mails_to(desk, 30)) == 3
    desk.now += QUARTER_US
    link_for(pages, desk, pages.browser(), email_of(30), 30)
    assert len(mails_to(desk, 30)) == 4


def test_a_client_that_asks_again_and_again_is_refused_for_any_email(pages: Pages) -> None:
    browser = pages.browser()
    for number in range(20):
        email = email_of(1) if number % 2 else f"{number}{STRANGER}"
        assert ask(browser, email).status_code == 303
    for email in (email_of(1), STRANGER, email_of(31)):
        refused = ask(browser, email)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["Retry-After"]) <= QUARTER_US // 1_000_000


def test_the_answer_is_the_same_for_any_email(
    pages: Pages, desk: Desk, statements: list[str]
) -> None:
    """decisions, "Links by email": nobody learns who is a subscriber, also by the database."""
    ask(pages.browser(), "opens-the-connections@example.org")
    pages.app.state.link_mails.wait()
    seen = []
    for email in (email_of(32), STRANGER, email_of(25)):
        browser = pages.browser()
        browser.get("sign-in/link")
        statements.clear()
        answer = ask(browser, email)
        asked = list(statements)
        page = browser.get("sign-in/sent")
        seen.append(
            (
                answer.status_code,
                answer.headers["Location"],
                answer.text,
                sorted(answer.headers.keys()),
                len(answer.headers["Set-Cookie"]),
                asked,
                page.text,
            )
        )
        pages.app.state.link_mails.wait()
    assert len(mails_to(desk, 32)) == 1
    assert seen[0] == seen[1] == seen[2]
    assert any("login_failures" in sql for sql in seen[0][-2])
    assert not any("subscribers" in sql for sql in seen[0][-2])


@pytest.mark.parametrize(
    "email", ["", "x", "a@b", "a@example.org\nBcc: b@example.org", "a@example.org, b@example.org"]
)
def test_what_is_no_email_is_refused_beside_its_field(pages: Pages, email: str) -> None:
    answer = ask(pages.browser(), email)
    assert answer.status_code == 400
    assert "This is not an email address" in answer.text


def test_the_database_holds_no_token(pages: Pages, desk: Desk) -> None:
    browser = pages.browser()
    link = link_for(pages, desk, browser, email_of(33), 33)
    token = link.rpartition("/")[2]
    with desk.store.counters() as counters:
        counters.set_tenant(1)
        rows = counters.rows(
            "SELECT token_hash, browser_hash FROM sign_in_links WHERE account_id = 1"
        )
    assert hashlib.sha256(token.encode()).hexdigest() in {row[0] for row in rows}
    assert token not in str(rows)
    assert browser.client.cookies["masthead_link_tide"] not in str(rows)


def test_no_link_is_offered_where_none_can_be_mailed(pages: Pages, desk: Desk) -> None:
    assert "sign-in/link" in pages.browser().get("sign-in").text
    billing_settings.set_values(desk.books, {"mail_from": ""})
    try:
        assert "sign-in/link" not in pages.browser().get("sign-in").text
        assert pages.browser().get("sign-in/link").status_code == 404
        assert ask(pages.browser(), email_of(1)).status_code == 404
    finally:
        billing_settings.set_values(desk.books, {"mail_from": "press@example.org"})
    assert pages.browser("ebb").get("sign-in/link").status_code == 404


def test_a_link_of_a_stranger_does_not_end_what_a_browser_has(pages: Pages, desk: Desk) -> None:
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    link = link_for(pages, desk, pages.browser(), email_of(34), 34)
    assert browser.post(link, token="").status_code == 403
    assert "Reader 1<" in browser.get().text


def test_a_link_begins_with_the_address_of_the_pages_whatever_a_request_names(
    pages: Pages, desk: Desk
) -> None:
    """decisions, "The address in mails to readers"."""
    browser = pages.browser()
    answer = browser.client.post(
        "/tide/sign-in/link",
        data={"email": email_of(35)},
        headers={
            "Sec-Fetch-Site": "same-origin",
            "Host": "evil.example",
            "X-Forwarded-Host": "evil.example",
            "Forwarded": "host=evil.example",
        },
    )
    assert answer.status_code == 303
    pages.app.state.link_mails.wait()
    (mail,) = mails_to(desk, 35)
    assert "evil" not in mail
    assert links_in(mail)


def test_a_link_that_was_asked_for_before_a_password_was_set_is_dead(
    pages: Pages, desk: Desk
) -> None:
    asking, other = pages.browser(), pages.browser()
    dead = link_for(pages, desk, other, email_of(36), 36)
    asking.post(link_for(pages, desk, asking, email_of(36), 36), token="")
    saved = asking.post("password", {"password": "a password of mine"})
    assert saved.status_code == 303
    assert other.post(dead, token="").status_code == 403
    assert reader_logins.show(desk.books, 36).has_password
