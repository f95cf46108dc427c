"""A partner is added in a real browser: the new pair is shown once, and opens what was ticked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.store import partners
from masthead.store.credentials import account_for_credentials
from tests.circulation.desk import at_desk
from tests.console.browser import PASSWORD, serving_console
from tests.servers import Store
from tests.system.browsing import AXE, IN_BROWSER, Browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk

pytestmark = IN_BROWSER

NARROW = 390
_PAIR = re.compile(r"\b\w{40}\b")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """An account without partners."""
    with at_desk(Store("sqlite", tmp_path_factory.mktemp("partners"))) as desk:
        yield desk


@pytest.fixture(scope="module")
def console(desk: Desk) -> Iterator[str]:
    """Its console, on loopback, with a manager."""
    with serving_console(desk.store) as console:
        console.add("manager")
        yield console.url


@pytest.fixture(params=["chromium", "bare_chromium"], ids=["with JavaScript", "without JavaScript"])
def browser(console: str, request: pytest.FixtureRequest) -> Browser:
    """A browser in which the manager is signed in, with JavaScript and without."""
    browser: Browser = request.getfixturevalue(request.param)
    browser.begin_again()
    browser.open(console)
    browser.write("#name", "manager")
    browser.write("#password", PASSWORD)
    browser.click("button.main")
    browser.read_until("nav.main", "Today")
    return browser


def test_a_partner_is_added_by_clicking_and_its_pair_is_shown_once(
    browser: Browser, console: str, desk: Desk
) -> None:
    """decisions, "Partners of an account": the store keeps no pair that it could show again."""
    name = "Web shop" if browser.has_javascript else "Paper shop"
    browser.open(f"{console}/partners")
    browser.follow("Add a partner …")
    browser.read_until("h1", "New partner")
    browser.write("#name", name)
    browser.replace("#rate", "many")
    for operation in partners.NAMES_OF_OPERATIONS:
        if operation not in {"changes", "get_order"}:
            browser.click(f"#{operation}")
    browser.send("Add the partner")
    browser.read_until("#errors", "The limit is a whole number.")
    assert browser.value("#name") == name
    browser.replace("#rate", "20")
    browser.send("Add the partner")

    shown = browser.read_until(".notice.good", f"of {name}, shown this once")
    key, login = _PAIR.findall(shown)
    with desk.store.reader() as connection:
        found = account_for_credentials(connection, key, login, now=connection.now())
    assert found
    assert (found.partner, found.rate) == (name, 20)
    assert set((found.operations or "").split()) == {"changes", "get_order"}
    browser.set_width(NARROW)
    assert browser.width_of_page() <= NARROW
    if browser.has_javascript and AXE.exists():
        assert browser.violations() == []

    browser.open(f"{console}/partners")
    page = browser.read("main")
    assert name in page
    assert not _PAIR.search(page)
    assert [url for url in browser.requests() if not url.startswith(f"{console}/")] == []
