"""A sequence of operations that touches every rule, on the account of ``beginning``.

What each step must give is not said here: the model says it. It is short, so that each planted
mistake costs a second.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from tests.circulation.beginning import (
    FOR_MONTHS,
    FREE,
    LONG,
    ONE_PRINTED,
    SINGLE,
    TWO_COPIES,
    TWO_LINES,
)
from tests.circulation.beginning import UNLIMITED_DIGITAL as EBB_FOREVER
from tests.circulation.model_records import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.circulation.proving import Proof

Step = tuple[str, dict[str, Any]]
REFUSED = "refused"
TIDE, EBB = 1, 2


def _order(payer: int | None, *asked: Asked, is_paid: bool = True, **more: Any) -> Step:
    return "order", {"payer": payer, "address": None, "asked": asked, "is_paid": is_paid, **more}


def _days(count: int) -> Step:
    return "pass_days", {"days": count}


def _no(name: str, **given: Any) -> Step:
    """A step that is refused."""
    return f"{REFUSED} {name}", given


def _day(month: int, day: int) -> date:
    return date(2026, month, day)


STORY: list[Step] = [
    ("set_effort", {"publication": TIDE, "effort": 1, "issues_left": 2}),
    ("set_effort", {"publication": TIDE, "effort": 2, "issues_left": 1}),
    ("set_effort", {"publication": TIDE, "effort": 3, "issues_left": -1}),
    # Subscriptions 6 to 14: two lines, one of a copy twice; a gift that is not paid; unlimited and
    # digital; a discount; somebody new; a free issue beside a product, and none behind what is
    # unlimited; two lines once more, on credit, with a discount that leaves remainders.
    _order(1, Asked(TWO_LINES)),
    _order(1, Asked(ONE_PRINTED, recipient=2, address="2 Lane"), is_paid=False, reference="shop-1"),
    _order(3, Asked(EBB_FOREVER)),
    _order(3, Asked(LONG, price=700, tax=1)),
    _order(None, Asked(TWO_COPIES, address="New Street")),
    _no("order", payer=2, address=None, asked=(Asked(FREE),), is_paid=True),
    _order(2, Asked(product=1), Asked(FREE, address="3 Lane", is_new=True), is_paid=False),
    _no("order", payer=2, address="", asked=(Asked(FREE),), is_paid=True),
    _no("order", payer=5, address=None, asked=(Asked(FREE),), is_paid=True),
    _order(1, Asked(TWO_LINES, price=334, tax=7, is_new=True), is_paid=False),
    # The same reference: once more, and with other content.
    _order(1, Asked(ONE_PRINTED, recipient=2, address="2 Lane"), is_paid=False, reference="shop-1"),
    _no("order", payer=1, address=None, asked=(Asked(LONG),), is_paid=True, reference="shop-1"),
    ("select", {"publication": TIDE}),
    ("select", {"publication": TIDE}),
    ("suspend", {"key": 3, "first": _day(3, 1), "last": _day(3, 20)}),
    ("suspend", {"key": 9}),
    _no("suspend", key=9, first=_day(4, 1), last=_day(5, 1)),
    _no("suspend", key=1, first=_day(3, 2), last=_day(3, 1)),
    ("move", {"key": 1, "address": 6, "first": _day(2, 20), "last": _day(3, 1)}),
    _no("set_copies", key=2, copies=3),
    _no("set_copies", key=2, copies=3, how="convert"),
    ("set_copies", {"key": 2, "copies": 3, "how": "free"}),
    ("set_copies", {"key": 5, "copies": 2}),
    ("preview", {"issue": 3, "grace_issues": 2, "since": _day(1, 1)}),
    _no("close", issue=4),
    _no("gap", issue=3),
    # March: subscription 5 has grace, the unpaid ones their first issue.
    ("close", {"issue": 3, "grace_issues": 2, "since": _day(1, 1)}),
    _no("close", issue=3),
    ("close", {"issue": 8}),
    _days(25),
    # Late starts: the newest closed issue of EBB, the next one of TIDE. Subscription 5 renews late,
    # and its grace comes out of the renewal.
    _order(2, Asked(TWO_LINES)),
    _order(4, Asked(ONE_PRINTED)),
    ("gap", {"issue": 8}),
    ("gap", {"issue": 3}),
    # The oldest term first, and the newest subscription of the same kind.
    _order(1, Asked(TWO_LINES, price=90, tax=9)),
    _order(1, Asked(ONE_PRINTED)),
    ("close", {"issue": 9}),
    # An unlimited term begins with the earliest issue, in any order of the issues.
    ("resume", {"key": 9, "resumed": _day(2, 19)}),
    ("gap", {"issue": 9}),
    ("gap", {"issue": 8}),
    ("close", {"issue": 4, "grace_issues": 2, "since": _day(1, 1)}),
    ("select", {"publication": TIDE}),
    # A reader who has renewed since begins with the reopened issue. It closes again.
    _order(6, Asked(TWO_COPIES)),
    ("reopen", {"issue": 4}),
    _no("remove_issue", issue=4),
    ("close", {"issue": 4, "grace_issues": 1, "since": _day(2, 1)}),
    ("reopen", {"issue": 9}),
    ("move_issue", {"issue": 9, "day": _day(3, 31)}),
    ("close", {"issue": 9}),
    # Payments and refunds: below, at, and above what is unearned.
    _days(40),
    ("pay", {"order": 2}),
    _no("pay", order=2),
    ("gap", {"issue": 4}),
    ("refund", {"order": 4, "item_id": 4, "amount": 100}),
    ("refund", {"order": 1, "item_id": 1}),
    ("refund", {"order": 5, "item_id": 5, "amount": 535}),
    _no("refund", order=3, item_id=3, amount=5000),
    _no("reopen", issue=4),
    ("cancel", {"key": 8, "refund": True}),
    ("cancel", {"key": 2, "refund": False}),
    _no("extend", key=2, issues=1),
    ("extend", {"key": 3, "issues": 2}),
    _order(2, Asked(ONE_PRINTED)),
    ("set", {"key": 6, "campaign": 0}),
    ("set_publication", {"publication": EBB, "issues_per_year": 26}),
    ("plan", {"publication": TIDE, "day": _day(7, 15)}),
    ("suspend", {"key": 5, "first": _day(6, 1), "last": _day(6, 30)}),
    ("close", {"issue": 5, "grace_issues": 1, "since": _day(3, 1)}),
    ("gap", {"issue": 5}),
    # Subscription 1 had the issue out of a term that is merged now.
    ("merge", {"kept": 3, "gone": 1}),
    _no("merge", kept=3, gone=1),
    _no("reopen", issue=5),
    ("select", {"publication": TIDE}),
    _days(30),
    ("close", {"issue": 6, "grace_issues": 1, "since": _day(3, 1)}),
    ("file", {"issue": 6}),
    _no("reopen", issue=6),
    ("select", {"publication": TIDE}),
    ("close", {"issue": 10}),
    # Grace ends: by the date of the last issue, and by how many there were since.
    ("close", {"issue": 7, "grace_issues": 1, "since": _day(5, 15)}),
    ("close", {"issue": 12, "grace_issues": 1, "since": _day(5, 15)}),
    # Cents that do not divide: both subscriptions of a bundle are cancelled one after the other,
    # and an item is refunded in parts.
    _order(4, Asked(TWO_LINES, price=2, tax=1, is_new=True)),
    ("cancel", {"key": 18, "refund": True}),
    ("cancel", {"key": 19, "refund": True}),
    _order(4, Asked(ONE_PRINTED, price=50, tax=51, is_new=True)),
    ("refund", {"order": 15, "item_id": 16, "amount": 1}),
    ("refund", {"order": 15, "item_id": 16, "amount": 1}),
    _no("refund", order=15, item_id=16, amount=100),
    # A part of two lines' money goes back, then more than was unearned, of which a share stands
    # ahead of today. Who has all money back leaves the campaign, and an order brings them back.
    _order(4, Asked(TWO_LINES, is_new=True)),
    ("close", {"issue": 11}),
    ("refund", {"order": 16, "item_id": 17, "amount": 300}),
    ("refund", {"order": 16, "item_id": 17, "amount": 400}),
    ("refund", {"order": 16, "item_id": 17, "amount": 201}),
    _order(4, Asked(TWO_LINES)),
    # An issue whose month has ended: it is closed, and reopened.
    ("plan", {"publication": EBB, "day": _day(6, 25)}),
    _days(50),
    ("close", {"issue": 13}),
    ("reopen", {"issue": 13}),
    # Two readers who are one: what one has got comes no second time, and the letter, the suspension
    # and the terms go with it. What was merged, reader or subscription, means the one kept.
    _order(None, Asked(ONE_PRINTED, address="7 Row")),
    _order(None, Asked(ONE_PRINTED)),
    ("plan", {"publication": TIDE, "day": _day(8, 1)}),
    ("close", {"issue": 14}),
    ("select", {"publication": TIDE}),
    ("suspend", {"key": 23, "first": _day(9, 1), "last": _day(9, 20)}),
    ("suspend", {"key": 24, "first": _day(9, 10), "last": _day(9, 12)}),
    ("merge", {"kept": 8, "gone": 7}),
    ("gap", {"issue": 14}),
    _order(7, Asked(ONE_PRINTED, is_new=True)),
    _order(8, Asked(ONE_PRINTED)),
    _order(8, Asked(ONE_PRINTED, subscription=25)),
    _order(8, Asked(ONE_PRINTED, subscription=23)),
    _no("order", payer=8, address=None, asked=(Asked(FREE, subscription=24),), is_paid=True),
    # Subscriptions 26 to 33, each of a new reader: three copies; not paid; unlimited, over three
    # months; one that is converted; one without an address; one that gets grace; one that begins
    # with the issue of December; and staff, with a free copy beside it.
    ("set_publication", {"publication": TIDE, "grace_counts": 0}),
    *(("plan", {"publication": TIDE, "day": _day(month, 1)}) for month in range(9, 13)),
    ("plan", {"publication": TIDE, "day": _day(12, 20)}),
    _order(None, Asked(TWO_COPIES)),
    _order(None, Asked(SINGLE), is_paid=False),
    _order(None, Asked(FOR_MONTHS)),
    _order(None, Asked(SINGLE)),
    _order(None, Asked(LONG)),
    _order(None, Asked(FREE)),
    _order(None, Asked(SINGLE, first_issue=18)),
    _order(None, Asked(FREE, of_class="staff")),
    _no("order", payer=2, address=None, asked=(Asked(LONG, of_class="staff"),), is_paid=True),
    ("set_copies", {"key": 33, "copies": 2, "how": "free"}),
    ("set_mailing_day", {"issue": 15, "day": _day(10, 3)}),
    ("suspend", {"key": 28, "first": _day(9, 15), "last": _day(10, 15)}),
    ("close", {"issue": 15}),
    # One copy is ordered behind three, and paid behind what is not paid.
    _order(9, Asked(SINGLE)),
    _order(10, Asked(SINGLE)),
    ("move", {"key": 30, "address": "11 Row"}),
    ("close", {"issue": 16, "grace_issues": 1, "since": _day(8, 20)}),
    ("gap", {"issue": 15}),
    # What was grace, and what came before an earlier issue, is undone and comes again.
    _order(14, Asked(SINGLE)),
    ("reopen", {"issue": 16}),
    ("close", {"issue": 16, "grace_issues": 1, "since": _day(8, 20)}),
    _no("set_copies", key=29, copies=4),
    _no("set_copies", key=29, copies=6, how="convert"),
    ("set_copies", {"key": 29, "copies": 2, "how": "convert"}),
    _no("reopen", issue=16),
    ("close", {"issue": 17}),
    ("set_publication", {"publication": TIDE, "credit_issues": 2}),
    ("set_publication", {"publication": TIDE, "credit_issues": 1}),
    ("move_issue", {"issue": 18, "day": _day(11, 20)}),
    ("extend", {"key": 26, "issues": 1, "of_class": "make-good"}),
    ("close", {"issue": 18}),
    ("close", {"issue": 19}),
    ("reopen", {"issue": 19}),
    # Allowances: before anything has come, between two issues, and of what is unlimited. An issue
    # of before one is reopened, and closed again.
    ("allow", {"order": 17, "item_id": 18, "amount": 201}),
    ("allow", {"order": 3, "item_id": 3, "amount": 50}),
    _no("allow", order=17, item_id=18, amount=800),
    _no("allow", order=17, item_id=18, amount=0),
    ("close", {"issue": 13}),
    ("allow", {"order": 17, "item_id": 18, "amount": 50}),
    ("reopen", {"issue": 13}),
    ("close", {"issue": 13}),
    ("plan", {"publication": EBB, "day": _day(9, 25)}),
    ("close", {"issue": 20}),
    ("refund", {"order": 17, "item_id": 18}),
    # It was closed before its month, and is reopened after it.
    ("close", {"issue": 19}),
    _days(190),
    ("reopen", {"issue": 19}),
    # Twelve copies go to three addresses of one reader, at a price of their own, and again.
    *(
        _order(
            3,
            Asked(ONE_PRINTED, address="1 Dock", copies=5),
            Asked(ONE_PRINTED, address=street, copies=4, price=90, tax=9),
            Asked(ONE_PRINTED, copies=3),
            Asked(product=1, copies=2),
        )
        for street in ("2 Dock", "2 Dock", "4 Dock")
    ),
]
"""The steps: the name of an operation, after ``refused`` where it is, and what it is given."""


def tell(proof: Proof, steps: Sequence[Step] = STORY) -> None:
    """Do the steps; raise Differs where the books are not what the model says."""
    for name, given in steps:
        if name == "pass_days":
            proof.pass_days(**given)
            continue
        is_refused = name.startswith(REFUSED)
        result = proof.do(name.removeprefix(REFUSED).strip(), **given)
        assert (result == REFUSED) == is_refused, (name, given, result)
