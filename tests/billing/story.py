"""A sequence of operations that touches every rule of billing.

What each step must give is not said here: the model says it. It is short, so that each planted
mistake costs a second. Invoices and payments are numbered from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.billing.clerk import Clerk

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

TOLERANCE = 50
ADA, BEN, CORA = 1, 2, 3
MUG, YEAR, SHORT, TWO_LINES = range(4)


def order(payer: int, *offers: int, is_paid: bool = False) -> tuple[str, dict[str, Any]]:
    """Return the step that takes an order."""
    return "order", {"payer": payer, "offers": offers, "is_paid": is_paid}


def pay(payer: int, cents: int, of: int | None = None, **more: int) -> tuple[str, dict[str, Any]]:
    """Return the step that takes a payment."""
    return "pay", {"payer": payer, "cents": cents, "invoice": of, **more}


STORY: list[tuple[str, dict[str, Any]]] = [
    # Short, over, and with a fee: the credit goes into the next invoice, and back.
    order(ADA, YEAR),
    order(BEN, TWO_LINES, MUG),
    pay(ADA, 700, 0, fee=30),
    pay(ADA, 1500, 0),
    order(ADA, SHORT),
    pay(ADA, 400, 2),
    ("pay_back", {"payer": ADA, "cents": 100}),
    ("pay_back", {"payer": ADA, "cents": 9_000}),
    # A rest within the tolerance, and a payment of the oldest invoices.
    pay(BEN, 2032 - 40, 1, fee=10),
    order(CORA, MUG),
    order(BEN, YEAR),
    order(BEN, SHORT),
    ("close", {"publication": 1}),
    pay(BEN, 2475 - 500),
    # It comes back: what both invoices have earned, too.
    ("reverse", {"payment": 5, "fee": 300}),
    ("reverse", {"payment": 5}),
    ("reverse", {"payment": 4}),
    ("close", {"publication": 2}),
    pay(BEN, 6_000),
    # Given back: a part, once more, and all of it.
    ("credit", {"invoice": 0, "item": 0, "cents": 107}),
    ("credit", {"invoice": 0, "item": 0, "cents": 99}),
    ("refund", {"invoice": 1, "item": 1, "cents": 300}),
    ("refund", {"invoice": 0, "item": 0}),
    ("cancel_invoice", {"invoice": 2}),
    ("cancel_invoice", {"invoice": 2}),
    # Lost: without a payment, and with one that comes back afterwards.
    ("write_off", {"invoice": 3, "keep": False}),
    order(CORA, YEAR, MUG),
    pay(CORA, 1000, 6),
    ("write_off", {"invoice": 6, "keep": True}),
    ("reverse", {"payment": 9}),
    # A month is closed: money is not dated into it.
    order(CORA, SHORT, is_paid=True),
    ("pass_days", {"days": 20}),
    order(CORA, YEAR),
    pay(CORA, 700, 8, days=-10),
    pay(CORA, 584, 8, days=-10),
    ("close_month", {}),
    pay(CORA, 100, days=-15),
    ("close_month", {}),
    ("dispute", {"invoice": 7}),
    ("dispute", {"invoice": 7}),
    ("settle", {"invoice": 7, "is_upheld": True}),
    ("cancel", {"term": 2, "refund": True}),
    ("merge", {"kept": BEN, "gone": CORA}),
    ("pay_back", {"payer": BEN}),
]


def tell(desk: Desk) -> Clerk:
    """Do the steps to an account and its model; raise Differs where they are not the same."""
    clerk = Clerk(desk, tolerance=TOLERANCE)
    for name, given in STORY:
        clerk.do(name, **given)
    return clerk
