"""The rules of circulation in plain Python, to be read beside the page that states them.

Written from the page alone, without the store and `masthead.circulation`, so that neither judges
itself. Everything is done reader by reader and issue by issue, and what can be derived is derived
anew each time: how slow that is does not matter. Amounts are whole cents, days are dates. What an
operation refuses raises :class:`Refused`, and the caller throws the books away that it was done to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import NamedTuple

__all__ = [
    "UNLIMITED",
    "Address",
    "Books",
    "Bundle",
    "Entry",
    "Issue",
    "Line",
    "Ordered",
    "Publication",
    "Refused",
    "Subscription",
    "Term",
]

UNLIMITED = -1
DAY = timedelta(days=1)
PRINTED = ("Print", "Both")


class Refused(Exception):
    """The operation changes nothing."""


@dataclass
class Publication:
    name: str
    issues_per_year: int = 12
    late_start: str = "next"
    grace_counts: bool = False
    credit_issues: int = 1
    unlimited_term_months: int = 12


@dataclass
class Issue:
    publication: int
    name: str
    date: date
    is_closed: bool = False
    main_list: int | None = None
    is_written: bool = False


@dataclass
class Address:
    subscriber: int
    text: str


class Line(NamedTuple):
    publication: int
    issues: int
    type: str
    copies: int
    price: int


class Bundle(NamedTuple):
    name: str
    price: int
    tax: int
    lines: tuple[Line, ...]


class Ordered(NamedTuple):
    """An item of an order: a bundle with the person who receives it, or else a product."""

    bundle: int | None = None
    product: int | None = None
    recipient: int | None = None
    is_new: bool = False
    first_issue: int | None = None
    price: int | None = None
    tax: int | None = None
    mailing: int | None = None


@dataclass
class Subscription:
    subscriber: int
    publication: int
    type: str
    begins_on: date
    created: date | None
    mailing: int | None = None
    billing: int | None = None
    copies: int = 1
    campaign: bool = True
    last_renewed: date | None = None
    last_bundle: int | None = None
    last_purchase: int | None = None
    cancelled_on: date | None = None


@dataclass
class Term:
    subscription: int
    item: int | None
    issues: int
    left: int
    price: int
    kind: str
    paid_on: date | None = None
    starts_on: date | None = None
    months: int | None = None
    has_ended: bool = False
    has_moved: bool = False

    @property
    def is_unpaid(self) -> bool:
        return self.price > 0 and self.paid_on is None


class Delivery(NamedTuple):
    list: int | None
    term: int | None
    is_grace: bool
    address: int | None

    @property
    def is_regular(self) -> bool:
        """Whether it came out of a term: grace does once a renewal has taken it over."""
        return not self.is_grace or self.term is not None


class Entry(NamedTuple):
    copies: int
    is_grace: bool
    is_paid: bool
    type: str


@dataclass
class List:
    issue: int
    parent: int | None
    grace_issues: int
    grace_from: date | None
    entries: dict[int, Entry] = field(default_factory=dict)


@dataclass
class Order:
    subscriber: int
    is_gift: bool
    reference: str | None
    content: object
    paid_on: date | None


@dataclass
class Item:
    order: int
    bundle: int | None
    product: int | None
    net: int
    tax: int
    recipient: int | None
    purchase: int | None
    refunded: int = 0
    is_refunded: bool = False


class Suspension(NamedTuple):
    subscription: int
    first: date
    last: date | None


class Away(NamedTuple):
    """A temporary address."""

    subscription: int
    address: int
    first: date
    last: date


class Booked(NamedTuple):
    """A row of revenue."""

    term: int
    issue: int | None
    kind: str
    cents: int
    on: date


@dataclass
class Books:
    """All of an account's circulation, and the day."""

    today: date
    publications: dict[int, Publication] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    subscribers: dict[int, bool] = field(default_factory=dict)
    """Whether each is there: a merged one has a ``delete_date``."""
    addresses: dict[int, Address] = field(default_factory=dict)
    bundles: dict[int, Bundle] = field(default_factory=dict)
    products: dict[int, tuple[int, int]] = field(default_factory=dict)
    subscriptions: dict[int, Subscription] = field(default_factory=dict)
    terms: dict[int, Term] = field(default_factory=dict)
    deliveries: dict[tuple[int, int], Delivery] = field(default_factory=dict)
    lists: dict[int, List] = field(default_factory=dict)
    orders: dict[int, Order] = field(default_factory=dict)
    items: dict[int, Item] = field(default_factory=dict)
    purchases: dict[int, int] = field(default_factory=dict)
    """The item of each."""
    revenue: list[Booked] = field(default_factory=list)
    suspensions: dict[int, Suspension] = field(default_factory=dict)
    aways: dict[int, Away] = field(default_factory=dict)
    efforts: dict[tuple[int, int], int] = field(default_factory=dict)
    """How many issues are left, by publication and effort."""
    sent: set[tuple[int, int, int]] = field(default_factory=set)
    """Subscription, term and effort."""

    # What can be seen of a subscription

    def terms_of(self, subscription: int) -> list[tuple[int, Term]]:
        """In the order in which they were added."""
        return [(n, t) for n, t in sorted(self.terms.items()) if t.subscription == subscription]

    def issues_left(self, subscription: int) -> int:
        left = [term.left for _, term in self.terms_of(subscription)]
        return UNLIMITED if UNLIMITED in left else sum(left)

    def paid_issues_left(self, subscription: int) -> int | None:
        terms = [term for _, term in self.terms_of(subscription)]
        if any(term.left == UNLIMITED for term in terms):
            return None
        return sum(term.left for term in terms if term.price > 0 and term.paid_on)

    def booked(self, kind: str, term: int) -> int:
        return sum(row.cents for row in self.revenue if (row.term, row.kind) == (term, kind))

    def unearned(self, term: int) -> int:
        received, earned, refunded = (
            self.booked(kind, term) for kind in ("received", "earned", "refunded")
        )
        return received - earned - refunded

    def received(self, subscription: int) -> list[tuple[date, int, Delivery]]:
        """What it has got, oldest first."""
        found = [(i, d) for (s, i), d in self.deliveries.items() if s == subscription]
        return sorted((self.issues[issue].date, issue, d) for issue, d in found)

    def last_regular(self, subscription: int) -> date | None:
        days = [day for day, _, delivery in self.received(subscription) if delivery.is_regular]
        return max(days, default=None)

    def grace_since(self, subscription: int) -> list[int]:
        """The grace issues since the last regular one that no renewal has taken over."""
        last = self.last_regular(subscription)
        return [
            issue
            for day, issue, delivery in self.received(subscription)
            if not delivery.is_regular and (last is None or day > last)
        ]

    def is_suspended(self, subscription: int, day: date, *, with_open: bool = True) -> bool:
        return any(
            s.subscription == subscription
            and s.first <= day
            and (with_open if s.last is None else day <= s.last)
            for s in self.suspensions.values()
        )

    def address_on(self, subscription: int, day: date) -> int | None:
        for away in self.aways.values():
            if away.subscription == subscription and away.first <= day <= away.last:
                return away.address
        return self.subscriptions[subscription].mailing

    def is_there(self, subscription: int) -> bool:
        found = self.subscriptions[subscription]
        return found.cancelled_on is None and self.subscribers[found.subscriber]

    # Issues, planned and reckoned

    def issues_of(self, publication: int) -> list[tuple[int, Issue]]:
        found = [(n, i) for n, i in self.issues.items() if i.publication == publication]
        return sorted(found, key=lambda pair: (pair[1].date, pair[0]))

    def newest_closed(self, publication: int) -> tuple[int, Issue] | None:
        closed = [pair for pair in self.issues_of(publication) if pair[1].is_closed]
        return closed[-1] if closed else None

    def days_of(self, publication: int) -> list[date]:
        """The days of all issues, planned ones and as many again beyond the plan as matter."""
        planned = [issue.date for _, issue in self.issues_of(publication)]
        year = self.publications[publication].issues_per_year
        last, beyond = planned[-1], range(1, 200)
        if 12 % year == 0:
            return planned + [_months_after(last, n * (12 // year)) for n in beyond]
        if 52 % year == 0:
            return planned + [last + n * timedelta(weeks=52 // year) for n in beyond]
        return planned + [last + timedelta(days=365 * n // year) for n in beyond]

    def expires(self, subscription: int) -> date | None:
        """The day before the first issue that it will not get."""
        found = self.subscriptions[subscription]
        left = self.issues_left(subscription)
        if left == UNLIMITED:
            return None
        days = self.days_of(found.publication)
        if left == 0:
            got = self.received(subscription)
            return (
                next(day for day in days if (day > got[-1][0] if got else day >= found.begins_on))
                - DAY
            )
        planned = self.issues_of(found.publication)
        for number, day in enumerate(days):
            issue_id, issue = planned[number] if number < len(planned) else (0, None)
            if day < found.begins_on or (subscription, issue_id) in self.deliveries:
                continue
            is_past = issue is not None and issue.is_closed
            if issue and issue.is_closed and issue.main_list is None:
                continue
            if self.is_suspended(subscription, day, with_open=is_past):
                continue
            if left == 0:
                return day - DAY
            left -= 1
        raise AssertionError("there are not enough days beyond the plan")

    # Closing

    def is_due(self, subscription: int, day: date) -> bool:
        """Whether it is to have an issue of that day: the page's rule 1."""
        return (
            self.is_there(subscription)
            and self.subscriptions[subscription].begins_on <= day
            and not self.is_suspended(subscription, day)
            and self.issues_left(subscription) != 0
        )

    def is_exception(self, subscription: int, day: date, term: Term | None) -> str | None:
        """Why it cannot be served: an unpaid order beyond its credit, a printed copy nowhere."""
        found = self.subscriptions[subscription]
        if term and term.is_unpaid:
            credit = self.publications[found.publication].credit_issues
            if self.delivered(term) >= credit:
                return "unpaid"
        address = self.address_on(subscription, day)
        if found.type in PRINTED and (address is None or not self.addresses[address].text):
            return "no address"
        return None

    def delivered(self, term: Term) -> int:
        return sum(
            d.term is not None and self.terms[d.term] is term for d in self.deliveries.values()
        )

    def oldest_term(self, subscription: int) -> tuple[int, Term] | None:
        return next(((n, t) for n, t in self.terms_of(subscription) if t.left != 0), None)

    def gets_grace(self, subscription: int, day: date, grace_issues: int, since: date) -> bool:
        last = self.last_regular(subscription)
        return (
            self.is_there(subscription)
            and not self.is_suspended(subscription, day)
            and self.issues_left(subscription) == 0
            and self.subscriptions[subscription].campaign
            and last is not None
            and since <= last < day
            and len(self.grace_since(subscription)) < grace_issues
        )

    def close(
        self, issue_id: int, grace_issues: int = 0, since: date | None = None
    ) -> dict[int, str]:
        """Make the main list; return the exceptions."""
        issue = self.issues[issue_id]
        opened = [n for n, other in self.issues_of(issue.publication) if not other.is_closed]
        if issue.is_closed or opened[0] != issue_id:
            raise Refused
        made = List(issue_id, None, grace_issues, since)
        issue.is_closed, issue.main_list = True, self._add(self.lists, made)
        exceptions = {}
        for number, subscription in sorted(self.subscriptions.items()):
            if subscription.publication != issue.publication:
                continue
            is_due = self.is_due(number, issue.date)
            if is_due or (since and self.gets_grace(number, issue.date, grace_issues, since)):
                if why := self._serve(issue.main_list, number, is_grace=not is_due):
                    exceptions[number] = why
        self._settle_unlimited(issue_id)
        return exceptions

    def gap(self, issue_id: int) -> int | None:
        """Make a list of those who should have the issue by now; None: there is nobody."""
        issue = self.issues[issue_id]
        if issue.main_list is None:
            raise Refused
        made = List(issue_id, issue.main_list, 0, None)
        number = self._add(self.lists, made)
        for subscription, found in sorted(self.subscriptions.items()):
            if (
                found.publication == issue.publication
                and (subscription, issue_id) not in self.deliveries
                and self.is_due(subscription, issue.date)
            ):
                self._serve(number, subscription, is_grace=False)
        if made.entries:
            return number
        del self.lists[number]
        return None

    def _serve(self, list_id: int, number: int, *, is_grace: bool) -> str | None:
        made, found = self.lists[list_id], self.subscriptions[number]
        day = self.issues[made.issue].date
        term_id, term = (None, None) if is_grace else self.oldest_term(number) or (None, None)
        if why := self.is_exception(number, day, term):
            return why
        is_paid = term is not None and term.price > 0 and term.paid_on is not None
        made.entries[number] = Entry(found.copies, is_grace, is_paid, found.type)
        address = self.address_on(number, day)
        self.deliveries[number, made.issue] = Delivery(list_id, term_id, is_grace, address)
        if term_id is not None and term is not None:
            if term.left > 0:
                term.left -= 1
            term.starts_on = term.starts_on or day
            self._settle(term_id, made.issue)
        return None

    def reopen(self, issue_id: int) -> None:
        """Undo the deliveries of the publication's latest closed issue, one by one."""
        issue = self.issues[issue_id]
        newest = self.newest_closed(issue.publication)
        if newest is None or newest[0] != issue_id or issue.main_list is None or issue.is_written:
            raise Refused
        undone = {s: d for (s, i), d in self.deliveries.items() if i == issue_id}
        terms = [self.terms[d.term] for d in undone.values() if d.term is not None]
        if any(term.has_ended or term.has_moved for term in terms):
            raise Refused
        issue.is_closed, issue.main_list = False, None
        for subscription, delivery in undone.items():
            del self.deliveries[subscription, issue_id]
            if delivery.term is not None:
                term = self.terms[delivery.term]
                term.left += term.left != UNLIMITED
                self._settle(delivery.term, issue_id)
        self._settle_unlimited(issue_id)
        self.lists = {n: made for n, made in self.lists.items() if made.issue != issue_id}

    def write(self, issue_id: int) -> None:
        """Write the mail file, after which the issue stays closed."""
        if self.issues[issue_id].main_list is None:
            raise Refused
        self.issues[issue_id].is_written = True

    # Money

    def owed(self, term: Term) -> int:
        """What is earned of a paid term by its deliveries, or by the months to the newest issue."""
        if term.issues != UNLIMITED:
            return term.price * self.delivered(term) // term.issues
        newest = self.newest_closed(self.subscriptions[term.subscription].publication)
        if newest is None or term.starts_on is None or term.months is None:
            return 0
        months = _months_between(term.starts_on, newest[1].date)
        return term.price * min(max(months, 0), term.months) // term.months

    def _settle(self, term_id: int, issue_id: int | None) -> None:
        """Book what is earned by now and was not before; after an undoing it is less."""
        term = self.terms[term_id]
        if term.paid_on is None or term.has_ended:
            return
        day = self.today if issue_id is None else max(self.issues[issue_id].date, term.paid_on)
        self._book(
            term_id, issue_id, "earned", self.owed(term) - self.booked("earned", term_id), day
        )

    def _settle_unlimited(self, issue_id: int) -> None:
        for number, term in sorted(self.terms.items()):
            publication = self.subscriptions[term.subscription].publication
            if term.issues == UNLIMITED and publication == self.issues[issue_id].publication:
                self._settle(number, issue_id)

    def _book(self, term: int, issue: int | None, kind: str, cents: int, day: date) -> None:
        if cents:
            self.revenue.append(Booked(term, issue, kind, cents, day))

    def _pay(self, term_id: int) -> None:
        term = self.terms[term_id]
        term.paid_on = self.today
        self._book(term_id, None, "received", term.price, self.today)
        self._settle(term_id, None)

    @staticmethod
    def _add(table: dict[int, object], row: object) -> int:  # type: ignore[misc]
        number = max(table, default=0) + 1
        table[number] = row
        return number


def _months_after(day: date, months: int) -> date:
    """The same day so many months later, or the last of that month where there is none."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    first_of_next = date(year + (month == 11), (month + 1) % 12 + 1, 1)
    return min(date(year, month + 1, 1) + (day.day - 1) * DAY, first_of_next - DAY)


def _months_between(first: date, last: date) -> int:
    """How many whole months have gone by."""
    months = (last.year - first.year) * 12 + last.month - first.month
    return months - (_months_after(first, months) > last)
