"""Signing in: who comes in, what everybody else is told, and how often one may guess."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from masthead import log
from masthead.errors import BadInput
from masthead.store import operators, passwords
from masthead.web.cookies import own_path
from tests.console.browser import PASSWORD, SIGN_IN, input_values, serving_console
from tests.long import ON_BOTH, examples

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.browser import Console

MINUTE_US = 60 * 1_000_000
WRONG = "a wrong password"


def test_after_the_sign_in_comes_the_page_that_was_asked_for(console: Console) -> None:
    browser = console.browser()
    asked = browser.get("/find", q="Ada Reader")
    assert asked.status_code == 303
    form = browser.get(asked.headers["Location"])
    wanted = input_values(form.text)["next"]
    answer = browser.sign_in("manager", account="1", next=wanted)
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/find?q=Ada+Reader"
    assert "Reader 1" in browser.get(answer.headers["Location"]).text


def test_the_account_is_asked_for_where_there_are_several_and_taken_from_the_link(
    console: Console,
) -> None:
    page = console.browser().get(SIGN_IN, account="2").text
    assert input_values(page)["account"] == "2"
    assert console.browser().sign_in("manager").status_code == 400


def test_an_operator_comes_into_no_other_account(console: Console) -> None:
    browser = console.browser()
    assert browser.sign_in("manager", account="2").status_code == 403
    assert not browser.is_in


def test_an_unknown_name_and_account_get_the_answer_of_a_wrong_password(console: Console) -> None:
    """rules, "Sign-in of the console"."""
    given_ = [("manager", "1"), ("nobody at all", "1"), ("manager", "77")]
    answers = []
    for name, account in given_:
        answer = console.browser().sign_in(name, WRONG, account=account)
        text = answer.text.replace(f'value="{name}"', "").replace(f'value="{account}"', "")
        answers.append((answer.status_code, text, "set-cookie" in answer.headers))
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0] == 403
    assert not answers[0][2]


def test_an_unknown_name_costs_a_comparison_of_the_same_hash_as_a_wrong_password(
    desk: Desk, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Sign-in of the console": what takes the time is the hash with its parameters."""
    compared = []
    verify = passwords.HASHER.verify

    class Counting:
        hash = staticmethod(passwords.HASHER.hash)

        @staticmethod
        def verify(hashed: str, password: str) -> bool:
            compared.append(hashed.rsplit("$", 2)[0])
            return verify(hashed, password)

    monkeypatch.setattr(passwords, "HASHER", Counting)
    for name, account in (("manager", 1), ("nobody", 1), ("nobody", 77)):
        assert operators.sign_in(desk.store, account, name, WRONG) is None
    assert len(compared) == 3
    assert len(set(compared)) == 1


def test_a_name_is_the_same_in_upper_and_lower_case(console: Console) -> None:
    assert console.browser().sign_in("MANAGER", account="1").status_code == 303


@pytest.mark.parametrize(
    "password", [" begins and ends with a space ", "пароль длинный", "word" * 249 + "pas"]
)
def test_a_password_is_taken_as_it_was_given(console: Console, desk: Desk, password: str) -> None:
    name = f"given {len(password)}"
    operators.add_operator(desk.store, 1, name, "viewer", password)
    assert console.browser().sign_in(name, password, account="1").status_code == 303
    assert console.browser().sign_in(name, password[:-1], account="1").status_code == 403


@pytest.mark.parametrize(
    "password",
    ["too short", " " * 10, " a b c a b c ", "a" * 12, "Trivial Name", "trivial nametrivial name"],
)
def test_a_password_that_is_easy_to_guess_is_refused(desk: Desk, password: str) -> None:
    """decisions, "Passwords of operators"."""
    with pytest.raises(BadInput, match="the password"):
        operators.add_operator(desk.store, 1, "Trivial Name", "viewer", password)


def test_a_new_password_is_another_one(console: Console, desk: Desk) -> None:
    console.add("renewed")
    with pytest.raises(BadInput, match="has this password already"):
        operators.set_operator(desk.store, 1, "renewed", password=PASSWORD)
    operators.set_operator(desk.store, 1, "renewed", password="another password")


def test_a_name_that_no_database_holds_is_refused_with_a_sentence(console: Console) -> None:
    for name, password in (("a\x00b", PASSWORD), ("manager", "a\x00b")):
        assert console.browser().sign_in(name, password, account="1").status_code == 400


def test_ten_wrong_passwords_lock_a_name_for_a_while_and_no_other(
    console: Console, desk: Desk
) -> None:
    """decisions, "Limits of the login check": the right password is refused too, then taken."""
    console.add("forgetful")
    for number in range(10):
        answer = console.browser().sign_in("forgetful", f"guess no. {number}", account="1")
        assert answer.status_code == 403
    for password in (PASSWORD, WRONG):
        answer = console.browser().sign_in("Forgetful", password, account="1")
        assert answer.status_code == 429
        assert "try again in 15 minutes" in answer.text
        assert 14 * 60 < int(answer.headers["Retry-After"]) <= 15 * 60
    assert console.browser().sign_in("viewer", account="1").status_code == 303
    desk.now += 15 * MINUTE_US
    assert console.browser().sign_in("forgetful", account="1").status_code == 303


