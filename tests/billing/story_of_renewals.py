"""A sequence of operations that touches automatic renewal, shipping and digital shares.

What each step must give is not said here: the model says it. Invoices, payments and terms are
numbered from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.billing.clerk import Clerk
from tests.billing.offers import BOTH, TWO_ISSUES
from tests.billing.story import ADA, BEN, CORA, MUG, order, pay

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

Step = tuple[str, dict[str, Any]]
_NIGHT: Step = ("night", {})


def _agree(term: int) -> Step:
    return "agree", {"term": term}


def _pass(days: int) -> Step:
    return "pass_days", {"days": days}


STORY: list[Step] = [
    # Print and digital of one line, with shipping: paid, given back in part, sent back.
    order(ADA, BOTH),
    pay(ADA, 1541, 0),
    ("credit", {"invoice": 0, "item": 0, "cents": 107}),
    ("reverse", {"payment": 0, "fee": 300}),
    order(ADA, BOTH, BOTH, MUG),
    pay(ADA, 1000, 1),
    ("close", {"publication": 1}),
    ("write_off", {"invoice": 1, "keep": True}),
    order(CORA, BOTH, MUG),
    pay(CORA, 2504, 2),
    ("refund", {"invoice": 2, "item": 0}),
    ("cancel_invoice", {"invoice": 2}),
    order(CORA, BOTH, is_paid=True),
    ("dispute", {"invoice": 3}),
    ("settle", {"invoice": 3, "is_upheld": True}),
    order(BEN, BOTH),
    ("write_off", {"invoice": 4, "keep": False}),
    order(BEN, BOTH),
    ("cancel_invoice", {"invoice": 5}),
    # The notice goes to who has paid. Cora pays later, at another price, stops and agrees again.
    ("pay_back", {"payer": CORA}),
    order(ADA, TWO_ISSUES),
    order(BEN, TWO_ISSUES),
    order(CORA, TWO_ISSUES),
    pay(ADA, 214, 6),
    pay(BEN, 214, 7),
    *map(_agree, (7, 8, 9)),
    _pass(2),
    _NIGHT,
    _pass(31),
    _NIGHT,
    ("merge", {"kept": ADA, "gone": BEN}),
    ("reprice", {"net": 300}),
    pay(CORA, 214, 8),
    _NIGHT,
    ("disagree", {"term": 9}),
    _pass(1),
    _agree(9),
    _NIGHT,
    # The renewals of the first two have their price, once each. Cora orders by hand before.
    _pass(28),
    _NIGHT,
    _pass(1),
    _NIGHT,
    order(CORA, TWO_ISSUES, is_paid=True),
    _pass(1),
    _NIGHT,
    _NIGHT,
    # What is disputed waits, and is refused then; what was cancelled ends.
    *[("close", {"publication": 1})] * 2,
    pay(ADA, 214, 9),
    pay(ADA, 214, 10),
    _pass(31),
    _NIGHT,
    ("dispute", {"invoice": 9}),
    ("cancel", {"term": 11, "refund": True}),
    _pass(31),
    _NIGHT,
    _pass(31),
    _NIGHT,
    # Two readers with a consent each are merged, and so are their subscriptions.
    ("settle", {"invoice": 9, "is_upheld": False}),
    order(ADA, TWO_ISSUES, is_paid=True),
    ("merge", {"kept": ADA, "gone": CORA, "keep_both": False}),
    _pass(40),
    _NIGHT,
    _pass(31),
    _NIGHT,
]


def tell(desk: Desk) -> Clerk:
    """Do the steps to an account and its model; raise Differs where they are not the same."""
    clerk = Clerk(desk)
    for name, given in STORY:
        clerk.do(name, **given)
    return clerk
