"""Some thousands of readers, each with an order, a subscription, and an issue that was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from masthead.store.database import Value

READERS = 3_000


def rows_of_readers() -> dict[str, list[dict[str, Value]]]:
    """Return what belongs to each reader: a paid order of a year, of which an issue was sent."""
    numbers = range(1, READERS + 1)
    return {
        "subscribers": [
            {
                "subscriber_id": n,
                "renewal_code": f"R{n}",
                "email": f"reader{n}@example.org",
                "first_name": f"First{n % 10}",
                "last_name": f"Last{n}x",
                "first_name_folded": f"first{n % 10}",
                "last_name_folded": f"last{n}x",
            }
            for n in numbers
        ],
        "addresses": [
            {
                "address_id": n,
                "subscriber_id": n,
                "address": f"{n} Quay",
                "city": "Salem",
                "zip_code": f"{10_000 + n}",
            }
            for n in numbers
        ],
        "orders": [
            {
                "order_id": n,
                "subscriber_id": n,
                "mailing_address_id": n,
                "billing_address_id": n,
                "order_date": "2025-12-01 10:00:00",
                "sub_total": "12",
                "grand_total": "12",
                "external_reference": f"WEB-{n}",
                "paid_on": "2026-01-01",
            }
            for n in numbers
        ],
        "purchases": [{"purchase_id": n, "subscriber_id": n, "bundle_id": 1} for n in numbers],
        "order_items": [
            {
                "order_item_id": n,
                "order_id": n,
                "bundle_id": 1,
                "sub_total": "12",
                "grand_total": "12",
                "purchase_id": n,
            }
            for n in numbers
        ],
        "subscriptions": [
            {
                "subscription_id": n,
                "subscriber_id": n,
                "publication_id": 1,
                "mailing_address_id": n,
                "billing_address_id": n,
                "copies": 1,
                "type": "Print",
                "begins_on": "2026-01-02",
                "renew_campaign_active": 1,
            }
            for n in numbers
        ],
        "terms": [
            {
                "term_id": n,
                "subscription_id": n,
                "order_item_id": n,
                "issues": 12,
                "issues_left": 11,
                "price": 1200,
                "paid_on": "2026-01-01",
                "kind": "paid",
            }
            for n in numbers
        ],
        "revenue": [
            {
                "revenue_id": n if kind == "received" else READERS + n,
                "term_id": n,
                "kind": kind,
                "issue_id": issue,
                "cents": cents,
                "booked_on": "2026-02-01",
            }
            for kind, issue, cents in (("received", None, 1200), ("earned", 2, 100))
            for n in numbers
        ],
        "subscription_issues": [
            {"subscription_id": n, "issue_id": 2, "mailing_list_id": 1, "term_id": n}
            for n in numbers
        ],
        "mailing_list_entries": [
            {"mailing_list_id": 1, "subscription_id": n, "copies": 1, "is_paid": 1, "type": "Print"}
            for n in numbers
        ],
        "suspensions": [
            {
                "suspension_id": n,
                "subscription_id": n,
                "from_date": "2027-01-02",
                "to_date": "2027-01-31",
            }
            for n in numbers
        ],
        "temporary_addresses": [
            {
                "temporary_address_id": n,
                "subscription_id": n,
                "address_id": n,
                "from_date": "2027-03-01",
                "to_date": "2027-03-31",
            }
            for n in numbers
        ],
    }
