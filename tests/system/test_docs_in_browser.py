"""The pages in a real browser: sign in, try a request, see its response; on two sizes of screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from masthead.api.operations.manual.searching import index
from masthead.api.operations.manual.site import write_site
from tests.cli.running import lines_until, running
from tests.system.browsing import IN_BROWSER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.api.callers import Caller
    from tests.system.browsing import Browser

LIST_ACCOUNTS = "[id$=list_accounts]"

pytestmark = IN_BROWSER


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """A browser that has seen nothing."""
    chromium.begin_again()
    return chromium


def sign_in(browser: Browser, caller: Caller) -> None:
    """Give the page the caller's credentials."""
    browser.click(".auth-wrapper .authorize")
    browser.write(".auth-container input[name=username]", caller.api_key)
    browser.write(".auth-container input[name=password]", caller.api_login)
    browser.click(".auth-container button.authorize")
    browser.click(".auth-container button.btn-done")


def execute(browser: Browser, operation: str) -> tuple[str, str]:
    """Send the request of an operation as the page has filled it in; return status and body."""
    block = f"[id$=-{operation}]"
    browser.click(f"{block} .opblock-summary-control")
    browser.click(f"{block} button.execute")
    response = f"{block} .live-responses-table .response"
    status = browser.read(f"{response} .response-col_status").split()
    return " ".join(status), browser.read(f"{response} .response-col_description .microlight")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a demo, as it prints it."""
    database = f"sqlite:///{tmp_path_factory.mktemp('demo') / 'demo.db'}"
    with running("demo", "--port", 0, database=database) as process:
        yield lines_until(process, "Masthead serves on ", 1)[-1].split()[-1]


@pytest.mark.parametrize("page", ["/docs", "/docs/"])
def test_a_request_tried_on_the_page_shows_its_response_and_all_stays_with_this_server(
    browser: Browser, golden: Caller, page: str
) -> None:
    browser.open(golden.server.url + page)
    sign_in(browser, golden)
    status, body = execute(browser, "list_accounts")
    assert status == "200"
    assert json.loads(body) == golden.read("/2/accounts/")

    requests = browser.requests()
    assert f"{golden.server.url}/2/accounts/" in requests
    assert [url for url in requests if not url.startswith(f"{golden.server.url}/")] == []
    assert browser.complaints() == []


def test_a_request_without_credentials_shows_its_401(browser: Browser, golden: Caller) -> None:
    """rules, "The page at /docs": the browser's own dialog would keep the page from it."""
    browser.open(f"{golden.server.url}/docs")
    status, body = execute(browser, "list_accounts")
    assert status == "401"
    assert json.loads(body)["error"].startswith("this needs credentials")


def test_the_page_names_the_server_and_shows_each_error_once(
    browser: Browser, golden: Caller
) -> None:
    """rules, "The page at /docs"."""
    browser.open(f"{golden.server.url}/docs")
    assert browser.read(".servers select") == golden.server.url
    assert browser.count("#errors tbody tr") == 11
    browser.click("[id$=-changes] .opblock-summary-control")
    browser.read("[id$=-changes] .responses-inner .response[data-code='410']")
    shown = browser.count("[id$=-changes] .responses-inner .response")
    assert shown == len({"200", "410"})
    assert browser.count("#use-demo") == 0


def test_on_the_demo_one_click_and_a_request_that_is_filled_in_has_an_answer(
    browser: Browser, demo: str
) -> None:
    """rules, "Texts and examples of the document"; "The demo's credentials".

    One operation of each kind of parameter, since a click takes the page seconds: an id, a login,
    filters, a time, entities. ``masthead demo`` prints a line with the same values for the others,
    and tests/cli sends each.
    """
    browser.open(f"{demo}/docs")
    browser.click("#use-demo")
    for operation in (
        *("get_order", "authenticate_subscriber", "search_subscribers"),
        *("changes", "snapshot"),
    ):
        status, body = execute(browser, operation)
        # The page takes ever longer for a click while it shows all responses.
        browser.click(f"[id$=-{operation}] .opblock-summary-control")
        assert (operation, status) == (operation, "200")
        assert body not in {"[]", "{}"}
    assert json.loads(execute(browser, "health")[1]) == {"status": "ok"}
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_each_page_fits_the_screen(browser: Browser, demo: str, width: int) -> None:
    """rules, "The page at /"; "The page at /docs"; "The user documentation"."""
    browser.set_width(width)
    for page in ("/", "/manual", "/manual/integrator", "/manual/reference-errors", "/docs"):
        browser.open(demo + page)
        if page == "/docs":
            browser.click("#use-demo")
            assert execute(browser, "list_subscriptions")[0] == "200"
        assert browser.width_of_page() <= width
    assert [url for url in browser.requests() if not url.startswith(f"{demo}/")] == []
    assert browser.complaints() == []


@pytest.mark.parametrize("query", ["credit note", "restoring the backup", "D-401", "bundle"])
def test_the_search_of_a_static_site_finds_what_that_of_a_server_finds(
    browser: Browser, site: Path, query: str
) -> None:
    """decisions, "The search of the documentation": one ranking, in two languages."""
    browser.open(f"{site.as_uri()}/search.html?q={quote(query)}")
    shown = browser.run("return [...document.querySelectorAll('.hits a')].map(a => a.href)")
    found = [f"{site.as_uri()}/{hit.page}.html#{hit.anchor}" for hit in index().search(query)]
    assert shown == found
    assert browser.complaints() == []


def test_code_has_a_button_that_copies_it(browser: Browser, site: Path) -> None:
    """rules, "The user documentation"."""
    browser.open(f"{site.as_uri()}/integrator.html")
    browser.run("navigator.clipboard.writeText = async (text) => { window.copiedText = text; }")
    browser.click(".copy")
    assert browser.run("return window.copiedText").startswith("pip install")
    assert browser.count(".output .copy") == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as a static site."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder)
    return folder
