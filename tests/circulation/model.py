"""The rules of circulation in plain Python, to be read beside the page that states them.

Written without the store and ``masthead.circulation``, so that neither judges itself. All is done
reader by reader and issue by issue, and what follows from something else is found anew each time:
how slow that is does not matter. What an operation refuses raises :class:`Refused`; the caller
throws the books away to which it was done.
"""

from __future__ import annotations

import calendar
from datetime import date, timedelta
from itertools import chain, repeat
from typing import TYPE_CHECKING

from tests.circulation.model_records import (
    Address,
    Asked,
    Booked,
    Delivery,
    Entry,
    Issue,
    Item,
    Line,
    MailingList,
    Offer,
    Order,
    Person,
    Purchase,
    Records,
    Sent,
    Span,
    Subscription,
    Term,
    add,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["UNLIMITED", "Books", "Refused"]

UNLIMITED = -1
DAY = timedelta(days=1)


class Refused(Exception):
    """The operation changes nothing."""


def check(is_right: object) -> None:
    """Refuse the operation unless that is so."""
    if not is_right:
        raise Refused


def rounded(dividend: int, divisor: int) -> int:
    """Half a cent is a cent."""
    return (2 * dividend + divisor) // (2 * divisor) if divisor else 0


def months(start: date, end: date) -> int:
    """The whole months from one day to another; the last day of a month makes it whole."""
    is_last = end.day == calendar.monthrange(end.year, end.month)[1]
    whole = is_last or end.day >= start.day
    return max(12 * (end.year - start.year) + end.month - start.month - (not whole), 0)


class Books(Records):
    """The records, what can be seen of them, and the operations."""

    # What follows from the records

    def terms_of(self, key: int) -> list[int]:
        """A subscription's terms, in the order in which they were added."""
        return sorted(n for n, term in self.terms.items() if term.subscription == key)

    def terms_of_items(self, items: Iterable[int]) -> list[int]:
        wanted = set(items)
        return sorted(n for n, term in self.terms.items() if term.item in wanted)

    def delivered(self, number: int) -> list[date]:
        """The dates of the issues that came out of a term, whatever the copies."""
        of_term = [i for (_, i), each in self.deliveries.items() if each.term == number]
        return sorted(self.issues[issue].date for issue in of_term)

    def left(self, number: int) -> int:
        """The issues left of a term: an unlimited one is never used up."""
        term = self.terms[number]
        if term.ended:
            return 0
        return UNLIMITED if term.issues < 0 else term.issues - len(self.delivered(number))

    def issues_left(self, key: int) -> int:
        lefts = [self.left(number) for number in self.terms_of(key)]
        return UNLIMITED if UNLIMITED in lefts else sum(lefts)

    def is_paid(self, number: int | None) -> bool:
        term = self.terms.get(number or 0)
        return term is not None and term.price > 0 and term.paid_on is not None

    def paid_issues_left(self, key: int) -> int | None:
        paid = sum(self.left(number) for number in self.terms_of(key) if self.is_paid(number))
        return None if self.issues_left(key) == UNLIMITED else paid

    def booked(self, number: int, kind: str) -> int:
        return sum(row.cents for row in self.revenue if (row.term, row.kind) == (number, kind))

    def unearned(self, number: int) -> int:
        received, *others = (self.booked(number, k) for k in ("received", "earned", "refunded"))
        return received - sum(others)

    def received(self, key: int) -> list[tuple[date, int, Delivery]]:
        """What a subscription got, the oldest issue first."""
        own = [(issue, each) for (whose, issue), each in self.deliveries.items() if whose == key]
        return sorted((self.issues[issue].date, issue, each) for issue, each in own)

    def last_regular(self, key: int) -> date | None:
        return max((day for day, _, each in self.received(key) if each.is_regular), default=None)

    def grace_since(self, key: int) -> list[int]:
        """The grace issues since the last regular one, which no renewal has taken over."""
        last = self.last_regular(key) or date.min
        return [i for day, i, each in self.received(key) if not each.is_regular and day > last]

    def is_suspended(self, key: int, day: date) -> bool:
        spans = (span for span in self.suspensions.values() if span.subscription == key)
        return any(span.first <= day <= (span.last or date.max) for span in spans)

    def address_on(self, key: int, day: date) -> int | None:
        for span in self.aways.values():
            if span.subscription == key and span.first <= day <= (span.last or date.max):
                return span.address
        return self.subscriptions[key].mailing

    def is_running(self, key: int) -> bool:
        found = self.subscriptions[key]
        return found.cancelled_on is None and self.subscribers[found.subscriber]

    def issues_of(self, publication: int, *, closed: bool | None = None) -> list[int]:
        """A publication's issues in the order of their dates: closed ones, others, or all."""
        return sorted(
            (n for n, issue in self.issues.items() if issue.publication == publication
             and closed in {None, issue.closed is not None}),
            key=lambda n: (self.issues[n].date, n),
        )  # fmt: skip

    def newest_closed(self, publication: int) -> int | None:
        return next(reversed(self.issues_of(publication, closed=True)), None)

    def beyond(self, publication: int) -> Iterator[date]:
        """The days after the last planned issue: by months, by weeks, or by parts of 365 days."""
        last = self.issues[self.issues_of(publication)[-1]].date
        year = self.publications[publication].issues_per_year
        for n in range(1, 4000):
            if 12 % year == 0:
                month = 12 * last.year + last.month - 1 + n * 12 // year
                length = calendar.monthrange(month // 12, month % 12 + 1)[1]
                yield date(month // 12, month % 12 + 1, min(last.day, length))
            else:
                weeks = timedelta(weeks=n * 52 // year)
                yield last + (weeks if 52 % year == 0 else timedelta(days=365 * n // year))

    def expires(self, key: int) -> date | None:
        """The day before the first issue that a subscription will not get; None: unlimited."""
        found, left = self.subscriptions[key], self.issues_left(key)
        planned = self.issues_of(found.publication)
        got = self.received(key)
        days = chain((self.issues[n].date for n in planned), self.beyond(found.publication))
        if left == UNLIMITED:
            return None
        if left == 0:
            last = got[-1][0] if got else (found.begins_on or date.min) - DAY
            return next(day for day in days if day > last) - DAY
        for number, day in zip(chain(planned, repeat(None)), days, strict=False):
            issue = self.issues[number] if number else None
            is_past = issue is not None and issue.closed is not None
            spans = [s for s in self.suspensions.values() if s.subscription == key]
            is_away = any(s.first <= day <= (s.last or date.max) and (s.last or is_past)
                          for s in spans)  # fmt: skip
            is_lost = is_past and issue is not None and issue.main_list is None
            is_due = found.begins_on is not None and found.begins_on <= day
            if is_due and not is_away and not is_lost and (key, number) not in self.deliveries:
                left -= 1
                if left < 0:
                    return day - DAY
        raise AssertionError("there are too few days")

    # Money

    def book(self, number: int, issue: int | None, kind: str, cents: int, day: date) -> None:
        if cents:
            self.revenue.append(Booked(number, issue, kind, cents, day))

    def settle(self, number: int, issue: int | None = None) -> None:
        """Earn what a paid term should have earned by now: floor(c·k/n) after k of n."""
        term = self.terms[number]
        if not self.is_paid(number) or term.ended or term.paid_on is None:
            return
        done, whole = len(self.delivered(number)), term.issues
        if term.issues == UNLIMITED:
            newest = self.newest_closed(self.subscriptions[term.subscription].publication)
            start, whole = self.began(number), term.months or 1
            is_running = start and newest
            done = min(months(start, self.issues[newest].date), whole) if is_running else 0  # type: ignore[arg-type,index]
        day = max(term.paid_on, self.issues[issue].date) if issue else self.today
        due = term.price * done // whole
        self.book(number, issue, "earned", due - self.booked(number, "earned"), day)

    def began(self, number: int) -> date | None:
        """An unlimited term begins when the books are opened, or with the first issue out of it."""
        return self.terms[number].opened_on or next(iter(self.delivered(number)), None)

    def settle_all(self, issue: int) -> None:
        for number, term in sorted(self.terms.items()):
            publication = self.subscriptions[term.subscription].publication
            if publication == self.issues[issue].publication:
                self.settle(number, issue)

    # Opening

    def open_books(self, given: dict[int, tuple[int, int | None, int]]) -> None:
        """Begin with issues, paid issues and unearned cents of each subscription."""
        for publication in self.publications:
            got = {issue for _, issue in self.deliveries}
            every = self.issues_of(publication)
            past = [n for n in every if self.issues[n].date <= self.today or n in got]
            for number in every[: every.index(past[-1]) + 1] if past else []:
                self.issues[number].closed = self.moment
        for key, (issues, paid, cents) in sorted(given.items()):
            found = self.subscriptions[key]
            newest = self.newest_closed(found.publication)
            found.begins_on = self.issues[newest].date + DAY if newest else self.today
            of_these = paid if paid is not None else issues if cents else 0
            parts = ((of_these, cents), (issues - of_these, 0))
            parts = parts if issues > 0 else ((issues, cents), (0, 0))
            for count, price in (part for part in parts if part[0]):
                term = Term(key, None, count, price, "opening")
                term.paid_on = self.today if price else None
                if count == UNLIMITED:
                    term.opened_on = self.today
                    publication_ = self.publications[found.publication]
                    term.months = publication_.unlimited_term_months
                self.book(add(self.terms, term), None, "received", price, self.today)

    # Closing

    def is_due(self, key: int, issue: int) -> bool:
        """Whether a subscription is to have an issue out of its terms: the page's rule 1."""
        found, day = self.subscriptions[key], self.issues[issue].date
        begins = found.begins_on is not None and found.begins_on <= day
        may = self.is_running(key) and not self.is_suspended(key, day)
        is_new = (key, issue) not in self.deliveries
        return begins and may and is_new and self.issues_left(key) != 0

    def gets_grace(self, key: int, issue: int, grace_issues: int, since: date) -> bool:
        """Rule 2: it has none left, and its last issue was not long ago."""
        day, last = self.issues[issue].date, self.last_regular(key)
        may = self.is_running(key) and not self.is_suspended(key, day)
        is_past = self.issues_left(key) == 0 and bool(self.subscriptions[key].campaign)
        is_recent = last is not None and since <= last < day
        return may and is_past and is_recent and len(self.grace_since(key)) < grace_issues

    def deliver(self, list_id: int, key: int, *, is_grace: bool) -> str | None:
        """Deliver an issue, or return why that cannot be: rules 3 and 4."""
        made, found = self.lists[list_id], self.subscriptions[key]
        issue = self.issues[made.issue]
        term = None if is_grace else next(n for n in self.terms_of(key) if self.left(n))
        address = self.address_on(key, issue.date)
        if term and self.terms[term].price and not self.is_paid(term):
            credit = self.publications[found.publication].credit_issues
            if len(self.delivered(term)) >= credit:
                return "unpaid"
        if found.type != "Digital" and not (address and self.addresses[address].street):
            return "no address"
        made.entries[key] = Entry(found.copies, is_grace, self.is_paid(term), found.type)
        self.deliveries[key, made.issue] = Delivery(list_id, term, is_grace, address)
        return None

    def close(self, issue: int, grace_issues: int = 0, since: date | None = None) -> object:
        """Make the main list; return it, its length, and who cannot be served."""
        found = self.issues[issue]
        check(issue == next(iter(self.issues_of(found.publication, closed=False)), None))
        check(since or not grace_issues)
        return self.make_list(issue, MailingList(issue, None, grace_issues, since))

    def gap(self, issue: int) -> object:
        """Make a list of those who should have an issue by now and have not got it."""
        main_list = self.issues[issue].main_list
        check(main_list)
        return self.make_list(issue, MailingList(issue, main_list))

    def make_list(self, issue: int, made: MailingList) -> object:
        found, exceptions = self.issues[issue], {}
        number: int | None = add(self.lists, made, self.gone_lists)
        assert number is not None
        for key, subscription in sorted(self.subscriptions.items()):
            if subscription.publication != found.publication:
                continue
            since, is_due = made.grace_from, self.is_due(key, issue)
            if is_due or (since and self.gets_grace(key, issue, made.grace_issues, since)):
                exceptions[key] = self.deliver(number, key, is_grace=not is_due)
        exceptions = {key: why for key, why in exceptions.items() if why}
        if made.parent and not made.entries:
            del self.lists[number]
            return None, 0, exceptions
        if not made.parent:
            found.closed, found.main_list = self.moment, number
        self.settle_all(issue)
        return number, len(made.entries), exceptions

    def reopen(self, issue: int) -> object:
        """Undo the deliveries of the latest closed issue; return how many, of how many lists."""
        found = self.issues[issue]
        check(found.main_list and not found.is_written)
        check(self.newest_closed(found.publication) == issue)
        undone = {key: d for (key, i), d in self.deliveries.items() if i == issue and d.list}
        for key, delivery in undone.items():
            if delivery.term:
                term, subscription = self.terms[delivery.term], self.subscriptions[key]
                check(max(term.ended or 0, term.moved or 0) < (found.closed or 0))
                assert subscription.begins_on is not None
                subscription.begins_on = min(subscription.begins_on, found.date)
            del self.deliveries[key, issue]
        lists = {n for n, made in self.lists.items() if made.issue == issue}
        self.gone_lists |= lists
        self.lists = {n: made for n, made in self.lists.items() if n not in lists}
        found.closed = found.main_list = None
        self.settle_all(issue)
        return len(undone), len(lists)

    def file(self, issue: int) -> None:
        check(self.issues[issue].main_list)
        self.issues[issue].is_written = True

    # Orders

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
        check(all(self.offer(each).active for each in asked))
        who = self.person(payer, address)
        taken = Order(who.subscriber, content, reference, who.address)
        number = add(self.orders, taken)
        people = [self.recipient(each, who) for each in asked]
        taken.is_gift = any(each.subscriber != who.subscriber for each in people)
        begun: dict[tuple[int, int, str], int] = {}
        goes_to = [self.take(number, *pair, who, begun) for pair in zip(asked, people, strict=True)]
        taken.mailing = next((each for each in goes_to if each is not None), who.address)
        if is_paid:
            self.book_payment(number)
        return number

    def offer(self, asked: Asked) -> Offer:
        return self.products[asked.product] if asked.product else self.bundles[asked.bundle or 0]

    def person(self, subscriber: int | None, address: int | str | None) -> Person:
        """Find the subscriber, or add one; the address that is named, or else the newest one."""
        subscriber = subscriber or add(self.subscribers, True)
        check(self.subscribers[subscriber])
        own = [n for n, each in self.addresses.items() if each.subscriber == subscriber]
        if isinstance(address, str):
            same = [n for n in own if self.addresses[n].street == address]
            address = max(same, default=0) or add(self.addresses, Address(subscriber, address))
        check(address is None or self.addresses[address].subscriber == subscriber)
        return Person(subscriber, address, address or max(own, default=None))

    def recipient(self, asked: Asked, payer: Person) -> Person:
        if asked.recipient is None and asked.address is None:
            return payer
        return self.person(asked.recipient or payer.subscriber, asked.address)

    def take(
        self,
        order: int,
        asked: Asked,
        reader: Person,
        payer: Person,
        begun: dict[tuple[int, int, str], int],
    ) -> int | None:
        """Take an item; return the address to which it goes."""
        offer = self.offer(asked)
        net = offer.price if asked.price is None else asked.price
        tax = offer.tax if asked.tax is None else asked.tax
        item = Item(order, asked.bundle, asked.product, net, tax)
        number = add(self.items, item)
        if asked.bundle is None:
            return None
        is_gift = reader.subscriber != payer.subscriber
        purchase = Purchase(payer.subscriber, asked.bundle, item.gross, is_gift, payer.address)
        item.purchase = add(self.purchases, purchase)
        if asked.first_issue:
            first = self.issues[asked.first_issue]
            newest = self.newest_closed(first.publication)
            check(first.publication in {line.publication for line in offer.lines})
            check(newest is None or first.date >= self.issues[newest].date)
        goes_to = [
            self.take_line(number, asked, line, cents, reader, payer, begun)
            for line, cents in spread(net, offer.lines)
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
        begun: dict[tuple[int, int, str], int],
    ) -> int | None:
        """Extend the reader's newest subscription of that publication and type, or begin one."""
        wanted = reader.subscriber, line.publication, line.type
        same = [n for n, s in self.subscriptions.items() if s.cancelled_on is None
                and wanted == (s.subscriber, s.publication, s.type)]  # fmt: skip
        newest = 0 if asked.is_new else max(same, default=0)
        key = begun.get(wanted, newest)
        chosen = self.issues.get(asked.first_issue or 0)
        first = chosen.date if chosen and chosen.publication == line.publication else None
        if not key:
            begins = first or self.begins(line.publication)
            found = Subscription(*wanted, begins, self.today, reader.address, payer.address)
            key = add(self.subscriptions, found)
        elif wanted not in begun:
            found = self.subscriptions[key]
            check(not (first and self.issues_left(key)))
            if not self.issues_left(key):
                begins = first or self.begins(line.publication)
                found.begins_on = max(begins, found.begins_on or begins)
            found.renewed = self.today
            found.mailing, found.billing = (
                reader.named or found.mailing,
                payer.named or found.billing,
            )
        begun[wanted] = key
        found = self.subscriptions[key]
        found.copies, found.last_bundle = line.copies, asked.bundle
        found.last_purchase = self.items[number].purchase
        self.add_term(Term(key, number, line.issues, cents, "paid" if cents else "free"))
        return found.mailing

    def begins(self, publication: int) -> date:
        """The first day from which issues are due: circulation, "First issue"."""
        newest = self.newest_closed(publication)
        if newest is None:
            return min([self.today, *(self.issues[n].date for n in self.issues_of(publication))])
        is_late = self.publications[publication].late_start == "current"
        return self.issues[newest].date + (0 if is_late else 1) * DAY

    def add_term(self, term: Term) -> None:
        """Add a term; where grace counts, a late renewal takes over the grace issues."""
        key = term.subscription
        publication = self.publications[self.subscriptions[key].publication]
        if term.issues == UNLIMITED:
            term.months = publication.unlimited_term_months
        is_late = publication.grace_counts and term.item and not self.issues_left(key)
        number = add(self.terms, term)
        for issue in self.grace_since(key)[: max(term.issues, 0)] if is_late else []:
            self.deliveries[key, issue] = self.deliveries[key, issue]._replace(term=number)

    def has_ended(self, order: int) -> bool:
        """Whether nothing is left to pay for: what had a price was refunded or cancelled."""
        items = {n: item for n, item in self.items.items() if item.order == order}
        priced = [self.terms[n] for n in self.terms_of_items(items) if self.terms[n].price]
        is_sold = any(item.product and not item.refunded_on for item in items.values())
        return not is_sold and bool(priced) and all(term.ended or term.paid_on for term in priced)

    def pay(self, order: int) -> None:
        """Receive what an order costs, net, and earn what has been delivered of it."""
        check(self.orders[order].paid_on is None and not self.has_ended(order))
        self.book_payment(order)

    def book_payment(self, order: int) -> None:
        self.orders[order].paid_on = self.today
        for number in self.terms_of_items(n for n, i in self.items.items() if i.order == order):
            term = self.terms[number]
            if term.price and not term.ended:
                term.paid_on = self.today
                self.book(number, None, "received", term.price, self.today)
                self.settle(number)

    # Refunds, and the end of a subscription

    def refund(self, order: int, item_id: int, amount: int | None = None) -> object:
        """Refund an item, tax included; return how much. What is unearned goes first."""
        item, terms = self.items[item_id], self.terms_of_items([item_id])
        paid = sum(self.terms[n].price for n in terms if self.is_paid(n)) if terms else item.net
        paid += item.tax if paid == item.net else rounded(item.tax * paid, item.net)
        most = max(paid - item.refunded, 0) if self.orders[order].paid_on else 0
        unearned = sum(map(self.unearned, terms))
        default = unearned + rounded(item.tax * unearned, item.net) if terms else most
        amount = min(default, most) if amount is None else amount
        is_over = all(self.terms[n].ended for n in terms) if terms else item.refunded_on
        check(0 <= amount <= most and (amount or not is_over))
        kept = sum(self.booked(n, "received") - self.booked(n, "refunded") for n in terms)
        rest = kept if amount == most else min(rounded(amount * item.net, item.gross), kept)
        for take_back in (False, True):
            for number in terms:
                part = min(
                    self.booked(number, "earned") if take_back else self.unearned(number), rest
                )
                self.book(number, None, "earned", -part if take_back else 0, self.today)
                self.book(number, None, "refunded", part, self.today)
                rest -= part
        item.refunded, item.refunded_on = item.refunded + amount, self.today
        self.end(terms)
        return amount

    def end(self, terms: Iterable[int]) -> None:
        """End terms: their issues go, and what stays unearned is earned."""
        for number in terms:
            self.book(number, None, "earned", self.unearned(number), self.today)
            self.terms[number].ended = self.terms[number].ended or self.moment

    def cancel(self, key: int, *, refund: bool) -> None:
        """End a subscription; with ``refund`` what is unearned goes back, with its tax."""
        found, terms = self.subscriptions[key], self.terms_of(key)
        check(found.cancelled_on is None)
        found.cancelled_on = self.today
        backs: dict[int, int] = {}
        for number in terms if refund else []:
            back, item_id = self.unearned(number), self.terms[number].item
            self.book(number, None, "refunded", back, self.today)
            if item_id and back:
                backs[item_id] = backs.get(item_id, 0) + back
        self.end(terms)
        for item_id, back in backs.items():
            item = self.items[item_id]
            tax = min(rounded(item.tax * back, item.net), item.gross - item.refunded - back)
            item.refunded += back + max(tax, 0)
            if all(self.terms[n].ended for n in self.terms_of_items([item_id])):
                item.refunded_on = self.today

    # Service

    def changeable(self, key: int) -> Subscription:
        check(self.subscriptions[key].cancelled_on is None)
        return self.subscriptions[key]

    def extend(self, key: int, issues: int) -> None:
        """Add a free term."""
        found, left = self.changeable(key), self.issues_left(key)
        check(left != UNLIMITED)
        if not left:
            found.begins_on = max(self.begins(found.publication), found.begins_on or date.min)
        self.add_term(Term(key, None, issues, 0, "extension"))

    def add_span(self, spans: dict[int, Span], span: Span) -> None:
        last = span.last or date.max
        check(span.first <= last)
        check(not any(span.subscription == s.subscription and s.first <= last
                      and span.first <= (s.last or date.max) for s in spans.values()))  # fmt: skip
        add(spans, span)

    def end_span(self, spans: dict[int, Span], key: int, resumed: date | None) -> None:
        """End the span that lasts today, or the next one, before ``resumed``."""
        self.changeable(key)
        resumed = resumed or self.today
        own = sorted((s.first, n) for n, s in spans.items() if s.subscription == key
                     and (s.last or date.max) >= self.today)  # fmt: skip
        check(own and (spans[own[0][1]].last or date.max) >= resumed)
        span = spans.pop(own[0][1])
        if resumed > span.first:
            spans[own[0][1]] = span._replace(last=resumed - DAY)

    def suspend(self, key: int, first: date | None = None, last: date | None = None) -> None:
        newest = self.newest_closed(self.changeable(key).publication)
        closed = self.issues[newest].date if newest else date.min
        first = first or max(self.today, closed + DAY)
        check(first > closed)
        self.add_span(self.suspensions, Span(key, first, last))

    def resume(self, key: int, resumed: date | None = None) -> None:
        self.end_span(self.suspensions, key, resumed)

    def move(
        self,
        key: int,
        address: int | str,
        first: date | None = None,
        last: date | None = None,
    ) -> None:
        """Give another address, for good or for a while."""
        found = self.changeable(key)
        if isinstance(address, str):
            check(address)
            address = add(self.addresses, Address(found.subscriber, address))
        check(self.addresses[address].subscriber == found.subscriber)
        if first:
            self.add_span(self.aways, Span(key, first, last, address))
        else:
            found.mailing = address

    def go_back(self, key: int, resumed: date | None = None) -> None:
        self.end_span(self.aways, key, resumed)

    def set(self, key: int, **values: int | str) -> None:
        for name, value in values.items():
            setattr(self.changeable(key), name, value)

    def merge(self, kept: int, gone: int) -> None:
        """Move all of one subscriber to another."""
        check(kept != gone and self.subscribers[kept] and self.subscribers[gone])
        self.subscribers[gone] = False
        for number, term in self.terms.items():
            if self.subscriptions[term.subscription].subscriber == gone:
                self.terms[number].moved = self.moment
        for table in (self.subscriptions, self.addresses, self.orders, self.purchases):
            for record in table.values():
                record.subscriber = kept if record.subscriber == gone else record.subscriber

    # Renewals

    def set_effort(self, publication: int, effort: int, issues_left: int) -> None:
        self.efforts[publication, effort] = issues_left

    def remove_effort(self, publication: int, effort: int) -> None:
        check(self.efforts.pop((publication, effort), None) is not None)

    def select(self, publication: int) -> object:
        """Note the letters that are due; return their efforts, issues left, and to whom they go."""
        letters = {}
        for key, found in sorted(self.subscriptions.items()):
            left, terms = self.issues_left(key), self.terms_of(key)
            may = found.publication == publication and found.campaign and self.is_running(key)
            if not may or not terms or left == UNLIMITED or self.is_suspended(key, self.today):
                continue
            last = self.last_regular(key) or date.max
            closed = self.issues_of(publication, closed=True)
            left = left or -sum(self.issues[issue].date > last for issue in closed)
            waiting = [e for p, e in sorted(self.efforts) if p == publication
                       and (terms[-1], e) not in self.sent]  # fmt: skip
            if waiting and left <= self.efforts[publication, waiting[0]]:
                self.sent[terms[-1], waiting[0]] = Sent(key, self.today)
                letters[key] = waiting[0], left, self.writes_to(key)
        return letters

    def writes_to(self, key: int) -> int:
        """The donor of a gift, or else the reader."""
        found = self.subscriptions[key]
        items = [item for n in reversed(self.terms_of(key)) if (item := self.terms[n].item)]
        donor = self.orders[self.items[items[0]].order].subscriber if items else None
        if not items and found.billing:
            donor = self.addresses[found.billing].subscriber
        return donor if donor and self.subscribers[donor] else found.subscriber

    # The plan

    def plan(self, publication: int, day: date) -> None:
        self.check_day(publication, day)
        add(self.issues, Issue(publication, day))

    def move_issue(self, issue: int, day: date) -> None:
        check(not self.issues[issue].closed)
        self.check_day(self.issues[issue].publication, day)
        self.issues[issue].date = day

    def remove_issue(self, issue: int) -> None:
        check(not self.issues[issue].closed)
        check(all(row.issue != issue for row in self.revenue))
        del self.issues[issue]

    def check_day(self, publication: int, day: date) -> None:
        """Issues close in the order of their dates."""
        newest = self.newest_closed(publication)
        check(newest is None or day > self.issues[newest].date)

    def set_publication(self, publication: int, **values: int | str) -> None:
        for name, value in values.items():
            setattr(self.publications[publication], name, value)

    def offer_bundle(self, bundle: int, *, is_active: bool) -> None:
        self.bundles[bundle].active = is_active


def spread(net: int, lines: Sequence[Line]) -> list[tuple[Line, int]]:
    """Spread a price over lines by their prices; the last one takes the remainder."""
    weights = (
        [line.price for line in lines] if any(line.price for line in lines) else [1] * len(lines)
    )
    parts = [net * weight // sum(weights) for weight in weights[:-1]]
    return list(zip(lines, [*parts, net - sum(parts)], strict=True))
