"""A reader's session ends after a time, at sign-out, and when the login changes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import bcrypt
import pytest

from masthead.books import erasure, reader_logins, subscribers
from masthead.store import reader_sessions
from masthead.store.passwords import BetterDigests
from tests.readers.conftest import OTHER_SITE, PASSWORD, POSTAL_CODE, code_of, email_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.circulation.desk import Desk
    from tests.readers.browser import Browser, Pages

MINUTE_US = 60 * 1_000_000
COOKIE = "masthead_reader_tide"


def with_cookie(pages: Pages, cookie: str, site: str = "tide") -> Browser:
    """Return a browser that sends a session's cookie."""
    browser = pages.browser(site)
    browser.client.cookies.set(f"masthead_reader_{site}", cookie)
    return browser


def test_a_session_ends_half_an_hour_after_its_last_request(pages: Pages, desk: Desk) -> None:
    """decisions, "Sessions of readers"."""
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    for _ in range(4):
        desk.now += 28 * MINUTE_US
        assert browser.is_in
    desk.now += 30 * MINUTE_US
    assert not browser.is_in


def test_a_session_that_is_used_all_the_time_ends_after_twelve_hours(
    pages: Pages, desk: Desk
) -> None:
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    # Twenty minutes each: the last of these is at 11:40.
    for _ in range(35):
        desk.now += 20 * MINUTE_US
        assert browser.is_in
    desk.now += 20 * MINUTE_US
    assert not browser.is_in


def test_who_has_signed_out_is_out_with_the_cookie_that_somebody_kept(pages: Pages) -> None:
    browser, other = (pages.signed_in(code_of(1), POSTAL_CODE) for _ in range(2))
    thief = with_cookie(pages, browser.client.cookies[COOKIE])
    assert thief.is_in
    assert browser.post("sign-out").headers["Location"] == "/tide/sign-in"
    assert not browser.is_in
    assert not thief.is_in
    assert other.is_in


def change_password(desk: Desk, reader: int) -> None:
    reader_logins.set_password(desk.books, reader)


def change_code(desk: Desk, reader: int) -> None:
    reader_logins.renew_code(desk.books, reader)


def change_email(desk: Desk, reader: int) -> None:
    subscribers.edit(desk.books, reader, {"email": "new@example.org"})


def erase(desk: Desk, reader: int) -> None:
    erasure.erase(desk.books, reader)


def merge(desk: Desk, reader: int) -> None:
    subscribers.merge(desk.books, 1, reader)


@pytest.mark.parametrize(
    ("reader", "change"),
    [(11, change_password), (12, change_code), (13, change_email), (14, erase), (15, merge)],
)
def test_what_changes_the_login_ends_the_sessions_of_the_reader_and_of_nobody_else(
    pages: Pages, desk: Desk, reader: int, change: Callable[[Desk, int], None]
) -> None:
    """decisions, "Sessions of readers": a merged, an erased reader is out at once."""
    sessions = [pages.signed_in(code_of(reader), POSTAL_CODE) for _ in range(2)]
    other = pages.signed_in(code_of(16), POSTAL_CODE)
    change(desk, reader)
    assert not any(session.is_in for session in sessions)
    assert other.is_in


def test_a_session_goes_on_when_a_login_check_elsewhere_betters_the_digest(
    pages: Pages, desk: Desk
) -> None:
    """A loaded digest is replaced at a login check; a password that is set ends the session.

    decisions, "Better digests and sessions".
    """
    digest = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    loaded = hashlib.sha256(digest.encode()).hexdigest()
    with desk.store.writer() as database:
        database.change(
            "UPDATE subscribers SET password_hash = :digest, password_hash_loaded = :loaded "
            "WHERE account_id = 1 AND subscriber_id = 20",
            digest=digest,
            loaded=loaded,
        )
    session = pages.signed_in(code_of(20), POSTAL_CODE)
    better = BetterDigests()
    better.note(1, 20, digest, PASSWORD)
    better.write(desk.store)
    ((stored,),) = desk.rows(
        "SELECT password_hash FROM subscribers "
        "WHERE account_id = :account_id AND subscriber_id = 20"
    )
    assert stored.startswith("$argon2id$")
    assert session.is_in
    change_password(desk, 20)
    assert not session.is_in


def test_a_session_ends_if_the_login_changes_between_the_check_and_its_begin(
    desk: Desk, pages: Pages
) -> None:
    """The mark is that of the check, whatever is set before the session is written."""
    with desk.store.reader() as connection:
        connection.set_tenant(1)
        mark = reader_sessions.mark_of(connection, 1, 17)
    assert mark is not None
    change_password(desk, 17)
    session = reader_sessions.begin(desk.store, 1, 17, mark)
    assert reader_sessions.find(desk.store, session) is None
    assert not with_cookie(pages, session).is_in


def test_the_database_holds_no_token_and_no_mark_that_can_be_guessed(
    pages: Pages, desk: Desk
) -> None:
    browser = pages.signed_in(email_of(1), PASSWORD)
    token = browser.client.cookies[COOKIE].partition(".")[2]
    assert len(token) >= 43  # 256 bits
    with desk.store.counters() as counters:
        counters.set_tenant(1)
        rows = counters.rows(
            "SELECT token_hash, login_mark FROM reader_sessions WHERE account_id = 1"
        )
    assert hashlib.sha256(token.encode()).hexdigest() in {row[0] for row in rows}
    assert token not in str(rows)
    assert email_of(1) not in str(rows)


def test_a_sign_in_gives_a_new_session_and_ends_the_one_before(pages: Pages) -> None:
    """Fixation: what somebody put into a browser before is not what its reader gets."""
    planted = pages.signed_in(code_of(18), POSTAL_CODE).client.cookies[COOKIE]
    victim = with_cookie(pages, planted)
    victim.client.cookies.clear()
    victim.client.cookies.set(COOKIE, planted, domain="127.0.0.1", path="/")
    assert victim.sign_in(code_of(1), POSTAL_CODE).status_code == 303
    assert victim.client.cookies[COOKIE] != planted
    assert not with_cookie(pages, planted).is_in
    assert "Reader 1<" in victim.get().text


def test_a_wrong_guess_leaves_the_session_of_the_browser(pages: Pages) -> None:
    browser = pages.signed_in(code_of(1), POSTAL_CODE)
    assert browser.sign_in(code_of(1), "99999").status_code == 403
    assert browser.is_in


def test_a_session_is_one_of_its_site_and_of_its_account(pages: Pages) -> None:
    session = pages.signed_in(code_of(1), POSTAL_CODE).client.cookies[COOKIE]
    token = session.partition(".")[2]
    for cookie in (f"2.{token}", f"01.{token}", token, f"1.{token}x", "1.", "9" * 30 + ".x", ""):
        assert not with_cookie(pages, cookie).is_in
    for cookie in (session, f"2.{token}"):
        assert not with_cookie(pages, cookie, OTHER_SITE).is_in


def test_the_cookie_of_a_session_is_for_the_server_alone(pages: Pages) -> None:
    """decisions, "Readers who come from another site"."""
    answer = pages.browser().sign_in(code_of(1), POSTAL_CODE)
    (cookie,) = [each for each in answer.headers.get_list("Set-Cookie") if each.startswith(COOKIE)]
    assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
        *("httponly", "samesite=lax", "path=/")
    }
