"""What the account of the model of billing sells, and the account with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.billing import bureau
from tests.billing.model_records import Amount

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

OFFERS: dict[int, tuple[int, int, tuple[tuple[int, int, int], ...]]] = {
    0: (900, 63, ()),
    1: (1200, 84, ((1, 12, 1200),)),
    2: (1001, 190, ((1, 7, 1001),)),
    3: (999, 70, ((1, 6, 500), (2, 5, 499))),
    4: (1258, 133, ((1, 12, 1258),)),
    5: (200, 14, ((1, 2, 200),)),
}
"""Net, tax, and lines (publication, issues, net) of what is sold; 0 is the mug.

4 is of type Both, for 13.00 and 0.91 tax in the catalogue. Digital copies are a quarter of that:
3.25 and 0.23, which is 3.48 with tax. In Ireland this has 23 %: 2.83 and 0.65.
"""

BOTH, TWO_ISSUES = 4, 5

DIGITAL = Amount(283, 65)
"""How much of 4 is digital."""

SHIPPING = {1: Amount(132, 18), 2: Amount(264, 36)}
"""What it costs to send 4 once or twice: 1.50 each with 13.5 % tax; the others cost nothing."""


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
    for rate_id, (goods, percent) in enumerate((("digital", 2300), ("shipping", 1350)), 1):
        desk.put(
            "tax_rates",
            rate_id=rate_id,
            country="IE",
            goods=goods,
            percent=percent,
            begins_on="2026-01-01",
        )
    desk.put("shipping_prices", shipping_price_id=1, type="Both", cents=150, begins_on="2026-01-01")
    for bundle_id, (net, tax, lines) in OFFERS.items():
        if bundle_id > 1:
            is_both = bundle_id == BOTH
            price = {"price": 1300, "tax": 91} if is_both else {"price": net, "tax": tax}
            desk.put("bundles", bundle_id=bundle_id, name=f"Offer {bundle_id}", **price)
            desk.put_many(
                "bundle_lines",
                [
                    {
                        "bundle_id": bundle_id,
                        "line_number": number,
                        "publication_id": publication,
                        "issues": many,
                        "type": "Both" if is_both else "Print",
                        "copies": 1,
                        "price": 1300 if is_both else cents,
                        "digital_share": 2500 if is_both else None,
                    }
                    for number, (publication, many, cents) in enumerate(lines, 1)
                ],
            )
