"""The page at /docs in a real browser: sign in, try a request, see the answer (issue 2, point 7)."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.wait import WebDriverWait

from tests.system.demo import API_KEY, API_LOGIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Server

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

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        CHROMIUM is None or CHROMEDRIVER is None,
        reason="needs the programs chromium and chromedriver (Debian: chromium, chromium-driver)",
    ),
]


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """A headless Chromium with an empty profile that notes each request it makes."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(str(CHROMEDRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


def click(browser: webdriver.Chrome, selector: str) -> None:
    wait = WebDriverWait(browser, WAIT_SECONDS_MAX)
    wait.until(expected_conditions.element_to_be_clickable((By.CSS_SELECTOR, selector))).click()


def write(browser: webdriver.Chrome, selector: str, text: str) -> None:
    wait = WebDriverWait(browser, WAIT_SECONDS_MAX)
    found = expected_conditions.visibility_of_element_located((By.CSS_SELECTOR, selector))
    wait.until(found).send_keys(text)


def text_of(browser: webdriver.Chrome, selector: str) -> str:
    wait = WebDriverWait(browser, WAIT_SECONDS_MAX)
    found = expected_conditions.visibility_of_element_located((By.CSS_SELECTOR, selector))
    return wait.until(found).text


def sign_in(browser: webdriver.Chrome) -> None:
    click(browser, ".auth-wrapper .authorize")
    write(browser, "#auth-basic-username, .auth-container input[name=username]", API_KEY)
    write(browser, "#auth-basic-password, .auth-container input[name=password]", API_LOGIN)
    click(browser, ".auth-container button.authorize")
    click(browser, ".auth-container button.btn-done")


def requests_made(browser: webdriver.Chrome) -> list[str]:
    """Return the URL of each request that went to a network so far, in order."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if urlsplit(url).scheme in {"http", "https", "ws", "wss"}]


@pytest.mark.parametrize("page", ["/docs", "/docs/"])
def test_a_request_tried_on_the_page_shows_its_answer_and_nothing_leaves_the_server(
    browser: webdriver.Chrome, demo_server: Server, page: str
) -> None:
    browser.get(demo_server.url + page)
    sign_in(browser)
    operation = "[id$=list_accounts]"
    click(browser, f"{operation} .opblock-summary-control")
    click(browser, f"{operation} button.execute")

    answer = f"{operation} .live-responses-table .response"
    assert text_of(browser, f"{answer} .response-col_status").split()[0] == "200"
    body = json.loads(text_of(browser, f"{answer} .response-col_description .microlight"))
    assert [account["api_key"] for account in body["accounts"]] == [API_KEY]

    made = requests_made(browser)
    assert f"{demo_server.url}/2/accounts/" in made
    assert all(url.startswith(f"{demo_server.url}/") for url in made), made
    severe = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []
