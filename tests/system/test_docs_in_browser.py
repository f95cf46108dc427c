"""The page at /docs in a real browser: sign in, try a request, see its answer."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.api.callers import Caller

NEEDS_SELENIUM = "needs selenium, which make test-system installs"
webdriver = pytest.importorskip("selenium.webdriver", reason=NEEDS_SELENIUM)
conditions = pytest.importorskip("selenium.webdriver.support.expected_conditions")
wait = pytest.importorskip("selenium.webdriver.support.wait")

CHROMIUM = shutil.which("chromium")
CHROMEDRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,2000",
)
WAIT_SECONDS_MAX = 30
LIST_ACCOUNTS = "[id$=list_accounts]"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or CHROMEDRIVER is None,
    reason="needs chromium and chromedriver (Debian's packages chromium and chromium-driver)",
)


class Browser:
    """A headless Chromium with an empty profile, which notes each request that it makes."""

    def __init__(self, profile: Path) -> None:
        """Start it."""
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self._driver = webdriver.Chrome(options, webdriver.ChromeService(CHROMEDRIVER))
        self._wait = wait.WebDriverWait(self._driver, WAIT_SECONDS_MAX)

    def open(self, url: str) -> None:
        """Go to a page."""
        self._driver.get(url)

    def click(self, selector: str) -> None:
        """Click an element as soon as that is possible."""
        self._wait.until(conditions.element_to_be_clickable(("css selector", selector))).click()

    def write(self, selector: str, text: str) -> None:
        """Type a text into a field."""
        self._shown(selector).send_keys(text)

    def read(self, selector: str) -> str:
        """Return the text of an element."""
        return str(self._shown(selector).text)

    def requests(self) -> list[str]:
        """Return the URL of each request that went to a network so far."""
        entries = self._driver.get_log("performance")
        events = [json.loads(entry["message"])["message"] for entry in entries]
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if urlsplit(url).scheme in {"http", "https", "ws", "wss"}]

    def complaints(self) -> list[str]:
        """Return what the browser found wrong: failures, and what the page's policy forbade."""
        entries = self._driver.get_log("browser")
        return [entry["message"] for entry in entries if entry["level"] in {"WARNING", "SEVERE"}]

    def quit(self) -> None:
        """End it."""
        self._driver.quit()

    def _shown(self, selector: str) -> Any:
        element = conditions.visibility_of_element_located(("css selector", selector))
        return self._wait.until(element)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A browser that nobody has used yet."""
    browser = Browser(tmp_path)
    yield browser
    browser.quit()


def sign_in(browser: Browser, caller: Caller) -> None:
    """Give the page the caller's credentials."""
    browser.click(".auth-wrapper .authorize")
    browser.write(".auth-container input[name=username]", caller.api_key)
    browser.write(".auth-container input[name=password]", caller.api_login)
    browser.click(".auth-container button.authorize")
    browser.click(".auth-container button.btn-done")


@pytest.mark.parametrize("page", ["/docs", "/docs/"])
def test_a_request_tried_on_the_page_shows_its_answer_and_all_stays_with_this_server(
    browser: Browser, golden: Caller, page: str
) -> None:
    browser.open(golden.server.url + page)
    sign_in(browser, golden)
    browser.click(f"{LIST_ACCOUNTS} .opblock-summary-control")
    browser.click(f"{LIST_ACCOUNTS} button.execute")

    answer = f"{LIST_ACCOUNTS} .live-responses-table .response"
    assert browser.read(f"{answer} .response-col_status").split()[0] == "200"
    shown = json.loads(browser.read(f"{answer} .response-col_description .microlight"))
    assert shown == golden.read("/2/accounts/")

    requests = browser.requests()
    assert f"{golden.server.url}/2/accounts/" in requests
    assert [url for url in requests if not url.startswith(f"{golden.server.url}/")] == []
    assert browser.complaints() == []
