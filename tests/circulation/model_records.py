"""What the model of circulation keeps: the records of an account, as plain values.

They are the tables of the page, without what follows from them. Amounts are whole cents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from datetime import date as Day  # noqa: N812 - Issue.date hides the other name

T = TypeVar("T")


@dataclass
class Publication:
    issues_per_year: int = 12
    late_start: str = "next"
    grace_counts: int = 0
    credit_issues: int = 1
    unlimited_term_months: int = 12


@dataclass
class Issue:
    """An issue; ``closed`` is the moment at which it was, ``main_list`` what closing made."""

    publication: int
    date: date
    closed: int | None = None
    main_list: int | None = None
    is_written: bool = False
    mailed_on: Day | None = None


@dataclass
class Address:
    subscriber: int
    street: str


class Line(NamedTuple):
    publication: int
    issues: int
    type: str
    copies: int
    price: int
    months: int | None = None


@dataclass
class Bundle:
    """A bundle; a product is one without lines."""

    price: int
    tax: int
    lines: tuple[Line, ...] = ()
    active: bool = True


class Asked(NamedTuple):
    """An item of an order as it is asked for; an address is one that is there, or a new street."""

    bundle: int | None = None
    product: int | None = None
    recipient: int | None = None
    address: int | str | None = None
    is_new: bool = False
    first_issue: int | None = None
    price: int | None = None
    tax: int | None = None
    subscription: int | None = None
    is_gift: bool | None = None
    of_class: str | None = None
    copies: int = 1


class Person(NamedTuple):
    """A subscriber in an order: the address that it names, and the one that is used."""

    subscriber: int
    named: int | None
    address: int | None


@dataclass
class Subscription:
    subscriber: int
    publication: int
    type: str
    begins_on: date | None
    created: date | None = None
    mailing: int | None = None
    billing: int | None = None
    copies: int = 1
    campaign: int = 1
    renewed: date | None = None
    last_bundle: int | None = None
    last_purchase: int | None = None
    cancelled_on: date | None = None


@dataclass
class Term:
    """A term; ``ended`` and ``moved`` are moments.

    After ``spread_after`` issues it has earned ``spread_earned``; the rest is spread over
    ``spread_parts``, issues times copies, or where there are none, over the issues left then.
    """

    subscription: int
    item: int | None
    issues: int
    price: int
    kind: str
    months: int | None = None
    paid_on: date | None = None
    opened_on: date | None = None
    ended: int | None = None
    moved: int | None = None
    copies: int = 1
    of_class: str = "paid"
    free_copies: int = 0
    free_class: str | None = None
    allowed: int = 0
    spread_after: int = 0
    spread_earned: int = 0
    spread_parts: int | None = None


class Delivery(NamedTuple):
    """An issue that a subscription got: by a list, out of a term (None: grace), to an address."""

    list: int | None
    term: int | None
    is_grace: bool
    address: int | None

    @property
    def is_regular(self) -> bool:
        """Whether it came out of a term, as grace does once a renewal has taken it over."""
        return not self.is_grace or self.term is not None


class Entry(NamedTuple):
    copies: int
    is_grace: bool
    is_paid: bool
    type: str
    of_class: str
    free_copies: int = 0
    free_class: str | None = None


@dataclass
class MailingList:
    issue: int
    parent: int | None = None
    grace_issues: int = 0
    grace_from: date | None = None
    entries: dict[int, Entry] = field(default_factory=dict)


@dataclass
class Order:
    subscriber: int
    content: object
    reference: str | None
    billing: int | None
    mailing: int | None = None
    is_gift: bool = False
    paid_on: date | None = None
    ordered: date | None = None


@dataclass
class Item:
    order: int
    bundle: int | None
    product: int | None
    net: int
    tax: int
    purchase: int | None = None
    refunded: int = 0
    refunded_on: date | None = None
    is_dropped: bool = False
    copies: int = 1
    list_price: int | None = None

    @property
    def gross(self) -> int:
        return self.net + self.tax


@dataclass
class Purchase:
    subscriber: int
    bundle: int
    total: int
    is_gift: bool
    billing: int | None
    shipping: int | None = None


class Span(NamedTuple):
    """A suspension, or where there is an address, a temporary address."""

    subscription: int
    first: date
    last: date | None
    address: int | None = None


class Booked(NamedTuple):
    """A row of revenue."""

    term: int
    issue: int | None
    kind: str
    cents: int
    on: date


@dataclass
class Cancellation:
    """How a subscription was cancelled; ``booked`` is how many rows of revenue there were then."""

    made_on: date
    after_issue: int | None
    at_end: bool
    is_refund: bool
    campaign: int
    ended_on: date | None = None
    ended_issue: int | None = None
    final_issue: int | None = None
    booked: int = 0


class CancelledTerm(NamedTuple):
    """What ended a term; ``before`` is the date of refund that its item had."""

    left: int
    earned: int
    refunded: int
    tax: int
    before: date | None


class Sent(NamedTuple):
    subscription: int
    on: date


@dataclass
class Records:
    """All of an account's circulation, the day, and the moment of the operation that runs."""

    today: date
    moment: int = 0
    publications: dict[int, Publication] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    subscribers: dict[int, bool] = field(default_factory=dict)
    """Whether each is there, and not deleted."""
    merged: dict[int, int] = field(default_factory=dict)
    """Who is kept, by who was merged."""
    merged_subscriptions: dict[int, int] = field(default_factory=dict)
    """Into which one a subscription was merged."""
    addresses: dict[int, Address] = field(default_factory=dict)
    bundles: dict[int, Bundle] = field(default_factory=dict)
    products: dict[int, Bundle] = field(default_factory=dict)
    subscriptions: dict[int, Subscription] = field(default_factory=dict)
    terms: dict[int, Term] = field(default_factory=dict)
    deliveries: dict[tuple[int, int], Delivery] = field(default_factory=dict)
    """By subscription and issue."""
    lists: dict[int, MailingList] = field(default_factory=dict)
    gone_lists: set[int] = field(default_factory=set)
    orders: dict[int, Order] = field(default_factory=dict)
    items: dict[int, Item] = field(default_factory=dict)
    purchases: dict[int, Purchase] = field(default_factory=dict)
    revenue: list[Booked] = field(default_factory=list)
    suspensions: dict[int, Span] = field(default_factory=dict)
    aways: dict[int, Span] = field(default_factory=dict)
    cancellations: dict[int, Cancellation] = field(default_factory=dict)
    """By subscription."""
    cancelled_terms: dict[int, CancelledTerm] = field(default_factory=dict)
    efforts: dict[tuple[int, int], int] = field(default_factory=dict)
    """How many issues are left at it, by publication and effort."""
    sent: dict[tuple[int, int], Sent] = field(default_factory=dict)
    """By term and effort."""


def add(table: dict[int, T], record: T, taken: Iterable[int] = ()) -> int:
    """Add a record with the next id, which is above all that the table has or had; return it."""
    number = max({0, *table, *taken}) + 1
    table[number] = record
    return number
