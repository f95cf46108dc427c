"""What a subscription of the publisher's former system becomes when the books are opened.

circulation, "Two modes of an account": its issues left become one opening term, of two parts where
only some of them are paid.
"""

from decimal import Decimal
from typing import NamedTuple

__all__ = ["UNLIMITED", "OpeningTerm", "cents_of", "opening_terms"]

UNLIMITED = -1
_CENTS = 100


class OpeningTerm(NamedTuple):
    """A term: its issues (-1 unlimited), all of which are left, and its price in whole cents.

    The price is what is unearned of a term that is paid; a free one has none.
    """

    issues: int
    price: int


def cents_of(amount: str | None) -> int:
    """Return an amount in whole cents; 0 for none. Raises ValueError if it has other decimals."""
    cents = Decimal(amount or 0) * _CENTS
    if cents != cents.to_integral_value():
        raise ValueError(f"unearned_revenue is {amount}, which is not in whole cents")
    return int(cents)


def opening_terms(
    issues: int | None, paid_issues_left: int | None, unearned_revenue: str | None
) -> list[OpeningTerm]:
    """Return the terms of a subscription, the paid one first; none if no issue is left.

    Raises ValueError, with a sentence that the subscription's name comes before, where its three
    numbers contradict each other: then nobody can tell what was paid for.
    """
    left = issues or 0
    unearned = cents_of(unearned_revenue)
    if left < UNLIMITED:
        raise ValueError(f"issues is {left}: it is 0 or more, or -1 where it is unlimited")
    if unearned < 0:
        raise ValueError(f"unearned_revenue is {unearned_revenue}: it is 0 or more")
    if left == UNLIMITED:
        return [OpeningTerm(UNLIMITED, unearned)]
    paid = (left if unearned else 0) if paid_issues_left is None else paid_issues_left
    if not 0 <= paid <= left:
        raise ValueError(f"paid_issues_left is {paid}, and issues is {left}")
    if unearned and not paid:
        raise ValueError(f"unearned_revenue is {unearned_revenue}, and no issue left is paid")
    if paid and not unearned:
        raise ValueError(
            f"paid_issues_left is {paid}, and nothing is unearned: set unearned_revenue, or leave "
            "paid_issues_left empty"
        )
    parts = (OpeningTerm(paid, unearned), OpeningTerm(left - paid, 0))
    return [part for part in parts if part.issues]
