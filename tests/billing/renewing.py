"""Readers of the bureau who agreed to automatic renewal, and nights in which it runs.

Two issues of Tide cost 2.00 and 0.14 tax; the last one is that of June 1. With the usual settings,
the renewal is announced on April 18 and ordered on May 18.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import automatic_renewals, renewal_consents
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item
from tests.billing.bureau import order, pay

if TYPE_CHECKING:
    from masthead.books.automatic_renewals import Announcements, Renewed
    from tests.circulation.desk import Desk

ANNOUNCED = "2026-04-18"
RENEWED = "2026-05-18"
SHORT, YEAR = 2, 1
"""The bundles."""

WORDS = "yes, renew it each year until I say stop"


def sell_two_issues(desk: Desk) -> None:
    """Sell two issues of Tide."""
    desk.put("bundles", bundle_id=SHORT, name="Tide twice", price=200, tax=14)
    desk.put(
        "bundle_lines",
        bundle_id=SHORT,
        line_number=1,
        publication_id=1,
        issues=2,
        type="Print",
        copies=1,
        price=200,
    )


def reader(desk: Desk, payer: int = 1, *, copies: int = 1, is_paid: bool = True) -> int:
    """Sell two issues to a payer who agrees that a year of Tide renews them.

    Returns the subscription.
    """
    taken = order(desk, payer, Item(bundle_id=SHORT, copies=copies, is_new=True))
    if is_paid and desk.table("billing"):
        pay(desk, taken, Incoming(214 * copies))
    ((subscription_id,),) = desk.rows(
        "SELECT max(subscription_id) FROM subscriptions WHERE account_id = :account_id"
    )
    renewal_consents.give(desk.books, subscription_id, YEAR, WORDS, source="telephone")
    return int(subscription_id)


def night(desk: Desk, day: str) -> tuple[Announcements, Renewed]:
    """Announce and order in the night of a day."""
    desk.to(day)
    return automatic_renewals.announce(desk.books), automatic_renewals.renew(desk.books)


def statuses(desk: Desk) -> list[str]:
    """Return what became of each announced renewal."""
    return [row["status"] for row in desk.table("announced_renewals")]


def orders_of(desk: Desk, subscription_id: int) -> list[int]:
    """Return the orders of a subscription's terms, the oldest first."""
    return [
        order_id
        for (order_id,) in desk.rows(
            """
            SELECT i.order_id FROM terms AS t JOIN order_items AS i
                ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
            WHERE t.account_id = :account_id AND t.subscription_id = :subscription_id
            ORDER BY t.term_id
            """,
            subscription_id=subscription_id,
        )
    ]
