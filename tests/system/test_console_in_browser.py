"""The console in a real browser: each page, and the whole life of a subscription by clicking."""

# Long because each page of the console is looked at here.

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from masthead.console.account_figures import Counted
from masthead.console.templating import template
from tests.circulation.today import a_year_from
from tests.cli.running import lines_until, running
from tests.servers import masthead
from tests.system.browsing import AXE, IN_BROWSER, Browser, Keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = IN_BROWSER

PAGES = (
    "/",
    "/find?q=ad",
    "/subscribers/1",
    "/subscribers/1/edit",
    "/subscribers/1/merge?other=2",
    "/subscriptions/1/suspend",
    "/subscribers/1/move",
    "/subscribers/1/login",
    "/subscribers/1/erase",
    "/subscriptions/1/cancel",
    "/subscriptions/1/replacement",
    "/subscriptions/1/temporary-address",
    "/replacements",
    "/orders/new",
    "/orders/new?subscriber=1",
    "/orders/1332",
    "/orders/1332/refund",
    "/money",
    "/invoices/1",
    "/invoices/6/payment",
    "/invoices/6/write-off",
    "/payments/new",
    *("/direct-debit", "/direct-debit/report", "/subscribers/1/mandate"),
    *("/bank", "/bank/file", "/mail"),
    *("/month-end", "/reminders", "/reminders/1/level"),
    "/this-month/new",
    "/this-month/lost",
    "/issues",
    *("/renewals", "/renewals/automatic", "/renewals/1/effort", "/renewals/letters"),
    "/renewals/letters/day?kind=welcome&day=2026-01-01",
    *("/qualification", "/qualification/4/effort", "/subscribers/1/qualifications"),
    *("/subscribers/1/qualify?publication=4", "/qualification/4/lapses?month=2026-12"),
    *("/reports", "/reports/press-run", "/reports/circulation", "/reports/liability"),
    *("/reports/expiries", "/reports/renewals", "/reports/audit"),
    "/lists",
    *("/partners", "/partners/new"),
    *("/readers-pages", "/readers-pages/settings", "/readers-pages/bundles/11"),
    "/loads",
    "/feed",
    "/audit",
    "/nowhere",
)
PARTS = 4
"""Each page is tried in four forms, which takes seconds: a part of the pages in each test."""


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a demo's console, as the demo prints it."""
    database = f"sqlite:///{tmp_path_factory.mktemp('console') / 'demo.db'}"
    with running("demo", "--port=0", "--console-port=0", database=database) as process:
        yield lines_until(process, "The console is on ", 1)[-1].split()[-1]


@pytest.fixture
def browser(console: str, chromium: Browser) -> Browser:
    """A browser that is signed in."""
    chromium.begin_again()
    sign_in(chromium, console)
    return chromium


@pytest.fixture(params=["chromium", "bare_chromium"], ids=["with JavaScript", "without JavaScript"])
def either(console: str, request: pytest.FixtureRequest) -> Browser:
    """A browser that is signed in, with JavaScript and without."""
    browser: Browser = request.getfixturevalue(request.param)
    browser.begin_again()
    sign_in(browser, console)
    return browser


def sign_in(browser: Browser, console: str) -> None:
    browser.open(console)
    browser.write("#name", "demo")
    browser.write("#password", "demo-operator")
    browser.click("button.main")
    browser.read_until("h1", "20")


@pytest.mark.parametrize("part", range(PARTS))
def test_each_page_fits_the_screen_and_axe_finds_nothing(
    browser: Browser, console: str, part: int
) -> None:
    """rules, "Looks of the console"; decisions, "What the console is made of"."""
    if not AXE.exists():
        pytest.skip("needs axe, which .ci/typescript installs")
    found = {}
    for page in PAGES[part::PARTS]:
        browser.open(console + page)
        for width, scheme in ((1280, "light"), (390, "dark")):
            browser.set_width(width)
            browser.set_scheme(scheme)
            assert browser.width_of_page() <= width, page
            if violations := browser.violations():
                found[page, width, scheme] = violations
    assert not found
    complaints = [each for each in browser.complaints() if "/nowhere" not in each]
    assert not complaints
    assert [url for url in browser.requests() if not url.startswith(f"{console}/")] == []


