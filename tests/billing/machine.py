"""Any order of all operations of billing, as Hypothesis draws them.

A step is drawn as a name and numbers. What the numbers mean is chosen by what there is then: the
n-th invoice, the newest first; so many cents more than is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.billing.clerk import Clerk
from tests.billing.offers import EARLIER

if TYPE_CHECKING:
    from tests.billing.reminder_model import Then
    from tests.circulation.desk import Desk

_PICK = st.integers(0, 7)
_YES = st.booleans()
_SELDOM = st.sampled_from([False, False, False, True])
_DAYS = st.sampled_from([0, 0, 0, 0, 0, -1, -3, -10, -40, 1])
_FEE = st.sampled_from([0, 0, 0, 30, 300])
_CENTS = st.sampled_from([None, None, 0, 1, 99, 107, 300, 801])

_NUMBERS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "order": {
        "payer": _PICK,
        "offers": st.lists(st.integers(0, 5), min_size=1, max_size=2),
        "is_paid": _SELDOM,
    },
    "pay": {
        "payer": _PICK,
        "invoice": st.none() | _PICK | _PICK | _PICK,
        "cents": st.sampled_from([0, 0, 0, 0, -1, -20, -642, 500, 1284]),
        "fee": _FEE,
        "days": _DAYS,
    },
    "reverse": {"payment": _PICK, "fee": _FEE, "days": _DAYS},
    "pay_back": {"payer": _PICK, "cents": _CENTS, "days": _DAYS},
    "cancel_invoice": {"invoice": _PICK},
    "refund": {"invoice": _PICK, "item": _PICK, "cents": _CENTS},
    "credit": {"invoice": _PICK, "item": _PICK, "cents": _CENTS},
    "write_off": {"invoice": _PICK, "keep": _YES},
    "dispute": {"invoice": _PICK},
    "settle": {"invoice": _PICK, "is_upheld": _YES},
    "cancel": {"term": _PICK, "refund": _YES, "later": st.sampled_from([0, 0, 1, 2])},
    "uncancel": {"term": _PICK},
    "erase": {"payer": _PICK, "refund": _YES},
    "make": {"order_id": st.sampled_from(EARLIER)},
    "close": {"publication": st.sampled_from([1, 1, 2]), "gap": _SELDOM},
    "reopen": {"publication": st.sampled_from([1, 2])},
    "merge": {"kept": _PICK, "gone": _PICK, "keep_both": _YES},
    "pass_days": {"days": st.sampled_from([1, 5, 20, 40])},
    "close_month": {},
    "sign": {"payer": _PICK},
    "hand_in": {"days": st.sampled_from([14, 14, 14, 1])},
    "collect": {},
    "give_back": {"claim": _PICK, "fee": _FEE},
    "remind": {},
    "agree": {"term": _PICK},
    "disagree": {"term": _PICK},
    "night": {},
    "reprice": {"net": st.sampled_from([200, 300])},
}
"""What is drawn for each operation."""

_OFTEN = {"order": 5, "pay": 8, "reverse": 3, "pay_back": 2, "write_off": 2, "close": 3}
_OFTEN |= {"credit": 2, "refund": 2, "pass_days": 4, "hand_in": 4, "collect": 4, "give_back": 4}
_OFTEN |= {"remind": 5, "agree": 5, "night": 4}
_NAMES = [name for name in _NUMBERS for _ in range(_OFTEN.get(name, 1))]
_OF_ORDERS = {"credit", "refund", "dispute", "settle"}
"""What is done to an order, which the fee of a reminder does not have."""

STEPS = st.sampled_from(_NAMES).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries(_NUMBERS[name]))
)


def chosen(clerk: Clerk, name: str, numbers: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a step, or None where there is nothing to do it to."""
    model, given = clerk.model, dict(numbers)
    many = {
        "invoice": len(model.invoices),
        "payment": len(model.payments),
        "claim": len(model.debits.claims),
        "term": sum(len(invoice.terms) for invoice in model.invoices),
    }
    for argument in many.keys() & given.keys():
        if given[argument] is not None:
            if not many[argument]:
                return None
            given[argument] = many[argument] - 1 - given[argument] % many[argument]
    for argument in {"payer", "kept", "gone"} & given.keys():
        given[argument] = clerk.payers[given[argument] % len(clerk.payers)]
    if name == "erase" and (len(clerk.payers) < 2 or numbers["payer"] < 4):
        return None
    if name in _OF_ORDERS and model.invoices[given["invoice"]].is_fee:
        return None
    if name == "pay":
        invoice = given["invoice"]
        given["cents"] += 1284 if invoice is None else model.invoices[invoice].open
    elif name == "credit" and given["cents"] is None:
        given["cents"] = 50
    return given


class Sequences(RuleBasedStateMachine):
    """Any order of operations; each is compared with the model, and its sums are checked."""

    desk: ClassVar[Desk]

    @initialize(
        tolerance=st.sampled_from([0, 0, 50]),
        by_invoice=_SELDOM,
        then=st.sampled_from(["nothing", "stop", "write_off"]),
    )
    def begin(self, tolerance: int, then: Then, *, by_invoice: bool) -> None:
        """Begin with an account without orders."""
        due_by = "invoice" if by_invoice else "payment"
        self.clerk = Clerk(self.desk, tolerance=tolerance, due_by=due_by, then=then)

    @rule(step=STEPS)
    def go_on(self, step: tuple[str, dict[str, Any]]) -> None:
        """Do what the step says.

        There is one rule for all, because Hypothesis leaves some rules out of each sequence.
        """
        name, numbers = step
        given = chosen(self.clerk, name, numbers)
        if given is not None:
            self.clerk.do(name, **given)


def sequences(desk: Desk) -> type[Sequences]:
    """Return the sequences of an account."""
    return type("SequencesHere", (Sequences,), {"desk": desk})
