"""How often a page waits for PostgreSQL: its statements are sent together where that is possible.

Each wait is a switch between threads, of the pages and of the server
(decisions, "Statements that are sent together").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.databases.postgresql.session import Session
from tests.store.conftest import ON_POSTGRESQL

if TYPE_CHECKING:
    import pytest

    from tests.readers_pages.house import House

pytestmark = ON_POSTGRESQL

HOME = 8
"""The site's account and its settings, the session and its reader, and a snapshot: its begin, its
account, all that the page shows, and its end."""

ROUND_TRIPS = {
    "": HOME,
    "subscriptions/{key}": HOME,
    "subscriptions/{key}/address": HOME,
    "subscriptions/{key}/missing": HOME,
    "subscriptions/{key}/pause": HOME + 3,
    "subscriptions/{key}/cancel": HOME + 3,
    "subscriptions/{key}/renewal": HOME + 4,
    "subscriptions/{key}/renew": HOME,  # nothing is offered to renew
    "buy": HOME + 3,
    "address": HOME + 1,
    "data": HOME + 3,
    "documents/1.pdf": HOME + 3,
}


def test_a_page_waits_for_postgresql_no_more_often_than_it_did(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, (key, *_) = house.signed_in(1), house.subscriptions
    waits: list[int] = []

    def counted(name: str) -> None:
        real = getattr(Session, name)

        def count(self: Session, *args: Any, **more: Any) -> Any:
            waits.append(1)
            return real(self, *args, **more)

        monkeypatch.setattr(Session, name, count)

    for name in ("exchange_all", "execute"):
        counted(name)
    found = {}
    for page in ROUND_TRIPS:
        browser.get(page.format(key=key))  # what the first request of a page waits for alone
        waits.clear()
        assert browser.get(page.format(key=key)).status_code == 200
        found[page] = len(waits)
    assert found == ROUND_TRIPS