def order(browser: Browser, console: str, last_name: str) -> str:
    """Order the first bundle for somebody new, as a gift; return the address of the order."""
    browser.open(f"{console}/orders/new")
    browser.choose("#bundle", "Harbor")
    for number, (who, first, last, street, city) in enumerate(
        (
            ("payer", "Grace", last_name, "12 Elm Street", "Salem"),
            ("to_1", "Alan", f"{last_name} junior", "3 Oak Lane", "Dover"),
        ),
        1,
    ):
        browser.click(f"fieldset:nth-of-type({2 * number - 1}) details summary")
        browser.write(f"#{who}_first_name", first)
        browser.write(f"#{who}_last_name", last)
        browser.write(f"#{who}_address", street)
        browser.write(f"#{who}_city", city)
    browser.follow("Check the order")
    shown = browser.read_until(".summary", "a gift of Grace")
    begins = re.search(r"12 issues, from (\w+ \d{4}) \(1 \1\), until (\d+ \w+ \d{4})", shown)
    assert begins, shown
    assert begins[2] == a_year_from(f"1 {begins[1]}")
    assert "by invoice" in shown
    browser.follow("Save the order")
    browser.read_until("h1", "Order")
    return browser.url


def choose_act(browser: Browser, act: str) -> None:
    """Open the form of an act from the only subscription of a reader's page."""
    browser.click("[id^=subscription-] details.menu summary")
    browser.click(f"[id^=subscription-] a[href$='/{act}']")
    browser.read_until("form.stack button.main", "")


def test_the_whole_life_of_a_subscription(either: Browser, console: str) -> None:
    """circulation, "Rules", by clicking: from a gift to its end; without JavaScript too."""
    name = "Zweig" if either.has_javascript else "Zwicky"
    ordered = order(either, console, name)
    assert "to be paid" in either.read("h1")
    either.follow("Payment came")
    either.write("#type", "check")
    either.follow("The payment came")
    either.read_until(".notice.good", "is paid")
    assert "paid" in either.read("h1")

    either.write("#top-q", f"alan {name.lower()}")
    either.press(Keys.ENTER)
    either.read_until("h1", name)
    for act, fields, button, said in (
        (
            "suspend",
            {"#from_date": "2027-07-01", "#to_date": "2027-08-31"},
            "Suspend",
            "is suspended",
        ),
        ("resume", {}, "Resume", "the suspension from 1 July 2027 is no longer planned"),
        ("extend", {"#issues": "2"}, "Extend", "got 2 free issues"),
        ("address", {"#address": "9 Rue Haute", "#city": "Québec"}, "Move", "from now on"),
        ("set", {"#copies": "3"}, "Save", "has now 3 copies of each issue"),
    ):
        choose_act(either, act)
        for field, text in fields.items():
            either.replace(field, text)
        if act == "set":
            either.choose("#how", "Those that are more are free")
        either.send(button)
        either.read_until(".notice.good", said)
    assert "9 Rue Haute" in either.read("main")
    assert "3 copies" in either.read("[id^=subscription-]")

    choose_act(either, "cancel")
    either.click("#refund")
    either.follow("Look at what will happen")
    assert "is the payer's credit" in either.read_until("form .summary", "ends today")
    either.follow("Cancel the subscription")
    either.read_until("section.card h3", "cancelled")
    either.open(ordered)
    assert "refunded" in either.read("section.card h2")


