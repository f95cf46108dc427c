"""What a subscription of the publisher's former system becomes when the books are opened.

Its issues left become one opening term, or two if only some of them are paid
(circulation, "Two modes of an account").
"""

from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from masthead.contract.subscription_types import UNLIMITED

_CENTS = 100


class OpeningTerm(NamedTuple):
    """A term: its issues (-1 unlimited), all of which are left, and its price in whole cents.

    The price of a paid term is its unearned revenue, 0 if the value is not known. A term that is
    not paid is free.
    """

    issues: int
    price: int
    is_paid: bool


class Contradiction(StrEnum):
    """How a subscription's numbers contradict each other; the value is the text of the message."""

    ISSUES = "issues is below -1 (it is 0 or more, or -1 where it is unlimited)"
    CENTS = "unearned_revenue is not in whole cents"
    NEGATIVE = "unearned_revenue is below 0"
    PAID = "paid_issues_left is below 0, or above issues"
    NOTHING_PAID = (
        "unearned_revenue is above 0, and no issue left is paid (issues or paid_issues_left is 0)"
    )


class ContradictionError(ValueError):
    """A subscription's numbers contradict each other, so what was paid for is not known."""

    def __init__(self, kind: Contradiction) -> None:
        super().__init__(kind.value)
        self.kind = kind


def opening_terms(
    issues: int | None, paid_issues_left: int | None, unearned_revenue: str | None
) -> list[OpeningTerm]:
    """Return the terms of a subscription, the paid one first; none if no issue is left.

    If ``unearned_revenue`` is empty or 0, ``paid_issues_left`` still says what was paid for; these
    issues earn nothing. If both are empty, no issue is paid. Raises ContradictionError.
    """
    left = issues or 0
    cents = Decimal(unearned_revenue or 0) * _CENTS
    if left < UNLIMITED:
        raise ContradictionError(Contradiction.ISSUES)
    if cents != cents.to_integral_value():
        raise ContradictionError(Contradiction.CENTS)
    if cents < 0:
        raise ContradictionError(Contradiction.NEGATIVE)
    unearned = int(cents)
    if left == UNLIMITED:
        return [OpeningTerm(UNLIMITED, unearned, unearned > 0)]
    paid = (left if unearned else 0) if paid_issues_left is None else paid_issues_left
    if not 0 <= paid <= left:
        raise ContradictionError(Contradiction.PAID)
    if unearned and not paid:
        raise ContradictionError(Contradiction.NOTHING_PAID)
    parts = (OpeningTerm(paid, unearned, True), OpeningTerm(left - paid, 0, False))
    return [part for part in parts if part.issues]
