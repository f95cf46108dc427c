"""The console in a real browser: awkward data on the smallest screen, the focus and the buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.circulation.desk import at_desk
from tests.console.browser import PASSWORD, serving_console
from tests.console.conftest import fill
from tests.servers import Store
from tests.system.browsing import IN_BROWSER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk
    from tests.system.browsing import Browser

pytestmark = IN_BROWSER

NARROW = 320
NAME = "Wolfeschlegelsteinhausenbergerdorffvoralternwaren"
QUESTION = "Which of the following describes best what you do for most of your working day, if any?"
PAGES = (
    "/",
    f"/find?q={NAME}",
    "/subscribers/2",
    "/subscribers/2/edit",
    "/subscriptions/2/suspend",
    "/subscriptions/2/cancel",
    "/subscriptions/2/address",
    "/subscriptions/2/replacement",
    "/subscriptions/2/complaint",
    "/subscribers/2/erase",
    "/addresses/2/edit",
    "/orders/new?subscriber=2",
    "/orders/2",
    "/orders/2/pay",
    "/replacements",
    "/reports/liability",
    "/issues",
    "/issues/1",
    "/renewals",
    "/reports",
    "/lists",
    "/partners",
    "/loads",
    "/feed",
    "/audit",
    f"/{NAME}",
)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A console whose data is long and cannot be broken at spaces."""
    with at_desk(Store("sqlite", tmp_path_factory.mktemp("looks"))) as desk:
        fill(desk)
        _fill(desk)
        with serving_console(desk.store) as console:
            console.add(NAME)
            yield console.url


def _fill(desk: Desk) -> None:
    email = f"{NAME}@{NAME}.example".lower()
    desk.put(
        "subscribers",
        subscriber_id=2,
        first_name=NAME,
        last_name=NAME,
        email=email,
        source=NAME,
    )
    desk.put("addresses", address_id=2, subscriber_id=2, address=NAME, city=NAME, company=NAME)
    desk.put(
        "subscriptions",
        subscription_id=2,
        subscriber_id=2,
        publication_id=1,
        mailing_address_id=2,
        billing_address_id=2,
        issues=0,
        copies=1,
        type="Print",
        begins_on="2026-01-01",
    )
    desk.put(
        "orders",
        order_id=2,
        subscriber_id=2,
        order_date="2026-01-01 10:00:00",
        external_reference=NAME,
        payment_type=NAME,
    )
    for field in range(1, 9):
        desk.put("custom_fields", field_id=field, type="text", display_as=f"{field}. {QUESTION}")
        answer = NAME if field % 2 else QUESTION
        desk.put("custom_field_answers", subscriber_id=2, field_id=field, text_value=answer)


@pytest.fixture
def browser(console: str, chromium: Browser) -> Browser:
    """A browser that is signed in."""
    chromium.begin_again()
    chromium.open(console)
    chromium.write("#name", NAME)
    chromium.write("#password", PASSWORD)
    chromium.click("button.main")
    chromium.read_until("nav.main", "Today")
    return chromium


def test_nothing_is_wider_than_the_smallest_screen_whatever_the_data(
    browser: Browser, console: str
) -> None:
    """rules, "Looks of the console"."""
    browser.set_width(NARROW)
    wide = {}
    for page in PAGES:
        browser.open(console + page)
        needed = browser.width_of_page()
        if needed > NARROW:
            wide[page] = needed
    assert not wide
    browser.open(f"{console}/subscribers/2")
    assert QUESTION in browser.read("main")
    narrowest = """return Math.min(...[...document.querySelectorAll("main dt, main dd")]
      .filter(each => each.textContent.length > 40).map(each => each.clientWidth))"""
    assert browser.run(narrowest) > NARROW / 2


def test_the_focus_goes_to_what_was_loaded(browser: Browser, console: str) -> None:
    """rules, "Looks of the console"."""
    browser.open(f"{console}/issues")
    browser.click("nav.main summary")
    browser.follow("Lists")
    browser.read_until("h1", "Lists")
    assert browser.focused() == "main"
    browser.open(f"{console}/subscriptions/2/suspend")
    browser.replace("#from_date", "2190-08-31")
    browser.replace("#to_date", "2190-07-01")
    browser.send("Suspend")
    browser.read_until("#errors", "31 August 2190")
    assert browser.focused() == "errors"
    outline = "const style = getComputedStyle(document.querySelector('#top-q'));"
    browser.run("document.querySelector('#top-q').focus()")
    assert browser.run(f"{outline} return style.outlineStyle + style.outlineWidth") == "solid3px"


def test_a_form_is_sent_once_and_its_button_shows_it(browser: Browser, console: str) -> None:
    """rules, "Looks of the console"."""
    browser.open(f"{console}/subscribers/2/edit")
    browser.set_scheme("light")
    browser.replace("#email", "")
    sent = """
      let sent = 0;
      document.addEventListener("htmx:beforeSend", () => { sent += 1; });
      const button = document.querySelector("main form button.main");
      button.click();
      button.click();
      const moves = getComputedStyle(button, "::after").animationName;
      return [sent, button.getAttribute("aria-busy"), moves];
    """
    assert browser.run(sent) == [1, "true", "none"]
    browser.read_until(".notice.good", "email")
    assert browser.count("[aria-busy]") == 0