def test_a_reader_is_found_by_keyboard_alone(browser: Browser, console: str) -> None:
    """decisions, "Finding a caller": / goes to the box, arrow keys choose, Enter opens."""
    browser.open(f"{console}/reports")
    browser.press("/")
    assert browser.focused() == "top-q"
    browser.press("susan lopez")
    browser.read_until("#top-list", "Susan Lopez")
    if AXE.exists():
        assert browser.violations() == []
    browser.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert browser.count("#top-list [aria-selected=true]") == 1
    browser.press(Keys.ESCAPE)
    assert browser.count("#top-list:not([hidden])") == 0
    browser.press("/")
    assert browser.value("#top-q") == "susan lopez/"
    browser.read_until("#top-list:not([hidden])", "Susan Lopez")
    browser.press(Keys.ESCAPE, Keys.ESCAPE)
    assert browser.focused() != "top-q"
    browser.press("/", "susan lopez")
    browser.read_until("#top-list:not([hidden])", "Susan Lopez")
    browser.press(Keys.ARROW_DOWN, Keys.ENTER)
    browser.read_until("h1", "Susan Lopez")


def test_two_readers_are_chosen_by_name_and_merged(either: Browser, console: str) -> None:
    """circulation, "Merging": a list while somebody types; a button without JavaScript."""
    either.open(f"{console}/subscribers/{31 if either.has_javascript else 32}/merge")
    either.write("#other", "susan lopez minneapolis")
    if either.has_javascript:
        assert either.count("[data-without-script]") == 0
        either.read_until("#other-list", "Mill Blvd")
        either.press(Keys.ARROW_DOWN, Keys.ENTER)
    else:
        either.click("[data-without-script]")
        either.read_until("#other-people", "Mill Blvd")
        either.click("#other-people input")
    assert "Mill Blvd" in either.read("#other-people")
    either.follow("Compare the two")
    assert "is kept" in either.read_until("main", "This will happen")
    if either.has_javascript and AXE.exists():
        assert either.violations() == []


def test_a_suspension_that_ends_before_it_begins_is_refused_beside_the_typed_values(
    either: Browser, console: str
) -> None:
    """circulation, "Suspension"."""
    either.open(f"{console}/subscriptions/1/suspend")
    either.replace("#from_date", "2027-08-31")
    either.replace("#to_date", "2027-07-01")
    either.follow("Suspend")
    either.read_until("#errors", "before it begins on 31 August 2027")
    assert (either.value("#from_date"), either.value("#to_date")) == ("2027-08-31", "2027-07-01")


def test_an_issue_is_previewed_closed_and_reopened(either: Browser, console: str) -> None:
    """circulation, "Close" and "Reopen"."""
    either.open(f"{console}/issues")
    either.click("tbody th a")
    either.follow("Look at what closing gives")
    either.read_until("h1", "Close")
    copies = either.read(".figure .value")
    assert f"{copies} printed and" in either.read("form .summary")
    either.click("form button.main")
    either.read_until(".notice.good", "was closed with list")
    assert "closed" in either.read("h1")
    either.follow("Look at what reopening undoes")
    either.read_until("form .summary", "will be undone")
    either.click("form button.main")
    either.read_until(".notice.good", "was reopened")
    assert "open" in either.read("h1")


def test_letters_are_looked_at_before_they_are_written(browser: Browser, console: str) -> None:
    """rules, "What is sent twice": the page that says so is as good as the others."""
    browser.open(f"{console}/renewals")
    browser.send("Look at what will be written")
    browser.read_until("form .summary", "letter 1")
    if AXE.exists():
        assert browser.violations() == []
    browser.set_width(390)
    assert browser.width_of_page() <= 390


def test_a_form_works_while_figures_are_being_counted(browser: Browser, console: str) -> None:
    """Attributes of htmx hold for the elements in an element too, unless it says otherwise."""
    browser.open(f"{console}/renewals")
    browser.read_until("#counted:not([hx-get])", "Counted")
    browser.set_attributes("#counted", attributes_while_counting("/renewals"))
    browser.send("Look at what will be written")
    browser.read_until("form .summary", "letter 1")


def attributes_while_counting(url: str) -> dict[str, str]:
    """The attributes of the element whose figures are not counted yet."""
    macros: Any = template("macros").module
    rendered = macros.again(url, Counted(None, None, is_current=False))
    return dict(re.findall(r'(\S+)="([^"]*)"', rendered))


