"""What the console counts over a whole account, and what servers count of partners' requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from masthead.console.figures import Counting
from masthead.store.console_figures import PressRun, figures_of
from masthead.store.request_counts import Count, RequestCounts, counts_of
from tests.circulation.desk import at_desk
from tests.console.browser import serving_console
from tests.servers import Store, masthead, serving
from tests.store.conftest import Clock, new_url, opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk

TODAY = "2026-03-15"
DAY_US = 24 * 60 * 60 * 1_000_000
MINUTE_US = 60 * 1_000_000


@pytest.fixture(scope="module")
def small(store: Store) -> Iterator[Desk]:
    """Four readers of a monthly: paid, unpaid, without an address, and one who is gone."""
    with at_desk(store) as desk:
        desk.to(TODAY)
        desk.put("publications", publication_id=1, name="Tide", credit_issues=1)
        desk.put("issues", issue_id=1, publication_id=1, name="April", date="2026-04-01")
        names = ("subscription_id", "type", "copies", "issues", "mailing_address_id", "cancelled")
        for row in (
            (1, "Print", 2, 5, 1, None),
            (2, "Both", 1, 3, 2, None),
            (3, "Print", 1, 4, None, None),
            (4, "Digital", 1, 0, 4, "2026-03-02"),
        ):
            found = dict(zip(names, row, strict=True))
            key = found["subscription_id"]
            desk.put("subscribers", subscriber_id=key, last_name=f"Reader {key}")
            if found["mailing_address_id"]:
                desk.put("addresses", address_id=key, subscriber_id=key, address=f"{key} Quay")
            cancelled = found.pop("cancelled")
            desk.put(
                "subscriptions",
                subscriber_id=key,
                publication_id=1,
                begins_on="2026-01-01",
                date_created="2026-03-01" if key == 1 else "2026-01-01",
                cancelled_on=cancelled,
                **found,
            )
        desk.put("orders", order_id=7, subscriber_id=2)
        desk.put("order_items", order_item_id=7, order_id=7, bundle_id=1)
        term: dict[str, int | str] = {"issues": 4, "price": 4000, "kind": "paid"}
        desk.put("terms", term_id=1, subscription_id=1, issues_left=3, paid_on="2026-03-01", **term)
        desk.put("terms", term_id=2, subscription_id=2, order_item_id=7, issues_left=3, **term)
        for number, kind, cents in ((1, "received", 4000), (2, "earned", 1000)):
            desk.put(
                "revenue",
                revenue_id=number,
                term_id=1,
                kind=kind,
                cents=cents,
                booked_on="2026-03-01",
            )
        yield desk


def test_the_figures_are_those_that_a_person_counts(small: Desk) -> None:
    """decisions, "Figures of the first page"."""
    found = figures_of(small.store, 1, TODAY)
    assert found.press_runs == {1: PressRun(printed=4, digital=1)}
    assert (found.without_address, found.without_address_in_all) == ([(3, 3)], 1)
    assert (found.unpaid, found.unpaid_in_all) == ([(7, 2)], 1)
    assert (found.new, found.lost, found.liability, found.letters) == (1, 1, 3000, 0)
    assert found.failed_loads == []


def test_the_page_shows_the_figures_as_soon_as_they_are_counted(small: Desk) -> None:
    """decisions, "Figures of the first page": the page itself never waits for them to the end."""
    with serving_console(small.store) as console:
        console.add("ada")
        browser = console.signed_in("ada")
        shown = next(
            text for _ in range(1_000) if "owed to readers" in (text := browser.get("/").text)
        )
    shown = " ".join(shown.split())
    assert ">30.00<" in shown
    assert "1 printed subscription has no address" in shown
    assert "1 order is unpaid and served no more" in shown


def test_figures_are_counted_again_when_something_has_changed(small: Desk) -> None:
    """decisions, "Figures of the first page"."""
    counting = Counting(small.store)

    def figures() -> int:
        return next(
            found.figures.counted_at
            for _ in range(1_000)
            if (found := counting.of(1, TODAY)).figures and found.is_current
        )

    first = figures()
    assert figures() == first
    small.now += MINUTE_US + 1
    assert figures() > first


def test_requests_are_counted_by_operation_for_the_account_that_asked(store: Store) -> None:
    """decisions, "Requests of partners are counted": a server writes them at its end."""
    with new_url(store) as url:
        masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
        with serving(url) as server:
            ours, wrong = ("key", "login"), ("key", "wrong")
            for path, credentials in (
                ("/2/subscriptions/", ours),
                ("/2/subscriptions/?limit=0", ours),
                ("/2/orders/7", ours),
                ("/2/orders/7", wrong),
                ("/health", ours),
            ):
                httpx2.get(server.url + path, auth=credentials)
        with opening(url) as opened:
            found = counts_of(opened, 1)
        assert [count[:3] for count in found] == [
            ("list_subscriptions", 2, 1),
            ("get_order", 1, 1),
        ]


def test_counts_of_a_month_ago_are_deleted(store: Store) -> None:
    """decisions, "Requests of partners are counted"."""
    clock = Clock()
    with new_url(store) as url, opening(url, clock) as opened:
        counts = RequestCounts()
        counts.note(1, "changes", 200, clock())
        counts.write(opened)
        assert counts_of(opened, 1) == [Count("changes", 1, 0, clock())]
        counts.note(1, "changes", 410, clock())
        counts.write(opened)
        assert counts_of(opened, 1)[0].requests == 1, "it is written once a minute"
        clock.now += MINUTE_US
        counts.write(opened)
        assert counts_of(opened, 1)[0][:3] == ("changes", 2, 1)
        clock.now += 31 * DAY_US
        counts.note(1, "get_order", 200, clock())
        counts.write(opened)
        with opened.counters() as database:
            database.set_tenant(1)
            rows = database.rows("SELECT operation FROM request_counts WHERE account_id = 1")
        assert rows == [("get_order",)]
