"""The readers' pages in a real browser: a reader's life by keyboard, and what axe finds wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import page_settings
from tests.circulation.desk import at_desk
from tests.readers.browser import SITE, serving_readers
from tests.readers_books import household
from tests.readers_books.household import BEN, EVE
from tests.readers_pages.house import POSTAL_CODE
from tests.servers import Store
from tests.system.browsing import AXE, IN_BROWSER, Browser, Keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk

pytestmark = IN_BROWSER

NARROW = 320
WIDTHS = (NARROW, 390, 1280)
SCHEMES = ("light", "dark")
PAGES = (
    "",
    "sign-in",
    "nowhere",
    "address",
    "questionnaire",
    "data",
    "buy",
    "gift?offer=1&",
    *(
        f"subscriptions/{{key}}{page}"
        for page in (
            *("", "/address", "/pause", "/renewal", "/cancel", "/missing", "/renew?offer=1&"),
        )
    ),
)
"""Each page; a query that stands behind it ends with ``&``."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The household, whose account has a site."""
    with at_desk(Store("sqlite", tmp_path_factory.mktemp("readers"))) as desk:
        _fill(desk)
        yield desk


def _fill(desk: Desk) -> None:
    household.fill(desk)
    household.show_bundle(desk)
    page_settings.set_values(desk.books, {"site": SITE, "name": "Harbor Press"})


@pytest.fixture(autouse=True)
def _filled(desk: Desk) -> None:
    """Each test begins with the same household: others cancel and move."""
    _fill(desk)


@pytest.fixture(scope="module")
def site(desk: Desk) -> Iterator[str]:
    """The address of the site."""
    with serving_readers(desk.store) as pages:
        yield f"{pages.url}/{SITE}/"


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """A browser with JavaScript, by which axe works."""
    chromium.begin_again()
    return chromium


@pytest.fixture
def plain(bare_chromium: Browser) -> Browser:
    """A browser without JavaScript."""
    bare_chromium.begin_again()
    return bare_chromium


def sign_in(browser: Browser, site: str, reader: int) -> None:
    """Sign a reader in with the renewal code and the postal code."""
    browser.open(f"{site}sign-in")
    browser.write("#login", f"CODE{reader}")
    browser.write("#password", POSTAL_CODE)
    browser.click("main button.main")
    browser.read_until("nav.pages", "Your subscriptions")


@pytest.mark.skipif(not AXE.exists(), reason="needs axe, which .ci/typescript installs")
def test_axe_finds_nothing_on_any_page(browser: Browser, site: str, desk: Desk) -> None:
    """readers, "What a reader can do": in both schemes, on a phone and on a wide screen."""
    sign_in(browser, site, BEN)
    key = household.of(desk).ben
    found = {}
    for page in PAGES:
        for language in ("en", "de"):
            path = page.format(key=key) + ("" if "?" in page else "?")
            browser.open(f"{site}{path}language={language}")
            for scheme in SCHEMES:
                browser.set_scheme(scheme)
                for width in WIDTHS:
                    browser.set_width(width)
                    assert browser.width_of_page() <= width, (page, width)
                if violations := browser.violations():
                    found[page, language, scheme] = violations
    assert not found
    assert not [each for each in browser.complaints() if "404" not in each]


def test_a_reader_who_comes_from_another_site_is_still_signed_in(
    plain: Browser, site: str, desk: Desk
) -> None:
    """decisions, "Readers who come from another site"."""
    sign_in(plain, site, BEN)
    key = household.of(desk).ben
    form = f"<form method=post action={site}subscriptions/{key}/cancel><button>Send</button></form>"
    plain.open(f"data:text/html,<a href={site}data>Your data</a>{form}")
    plain.follow("Your data")
    plain.read_until("nav.pages", "Your subscriptions")
    plain.open(f"data:text/html,{form}")
    plain.send("Send")
    plain.read_until("main", "Another site sent this form.")
    plain.open(site)
    assert plain.count("a[href$='/cancel']")


def test_a_page_asks_only_its_own_site(plain: Browser, site: str) -> None:
    """decisions, "Looks of the readers' pages"."""
    sign_in(plain, site, EVE)
    assert plain.requests()
    assert not [url for url in plain.requests() if not url.startswith(site.rsplit("/", 2)[0])]


def test_a_reader_does_all_without_javascript_in_both_languages(
    plain: Browser, site: str, desk: Desk
) -> None:
    """readers, "What a reader can do": two clicks from home to cancelled."""
    sign_in(plain, site, BEN)
    plain.follow("Deutsch")
    plain.read_until("h1", "Ihre Abonnements")
    plain.follow("Pausieren")
    plain.replace("#first", "2026-06-01")
    plain.replace("#last", "2026-06-30")
    plain.send("Ansehen, was geschieht")
    plain.read_until(".will", "Letzter Tag dann")
    plain.send("Jetzt pausieren")
    plain.read_until(".notice.good", "pausiert")
    plain.follow("English")
    plain.follow("Change the address")
    plain.replace("#address", "7 Elm")
    plain.send("Save the address")
    plain.read_until(".notice.good", "The new address is noted.")
    assert "7 Elm" in plain.read("main")
    plain.open(site)
    plain.follow("Renew")
    plain.follow("Choose")
    plain.send("Look at the order")
    plain.read_until(".will", "Tide for a year")
    plain.send("Order with obligation to pay")
    plain.read_until("h1", "Thank you for your order")
    plain.open(f"{site}data")
    plain.write("#message", "Hello")
    plain.send("Send the message")
    plain.read_until(".notice.good", "We have your message.")
    plain.open(site)
    plain.follow("Cancel")
    plain.send("Cancel the subscription")
    plain.read_until(".notice.good", "The subscription is cancelled")
    plain.follow("Sign out")
    plain.read_until("h2", "Sign in")
    plain.open(site)
    plain.read_until("h2", "Sign in")


def test_a_reader_needs_no_mouse(plain: Browser, site: str, desk: Desk) -> None:
    """Each control on the way shows that it has the focus."""
    plain.open(f"{site}sign-in")
    plain.tab_until("#login")
    plain.press(f"CODE{BEN}")
    plain.tab_until("#password")
    plain.press(POSTAL_CODE, Keys.ENTER)
    plain.read_until("h1", "Your subscriptions")
    plain.press(Keys.TAB)
    assert plain.focused() == "Skip to the content"
    plain.tab_until("a[href$='/cancel']")
    plain.press(Keys.ENTER)
    plain.read_until("h1", "Cancel")
    plain.tab_until("button.danger")
    plain.press(Keys.ENTER)
    plain.read_until(".notice.good", "The subscription is cancelled")


def test_the_focus_goes_to_what_is_wrong(browser: Browser, site: str, desk: Desk) -> None:
    sign_in(browser, site, BEN)
    browser.open(f"{site}subscriptions/{household.of(desk).ben}/pause")
    browser.run("document.querySelectorAll('input').forEach(each => { each.required = false; })")
    browser.send("Look at what happens")
    browser.read_until("#errors", "day")
    assert browser.focused() == "errors"
    browser.click("#errors a")
    assert browser.focused() == "first"