def test_an_order_is_taken_by_keyboard_alone(browser: Browser, console: str) -> None:
    """Issue by issue at the telephone: nobody reaches for a mouse."""
    browser.open(f"{console}/orders/new")
    assert browser.focused() == "payer"
    browser.tab_to("Somebody new, or another address")
    browser.press(Keys.ENTER)
    for field, text in (("first_name", "Kay"), ("last_name", "Board"), ("address", "1 Key Row")):
        browser.tab_to(f"payer_{field}")
        browser.press(text)
    browser.tab_to("bundle")
    browser.press(Keys.ARROW_DOWN)
    browser.tab_to("payment")
    browser.press(Keys.ARROW_DOWN)
    browser.press(Keys.ENTER)
    browser.read_until(".summary", ", paid")
    assert browser.focused() == "Save the order"
    browser.press(Keys.ENTER)
    browser.read_until(".notice.good", "The order was saved")


def test_a_batch_of_cheques_is_booked_by_keyboard_alone(browser: Browser, console: str) -> None:
    """Enter goes on to the next field, and the sum is looked at before anything is booked."""
    browser.open(f"{console}/payments/new")
    assert browser.focused() == "for_1"
    susan, katherine = "susan lopez minneapolis", "katherine edwards jefferson"
    for text in (susan, "10.00", "4711", katherine, "12.50", "4712"):
        browser.press(text, Keys.ENTER)
    browser.tab_to("Look at what they settle")
    browser.press(Keys.ENTER)
    browser.read_until(".summary", "2 payments, 22.50 EUR in all")
    if AXE.exists():
        assert browser.violations() == []
    assert browser.focused() == "Book them"
    browser.press(Keys.ENTER)
    browser.read_until(".notice.good", "2 payments were booked, 22.50 EUR in all.")

    browser.open(f"{console}/payments/new")
    browser.press(susan, Keys.ENTER, "10.00", Keys.ENTER, "4711", Keys.ENTER)
    browser.tab_to("Look at what they settle")
    browser.press(Keys.ENTER)
    browser.read_until("#errors", "with the reference 4711 was booked on")
    assert browser.value("#reference_1") == "4711"


def test_what_is_ordered_narrows_the_first_issue(browser: Browser, console: str) -> None:
    browser.open(f"{console}/orders/new")
    groups = "[...document.querySelectorAll('#first_issue optgroup:not([hidden])')]"
    labels = f"return {groups}.map((group) => group.label)"
    assert len(browser.run(labels)) > 1
    browser.choose("#bundle", "Harbor")
    assert browser.run(labels) == ["Harbor & Coast"]
    browser.run(f"{groups}[0].querySelector('option').selected = true")
    browser.choose("#bundle", "The Northfield Weekly")
    assert browser.run(labels) == ["The Northfield Weekly"]
    assert browser.run("return document.querySelector('#first_issue').value") == ""


def test_two_calls_are_answered_by_keyboard_alone(browser: Browser) -> None:
    """A cancelling that is undone, and a complaint whose copy is sent again."""
    browser.press("/", "katherine edwards jefferson")
    browser.read_until("#top-list:not([hidden])", "Katherine Edwards")
    browser.press(Keys.ARROW_DOWN, Keys.ENTER)
    browser.read_until("h1", "Katherine Edwards")
    assert browser.focused() == "main"
    browser.tab_until("#subscription-1 summary")
    browser.press(Keys.SPACE)
    browser.tab_until("[href='/subscriptions/1/cancel']")
    browser.press(Keys.ENTER)
    browser.read_until("h1", "Cancel a subscription")
    browser.tab_until("[name=when]")
    browser.press(Keys.ARROW_DOWN)
    browser.tab_until("button.main")
    browser.press(Keys.ENTER)
    browser.read_until(".summary", "ends after")
    assert browser.focused() == "main"
    browser.tab_until("button.main")
    browser.press(Keys.ENTER)
    browser.read_until(".notice.good", "ends after")
    browser.tab_until("[href='/subscriptions/1/uncancel']")
    browser.press(Keys.ENTER)
    browser.read_until("h1", "Undo a cancelling")
    browser.tab_until("button.main")
    browser.press(Keys.ENTER)
    browser.read_until(".notice.good", "goes on as before")

    browser.tab_until("[href='/subscriptions/1/complaint']")
    browser.press(Keys.ENTER)
    browser.read_until("h1", "Note a complaint")
    browser.tab_until("#issue")
    browser.press(Keys.ARROW_DOWN)
    browser.tab_until("#answer")
    browser.press(Keys.ARROW_DOWN)
    browser.tab_until("button.main")
    browser.press(Keys.ENTER)
    browser.read_until(".notice.good", "the issue is sent again")


