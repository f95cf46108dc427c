"""A reader changes the own email address, by links to the present one and to the new one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from masthead.books import billing_settings, reader_changes, subscribers
from tests.billing.outboxes import MAIL_FROM
from tests.readers.conftest import PASSWORD, POSTAL_CODE, code_of, email_of
from tests.readers.links import ask, link_for
from tests.readers.test_passwords import with_link

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.readers.browser import Browser, Pages

_LINK = re.compile(r"http://127\.0\.0\.1:[0-9]+/tide/(email/[A-Za-z0-9_-]+)")


def mails_at(desk: Desk, address: str) -> list[str]:
    """Return the texts of the mails that were queued to an address."""
    return [str(mail["text"]) for mail in desk.table("mails") if mail["address"] == address]


def stored(desk: Desk, reader: int) -> object:
    """Return the email of a reader."""
    (row,) = [each for each in desk.table("subscribers") if each["subscriber_id"] == reader]
    return row["email"]


def asked(pages: Pages, desk: Desk, browser: Browser, email: str) -> str:
    """Ask for a link to a new address; return its path."""
    assert browser.post("email", {"email": email}).headers["Location"] == "/tide/"
    pages.app.state.link_mails.wait()
    (link,) = _LINK.findall(mails_at(desk, email)[-1])
    return str(link)


def test_a_new_address_holds_once_its_link_is_used(pages: Pages, desk: Desk) -> None:
    """decisions, "A reader's new email address"."""
    elsewhere = pages.signed_in(email_of(30), PASSWORD)
    browser, new = with_link(pages, desk, 30), "thirty@new.example"
    link = asked(pages, desk, browser, new)
    assert stored(desk, 30) == email_of(30)
    assert browser.get(link).status_code == 200
    assert stored(desk, 30) == email_of(30)
    used = browser.post(link)
    assert (used.status_code, used.headers["Location"]) == (303, "/tide/")
    assert stored(desk, 30) == new
    assert "Your new email address is saved" in browser.get().text
    assert not elsewhere.is_in
    for address in (new, email_of(30)):
        assert "From now on we write to:\nthirty@new.example" in mails_at(desk, address)[-1]
    (change,) = reader_changes.of_reader(desk.books, 30)
    assert (change.said, change.why_not) == ("changed the email address", "")
    assert browser.post(link).status_code == 400
    reader_changes.undo(desk.books, change.made.reader_change_id)
    assert stored(desk, 30) == email_of(30)
    again = with_link(pages, desk, 30)
    assert again.post(link).status_code == 400
    assert stored(desk, 30) == email_of(30)


def test_a_link_that_was_used_works_no_more_after_a_clerk_undid_it(
    pages: Pages, desk: Desk
) -> None:
    browser, new = with_link(pages, desk, 37), "thirtyseven@new.example"
    link = asked(pages, desk, browser, new)
    assert browser.post(link).status_code == 303
    (change,) = reader_changes.of_reader(desk.books, 37)
    reader_changes.undo(desk.books, change.made.reader_change_id)
    assert browser.sign_in(code_of(37), POSTAL_CODE).status_code == 303
    for token in (link, f"{link}.", link.replace("/", "/~")):
        assert browser.post(token).status_code == 400
    assert stored(desk, 37) == email_of(37)


def test_who_knows_the_label_changes_no_address(pages: Pages, desk: Desk) -> None:
    """A renewal code and a postal code stand on each label: they let nobody take a login over."""
    browser = pages.signed_in(code_of(31), POSTAL_CODE)
    assert 'name="email"' not in browser.get("email").text
    sent = browser.post("email", {"email": "mine@new.example"})
    assert sent.headers["Location"] == "/tide/email"
    assert mails_at(desk, "mine@new.example") == []
    assert stored(desk, 31) == email_of(31)


def test_a_link_to_a_new_address_is_of_its_reader_browser_and_half_hour(
    pages: Pages, desk: Desk
) -> None:
    browser = with_link(pages, desk, 32)
    link = asked(pages, desk, browser, "thirtytwo@new.example")
    other = with_link(pages, desk, 33)
    assert other.post(link).status_code == 400
    same = pages.signed_in(code_of(32), POSTAL_CODE)
    assert same.post(link).status_code == 400
    late = asked(pages, desk, other, "thirtythree@new.example")
    desk.now += 29 * 60 * 1_000_000
    other.get()
    desk.now += 60 * 1_000_000
    assert other.post(late).status_code == 400
    assert (stored(desk, 32), stored(desk, 33)) == (email_of(32), email_of(33))


def test_what_is_no_address_or_the_present_one_is_refused(pages: Pages, desk: Desk) -> None:
    browser = with_link(pages, desk, 34)
    for email in ("", "a b@c.d", "x@y.example\nBcc: z@y.example", email_of(34)):
        refused = browser.post("email", {"email": email})
        assert refused.status_code == 400
        is_own = email == email_of(34)
        assert ("This is your email address already." in refused.text) == is_own
        assert ("This is not an email address" in refused.text) != is_own
    assert stored(desk, 34) == email_of(34)


def test_an_address_of_somebody_else_gets_a_link_like_any_other(pages: Pages, desk: Desk) -> None:
    """Nothing is told of other readers; several subscribers can have one address."""
    browser = with_link(pages, desk, 35)
    answer = browser.post("email", {"email": email_of(36)})
    fresh = browser.post("email", {"email": "nobody@new.example"})
    assert (answer.status_code, answer.headers["Location"]) == (
        fresh.status_code,
        fresh.headers["Location"],
    )
    pages.app.state.link_mails.wait()
    (mail,) = mails_at(desk, email_of(36))
    assert _LINK.findall(mail)
    assert mail.startswith("Good day,")
    assert "Reader 35" not in mail


def test_what_is_asked_of_an_address_is_not_told(pages: Pages, desk: Desk) -> None:
    """decisions, "Links by email": the limit of an address says nothing, that of a reader does."""
    browser, theirs = with_link(pages, desk, 38), "busy@new.example"
    for _ in range(3):
        ask(pages.browser(), theirs)
    sent = browser.post("email", {"email": theirs})
    assert (sent.status_code, sent.headers["Location"]) == (303, "/tide/")
    pages.app.state.link_mails.wait()
    assert mails_at(desk, theirs) == []
    for number in range(2):
        asked(pages, desk, browser, f"{number}@new.example")
    often = browser.post("email", {"email": "more@new.example"})
    assert "This was tried too often." in often.text
    pages.app.state.link_mails.wait()
    assert mails_at(desk, "more@new.example") == []


def test_a_link_ends_when_the_login_is_changed_at_the_desk(pages: Pages, desk: Desk) -> None:
    browser = with_link(pages, desk, 39)
    link = asked(pages, desk, browser, "thirtynine@new.example")
    subscribers.edit(desk.books, 39, {"email": "desk@new.example"})
    assert browser.sign_in(code_of(39), POSTAL_CODE).status_code == 303
    assert browser.post(link).status_code == 400
    assert stored(desk, 39) == "desk@new.example"


def test_a_reader_without_an_address_gives_one_with_the_login_of_the_label(
    pages: Pages, desk: Desk
) -> None:
    """decisions, "An email address for a reader without one"."""
    subscribers.edit(desk.books, 29, {"email": None})
    browser, new = pages.signed_in(code_of(29), POSTAL_CODE), "twentynine@new.example"
    assert "Give us your email address" in browser.get("address").text
    assert browser.get("password").status_code == 404
    assert browser.post("email/link").status_code == 404
    link = asked(pages, desk, browser, new)
    assert stored(desk, 29) is None
    assert pages.signed_in(code_of(29), POSTAL_CODE).post(link).status_code == 400
    assert browser.post(link).status_code == 303
    assert stored(desk, 29) == new
    assert mails_at(desk, new)[-1].count("From now on we write to:") == 1
    # From now on the label does not suffice any more.
    again = browser.post("email", {"email": "other@new.example"})
    assert again.headers["Location"] == "/tide/email"
    (change,) = reader_changes.of_reader(desk.books, 29)
    assert (change.said, change.why_not) == ("gave an email address", "")


def test_undoing_ends_the_links_that_were_mailed_to_the_address(pages: Pages, desk: Desk) -> None:
    """decisions, "An email address for a reader without one"."""
    subscribers.edit(desk.books, 28, {"email": None})
    browser, new = pages.signed_in(code_of(28), POSTAL_CODE), "twentyeight@new.example"
    assert browser.post(asked(pages, desk, browser, new)).status_code == 303
    assert browser.post(link_for(pages, desk, browser, new, 28), token="").status_code == 303
    assert browser.post("password", {"password": "a password of theirs"}).status_code == 303
    link = link_for(pages, desk, browser, new, 28)
    _, change = reader_changes.of_reader(desk.books, 28)
    reader_changes.undo(desk.books, change.made.reader_change_id, dry_run=True)
    assert browser.is_in
    reader_changes.undo(desk.books, change.made.reader_change_id)
    assert stored(desk, 28) is None
    assert not browser.is_in
    assert browser.post(link, token="").status_code == 403
    subscribers.edit(desk.books, 28, {"email": new})
    assert pages.browser().sign_in(new, "a password of theirs").status_code == 403


def test_without_mails_there_is_no_page_for_the_address(pages: Pages, desk: Desk) -> None:
    browser = pages.signed_in(email_of(27), PASSWORD)
    assert "Change your email address" in browser.get("address").text
    billing_settings.set_values(desk.books, {"mail_from": ""})
    try:
        assert "email address" not in browser.get("address").text
        assert browser.get("email").status_code == 404
        assert browser.post("email", {"email": "a@new.example"}).status_code == 404
    finally:
        billing_settings.set_values(desk.books, {"mail_from": MAIL_FROM})
