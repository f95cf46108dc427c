"""A session ends after a time, by its operator, and by a change of the operator."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from masthead.store import operators, passwords
from tests.console.browser import SIGN_IN

if TYPE_CHECKING:
    import pytest

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

MINUTE_US = 60 * 1_000_000
COOKIE = "masthead_session"


def _sessions(desk: Desk) -> list[tuple[str, ...]]:
    with desk.store.counters() as counters:
        return counters.rows("SELECT token_hash FROM operator_sessions WHERE account_id = 1")


def test_a_session_ends_half_an_hour_after_its_last_request(console: Console, desk: Desk) -> None:
    browser = console.signed_in("manager")
    for _ in range(4):
        desk.now += 28 * MINUTE_US
        assert browser.is_in
    desk.now += 30 * MINUTE_US
    answer = browser.get("/find")
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(SIGN_IN)


def test_a_session_that_is_used_all_the_time_ends_after_twelve_hours(
    console: Console, desk: Desk
) -> None:
    browser = console.signed_in("manager")
    # Twenty minutes each: the last of these is at 11:40.
    for _ in range(35):
        desk.now += 20 * MINUTE_US
        assert browser.is_in
    desk.now += 20 * MINUTE_US
    assert not browser.is_in


def test_a_session_that_began_while_the_clock_was_ahead_has_ended(
    console: Console, desk: Desk
) -> None:
    """decisions, "Sessions of the console": else it would last for twelve hours and that time."""
    # The other tests go on with the clock as it was: what they change must not be ahead.
    right = desk.now
    desk.now += 4 * MINUTE_US
    browser = console.signed_in("manager")
    desk.now = right
    assert browser.is_in
    desk.now += 6 * MINUTE_US
    ahead = console.signed_in("manager")
    desk.now = right
    assert not ahead.is_in


def test_who_has_signed_out_is_out_with_the_cookie_that_somebody_kept(console: Console) -> None:
    """The issue's "stolen session after logout"."""
    browser = console.signed_in("manager")
    stolen = browser.client.cookies[COOKIE]
    thief = console.browser()
    thief.client.cookies.set(COOKIE, stolen)
    assert thief.is_in
    assert browser.post("/sign-out").status_code == 303
    assert not browser.is_in
    assert not thief.is_in


def test_a_sign_out_ends_one_session_and_leaves_the_others(console: Console) -> None:
    here, there = console.signed_in("manager"), console.signed_in("manager")
    here.post("/sign-out")
    assert there.is_in


def test_a_new_password_ends_all_sessions_of_the_operator_and_of_nobody_else(
    console: Console, desk: Desk
) -> None:
    console.add("changed")
    sessions = [console.signed_in("changed"), console.signed_in("changed")]
    other = console.signed_in("viewer")
    operators.set_operator(desk.store, 1, "changed", password="another password")
    assert not any(session.is_in for session in sessions)
    assert other.is_in
    assert console.browser().sign_in("changed", account="1").status_code == 403
    renewed = console.browser().sign_in("changed", "another password", account="1")
    assert renewed.status_code == 303


def test_a_new_role_ends_the_sessions_and_holds_at_the_next_one(
    console: Console, desk: Desk
) -> None:
    console.add("demoted")
    session = console.signed_in("demoted")
    operators.set_operator(desk.store, 1, "demoted", role="viewer")
    assert not session.is_in
    assert console.signed_in("demoted").get("/audit").status_code == 403


def test_a_removed_operator_is_out_and_a_new_one_of_the_name_is_not_let_in_by_old_sessions(
    console: Console, desk: Desk
) -> None:
    console.add("removed")
    session = console.signed_in("removed")
    operators.remove_operator(desk.store, 1, "removed")
    assert not session.is_in
    console.add("removed")
    assert not session.is_in


def test_a_session_ends_when_its_password_is_changed(
    console: Console, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old password is compared, then the new one is set, then the session is written."""
    console.add("raced")
    verify = passwords.HASHER.verify

    class Meanwhile:
        hash = passwords.HASHER.hash

        @staticmethod
        def verify(hashed: str, password: str) -> bool:
            is_right = verify(hashed, password)
            operators.set_operator(desk.store, 1, "raced", password="another password")
            return is_right

    monkeypatch.setattr(passwords, "HASHER", Meanwhile)
    session = operators.sign_in(desk.store, 1, "raced", "correct horse")
    assert session is not None
    assert operators.find_session(desk.store, session) is None


def test_the_database_holds_no_token(console: Console, desk: Desk) -> None:
    """A reader of the database or of its backup gets no session."""
    browser = console.signed_in("manager")
    token = browser.client.cookies[COOKIE].partition(".")[2]
    assert len(token) >= 43  # 256 bits
    hashes = {row[0] for row in _sessions(desk)}
    assert hashlib.sha256(token.encode()).hexdigest() in hashes
    assert token not in hashes


def test_each_sign_in_begins_a_new_session(console: Console) -> None:
    """A session cannot be prepared for another person to sign in with."""
    browser = console.signed_in("manager")
    first = browser.client.cookies[COOKIE]
    browser.sign_in("manager", account="1")
    assert browser.client.cookies[COOKIE] != first


def test_a_new_sign_in_ends_the_session_that_the_browser_had(console: Console) -> None:
    """decisions, "Sessions of the console": of any operator, but only if it succeeds."""
    console.add("second")
    browser = console.signed_in("manager")
    copy = _with(console, browser.client.cookies[COOKIE])
    browser.sign_in("second", "a wrong password", account="1")
    assert copy.is_in
    browser.sign_in("second", account="1")
    assert browser.is_in
    assert not copy.is_in


def test_the_message_of_a_change_is_not_shown_to_who_signs_in_next(console: Console) -> None:
    browser = console.signed_in("manager")
    browser.post("/partners/access", {"on": "1"})
    browser.sign_in("viewer", account="1")
    assert "Partners have access" not in browser.get("/find").text


def test_a_clock_that_is_behind_the_operators_last_change_keeps_nobody_out(
    console: Console, desk: Desk
) -> None:
    """The fault: the sign-in succeeded and its session had ended, again and again."""
    right = desk.now
    console.add("ahead of time")
    desk.now += 60 * MINUTE_US
    operators.set_operator(desk.store, 1, "ahead of time", role="clerk")
    desk.now = right
    session = console.signed_in("ahead of time")
    assert session.is_in
    operators.set_operator(desk.store, 1, "ahead of time", role="viewer")
    assert not session.is_in
    assert console.signed_in("ahead of time").is_in


def test_a_session_is_valid_for_one_account_only(console: Console) -> None:
    browser = console.signed_in("manager")
    token = browser.client.cookies[COOKIE].partition(".")[2]
    for cookie in (f"2.{token}", f"01.{token}", token, f"1.{token}x", "1.", "9" * 30 + ".x"):
        assert not _with(console, cookie).is_in


def _with(console: Console, cookie: str) -> Browser:
    browser = console.browser()
    browser.client.cookies.set(COOKIE, cookie)
    return browser
