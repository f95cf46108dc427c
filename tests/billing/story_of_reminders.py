"""A sequence of operations that touches every rule of reminders.

What each step must give is not said here: the model says it. Invoices and payments are numbered
from 0. Cora has no mandate, and Ben has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.billing.clerk import Clerk
from tests.billing.story import BEN, CORA, MUG, SHORT, YEAR, order, pay

if TYPE_CHECKING:
    from tests.billing.reminder_model import Then
    from tests.circulation.desk import Desk

_REMIND: tuple[str, dict[str, Any]] = ("remind", {})

STORY: list[tuple[str, dict[str, Any]]] = [
    order(CORA, YEAR),
    order(CORA, SHORT, MUG),
    order(CORA, MUG, is_paid=True),
    order(BEN, YEAR),
    order(CORA, MUG),
    pay(CORA, 963, 4),
    ("close", {"publication": 1}),
    ("hand_in", {"days": 14}),
    _REMIND,
    # The first level. What is with the bank once more waits for it.
    ("pass_days", {"days": 20}),
    ("give_back", {"claim": 0, "fee": 0}),
    ("hand_in", {"days": 14}),
    # What is disputed waits, too.
    ("dispute", {"invoice": 1}),
    _REMIND,
    ("settle", {"invoice": 1, "is_upheld": False}),
    _REMIND,
    # The second level has a fee. A credit is used before, and a payment settles the fee last.
    ("cancel_invoice", {"invoice": 2}),
    ("pass_days", {"days": 1}),
    _REMIND,
    ("pass_days", {"days": 20}),
    _REMIND,
    _REMIND,
    pay(CORA, 700),
    # The last level, then a payment of everything, which comes back.
    ("pass_days", {"days": 20}),
    _REMIND,
    pay(CORA, 5_000),
    ("reverse", {"payment": 3}),
    ("write_off", {"invoice": 5, "keep": False}),
    # The first reminder is late: no level is left out.
    order(CORA, YEAR),
    ("pass_days", {"days": 40}),
    _REMIND,
]


def tell(desk: Desk) -> None:
    """Do the steps, once for each last level; raise Differs where the model says otherwise."""
    lasts: tuple[Then, ...] = ("stop", "write_off")
    for then in lasts:
        clerk = Clerk(desk, then=then)
        for name, given in STORY:
            clerk.do(name, **given)
