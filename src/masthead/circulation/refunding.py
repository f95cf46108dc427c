"""What is given back for an item of an order, and where it comes from (circulation, "Money").

All amounts are whole cents. An item has a net price, which its terms share, and a tax; gross is
both. What is unearned is given back first, then what was already earned. The division into net and
tax counts earlier refunds, so that neither is ever given back twice.
"""

from collections.abc import Sequence
from typing import NamedTuple


class TermMoney(NamedTuple):
    """What a term has in the books: received, and how much of it was earned and refunded."""

    received: int
    earned: int
    refunded: int

    @property
    def unearned(self) -> int:
        """What was received and neither earned nor refunded."""
        return self.received - self.earned - self.refunded


class Item(NamedTuple):
    """An item: its net price and tax, the net that was paid, and the gross refunded so far."""

    net: int
    tax: int
    paid_net: int
    refunded: int


class Taken(NamedTuple):
    """What to book for a term: refunded, and earned, which is below 0 if it is taken back."""

    refunded: int
    earned: int


def tax_of(unearned: int, net: int, tax: int) -> int:
    """Return the tax that belongs to ``unearned`` of an item of ``net`` and ``tax``, in cents.

    It is rounded to the nearest cent, half a cent up. An item without a price has no tax to share.
    """
    return (2 * tax * unearned + net) // (2 * net) if net > 0 else 0


def paid_gross(item: Item) -> int:
    """Return the most that can be refunded: what was paid with its tax, less earlier refunds."""
    if item.paid_net == item.net:
        paid = item.net + item.tax
    else:
        paid = item.paid_net + tax_of(item.paid_net, item.net, item.tax)
    return max(paid - item.refunded, 0)


def tax_share(item: Item, net: int, net_refunded: int) -> int:
    """Return the tax that goes back with ``net`` of an item, after ``net_refunded`` of it.

    Together with earlier refunds, it is the tax of all refunded net, so that the parts are never
    more than the whole.
    """
    before = item.refunded - net_refunded
    return max(tax_of(net_refunded + net, item.net, item.tax) - before, 0)


def amount_by_default(item: Item, terms: Sequence[TermMoney]) -> int:
    """Return what is unearned, with its share of the tax; at most what was paid."""
    unearned = sum(term.unearned for term in terms)
    refunded = sum(term.refunded for term in terms)
    return min(unearned + tax_share(item, unearned, refunded), paid_gross(item))


def net_of(item: Item, amount: int, terms: Sequence[TermMoney]) -> int:
    """Return the net part of a gross ``amount``, at most :func:`paid_gross`.

    Together with earlier refunds, it is the net part of the sum, rounded to the nearest cent, half
    a cent up. It is at most ``amount`` and the net that is left, and large enough that the rest is
    at most the tax that is left.
    """
    refunded = sum(term.refunded for term in terms)
    left = sum(term.received for term in terms) - refunded
    tax_left = max(paid_gross(item) - left, 0)
    gross = item.net + item.tax
    part = (2 * (item.refunded + amount) * item.net + gross) // (2 * gross) if gross else 0
    return max(min(part - refunded, left, amount), amount - tax_left, 0)


def taken(net: int, terms: Sequence[TermMoney]) -> list[Taken]:
    """Return what to book for each term when ``net`` is given back and all terms end.

    What is unearned goes back first, then what was earned, each in proportion to the terms' amounts
    (:func:`parts`). The rest of what is unearned becomes earned. ``net`` is at most the terms'
    received less refunded.
    """
    unearned = [term.unearned for term in terms]
    refunds = parts(min(net, sum(unearned)), unearned)
    backs = parts(net - sum(refunds), [term.earned for term in terms])
    return [
        Taken(refunded + back, left - refunded - back)
        for left, refunded, back in zip(unearned, refunds, backs, strict=True)
    ]


def parts(cents: int, most: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to ``most``, which no part exceeds; they add up to it.

    Each part is the rounded-down share of all parts up to it, less the parts before it. So if the
    amount is nearly everything, no part is a cent above its limit.
    """
    whole = sum(most)
    found, before, until = [], 0, 0
    for each in most:
        until += each
        together = cents * until // whole if whole else 0
        found.append(together - before)
        before = together
    return found
