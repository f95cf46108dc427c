"""A publisher with a few readers, whose console is served; a second account beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.store import accounts
from tests.billing import bureau as billing
from tests.circulation.desk import at_desk
from tests.console.bookkeeping import Office
from tests.console.browser import Console, serving_console
from tests.console.log_lines import log_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store.operators import Role
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser
    from tests.servers import Store

__all__ = ["log_lines"]

ROLES: tuple[Role, ...] = ("viewer", "clerk", "finance", "manager")


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """Account 1, whose books are here, and account 2, whose are elsewhere.

    Tests that change a record take one of their own: subscribers 10 and higher.
    """
    with at_desk(store) as desk:
        fill(desk)
        yield desk


def fill(desk: Desk) -> None:
    """Give account 1 its readers, and account 2 one whose ids account 1 does not have."""
    accounts.add_account(desk.store, {"account_id": 2, "company_name": "Elsewhere Ltd"})
    desk.put("publications", publication_id=1, name="Tide")
    desk.put("issues", issue_id=1, publication_id=1, name="March", date="2190-03-01")
    readers = [
        {
            "subscriber_id": n,
            "first_name": "Ada",
            "last_name": f"Reader {n}",
            "email": f"{n}@example.org",
        }
        for n in (1, *range(10, 30))
    ]
    desk.put_many("subscribers", readers)
    desk.put("addresses", address_id=1, subscriber_id=1, address="1 Quay")
    desk.put(
        "subscriptions",
        subscription_id=1,
        subscriber_id=1,
        publication_id=1,
        mailing_address_id=1,
        issues=0,
        copies=1,
        type="Print",
        begins_on="2026-01-01",
    )
    desk.put("orders", order_id=1, subscriber_id=1, order_date="2026-01-01 10:00:00")
    desk.account_id = 2
    desk.put("publications", publication_id=901, name="Ebb")
    desk.put("issues", issue_id=901, publication_id=901, name="May", date="2190-05-01")
    desk.put("subscribers", subscriber_id=901, last_name="Neighbour")
    desk.put("addresses", address_id=901, subscriber_id=901, address="9 Lane")
    desk.put(
        "subscriptions",
        subscription_id=901,
        subscriber_id=901,
        publication_id=901,
        issues=0,
        copies=1,
        type="Print",
    )
    desk.put("orders", order_id=901, subscriber_id=901, order_date="2026-01-01 10:00:00")
    desk.put("list_downloads", mailing_list_id=901, name="May", status="Complete", count=0)
    desk.account_id = 1


@pytest.fixture(scope="module")
def console(desk: Desk) -> Iterator[Console]:
    """The console, with an operator of each role, whose name is that of the role."""
    with serving_console(desk.store) as console:
        for role in ROLES:
            console.add(role, role)
        console.add("elsewhere", "manager", account_id=2)
        yield console


@pytest.fixture(scope="module")
def office(store: Store) -> Iterator[Office]:
    """An account that bills, which ``bureau`` fills, and its console."""
    with at_desk(store) as desk, serving_console(desk.store) as console:
        for role in ROLES:
            console.add(role, role)
        yield Office(desk, console)


@pytest.fixture
def bureau(office: Office) -> Desk:
    """The account of ``tests.billing.bureau``, as it is before any order."""
    billing.fill(office.desk)
    return office.desk


@pytest.fixture
def finance(office: Office, bureau: Desk) -> Browser:
    """A browser of somebody of finance, on the day of ``bureau``."""
    assert office.desk is bureau
    return office.console.signed_in("finance")
