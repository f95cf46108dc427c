"""The orders of the model: what they bring, and their payments.

``model.py``, ``model_closing.py`` and ``model_cancelling.py`` have the rules that they go by.
"""

from __future__ import annotations

from datetime import date
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from tests.circulation.model import UNLIMITED, check
from tests.circulation.model_cancelling import Cancelling
from tests.circulation.model_records import (
    Address,
    Asked,
    Bundle,
    Item,
    Line,
    Order,
    Person,
    Purchase,
    Subscription,
    Term,
    add,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = tuple[int, int, str]
"""A reader, a publication and a type."""


class OwnSubscriptions(NamedTuple):
    """The subscriptions of an order.

    The key of one is its kind, the subscription that an item names, and the address if the kind is
    in ``apart``: those that the order sends to several addresses.
    """

    begun: dict[tuple[int, int, str, int, int | None], int]
    apart: set[Kind]


class Orders(Cancelling):
    """The rules, and all that is done to orders."""

    def order(
        self,
        payer: int | None,
        address: int | str | None,
        asked: tuple[Asked, ...],
        *,
        is_paid: bool,
        reference: str | None = None,
    ) -> object:
        """Take an order, unless its reference is there; then at most book its payment."""
        content = payer, address, asked
        for number, known in self.orders.items():
            if reference is not None and known.reference == reference:
                check(known.content == content)
                if is_paid and known.paid_on is None and not self.has_ended(number):
                    self.pay(number)
                return number
        check(all(self.bundle_of(each).active for each in asked))
        who = self.person(payer, address)
        taken = Order(who.subscriber, content, reference, who.address, ordered=self.today)
        number = add(self.orders, taken)
        people = [self.recipient(each, who) for each in asked]
        taken.is_gift = any(map(self.is_gift, asked, people, repeat(who)))
        own = OwnSubscriptions({}, self.apart(asked, people))
        goes_to = [self.take(number, *pair, who, own) for pair in zip(asked, people, strict=True)]
        taken.mailing = next((each for each in goes_to if each is not None), who.address)
        if is_paid:
            self.book_payment(number)
        return number

    def apart(self, asked: tuple[Asked, ...], people: Sequence[Person]) -> set[Kind]:
        """Return what this order sends to several addresses of one reader."""
        places: dict[Kind, set[int]] = {}
        for each, reader in zip(asked, people, strict=True):
            for line in self.bundle_of(each).lines if each.bundle else ():
                kind = reader.subscriber, line.publication, line.type
                if reader.address and not self.named(each, kind):
                    places.setdefault(kind, set()).add(reader.address)
        return {kind for kind, addresses in places.items() if len(addresses) > 1}

    def named(self, asked: Asked, kind: Kind) -> int:
        """Return the subscription to extend that an item names, if it is of the kind; or 0."""
        number = asked.subscription or 0
        number = self.merged_subscriptions.get(number, number)
        found = self.subscriptions.get(number)
        is_same = found and kind == (found.subscriber, found.publication, found.type)
        return number if is_same and found and found.cancelled_on is None else 0

    def bundle_of(self, asked: Asked) -> Bundle:
        return self.products[asked.product] if asked.product else self.bundles[asked.bundle or 0]

    def is_gift(self, asked: Asked, reader: Person, payer: Person) -> bool:
        """A payer who pays for another person, and is not an organisation, gives a gift."""
        return reader.subscriber != payer.subscriber if asked.is_gift is None else asked.is_gift

    def person(self, subscriber: int | None, address: int | str | None) -> Person:
        """Find the subscriber, or add one; the address that is named, or else the usual one."""
        subscriber = subscriber or add(self.subscribers, True)
        subscriber = self.merged.get(subscriber, subscriber)
        check(self.subscribers[subscriber])
        own = [n for n, each in self.addresses.items() if each.subscriber == subscriber]
        if isinstance(address, str):
            check(address)
            same = [n for n in own if self.addresses[n].street == address]
            address = max(same, default=0) or add(self.addresses, Address(subscriber, address))
        check(address is None or self.addresses[address].subscriber == subscriber)
        return Person(subscriber, address, address or self.usual(subscriber, own))

    def usual(self, subscriber: int, own: list[int]) -> int | None:
        """Where the newest subscription's copies go; or the newest address, no temporary one."""
        going = [n for n, s in self.subscriptions.items() if s.subscriber == subscriber
                 and s.cancelled_on is None and s.mailing in own]  # fmt: skip
        temporary = {span.address for span in self.aways.values()}
        others = max((n for n in own if n not in temporary), default=None)
        return self.subscriptions[max(going)].mailing if going else others

    def running(self, keys: list[int]) -> int:
        """Of several subscriptions the one that has issues left, or was served last; 0: none."""

        def place(key: int) -> tuple[bool, date, int]:
            last = max((day for day, _, _ in self.received(key)), default=date.min)
            return self.issues_left(key) != 0, last, key

        return max(keys, key=place, default=0)

    def recipient(self, asked: Asked, payer: Person) -> Person:
        if not asked.subscription:
            if asked.recipient is None and asked.address is None:
                return payer
            return self.person(asked.recipient or payer.subscriber, asked.address)
        found = self.subscriptions[
            self.merged_subscriptions.get(asked.subscription, asked.subscription)
        ]
        check(found.cancelled_on is None and not asked.is_new)
        lines = self.bundle_of(asked).lines
        check((found.publication, found.type) in {(each.publication, each.type) for each in lines})
        if asked.recipient is None and found.subscriber == payer.subscriber and not asked.address:
            return payer
        reader = self.person(asked.recipient or found.subscriber, asked.address)
        check(reader.subscriber == found.subscriber)
        return reader

    def take(
        self,
        order: int,
        asked: Asked,
        reader: Person,
        payer: Person,
        own: OwnSubscriptions,
    ) -> int | None:
        """Take an item; return the address to which it goes."""
        bundle = self.bundle_of(asked)
        net = asked.copies * (bundle.price if asked.price is None else asked.price)
        tax = asked.copies * (bundle.tax if asked.tax is None else asked.tax)
        item = Item(order, asked.bundle, asked.product, net, tax, copies=asked.copies)
        if item.gross != asked.copies * (bundle.price + bundle.tax):
            item.list_price = bundle.price + bundle.tax
        number = add(self.items, item)
        if asked.bundle is None:
            return None
        is_gift = self.is_gift(asked, reader, payer)
        purchase = Purchase(payer.subscriber, asked.bundle, item.gross, is_gift, payer.address)
        item.purchase = add(self.purchases, purchase)
        if asked.first_issue:
            first = self.issues[asked.first_issue]
            newest = self.newest_closed(first.publication)
            check(first.publication in {line.publication for line in bundle.lines})
            check(first.closed is None or first.main_list is not None)
            check(newest is None or first.date >= self.issues[newest].date)
        check(not asked.of_class or 0 in [cents for _, cents in spread(net, bundle.lines)])
        goes_to = [
            self.take_line(number, asked, line, cents, reader, payer, own)
            for line, cents in spread(net, bundle.lines)
        ]
        purchase.shipping = next((each for each in goes_to if each is not None), None)
        return purchase.shipping

    def take_line(
        self,
        number: int,
        asked: Asked,
        line: Line,
        cents: int,
        reader: Person,
        payer: Person,
        own: OwnSubscriptions,
    ) -> int | None:
        """Extend the subscription that is named, or the running one of that kind, or begin one."""
        wanted = reader.subscriber, line.publication, line.type
        same = [n for n, s in self.subscriptions.items() if s.cancelled_on is None
                and wanted == (s.subscriber, s.publication, s.type)]  # fmt: skip
        named = self.named(asked, wanted)
        place = reader.address if wanted in own.apart and not named else None
        same = [n for n in same if place is None or self.subscriptions[n].mailing == place]
        same = [] if asked.is_new else [named] if named else same
        which = *wanted, named, place
        key = own.begun.get(which) or self.running(same)
        chosen = self.issues.get(asked.first_issue or 0)
        first = chosen.date if chosen and chosen.publication == line.publication else None
        check(not key or self.issues_left(key) != UNLIMITED)
        if not key:
            begins = first or self.begins(line.publication)
            found = Subscription(*wanted, begins, self.today, reader.address, payer.address)
            key = add(self.subscriptions, found)
        elif which not in own.begun:
            found = self.subscriptions[key]
            check(not (first and self.issues_left(key)))
            if not self.issues_left(key):
                begins = first or self.begins(line.publication)
                found.begins_on = max(begins, found.begins_on or begins)
            found.renewed = self.today
            self.withdraw(key)
            newest_term = self.terms_of(key)[-1:]
            found.campaign = 1 if any(self.terms[n].ended for n in newest_term) else found.campaign
            found.mailing, found.billing = (
                reader.named or found.mailing,
                payer.named or found.billing,
            )
        own.begun[which] = key
        found = self.subscriptions[key]
        found.last_bundle, found.last_purchase = asked.bundle, self.items[number].purchase
        term = Term(key, number, line.issues, cents, "paid" if cents else "free", line.months)
        term.copies, term.of_class = line.copies * asked.copies, asked.of_class or "complimentary"
        term.of_class = "paid" if cents else term.of_class
        self.add_term(term)
        return found.mailing

    def has_ended(self, order: int) -> bool:
        """Whether nothing is left to pay for: what had a price was refunded or cancelled."""
        items = {n: item for n, item in self.items.items() if item.order == order}
        priced = [self.terms[n] for n in self.terms_of_items(items) if self.terms[n].price]
        is_sold = any(item.product and not item.refunded_on for item in items.values())
        return not is_sold and bool(priced) and all(term.ended or term.paid_on for term in priced)

    def pay(self, order: int, day: date | None = None) -> None:
        """Receive the net price of an order, and earn the part that has been delivered."""
        found, day = self.orders[order], day or self.today
        check(found.paid_on is None and not self.has_ended(order))
        check((found.ordered or day) <= day <= self.today)
        self.book_payment(order, day)

    def book_payment(self, order: int, paid_on: date | None = None) -> None:
        self.orders[order].paid_on = paid_on = paid_on or self.today
        day = self.open_day(paid_on)
        for number in self.terms_of_items(n for n, i in self.items.items() if i.order == order):
            term = self.terms[number]
            if term.price and not term.ended:
                term.paid_on = day
                self.book(number, None, "received", term.price, day)
                self.settle(number, day=day)


def spread(net: int, lines: Sequence[Line]) -> list[tuple[Line, int]]:
    """Spread a price over lines by their prices; the last one takes the remainder."""
    weights = (
        [line.price for line in lines] if any(line.price for line in lines) else [1] * len(lines)
    )
    parts = [net * weight // sum(weights) for weight in weights[:-1]]
    return list(zip(lines, [*parts, net - sum(parts)], strict=True))
