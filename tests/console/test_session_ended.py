"""A form that is sent after its session had ended, and error pages for who is signed in.

decisions, "A form whose session had ended".
"""

from __future__ import annotations

import html
import re
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from masthead.console.page_request import PageRequest
from masthead.store import operators
from masthead.web.form_reading import FORM_BYTES_MAX
from masthead.web.kept_input import KeptInput, packed, unpacked
from tests.console.browser import PASSWORD, SIGN_IN, input_values

if TYPE_CHECKING:
    import httpx2

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

EDIT = "/subscribers/21/edit"
COOKIE = "masthead_session"
SEARCH = '<form class="search"'


def ended(console: Console, name: str, path: str, **typed: str) -> tuple[Browser, httpx2.Response]:
    """Open a form, end the session elsewhere, and send the form; return its answer."""
    browser = console.signed_in(name)
    form = {**input_values(browser.get(path).text), **typed}
    operators.end_session(console.store, browser.client.cookies[COOKIE])
    answer = browser.post(path, form, token=form["form_token"])
    assert answer.status_code == 401
    return browser, answer


def sign_in(browser: Browser, answer: httpx2.Response, name: str) -> httpx2.Response:
    """Sign in with the form of an answer."""
    form = input_values(answer.text)
    return browser.post(SIGN_IN, {**form, "name": name, "password": PASSWORD}, token="")


def test_after_the_sign_in_the_form_is_shown_filled_and_then_saved(
    console: Console, desk: Desk
) -> None:
    browser, answer = ended(console, "clerk", EDIT, last_name='Typed <b> "é')
    assert "Your session has ended" in answer.text
    wrong = browser.post(
        SIGN_IN, {**input_values(answer.text), "name": "clerk", "password": "wrong"}, token=""
    )
    assert wrong.status_code == 403
    back = sign_in(browser, wrong, "clerk")
    assert (back.status_code, back.headers["Location"]) == (303, EDIT)
    shown = browser.get(EDIT)
    assert shown.status_code == 200
    assert "You are signed in again, as clerk" in " ".join(shown.text.split())
    form = input_values(shown.text)
    assert form["last_name"] == 'Typed <b> "é'
    assert _last_name(desk) == "Reader 21", "nothing is saved before the operator saves"
    assert input_values(browser.get(EDIT).text)["last_name"] == "Reader 21", "it is shown once"
    assert browser.post(EDIT, form, token=form["form_token"]).status_code == 303
    assert _last_name(desk) == 'Typed <b> "é'


def test_an_order_is_shown_again_as_it_was_typed(console: Console) -> None:
    typed = {"reference": "R-7", "notes": "Typed"}
    browser, answer = ended(console, "clerk", "/orders/new", **typed)
    assert sign_in(browser, answer, "clerk").headers["Location"] == "/orders/new"
    shown = browser.get("/orders/new").text
    assert "You are signed in again" in shown
    kept = input_values(shown)
    assert (kept["reference"], kept["notes"]) == ("R-7", "Typed")


def test_what_somebody_else_changed_meanwhile_is_found(console: Console) -> None:
    path = "/subscribers/22/edit"
    browser, answer = ended(console, "clerk", path, first_name="Grace")
    other = console.signed_in("manager")
    form = {**input_values(other.get(path).text), "first_name": "Hedy"}
    assert other.post(path, form).status_code == 303
    sign_in(browser, answer, "clerk")
    told = browser.post(path, input_values(browser.get(path).text))
    assert told.status_code == 409
    assert "Somebody else changed this" in told.text


def test_a_colleague_who_signs_in_gets_the_form_if_the_role_may_use_it(console: Console) -> None:
    browser, answer = ended(console, "clerk", EDIT, first_name="Typed")
    sign_in(browser, answer, "manager")
    assert input_values(browser.get(EDIT).text)["first_name"] == "Typed"
    browser, answer = ended(console, "clerk", EDIT, first_name="Typed")
    sign_in(browser, answer, "viewer")
    refused = browser.get(EDIT)
    assert refused.status_code == 403
    assert "Typed" not in refused.text


def test_the_input_is_never_shown_in_another_account(console: Console) -> None:
    browser, answer = ended(console, "clerk", EDIT, first_name="Typed")
    assert input_values(answer.text)["account"] == "1"
    assert sign_in(browser, answer, "elsewhere").status_code == 403
    assert browser.sign_in("elsewhere", account="2").status_code == 303
    assert "Typed" not in browser.get(EDIT).text


def test_no_password_no_confirmation_and_nothing_in_an_address_is_kept(console: Console) -> None:
    browser, answer = ended(console, "manager", "/subscribers/23/edit", sure="1", will="It will.")
    kept = unpacked(input_values(answer.text)["kept"])
    assert not {"form_token", "sure", "will"} & kept.keys()
    assert packed({"first_name": "x", "password": "secret", "new_password": "secret"}) == (
        '{"first_name":"x"}'
    )
    location = sign_in(browser, answer, "manager").headers["Location"]
    assert location == "/subscribers/23/edit"


