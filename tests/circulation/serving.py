"""The subscriptions of one reader that get a closed issue (circulation, "Close").

``store.books.served_subscriptions`` has the rule in SQL; ``test_closing`` compares the two.
"""

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from masthead.contract.subscription_types import PRINTED


class Verdict(StrEnum):
    """What closing does with a subscription."""

    SERVED = "served"
    GRACE = "grace"
    NO_ADDRESS = "no address"
    UNPAID = "unpaid"
    DELETED = "deleted"
    PASSED = "passed"


class Term(NamedTuple):
    """A term: its issues (-1 unlimited), those left, its price in cents, whether it is paid.

    ``delivered`` is how many issues have come out of it.
    """

    term_id: int
    issues: int
    issues_left: int
    price: int
    is_paid: bool
    delivered: int


class Reader(NamedTuple):
    """What decides about a subscription on the date of an issue.

    ``is_ended``: it is cancelled; ``is_deleted``: its subscriber is. ``has_address``: there is an
    address in force on that date. ``last_regular``: the date of the last issue that came out of a
    term; ``grace``: how many grace issues came since that no term has paid for.
    """

    type: str
    begins_on: date | None
    is_ended: bool
    is_deleted: bool
    is_suspended: bool
    has_address: bool
    renews: bool
    last_regular: date | None
    grace: int
    terms: Sequence[Term]


class Closing(NamedTuple):
    """The issue's date, the issues of grace, from when on, and the publication's credit."""

    day: date
    grace_issues: int
    grace_from: date | None
    credit_issues: int


def next_term(terms: Sequence[Term], credit_issues: int) -> Term | None:
    """Return the term out of which the next issue comes: the first one that has any left.

    One that is not paid and has used up its credit is passed over while another one is paid.
    """
    left = sorted(term for term in terms if term.issues_left)
    if any(term.is_paid for term in left):
        left = [term for term in left if not _is_beyond_credit(term, credit_issues)]
    return next(iter(left), None)


def _is_beyond_credit(term: Term, credit_issues: int) -> bool:
    return term.price > 0 and not term.is_paid and term.delivered >= credit_issues


def verdict(reader: Reader, closing: Closing) -> Verdict:
    """Return what closing an issue does with a subscription that has not got it.

    A term that is not paid gives ``credit_issues``; then the subscription is held, unless
    a later term is paid.
    """
    if reader.is_ended or reader.is_suspended:
        return Verdict.PASSED
    term = next_term(reader.terms, closing.credit_issues)
    if term is None:
        is_grace = (
            reader.renews
            and reader.last_regular is not None
            and closing.grace_from is not None
            and closing.grace_from <= reader.last_regular < closing.day
            and reader.grace < closing.grace_issues
        )
        if reader.is_deleted or not is_grace:
            return Verdict.PASSED
    elif reader.begins_on is None or reader.begins_on > closing.day:
        return Verdict.PASSED
    elif reader.is_deleted or _is_beyond_credit(term, closing.credit_issues):
        return Verdict.DELETED if reader.is_deleted else Verdict.UNPAID
    if reader.type in PRINTED and not reader.has_address:
        return Verdict.NO_ADDRESS
    return Verdict.GRACE if term is None else Verdict.SERVED
