"""Forged requests: what another site, or a page of another session, makes a browser send."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from masthead.web.forgery import form_token
from tests.console.browser import PASSWORD, SIGN_IN, serving_console

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

OWN = {"Sec-Fetch-Site": "same-origin"}
FORGED: list[Mapping[str, str]] = [
    {},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": ""},
    {"Sec-Fetch-Site": "cross-site", "Origin": "{own}"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "//{place}"},
    {"Origin": "https://{place}"},
    {"Origin": "{own}.evil.example"},
    {"Origin": "http://evil@{place}"},
    {"Origin": "http://["},
    {"Referer": "{own}/find"},
]
EDIT = "/subscribers/10/edit"


def filled(headers: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the headers with the address of the pages in place of ``{own}`` and ``{place}``."""
    place = urlsplit(url).netloc
    return {name: value.format(own=url, place=place) for name, value in headers.items()}


def _name(desk: Desk) -> object:
    (row,) = desk.rows(
        "SELECT first_name FROM subscribers WHERE account_id = :account_id AND subscriber_id = 10"
    )
    return row[0]


@pytest.fixture(scope="module")
def browser(console: Console) -> Browser:
    return console.signed_in("manager")


@pytest.mark.parametrize("headers", FORGED, ids=str)
def test_a_form_that_another_site_sends_is_refused_even_with_the_token(
    browser: Browser, desk: Desk, headers: Mapping[str, str]
) -> None:
    """rules, "Forged requests": whoever knows the token, it is not the console's page."""
    response = browser.post(EDIT, {"first_name": "Eve"}, headers=filled(headers, browser.url))
    assert response.status_code == 403
    assert "Another site sent this form" in response.text
    assert _name(desk) == "Ada"


@pytest.mark.parametrize("headers", FORGED, ids=str)
def test_another_site_signs_nobody_in_or_out(
    browser: Browser, console: Console, headers: Mapping[str, str]
) -> None:
    sent = filled(headers, console.url)
    form = {"account": "1", "name": "manager", "password": PASSWORD}
    assert console.browser().post(SIGN_IN, form, headers=sent, token="").status_code == 403
    assert browser.post("/sign-out", headers=sent).status_code == 403
    assert browser.is_in


def test_an_older_browser_says_where_the_form_comes_from_by_its_origin(browser: Browser) -> None:
    """RFC 6454: without Sec-Fetch-Site, the Origin has to be the console's."""
    response = browser.post("/subscribers/11/edit", _seen(browser), headers={"Origin": browser.url})
    assert response.status_code == 303


def test_behind_a_proxy_the_origin_is_the_proxys_and_has_tls(desk: Desk) -> None:
    with serving_console(desk.store, behind_proxy=True) as console:
        console.add("behind a proxy")
        form = {"account": "1", "name": "behind a proxy", "password": PASSWORD}
        for origin, status in (("https://desk.example", 303), ("http://desk.example", 403)):
            sent = {"Origin": origin, "Host": "desk.example"}
            response = console.browser().post(SIGN_IN, form, headers=sent, token="")
            assert response.status_code == status


def _seen(browser: Browser) -> dict[str, str]:
    from tests.console.browser import input_values  # noqa: PLC0415

    return {**input_values(browser.get("/subscribers/11/edit").text), "last_name": "Changed"}


@pytest.mark.parametrize("token", ["", "0", "é", "a" * 64, "another's", "empty's"])
def test_a_form_without_the_token_of_this_session_is_refused_and_keeps_what_was_typed(
    browser: Browser, console: Console, desk: Desk, token: str
) -> None:
    token = {
        "another's": lambda: console.signed_in("manager").token(),
        "empty's": lambda: form_token(""),
    }.get(token, lambda: token)()
    form = {"first_name": "Eve", **({"form_token": token} if token else {})}
    for path in (EDIT, "/sign-out"):
        response = browser.client.post(path, data=form, headers=OWN)
        assert response.status_code == 403
    assert _name(desk) == "Ada"
    assert browser.is_in
    kept = browser.client.post(EDIT, data=form, headers=OWN)
    assert 'value="Eve"' in kept.text


def test_without_a_session_a_form_changes_nothing(console: Console, desk: Desk) -> None:
    stranger = console.browser()
    response = stranger.post(EDIT, {"first_name": "Eve"}, token=form_token(""))
    assert response.status_code == 401
    assert _name(desk) == "Ada"
