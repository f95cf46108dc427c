"""The tabs of each role: those of a call first, and the rest in a second menu."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.console.browser import Browser, Console

CALL = ["Today", "Find", "Order", "Issues", "Renewals"]
OPERATION = ["Lists", "Partners", "Readers' pages", "Loads", "Feed"]


@pytest.mark.parametrize(
    ("role", "tabs", "others"),
    [
        ("clerk", CALL, ["Reports", *OPERATION]),
        ("manager", [*CALL, "Reports"], [*OPERATION, "Log"]),
        ("finance", [*CALL, "Reports"], [*OPERATION, "Log"]),
        ("viewer", ["Today", "Find", "Issues", "Renewals", "Reports"], OPERATION),
    ],
)
def test_a_role_sees_the_tabs_of_its_work(
    console: Console, role: str, tabs: list[str], others: list[str]
) -> None:
    """rules, "Looks of the console"."""
    browser = console.signed_in(role)
    page = browser.get("/lists").text
    navigation = page[page.index("<nav") : page.index("</nav>")]
    first, _, second = navigation.partition("<summary>")
    assert _texts(first) == tabs
    assert _texts(second) == others
    assert re.findall(r'href="([^"]+)"\s+aria-current="page"', navigation) == ["/lists"]
    for path in re.findall(r'href="([^"]+)"', navigation):
        assert browser.get(path).status_code == 200, path


@pytest.mark.parametrize(
    ("path", "tab"),
    [("/replacements", "Issues"), ("/this-month/new", "Reports"), ("/reports/expiries", "Reports")],
)
def test_a_page_shows_below_which_tab_it_is(console: Console, path: str, tab: str) -> None:
    page = console.signed_in("manager").get(path)
    assert page.status_code == 200
    assert current(page.text) == [tab]


@pytest.mark.parametrize(
    "path",
    ["/bank", "/bank/file", "/direct-debit", "/mail", "/month-end", "/payments/new", "/reminders"],
)
def test_the_pages_of_money_are_below_its_tab(finance: Browser, path: str) -> None:
    assert current(finance.get(path).text) == ["Money"]


def current(page: str) -> list[str]:
    """Return the tabs that are marked as the current one."""
    return re.findall(r'<a href="[^"]+"\s+aria-current="\w+">([^<]+)</a>', page)


def _texts(part: str) -> list[str]:
    return [html.unescape(each) for each in re.findall(r"<a [^>]*>([^<]+)</a>", part)]
