"""A real browser: Debian's Chromium without a screen, driven by Selenium."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.servers import ROOT

NEEDS_SELENIUM = "needs selenium, which make test-system installs"
webdriver = pytest.importorskip("selenium.webdriver", reason=NEEDS_SELENIUM)
conditions = pytest.importorskip("selenium.webdriver.support.expected_conditions")
failures = pytest.importorskip("selenium.common.exceptions")
keys = pytest.importorskip("selenium.webdriver.common.keys")
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
WAIT_SECONDS_MAX = 180
_NO_JAVASCRIPT = {"profile.managed_default_content_settings.javascript": 2}

AXE = Path(ROOT, ".venv", "typescript", "node_modules", "axe-core", "axe.min.js")
"""axe, which finds what keeps people out of a page; ``.ci/typescript`` installs it."""

IN_BROWSER = pytest.mark.skipif(
    CHROMIUM is None or CHROMEDRIVER is None,
    reason="needs chromium and chromedriver (Debian's packages chromium and chromium-driver)",
)
Keys = keys.Keys


class Browser:
    """A headless Chromium with an empty profile, which notes each request that it makes."""

    def __init__(self, profile: Path, *, javascript: bool = True) -> None:
        """Start it, with or without JavaScript."""
        self.has_javascript = javascript
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        if not javascript:
            options.add_experimental_option("prefs", _NO_JAVASCRIPT)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self._driver = webdriver.Chrome(options, webdriver.ChromeService(CHROMEDRIVER))
        self._driver.set_script_timeout(WAIT_SECONDS_MAX)
        self._driver.command_executor.client_config.timeout = 2 * WAIT_SECONDS_MAX
        replaced = (failures.StaleElementReferenceException,)
        self._wait = wait.WebDriverWait(self._driver, WAIT_SECONDS_MAX, ignored_exceptions=replaced)

    def begin_again(self) -> None:
        """Be as if just started: an empty tab, and nothing stored, cached, set or noted.

        To start another one takes a second of processor time.
        """
        scheme, place, *_ = urlsplit(self.url)
        if place:
            stored = {"origin": f"{scheme}://{place}", "storageTypes": "all"}
            self._driver.execute_cdp_cmd("Storage.clearDataForOrigin", stored)
        self._driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self._driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        old = self._driver.current_window_handle
        self._driver.switch_to.new_window("tab")
        new = self._driver.current_window_handle
        self._driver.switch_to.window(old)
        self._driver.close()
        self._driver.switch_to.window(new)
        for noted in ("performance", "browser"):
            self._driver.get_log(noted)

    @property
    def url(self) -> str:
        """The address of the page."""
        return str(self._driver.current_url)

    def open(self, url: str) -> None:
        """Go to a page."""
        self._driver.get(url)

    def set_width(self, pixels: int) -> None:
        """Show pages as on a screen of this width."""
        size = {"width": pixels, "height": 844, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def set_scheme(self, name: str) -> None:
        """Prefer colours that are ``light`` or ``dark``, and no motion."""
        preferred = {"prefers-color-scheme": name, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in preferred.items()]
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def set_attributes(self, selector: str, attributes: dict[str, str]) -> None:
        """Give an element attributes."""
        element = self._driver.find_element("css selector", selector)
        for name, value in attributes.items():
            self._driver.execute_script(
                "arguments[0].setAttribute(arguments[1], arguments[2])", element, name, value
            )

    def run(self, script: str) -> Any:
        """Run a script in the page; return what it returns."""
        return self._driver.execute_script(script)

    def width_of_page(self) -> int:
        """Return the width in pixels that the page needs."""
        return int(self._driver.execute_script("return document.documentElement.scrollWidth"))

    def count(self, selector: str) -> int:
        """Return how many elements there are."""
        return len(self._driver.find_elements("css selector", selector))

    def click(self, selector: str) -> None:
        """Click an element as soon as that is possible."""
        self._click("css selector", selector)

    def follow(self, text: str) -> None:
        """Click the first link or button with a text."""
        self._click("xpath", f"//*[self::a or self::button][normalize-space()={text!r}]")

    def send(self, text: str) -> None:
        """Send the form whose button has a text; wait for the page that has it."""
        self._click("xpath", f"//button[normalize-space()={text!r}]")

    def write(self, selector: str, text: str) -> None:
        """Type a text into a field."""
        self._shown(selector).send_keys(text)

    def replace(self, selector: str, text: str) -> None:
        """Type a text into a field in place of what it has; a day as ``YYYY-MM-DD``."""
        field = self._shown(selector)
        field.clear()
        if field.get_attribute("type") == "date":
            year, month, day = text.split("-")
            text = f"{month}{day}{year}"
        field.send_keys(text)

    def choose(self, selector: str, text: str) -> None:
        """Choose the option of a list whose text begins so."""
        for option in self._shown(selector).find_elements("css selector", "option"):
            if option.text.startswith(text):
                option.click()
                return
        raise AssertionError(f"{selector} has no option {text!r}")

    def press(self, *pressed: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        for key in pressed:
            self._driver.switch_to.active_element.send_keys(key)

    def focused(self) -> str:
        """Return the id, or else the text, of what has the focus."""
        element = self._driver.switch_to.active_element
        return str(element.get_attribute("id") or element.text)

    def tab_to(self, wanted: str, presses_max: int = 60) -> None:
        """Press the tab key until what has the focus has this id or text."""
        for _ in range(presses_max):
            if self.focused() == wanted:
                return
            self.press(Keys.TAB)
        raise AssertionError(f"the focus never came to {wanted!r}")

    def tab_until(self, selector: str, presses_max: int = 60) -> None:
        """Press the tab key until an element has the focus; each control on the way shows it."""
        for _ in range(presses_max):
            self.press(Keys.TAB)
            tag, is_there, outline = self.run(
                "const focused = document.activeElement; return [focused.tagName, "
                f"focused.matches({selector!r}), getComputedStyle(focused).outlineStyle]"
            )
            assert tag == "BODY" or outline == "solid", self.focused()
            if is_there:
                return
        raise AssertionError(f"the focus never came to {selector!r}")

    def read(self, selector: str) -> str:
        """Return the text of an element; of the new one if the page is replaced just then."""
        shown = conditions.visibility_of_element_located(("css selector", selector))

        def text(driver: Any) -> list[str]:
            element = shown(driver)
            return [element.text] if element else []

        return str(self._wait.until(text)[0])

    def read_until(self, selector: str, wanted: str) -> str:
        """Wait until the text of an element has the words; return it."""
        found = conditions.text_to_be_present_in_element(("css selector", selector), wanted)
        try:
            self._wait.until(found)
        except Exception as error:
            page = self._driver.find_element("css selector", "body").text
            raise AssertionError(f"{selector} never said {wanted!r}; the page: {page}") from error
        return self.read(selector)

    def value(self, selector: str) -> str:
        """Return what a field has."""
        return str(self._shown(selector).get_attribute("value"))

    def violations(self) -> list[str]:
        """Return what axe finds wrong with the page.

        The page keeps axe for the next time. It lists all that is wrong, and of what is right one
        element, which takes two thirds of the time.
        """
        if not self._driver.execute_script("return Boolean(window.axe)"):
            self._driver.execute_script(AXE.read_text(encoding="utf-8"))
        found = self._driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
            ".then(found => done(found.violations))"
        )
        return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]

    def cookies(self) -> dict[str, str]:
        """Return the cookies of the page, by name."""
        return {each["name"]: each["value"] for each in self._driver.get_cookies()}

    def save_picture(self, path: Path, height_max: int) -> None:
        """Write a picture of the page, at most so many pixels high: ``.png`` or ``.webp``."""
        height = int(self.run("return document.documentElement.scrollHeight"))
        size = {
            "width": int(self.run("return window.innerWidth")),
            "height": min(height, height_max),
            "deviceScaleFactor": 1,
            "mobile": False,
        }
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self._driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        form = {"format": path.suffix[1:], **({"quality": 30} if path.suffix == ".webp" else {})}
        shown = self._driver.execute_cdp_cmd("Page.captureScreenshot", form)
        path.write_bytes(base64.b64decode(shown["data"]))

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

    def _click(self, *where: str) -> None:
        """Click an element as soon as that is possible; again if the page was replaced just then.

        An element that is no longer in the page was not clicked.
        """
        clickable = conditions.element_to_be_clickable(where)

        def clicked(driver: Any) -> bool:
            if not (element := clickable(driver)):
                return False
            element.click()
            return True

        self._wait.until(clicked)

    def _shown(self, selector: str) -> Any:
        element = conditions.visibility_of_element_located(("css selector", selector))
        return self._wait.until(element)
