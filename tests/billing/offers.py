"""What the account of the model of billing sells, and the account with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.billing import bureau

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

OFFERS: dict[int, tuple[int, int, tuple[tuple[int, int, int], ...]]] = {
    0: (900, 63, ()),
    1: (1200, 84, ((1, 12, 1200),)),
    2: (1001, 190, ((1, 7, 1001),)),
    3: (999, 70, ((1, 6, 500), (2, 5, 499))),
}
"""Net, tax, and lines (publication, issues, net) of what is sold; 0 is the mug."""


EARLIER = (1, 2)
"""The orders of before billing: a mug for Ben, which was not paid."""


def fill(desk: Desk, **settings: str) -> None:
    """Write the account of ``bureau``, and what else is sold."""
    bureau.fill(desk, **settings)
    desk.put("publications", publication_id=2, name="Ebb", issues_per_year=6)
    desk.put_many(
        "issues",
        [
            {
                "issue_id": 100 + n,
                "publication_id": 2,
                "name": f"Ebb {n}",
                "date": f"{2026 + n // 6}-{n % 6 * 2 + 1:02}-15",
            }
            for n in range(2, 15)
        ],
    )
    for order_id in EARLIER:
        desk.put(
            "orders",
            order_id=order_id,
            subscriber_id=2,
            billing_address_id=2,
            order_date="2026-03-01 10:00:00",
            sub_total="9",
            tax_total="0.63",
            grand_total="9.63",
        )
        desk.put(
            "order_items",
            order_item_id=order_id,
            order_id=order_id,
            product_id=1,
            sub_total="9",
            tax_total="0.63",
            grand_total="9.63",
        )
    for bundle_id, (net, tax, lines) in OFFERS.items():
        if bundle_id > 1:
            desk.put("bundles", bundle_id=bundle_id, name=f"Offer {bundle_id}", price=net, tax=tax)
            desk.put_many(
                "bundle_lines",
                [
                    {
                        "bundle_id": bundle_id,
                        "line_number": number,
                        "publication_id": publication,
                        "issues": many,
                        "type": "Print",
                        "copies": 1,
                        "price": price,
                    }
                    for number, (publication, many, price) in enumerate(lines, 1)
                ],
            )
