"""Books with a reader who pays and one who has a gift, and operations on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import MastheadError

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.store.database import Value
    from tests.circulation.desk import Desk

TODAY = "2026-04-15"


def fill(desk: Desk) -> None:
    """Three issues are closed and three to come; ada pays for two, ben gets one from her."""
    desk.empty()
    desk.to(TODAY)
    desk.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    desk.put("list_downloads", mailing_list_id=1, name="Tide")
    desk.put_many(
        "issues",
        [
            {
                "issue_id": n,
                "publication_id": 1,
                "name": f"Tide {n}",
                "date": f"2026-0{n}-01",
                "closed_at": "2026-01-01 00:00:00" if n < 5 else None,
                "mailing_list_id": 1 if n in {2, 3, 4} else None,
            }
            for n in range(1, 8)
        ],
    )
    desk.put("bundles", bundle_id=1, name="Tide for a year", price=1200, tax=84)
    for n, name in enumerate(("Ada", "Ben", "Cora"), 1):
        desk.put(
            "subscribers",
            subscriber_id=n,
            first_name=name,
            last_name="Ames",
            renewal_code=f"CODE{n}",
            email=f"{name.lower()}@example.org",
        )
        desk.put("addresses", address_id=n, subscriber_id=n, address=f"{n} Oak", zip_code="10001")
    desk.put(
        "orders",
        order_id=1,
        subscriber_id=1,
        billing_address_id=1,
        paid_on="2026-01-10",
        sub_total="24",
        tax_total="1.68",
        grand_total="25.68",
    )
    item: dict[str, Value] = {"order_id": 1, "bundle_id": 1, "sub_total": "12", "tax_total": "0.84"}
    for n in (1, 2):
        desk.put("order_items", order_item_id=n, grand_total="12.84", **item)
        desk.put(
            "subscriptions",
            subscription_id=n,
            subscriber_id=n,
            publication_id=1,
            mailing_address_id=n,
            billing_address_id=1,
            copies=1,
            type="Print",
            begins_on="2026-02-01",
            renew_campaign_active=1,
        )
        desk.put(
            "terms",
            term_id=n,
            subscription_id=n,
            order_item_id=n,
            issues=12,
            issues_left=9,
            price=1200,
            paid_on="2026-01-10",
            kind="paid",
        )
        received = {"subscription_id": n, "mailing_list_id": 1, "term_id": n, "address_id": n}
        desk.put_many("subscription_issues", [{**received, "issue_id": i} for i in (2, 3, 4)])
        desk.put_many(
            "revenue",
            [
                {
                    "revenue_id": 10 * n + i,
                    "term_id": n,
                    "kind": "earned" if i else "received",
                    "cents": 300 if i else 1200,
                    "booked_on": "2026-04-01",
                }
                for i in (0, 1)
            ],
        )
    desk.refresh()


def refused(desk: Desk, do: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """Run an operation that must be refused and change nothing; return the sentence."""
    before = desk.everything()
    with pytest.raises(MastheadError) as refusal:
        do(desk.books, *arguments, **named)
    assert desk.everything() == before
    return str(refusal.value)
