"""The records of the model of billing, and how it rounds.

Amounts are whole cents; days are ``YYYY-MM-DD``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Refused(Exception):
    """The operation changes nothing."""


def check(*conditions: object) -> None:
    """Refuse the operation unless all conditions hold."""
    if not all(conditions):
        raise Refused


def half_up(cents: int, of: int, by: int) -> int:
    """``cents`` times ``of`` by ``by``, rounded half up; 0 of nothing."""
    return (2 * cents * of + by) // (2 * by) if by > 0 else 0


def in_proportion(cents: int, most: Sequence[int]) -> list[int]:
    """Divide cents: until each part, what falls on all until then, rounded down."""
    until = [cents * sum(most[: n + 1]) // (sum(most) or 1) for n in range(len(most))]
    return [after - before for before, after in zip([0, *until], until, strict=False)]


@dataclass(eq=False)
class Term:
    """So many issues for a net price; ``allowed`` was given back while it goes on."""

    subscription: int
    issues: int
    price: int
    delivered: list[int] = field(default_factory=list)
    is_paid: bool = False
    is_over: bool = False
    allowed: int = 0
    since: int = 0
    """After how many deliveries the rest was spread again, which ``had`` cents had earned."""
    had: int = 0
    received: int = 0
    earned: int = 0
    refunded: int = 0

    @property
    def is_due(self) -> bool:
        return self.price > 0 and not self.is_paid and not self.is_over

    @property
    def unearned(self) -> int:
        return self.received - self.earned - self.refunded

    def due(self) -> int:
        """What its deliveries earn: all of it with the last one, each share rounded down."""
        done, rest = len(self.delivered), self.price - self.allowed
        if done >= self.issues:
            return rest
        if done < self.since:
            return self.had * done // self.since
        return self.had + (rest - self.had) * (done - self.since) // (self.issues - self.since)

    def receive(self) -> None:
        """It is paid: what was delivered on credit is earned at once."""
        self.is_paid, self.received = True, self.price
        self.earned, self.refunded = self.due(), self.allowed

    def end(self) -> None:
        """It ends: what is unearned is earned."""
        self.earned += self.unearned
        self.is_over = True


class Amount(NamedTuple):
    """A net amount and its tax."""

    net: int
    tax: int


NOTHING = Amount(0, 0)


@dataclass(eq=False)
class Item:
    """A bundle with its terms, or a product; ``refunded`` is with tax.

    ``digital`` is how much of what is not credited is digital; the rest is printed.
    """

    net: int
    tax: int
    terms: list[Term]
    refunded: int = 0
    is_over: bool = False
    is_dropped: bool = False
    credited: int = 0
    credited_tax: int = 0
    digital: Amount = NOTHING

    def take_digital(self, net: int, tax: int) -> dict[str, int]:
        """Return what of an amount to be credited is digital, which is in proportion to the rest.

        The part of the printed copies is rounded down.
        """
        left, left_tax = self.net - self.credited, self.tax - self.credited_tax
        (_, of_net), (_, of_tax) = (
            in_proportion(cents, [whole - part, part])
            for cents, whole, part in zip((net, tax), (left, left_tax), self.digital, strict=True)
        )
        self.digital = Amount(self.digital.net - of_net, self.digital.tax - of_tax)
        return {"net": of_net, "tax": of_tax}

    def has_ended(self) -> bool:
        """Whether nothing of it is to come: neither issues nor money that is due."""
        return all(t.is_over or (len(t.delivered) >= t.issues and not t.is_due) for t in self.terms)


@dataclass(eq=False)
class Invoice:
    """An order's claim on its payer; ``paid`` is by payment, ``is_paid`` that it was whole.

    ``shipping`` is what of it is not credited.

    The fee of a reminder has no items. ``settled_on`` is the last day on which something settled
    it or came back, ``came_back`` the last day on which a payment of it came back.
    """

    payer: int
    items: list[Item]
    issued: str
    net: int
    tax: int
    shipping: Amount = NOTHING
    paid: Counter[int] = field(default_factory=Counter)
    credited: int = 0
    credited_tax: int = 0
    written: int = 0
    is_paid: bool = False
    is_receipt: bool = False
    is_disputed: bool = False
    settled_on: str = ""
    came_back: str = ""

    @property
    def is_fee(self) -> bool:
        return not self.items

    @property
    def total(self) -> int:
        return self.net + self.tax

    @property
    def open(self) -> int:
        return self.total - self.paid.total() - self.credited - self.written

    @property
    def terms(self) -> list[Term]:
        return [term for item in self.items for term in item.terms]

    @property
    def products(self) -> list[Item]:
        return [item for item in self.items if not item.terms and not item.is_over]


@dataclass(eq=False)
class Payment:
    """Money that came or went; ``left`` is credit."""

    payer: int
    kind: str
    cents: int
    day: str
    left: int = 0
    fee: int = 0
    is_reversed: bool = False


def tax_back(item: Item, net: int) -> int:
    """The tax of all that is given back of an item, with ``net`` now, less what was before."""
    so_far = sum(term.refunded for term in item.terms)
    return max(half_up(so_far + net, item.tax, item.net) - (item.refunded - so_far), 0)


def unpaid_net(invoice: Invoice) -> int:
    """The net of an invoice that is not revenue: what ended after it was paid stays revenue."""
    kept = sum(term.received - term.refunded for term in invoice.terms)
    kept += sum(
        item.net - item.credited
        for item in invoice.items
        if not item.terms and item.is_over and not item.is_dropped
    )
    return invoice.net - (invoice.credited - invoice.credited_tax) - kept


def most_back(invoice: Invoice, item: Item) -> int:
    """What was paid of an item, tax included, and was not given back."""
    paid = sum(t.price for t in item.terms if t.is_paid) if item.terms else item.net
    paid += item.tax if paid == item.net else half_up(paid, item.tax, item.net)
    is_paid = invoice.is_paid and not item.is_dropped
    return max(paid - item.refunded, 0) if is_paid else 0


def net_part(invoice: Invoice, item: Item, cents: int) -> int:
    """What of an amount that is given back is not tax."""
    gross = item.net + item.tax
    so_far = sum(term.refunded for term in item.terms)
    kept = sum(term.received - term.refunded for term in item.terms)
    if not item.terms:
        so_far = min(half_up(item.refunded, item.net, gross), item.net)
        kept = item.net - so_far
    net = min(max(half_up(item.refunded + cents, item.net, gross) - so_far, 0), kept, cents)
    return max(net, cents - max(most_back(invoice, item) - kept, 0))


def given_back(item: Item) -> tuple[int, int]:
    """Net and tax of an item that were given back, or are not due any more."""
    if not item.terms:
        if item.is_dropped:
            return item.net, item.tax
        net = min(half_up(item.refunded, item.net, item.net + item.tax), item.net)
        return net, item.refunded - net
    paid = unpaid = 0
    for term in item.terms:
        if term.is_over and term.is_paid:
            paid += term.refunded
        else:
            paid += term.allowed
            unpaid += term.price - term.allowed if term.is_over else 0
    tax = max(item.refunded - paid, 0) + half_up(unpaid, item.tax, item.net)
    return paid + unpaid, item.tax if paid + unpaid == item.net else min(tax, item.tax)