def test_the_log_says_who_has_to_wait_and_where_from(
    console: Console, log_lines: list[str]
) -> None:
    """decisions, "What the log says of a sign-in": a name that nobody has may be a password."""
    console.add("Locked Out")
    log_lines.clear()
    for name in ("locked out", "my secret password"):
        for number in range(11):
            console.browser().sign_in(name, f"guess no. {number}", account="1")
    log.end_logs()
    found = [line for line in "".join(log_lines).splitlines() if "too many wrong" in line]
    assert len(found) == 2
    assert "account=1 operator='Locked Out' client='127.0.0.1'" in found[0]
    assert "account=1 operator=None client='127.0.0.1'" in found[1]
    assert "secret" not in "".join(log_lines)


def test_a_name_that_does_not_exist_is_locked_the_same(console: Console) -> None:
    """Else the lock would tell who exists."""
    statuses = [
        console.browser().sign_in("never was", f"guess no. {n}", account="1").status_code
        for n in range(11)
    ]
    assert statuses == [403] * 10 + [429]


def test_wrong_passwords_of_accounts_that_do_not_exist_are_deleted_when_they_are_old(
    console: Console, desk: Desk
) -> None:
    """The number of invented accounts does not matter."""

    def kept() -> int:
        with console.store.counters() as counters:
            others = "SELECT 1 FROM login_failures WHERE account_id NOT IN (1, 2)"
            return len(counters.rows(others))

    for account in ("77", "78", "79"):
        assert console.browser().sign_in("manager", WRONG, account=account).status_code == 403
    assert kept() >= 3
    desk.now += 61 * MINUTE_US
    assert console.browser().sign_in("manager", WRONG, account="80").status_code == 403
    assert kept() == 1


@ON_BOTH
def test_guesses_at_the_same_time_are_counted_one_after_the_other(console: Console) -> None:
    """Else thirty guesses that are sent at once would all be looked at."""
    console.add("hurried")
    statuses = []

    def guess(number: int) -> None:
        browser, status = console.browser(), 503
        while status == 503:  # no place in the queue, so it was not compared
            status = browser.sign_in("hurried", f"guess no. {number}", account="1").status_code
        statuses.append(status)

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [403] * 10 + [429] * 20


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(console: Console) -> None:
    answer = console.browser().sign_in("manager", account="1")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("masthead_session=1.")
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))


def test_behind_a_proxy_each_cookie_is_for_tls_and_this_host_only(desk: Desk) -> None:
    with serving_console(desk.store, behind_proxy=True) as console:
        console.add("proxied")
        browser = console.browser()
        answer = browser.sign_in("proxied", account="1")
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-masthead_session=1.")
        assert {"HttpOnly", "Path=/", "SameSite=strict", "Secure"} <= set(cookie.split("; "))
        assert "domain" not in cookie.lower()
        # This connection has no TLS, so the cookie is sent by hand.
        sent = {"Cookie": cookie.partition(";")[0], "Sec-Fetch-Site": "same-origin"}
        page = httpx2.get(f"{console.url}/subscribers/10/edit", headers=sent)
        form = {**input_values(page.text), "first_name": "Behind a proxy"}
        saved = httpx2.post(f"{console.url}/subscribers/10/edit", headers=sent, data=form)
        assert saved.status_code == 303
        assert "Secure" in saved.headers["Set-Cookie"]


@examples(300, 25_000)
@given(st.text(alphabet=st.one_of(st.sampled_from("/\\.:@?#[]\t\n\r evilhttps"), st.characters())))
@example("//evil.example")
@example("/\\evil.example")
@example("/\t/evil.example")
@example("\\\\evil.example")
@example("https://evil.example")
@example("javascript:alert(1)")
@example("//[")
@example("/x//evil.example")
def test_the_page_after_the_sign_in_is_never_another_sites(wanted: str) -> None:
    r"""A browser takes ``\`` for ``/``, and leaves tabs and line ends out (WHATWG URL)."""
    path = own_path(wanted)
    seen = path.strip("".join(map(chr, range(33))))
    for character in "\t\n\r":
        seen = seen.replace(character, "")
    seen = seen.replace("\\", "/")
    assert seen.startswith("/")
    assert not seen.startswith("//")
    assert urlsplit(seen).netloc == ""


def test_anown_path_is_kept_with_its_query() -> None:
    for path in ("/", "/find?q=a%20b", "/orders/1#pay", "/find?q=http://x"):
        assert own_path(path) == path
