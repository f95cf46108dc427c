"""The other half of the model: orders, payments, refunds, service to readers, renewals."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from tests.circulation.model import (
    DAY,
    UNLIMITED,
    Away,
    Books,
    Item,
    Line,
    Order,
    Refused,
    Subscription,
    Suspension,
    Term,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.circulation.model import Ordered

__all__ = ["Office"]


class Office(Books):
    """The books with all that an office does beside closing."""

    # Opening

    def open(self, given: dict[int, tuple[int, int | None, int]]) -> None:
        """Begin: issues, paid issues left and unearned cents of each subscription.

        Issues dated up to today, or that anybody has received, are closed.
        """
        received = {issue for _, issue in self.deliveries}
        for number, issue in self.issues.items():
            issue.is_closed = issue.date <= self.today or number in received
        for subscription, (issues, paid, cents) in sorted(given.items()):
            found = self.subscriptions[subscription]
            newest = self.newest_closed(found.publication)
            found.begins_on = newest[1].date + DAY if newest else self.today
            if issues == UNLIMITED:
                months = self.publications[found.publication].unlimited_term_months
                term = Term(subscription, None, issues, issues, cents, "opening", months=months)
                term.starts_on = self.today
                self._open(term)
                continue
            paid = paid if paid is not None else issues if cents else 0
            for count, price in ((paid, cents), (issues - paid, 0)):
                if count:
                    self._open(Term(subscription, None, count, count, price, "opening"))

    def _open(self, term: Term) -> None:
        term.paid_on = self.today
        number = self._add(self.terms, term)
        self._book(number, None, "received", term.price, self.today)

    # Orders

    def order(
        self,
        subscriber: int,
        ordered: Sequence[Ordered],
        *,
        is_paid: bool,
        billing: int | None = None,
        reference: str | None = None,
    ) -> int:
        """Take an order; return it, or the one that has this reference already."""
        content = (subscriber, tuple(ordered), billing)
        for number, order in self.orders.items():
            if reference is not None and order.reference == reference:
                if order.content != content:
                    raise Refused
                return number
        if not self.subscribers[subscriber]:
            raise Refused
        is_gift = any(item.recipient not in {None, subscriber} for item in ordered)
        taken = Order(subscriber, is_gift, reference, content, None)
        number = self._add(self.orders, taken)
        for item in ordered:
            self._take(number, item, billing)
        if is_paid:
            self.pay(number)
        return number

    def pay(self, order: int) -> None:
        """Note that an order is paid, and earn what has been delivered of it."""
        if self.orders[order].paid_on is not None:
            raise Refused
        self.orders[order].paid_on = self.today
        for number, term in sorted(self.terms.items()):
            if term.item is not None and self.items[term.item].order == order and term.price:
                if term.has_ended:
                    raise Refused
                self._pay(number)

    def _take(self, order: int, ordered: Ordered, billing: int | None) -> None:
        payer = self.orders[order].subscriber
        recipient = ordered.recipient if ordered.recipient is not None else payer
        if not self.subscribers[recipient]:
            raise Refused
        if ordered.bundle is None:
            assert ordered.product is not None
            price, tax = self.products[ordered.product]
        else:
            price, tax = self.bundles[ordered.bundle].price, self.bundles[ordered.bundle].tax
        net = price if ordered.price is None else ordered.price
        tax = tax if ordered.tax is None else ordered.tax
        item = Item(order, ordered.bundle, ordered.product, net, tax, recipient, None)
        number = self._add(self.items, item)
        if ordered.bundle is None:
            return
        item.purchase = self._add(self.purchases, number)
        lines = self.bundles[ordered.bundle].lines
        begun: list[int] = []
        for line, cents in zip(lines, _spread(net, [line.price for line in lines]), strict=True):
            self._deliver_line(number, ordered, line, cents, billing, begun)

    def _deliver_line(
        self,
        item_id: int,
        ordered: Ordered,
        line: Line,
        cents: int,
        billing: int | None,
        begun: list[int],
    ) -> None:
        """Extend the recipient's newest subscription, or begin one, by a line of a bundle.

        ``begun`` are those that this item began: another line of it extends them too.
        """
        item = self.items[item_id]
        assert item.recipient is not None
        same = [
            number
            for number, s in self.subscriptions.items()
            if (s.subscriber, s.publication, s.type, s.cancelled_on)
            == (item.recipient, line.publication, line.type, None)
            and (not ordered.is_new or number in begun)
        ]
        first = self.first_day(line.publication, ordered.first_issue)
        if same:
            number = max(same)
            found = self.subscriptions[number]
            if self.issues_left(number) == 0:
                found.begins_on = max(found.begins_on, first)
            if number not in begun:
                found.last_renewed = self.today
        else:
            payer = self.orders[item.order].subscriber
            found = Subscription(
                item.recipient, line.publication, line.type, first, self.today, billing=billing
            )
            number = self._add(self.subscriptions, found)
            begun.append(number)
            del payer
        found.copies = line.copies
        found.last_bundle, found.last_purchase = item.bundle, item.purchase
        if ordered.mailing is not None:
            found.mailing = ordered.mailing
        if billing is not None:
            found.billing = billing
        self.add_term(number, item_id, line.issues, cents, "paid" if cents else "free")

    def first_day(self, publication: int, first_issue: int | None) -> date:
        """The day from which issues are due: circulation, "First issue"."""
        newest = self.newest_closed(publication)
        if first_issue is not None:
            day = self.issues[first_issue].date
            if newest and day < newest[1].date:
                raise Refused
            return day
        if newest is None:
            planned = [issue.date for _, issue in self.issues_of(publication)]
            return min([self.today, *planned])
        is_late = self.publications[publication].late_start == "current"
        return newest[1].date if is_late else newest[1].date + DAY

    def add_term(
        self, subscription: int, item: int | None, issues: int, cents: int, kind: str
    ) -> None:
        """Add a term; where grace counts, it takes over the grace issues since the last one."""
        publication = self.publications[self.subscriptions[subscription].publication]
        is_gap = self.issues_left(subscription) == 0
        term = Term(subscription, item, issues, issues, cents, kind)
        if issues == UNLIMITED:
            term.months = publication.unlimited_term_months
        number = self._add(self.terms, term)
        if publication.grace_counts and is_gap and issues != UNLIMITED and kind != "extension":
            for issue in self.grace_since(subscription)[:issues]:
                taken = self.deliveries[subscription, issue]
                self.deliveries[subscription, issue] = taken._replace(term=number)
                term.left -= 1

    # Refunds, and the end of a subscription

    def refund(self, item_id: int, amount: int | None = None) -> int:
        """Refund an item, tax included; return the amount. Its remaining issues go."""
        item = self.items[item_id]
        gross = item.net + item.tax
        terms = [n for n, t in sorted(self.terms.items()) if t.item == item_id]
        if amount is None:
            amount = self._with_tax(item, sum(map(self.unearned, terms)))
        is_paid = self.orders[item.order].paid_on is not None
        if not 0 <= amount <= (gross - item.refunded if is_paid else 0):
            raise Refused
        item.refunded += amount
        item.is_refunded = True
        rest = _round(amount * item.net, gross)
        for term in terms:
            part = min(self.unearned(term), rest)
            self._book(term, None, "refunded", part, self.today)
            rest -= part
        for term in terms:
            back = min(self.booked("earned", term), rest)
            self._book(term, None, "earned", -back, self.today)
            self._book(term, None, "refunded", back, self.today)
            rest -= back
            self._end(term)
        return amount

    def _with_tax(self, item: Item, net: int) -> int:
        return net + _round(item.tax * net, item.net)

    def _end(self, term_id: int) -> None:
        """End a term: its issues go, and what stays unearned is earned."""
        term = self.terms[term_id]
        self._book(term_id, None, "earned", self.unearned(term_id), self.today)
        term.left = 0
        term.has_ended = True

    def cancel(self, subscription: int, *, with_refund: bool) -> None:
        """End a subscription."""
        found = self.subscriptions[subscription]
        if found.cancelled_on is not None:
            raise Refused
        found.cancelled_on = self.today
        refunded: set[int] = set()
        for number, term in self.terms_of(subscription):
            if term.left == 0:
                continue
            unearned = self.unearned(number)
            if with_refund and term.item is not None:
                item = self.items[term.item]
                item.refunded += self._with_tax(item, unearned)
                refunded.add(term.item)
            if with_refund:
                self._book(number, None, "refunded", unearned, self.today)
            self._end(number)
        for item_id in refunded:
            terms = [term for term in self.terms.values() if term.item == item_id]
            self.items[item_id].is_refunded |= all(term.has_ended for term in terms)

    # Service

    def extend(self, subscription: int, issues: int) -> None:
        """Add a free term."""
        if not self.is_there(subscription):
            raise Refused
        self.add_term(subscription, None, issues, 0, "extension")

    def suspend(self, subscription: int, first: date, last: date | None) -> None:
        """Skip issues of these days, and keep them."""
        found = self.subscriptions[subscription]
        newest = self.newest_closed(found.publication)
        if (
            found.cancelled_on is not None
            or (newest and first <= newest[1].date)
            or (last and last < first)
            or any(
                (last is None or other.first <= last) and (not other.last or first <= other.last)
                for other in self.suspensions.values()
                if other.subscription == subscription
            )
        ):
            raise Refused
        self._add(self.suspensions, Suspension(subscription, first, last))

    def move_away(self, subscription: int, address: int, first: date, last: date) -> None:
        """Deliver to another address for a while."""
        if last < first or any(
            away.subscription == subscription and away.first <= last and first <= away.last
            for away in self.aways.values()
        ):
            raise Refused
        self._add(self.aways, Away(subscription, address, first, last))

    def merge(self, kept: int, gone: int) -> None:
        """Move all of one subscriber to another."""
        if kept == gone or not self.subscribers[kept] or not self.subscribers[gone]:
            raise Refused
        self.subscribers[gone] = False
        for number, subscription in self.subscriptions.items():
            if subscription.subscriber == gone:
                subscription.subscriber = kept
                for _, term in self.terms_of(number):
                    term.has_moved = True
        for address in self.addresses.values():
            address.subscriber = kept if address.subscriber == gone else address.subscriber
        for order in self.orders.values():
            order.subscriber = kept if order.subscriber == gone else order.subscriber
        for item in self.items.values():
            item.recipient = kept if item.recipient == gone else item.recipient

    # Renewals

    def select(self, publication: int) -> dict[int, tuple[int, int]]:
        """Return the effort that each subscription is sent now, and to whom the letter goes."""
        letters = {}
        for number, found in sorted(self.subscriptions.items()):
            terms = self.terms_of(number)
            if found.publication != publication or not terms or not self.is_there(number):
                continue
            if not found.campaign or self.is_suspended(number, self.today):
                continue
            term_id, term = terms[-1]
            left = self._left_or_past(number)
            if left is None:
                continue
            efforts = [(e, at) for (p, e), at in sorted(self.efforts.items()) if p == publication]
            waiting = [pair for pair in efforts if (number, term_id, pair[0]) not in self.sent]
            if waiting and left <= waiting[0][1]:
                letters[number] = (waiting[0][0], self._payer(term) or found.subscriber)
                self.sent.add((number, term_id, waiting[0][0]))
        return letters

    def _left_or_past(self, subscription: int) -> int | None:
        """Issues left, or minus the issues since the last regular one; None: unlimited."""
        left = self.issues_left(subscription)
        if left:
            return None if left == UNLIMITED else left
        last = self.last_regular(subscription)
        publication = self.subscriptions[subscription].publication
        closed = [issue.date for _, issue in self.issues_of(publication) if issue.is_closed]
        return -sum(last is not None and day > last for day in closed)

    def _payer(self, term: Term) -> int | None:
        order = self.orders[self.items[term.item].order] if term.item is not None else None
        return order.subscriber if order and order.is_gift else None


def _spread(net: int, prices: list[int]) -> list[int]:
    """Spread an amount over lines by their prices; the last one takes the remainder."""
    if net == sum(prices):
        return prices
    parts = [net * price // sum(prices) if sum(prices) else 0 for price in prices[:-1]]
    return [*parts, net - sum(parts)]


def _round(dividend: int, divisor: int) -> int:
    """Half a cent is a cent."""
    return (2 * dividend + divisor) // (2 * divisor) if divisor else 0
