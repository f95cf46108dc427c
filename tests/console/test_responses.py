"""What each response says to the browser, and what the log says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.routing import Route

from masthead import log
from masthead.console.app import FORM_BYTES_MAX, create_app
from masthead.store.audit import entries
from tests.console.browser import SIGN_IN, input_values
from tests.console.test_refusals import path_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
PICTURE = "/readers-pages/logo"
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""A logo may be SVG: opened by itself it runs no script and loads nothing."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@pytest.fixture(scope="module")
def browser(console: Console) -> Browser:
    return console.signed_in("manager")


def test_each_route_answers_with_the_headers_that_keep_a_page_to_itself(
    browser: Browser, desk: Desk
) -> None:
    """rules, "Forged requests"; signed in or not, and for errors."""
    paths = ["/static/console.css", "/nothing", "/static/nothing", "/subscribers/12345"]
    for route in create_app(desk.store).routes:
        assert isinstance(route, Route)
        paths.append(path_of(route.path))
    stranger = browser.__class__(browser.url)
    for path in paths:
        for asking in (browser, stranger):
            for method in ("GET", "POST", "HEAD", "PUT"):
                response = asking.client.request(method, path)
                seen = {name: response.headers.get(name) for name in HEADERS}
                kind = response.headers.get("content-type", "")
                is_picture = path == PICTURE and kind.startswith("image/")
                policy = PICTURE_POLICY if is_picture else POLICY
                expected = {**HEADERS, "Content-Security-Policy": policy}
                assert seen == expected, (method, path, response.status_code)
                assert response.status_code < 500, (method, path)
    stranger.client.close()


def test_no_page_has_a_script_or_a_style_in_it(browser: Browser) -> None:
    """The policy would not run them."""
    for path in (
        "/",
        "/find",
        "/subscribers/1",
        "/subscribers/1/edit",
        "/audit",
        "/nothing",
        SIGN_IN,
    ):
        text = browser.get(path).text
        assert "<style" not in text
        assert " style=" not in text
        assert " onclick=" not in text
        assert text.count("<script") == text.count('<script src="/static/')


def test_what_is_typed_and_held_is_shown_as_text(browser: Browser, desk: Desk) -> None:
    """Also in the fields of a form, and where it is found."""
    evil = "<script>alert(1)</script>\"'"
    form = input_values(browser.get("/subscribers/12/edit").text)
    saved = browser.post("/subscribers/12/edit", {**form, "last_name": evil})
    assert saved.status_code == 303
    found, nothing = "/find/suggestions?q=12", f"/find?q=nobody {evil}"
    for path in ("/subscribers/12", "/subscribers/12/edit", found, nothing):
        text = browser.get(path).text
        assert "<script>" not in text
        assert "&lt;script&gt;alert" in text


@pytest.mark.parametrize(("issue_id", "date"), [(61, "0001-01-01"), (62, "9999-12-31")])
def test_an_issue_of_any_day_has_a_page(
    browser: Browser, desk: Desk, issue_id: int, date: str
) -> None:
    desk.put("issues", issue_id=issue_id, publication_id=1, name="May", date=date)
    try:
        assert browser.get(f"/issues/{issue_id}").status_code == 200
    finally:
        with desk.connection.transaction():
            desk.connection.lock_account(1)
            desk.connection.change(
                "DELETE FROM issues WHERE account_id = 1 AND issue_id = :id", id=issue_id
            )


def test_a_form_that_is_too_large_or_no_form_is_refused(browser: Browser) -> None:
    path = "/subscribers/1/edit"
    assert browser.post(path, {"first_name": "x" * FORM_BYTES_MAX}).status_code == 413
    for body in (b"\xff\xfe", b"a=%ff", b"&".join(b"a%d=" % n for n in range(1_000))):
        sent = {"Sec-Fetch-Site": "same-origin"}
        response = browser.client.post(path, content=body, headers=sent)
        assert response.status_code == 400


def test_the_audit_log_has_what_was_done_under_the_operators_name_and_the_page_shows_it(
    browser: Browser, desk: Desk
) -> None:
    """The issue: everything is in the audit record, and Log shows it."""
    form = input_values(browser.get("/subscribers/13/edit").text)
    browser.post("/subscribers/13/edit", {**form, "first_name": "Zoë"})
    with desk.store.writer() as connection:
        newest = [*entries(connection, account_id=1)][-1]
    assert newest.user_name == "manager"
    assert newest.command == "console: correct a subscriber"
    assert newest.summary == "subscriber 13: changed first_name"
    shown = browser.get("/audit").text
    assert 'href="/subscribers/13">Zoë Reader 13</a>: changed first_name</td>' in shown
    assert newest.command in shown


def test_the_log_has_a_line_of_each_request_without_what_was_typed(
    console: Console, desk: Desk, log_lines: list[str]
) -> None:
    """No name, no password, no query; of a path only its pattern."""
    log_lines.clear()
    browser = console.signed_in("manager")
    browser.get("/find", q="secret-name")
    browser.sign_in("secret-name", "secret-password", account="1")
    browser.post("/subscribers/14/edit", {"first_name": "secret-name"})
    browser.get("/secret-path")
    log.end_logs()
    printed = "".join(log_lines)
    assert "path='/find' status=200" in printed
    assert "path='/subscribers/{id:int}/edit' status=400" in printed
    assert "secret" not in printed