def test_a_part_of_a_page_does_not_become_the_sign_in(console: Console) -> None:
    """A search while somebody types an order: the page stays, and says so."""
    stranger = console.browser().client
    part = stranger.get("/find", params={"q": "Ada"}, headers={"HX-Request": "true"})
    assert (part.status_code, part.text) == (401, "")
    assert (part.headers["HX-Reswap"], part.headers["HX-Trigger"]) == ("none", "sessionEnded")
    page = stranger.get("/find", headers={"HX-Request": "true", "HX-Boosted": "true"})
    assert page.status_code == 303


def test_a_button_without_a_page_of_its_own_leads_back_to_its_page(console: Console) -> None:
    browser = console.signed_in("manager")
    token = browser.token()
    operators.end_session(console.store, browser.client.cookies[COOKIE])
    for referer, path in (
        (f"{console.url}/partners", "/partners"),
        ("https://evil.example/partners", "/partners"),
        ("https://evil.example//evil.example", "/"),
        ("http://[", "/"),
        ("", "/"),
    ):
        sent = {"Sec-Fetch-Site": "same-origin", **({"Referer": referer} if referer else {})}
        answer = browser.post("/partners/access", {"on": "1"}, token=token, headers=sent)
        assert answer.status_code == 401
        assert sign_in(console.browser(), answer, "manager").headers["Location"] == path


_WITH_NUL = '{"first_name":"Eve\\u0000"}'


@pytest.mark.parametrize("kept", ["rubbish", "[]", '{"a":1}', "{}", "9" * 1_000, _WITH_NUL])
def test_rubbish_in_place_of_kept_input_is_left_out(console: Console, kept: str) -> None:
    browser = console.browser()
    answer = browser.sign_in("clerk", account="1", next=EDIT, kept=kept)
    assert answer.status_code == 303
    assert "signed in again" not in browser.get(EDIT).text


@pytest.mark.parametrize(
    "text",
    [
        '{"text":"' + "a" * 250_000 + '\U0001f600"}',
        "{" + ",".join(f'"{number}":""' for number in range(25_000)) + "}",
    ],
    ids=["a character of four bytes", "many fields"],
)
def test_what_is_kept_takes_about_as_much_memory_as_a_form(text: str) -> None:
    """decisions, "A form whose session had ended": as objects it would take up to ten times it."""
    kept, values = KeptInput(), unpacked(text)
    tracemalloc.start()
    try:
        kept.keep("session", EDIT, unpacked(text))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 2 * FORM_BYTES_MAX
    assert kept.take("session", EDIT) == values != {}


def test_little_is_kept_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    from masthead.web import kept_input  # noqa: PLC0415

    now = 0.0
    monkeypatch.setattr(kept_input, "monotonic", lambda: now)
    kept = KeptInput()
    for number in range(101):
        kept.keep(str(number), EDIT, {"n": str(number)})
    assert [kept.take(session, EDIT) for session in ("0", "1")] == [{}, {"n": "1"}]
    assert kept.take("1", EDIT) == {}
    now += 600
    assert kept.take("2", EDIT) == {}


def _last_name(desk: Desk) -> object:
    (row,) = desk.rows(
        "SELECT last_name FROM subscribers WHERE account_id = :account_id AND subscriber_id = 21"
    )
    return row[0]


def test_error_pages_keep_head_navigation_and_search(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(PageRequest, "reading", fail)
    browser, viewer = console.signed_in("manager"), console.signed_in("viewer")
    token, own = browser.token(), {"Sec-Fetch-Site": "same-origin"}
    for status, answer in (
        (404, browser.get("/nothing")),
        (404, browser.get("/subscribers/12345")),
        (403, viewer.get("/audit")),
        (403, browser.post(EDIT, {"first_name": "x"}, token="another")),
        (405, browser.client.put("/find")),
        (405, browser.client.post("/find")),
        (500, browser.get("/partners")),
        (413, browser.post(EDIT, {"first_name": "x" * 300_000}, token=token)),
        (400, browser.client.get("/find", params={"q": "\0"})),
        (
            400,
            browser.client.post(EDIT, content=b"\xff", headers=own),
        ),
    ):
        assert answer.status_code == status, answer.text
        assert SEARCH in answer.text
        assert re.search(r'<a href="/issues"', answer.text)
    stranger = console.browser()
    for answer in (stranger.get("/nothing"), stranger.client.put("/find")):
        assert SEARCH not in answer.text
        assert "manager" not in html.unescape(answer.text)
