"""The page of partners: credentials of their own, what they may ask for, and what they asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.store import partners
from masthead.store.credentials import account_for_credentials
from masthead.store.request_counts import RequestCounts
from tests.circulation.desk import at_desk
from tests.console.browser import input_values, serving_console, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser
    from tests.servers import Store

ALL = dict.fromkeys(partners.NAMES_OF_OPERATIONS, "1")


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """An account whose books are here."""
    with at_desk(store) as found:
        yield found


@pytest.fixture
def browser(desk: Desk) -> Iterator[Browser]:
    """A browser of a manager."""
    with serving_console(desk.store) as console:
        console.add("manager")
        yield console.signed_in("manager")


def partner_of(desk: Desk, page: str) -> str | None:
    """Return whose pair a page shows; None if it opens nothing."""
    key, login = re.findall(r"<code>(\w{40})</code>", page)
    with desk.store.reader() as connection:
        found = account_for_credentials(connection, key, login, now=connection.now())
    return found and found.partner


def test_a_partner_is_added_changed_given_a_new_pair_and_removed(
    browser: Browser, desk: Desk
) -> None:
    """decisions, "Partners of an account": a pair is shown once."""
    assert "No partner has credentials of its own" in text_of(browser.get("/partners").text)
    shown = browser.get("/partners/new").text
    assert len(re.findall(r'type="checkbox"[^>]* checked', shown)) == len(ALL)
    typed = {"name": "Web <shop>", "changes": "1", "get_order": "1", "rate": "20"}
    first = browser.post("/partners/new", typed)
    assert first.status_code == 200
    assert partner_of(desk, first.text) == "Web <shop>"
    page = browser.get("/partners").text
    assert "Web &lt;shop&gt;" in page
    assert not re.search(r"<code>\w{40}</code>", page)
    assert "changes, get order 20 never" in text_of(page)

    of_it = {"partner": "Web <shop>"}
    form = browser.get("/partners/rights", **of_it).text
    assert len(re.findall(r'type="checkbox"[^>]* checked', form)) == 2
    assert 'value="20"' in form
    assert browser.post("/partners/rights", {**of_it, **ALL, "rate": ""}).status_code == 303
    page = text_of(browser.get("/partners").text)
    assert "What Web <shop> may do was saved." in page
    assert "everything no limit never" in page

    asked = browser.post("/partners/rotate", {**of_it, "keeps": "1"})
    assert "Only Web <shop> needs the new credentials." in text_of(asked.text)
    second = browser.post("/partners/rotate", {**input_values(asked.text), "sure": "1"})
    assert partner_of(desk, second.text) == "Web <shop>"
    assert partner_of(desk, first.text) == "Web <shop>", "for one more day"

    asked = browser.post("/partners/remove", of_it)
    assert "Its credentials end at once." in text_of(asked.text)
    assert browser.post("/partners/remove", input_values(asked.text)).status_code == 303
    assert "Web <shop> has no access any more." in text_of(browser.get("/partners").text)
    assert [partner_of(desk, page.text) for page in (first, second)] == [None, None]


def test_what_is_wrong_with_a_partner_is_said_beside_what_was_typed(
    browser: Browser, desk: Desk
) -> None:
    partners.add_partner(desk.store, 1, "Shop")
    for typed, said in (
        ({"name": "shop", **ALL}, "There is a partner 'shop' already."),
        ({"name": "", **ALL}, "is no name of a partner"),
        ({"name": "New"}, "Tick what the partner may ask for."),
        ({"name": "New", "rate": "many", **ALL}, "The limit is a whole number."),
    ):
        refused = browser.post("/partners/new", typed)
        assert refused.status_code == 400
        assert said in text_of(refused.text)
        assert f'value="{typed["name"]}"' in refused.text
    for path in ("/partners/rights", "/partners/remove", "/partners/rotate"):
        unknown = browser.post(path, {"partner": "Nobody", **ALL})
        assert unknown.status_code == 404
        assert "There is no such partner." in text_of(unknown.text)


def test_requests_of_partners_are_shown_by_name(browser: Browser, desk: Desk) -> None:
    """rules, "Requests of partners are counted": also of a partner who was removed."""
    counts, now = RequestCounts(), desk.store.clock()
    counts.note(1, "changes", 200, now, "Gone")
    counts.note(1, "changes", 500, now, "Gone")
    counts.note(1, "get_order", 200, now)
    counts.write(desk.store, every_us=0)
    page = text_of(browser.get("/partners").text)
    assert re.search(r"Gone 2 1 .* with the account's credentials 1 0 ", page)