def test_who_is_chosen_fills_the_choices_of_an_order(browser: Browser, console: str) -> None:
    """The subscriptions to extend are named as soon as a reader is chosen, and all stays."""
    browser.open(f"{console}/orders/new")
    browser.choose("#bundle", "Harbor")
    browser.write("#payer", "Katherine Edwards")
    browser.read_until("#payer-list", "Katherine Edwards")
    browser.press(Keys.ARROW_DOWN)
    browser.press(Keys.ENTER)
    browser.read_until("#to_1_subscription", "Northfield Weekly (print and digital), until ")
    assert "Jefferson" in browser.read("#to_1_address_id")
    assert browser.focused() == "payer"
    browser.press(Keys.ENTER)
    browser.read_until(".summary", "Harbor & Coast (print) for Katherine Edwards")


def test_a_form_stays_while_the_console_does_not_answer(tmp_path: Path) -> None:
    """rules, "The console without its database": so does what was typed."""
    database = f"sqlite:///{tmp_path / 'demo.db'}"
    masthead("accounts", "add", 1, database=database)
    browser = Browser(tmp_path / "profile")
    try:
        with running("demo", "--port=0", "--console-port=0", database=f"{database}2") as process:
            console = lines_until(process, "The console is on ", 1)[-1].split()[-1]
            sign_in(browser, console)
            browser.open(f"{console}/subscribers/1/edit")
            browser.replace("#first_name", "Augusta")
        browser.follow("Save")
        browser.read_until("#away", "still here")
        assert browser.value("#first_name") == "Augusta"
    finally:
        browser.quit()


def test_an_ended_session_leads_back_to_the_filled_form(either: Browser, console: str) -> None:
    """decisions, "A form whose session had ended"; with JavaScript and without."""
    page = f"{console}/subscribers/7/edit"
    either.open(page)
    token = either.run("return document.querySelector('input[name=form_token]').value")
    cookies = {name: value for name, value in either.cookies().items() if "session" in name}
    sent = {"Sec-Fetch-Site": "same-origin"}
    out = httpx2.post(
        f"{console}/sign-out", data={"form_token": token}, cookies=cookies, headers=sent
    )
    assert out.status_code == 303
    name = f"Typed {'with' if either.has_javascript else 'without'}"
    either.replace("#first_name", name)
    if either.has_javascript:
        either.run("htmx.ajax('GET', '/find?q=ad', '#main')")
        either.read_until("#ended", "A form that you send now keeps what you typed")
    either.click("main button.main")
    either.read_until(".notice", "Your session has ended")
    if either.has_javascript and AXE.exists():
        assert either.violations() == []
    either.write("#name", "demo")
    either.write("#password", "demo-operator")
    either.click("button.main")
    either.read_until(".notice[role=status]", "You are signed in again, as demo")
    assert either.url == page
    assert either.value("#first_name") == name
    either.click("main button.main")
    either.read_until(".notice.good", "corrected the first name")


def test_a_session_that_was_signed_out_opens_nothing(browser: Browser, console: str) -> None:
    """decisions, "Sessions of the console": not for whoever has stolen its cookie either."""
    stolen = browser.cookies()
    with httpx2.Client(base_url=console, cookies=stolen) as thief:
        assert thief.get("/").status_code == 200
        browser.follow("Sign out")
        browser.read_until("h1", "Masthead")
        assert thief.get("/").status_code == 303
