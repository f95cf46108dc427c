"""The operations of the model beside closing and orders: refunds, service, renewals and the plan.

``model.py``, ``model_closing.py`` and ``model_cancelling.py`` have the rules that they go by.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import TYPE_CHECKING

from tests.circulation.model import DAY, UNLIMITED, check, rounded
from tests.circulation.model_orders import Orders
from tests.circulation.model_records import (
    Address,
    Issue,
    Sent,
    Span,
    Subscription,
    Term,
    add,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class Books(Orders):
    """The books of an account: the rules, and all operations."""

    # Refunds, and the end of a subscription

    def refund(self, order: int, item_id: int, amount: int | None = None) -> object:
        """Refund an item, tax included; return how much. What is unearned goes first."""
        item, terms = self.items[item_id], self.terms_of_items([item_id])
        most = self.most_back(item_id)
        unearned = sum(map(self.unearned, terms))
        default = unearned + self.tax_back(item_id, unearned) if terms else most
        amount = min(default, most) if amount is None else amount
        is_over = all(map(self.is_used_up, terms)) if terms else item.refunded_on
        check(0 <= amount <= most and (amount or not is_over))
        rest = self.net_part(item_id, amount)
        is_all = bool(self.orders[order].paid_on) and amount == most
        lost = {self.terms[n].subscription for n in terms if self.left(n)}
        earned = [self.booked(number, "earned") for number in terms]
        shares = in_proportion(min(rest, unearned), [self.unearned(number) for number in terms])
        backs = in_proportion(max(rest - unearned, 0), earned)
        for number, share, back in zip(terms, shares, backs, strict=True):
            self.book(number, None, "refunded", share + back, self.today)
            self.take_back_cents(number, back)
        item.refunded, item.refunded_on = item.refunded + amount, self.today
        item.is_dropped = item.is_dropped or (not terms and not self.orders[order].paid_on)
        self.end(terms)
        for key in {self.terms[number].subscription for number in terms}:
            if not self.issues_left(key) and (is_all or key in lost):
                self.subscriptions[key].campaign = 0
        return amount

    def is_used_up(self, number: int) -> bool:
        """Whether a refund of nothing would end nothing: neither issues nor money that is due."""
        term = self.terms[number]
        is_due = bool(term.price and not term.paid_on)
        return bool(term.ended) or not (self.left(number) or is_due)

    def most_back(self, item_id: int) -> int:
        """What was paid of an item, tax included, and was not given back."""
        item, terms = self.items[item_id], self.terms_of_items([item_id])
        paid = sum(self.terms[n].price for n in terms if self.is_paid(n)) if terms else item.net
        paid += item.tax if paid == item.net else rounded(item.tax * paid, item.net)
        is_paid = self.orders[item.order].paid_on and not item.is_dropped
        return max(paid - item.refunded, 0) if is_paid else 0

    def net_part(self, item_id: int, amount: int) -> int:
        """What of an amount that is given back is not tax."""
        item, terms = self.items[item_id], self.terms_of_items([item_id])
        kept = sum(self.booked(n, "received") - self.booked(n, "refunded") for n in terms)
        net_back = rounded((item.refunded + amount) * item.net, item.gross)
        net = min(max(net_back - self.net_back(item_id), 0), kept, amount)
        return max(net, amount - (self.most_back(item_id) - kept))

    def allow(self, order: int, item_id: int, amount: int) -> object:
        """Give money back and keep the issues, over which what remains is spread."""
        item, terms = self.items[item_id], self.terms_of_items([item_id])
        unearned = [self.unearned(number) for number in terms]
        whole = sum(unearned) + self.tax_back(item_id, sum(unearned))
        check(self.orders[order].paid_on and terms)
        check(0 < amount <= min(whole, self.most_back(item_id)))
        net = min(self.net_part(item_id, amount), sum(unearned))
        for number, cents in zip(terms, in_proportion(net, unearned), strict=True):
            term = self.terms[number]
            self.book(number, None, "refunded", cents, self.today)
            if cents:
                done = len(self.delivered(number))
                if term.issues == UNLIMITED:
                    done = self.months_served(number)
                term.allowed += cents
                term.spread_after, term.spread_parts = done, None
                term.spread_earned = self.booked(number, "earned")
        item.refunded += amount
        return amount

    def take_back_cents(self, number: int, cents: int) -> None:
        """Take back what was earned: cent by cent, where it stands ahead of today."""
        ahead = Counter[date]()
        for row in self.revenue:
            if (row.term, row.kind) == (number, "earned") and row.on > self.today:
                ahead[row.on] += row.cents
        back = Counter[date]()
        for _ in range(cents):
            day = max((day for day, rest in ahead.items() if rest > 0), default=self.today)
            ahead[day] -= 1
            back[day] += 1
        for day, taken in back.items():
            self.book(number, None, "earned", -taken, day)

    # Service

    def changeable(self, key: int) -> Subscription:
        check(self.subscriptions[key].cancelled_on is None)
        return self.subscriptions[key]

    def extend(self, key: int, issues: int, of_class: str = "complimentary") -> None:
        """Add a free term, of as many copies as the next one is paid for."""
        found, left = self.changeable(key), self.issues_left(key)
        check(left != UNLIMITED)
        if not left:
            found.begins_on = max(self.begins(found.publication), found.begins_on or date.min)
        number = self.next_term(key)
        copies = self.terms[number].copies if number else found.copies
        self.add_term(Term(key, None, issues, 0, "extension", copies=copies, of_class=of_class))

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
            check(address and self.subscribers[found.subscriber])
            address = add(self.addresses, Address(found.subscriber, address))
        check(self.addresses[address].subscriber == found.subscriber)
        if first:
            self.add_span(self.aways, Span(key, first, last, address))
        else:
            found.mailing = address

    def go_back(self, key: int, resumed: date | None = None) -> None:
        self.end_span(self.aways, key, resumed)

    def set_copies(self, key: int, copies: int, how: str | None = None) -> None:
        """Change the copies of the next term: more of them are free, or what is left is converted.

        Without issues left there is no such term: then grace is sent in so many copies.
        """
        found, number = self.changeable(key), self.next_term(key)
        if number is None:
            check(how is None)
            found.copies = copies
            return
        term, left = self.terms[number], self.left(number)
        if copies == term.copies + term.free_copies and how is None:
            return
        check(how)
        if how == "free":
            check(copies >= term.copies)
            term.free_copies = copies - term.copies
            term.free_class = "complimentary" if term.free_copies else None
            return
        check(left != UNLIMITED or not term.price or copies == term.copies)
        if left != UNLIMITED and copies != term.copies:
            parts, done = left * term.copies, len(self.delivered(number))
            check(parts // copies)
            term.spread_earned, term.spread_after, term.spread_parts = self.due(number), done, parts
            term.issues = done + parts // copies
        term.copies, term.free_copies, term.free_class = copies, 0, None

    def set(self, key: int, **values: int | str) -> None:
        check(not (values.get("campaign") and self.is_to_end(key)))
        for name, value in values.items():
            setattr(self.changeable(key), name, value)

    def merge(self, kept: int, gone: int, *, keep_both: bool = False) -> object:
        """Move all of one subscriber to another, and merge what both have of one kind."""
        check(kept != gone and self.subscribers[kept] and self.subscribers[gone])
        pairs = self.both_have(kept, gone)
        self.subscribers[gone] = False
        self.merged = {n: kept if to == gone else to for n, to in self.merged.items()}
        self.merged[gone] = kept
        for number, term in self.terms.items():
            if self.subscriptions[term.subscription].subscriber == gone:
                self.terms[number].moved = self.moment
        for table in (self.subscriptions, self.addresses, self.orders, self.purchases):
            for record in table.values():
                record.subscriber = kept if record.subscriber == gone else record.subscriber
        pairs = [] if keep_both else pairs
        left = {pair: {*map(self.issues_left, pair)} for pair in pairs}
        pairs = [each for each in pairs if UNLIMITED not in left[each] or 0 in left[each]]
        for pair in pairs:
            self.merge_subscriptions(*pair)
        return pairs

    def both_have(self, kept: int, gone: int) -> list[tuple[int, int]]:
        """The running subscriptions of each kind: the one that goes on, and the other one."""
        kinds: dict[tuple[int, str], dict[int, list[int]]] = {}
        for number, each in self.subscriptions.items():
            if each.cancelled_on is None and each.subscriber in {kept, gone}:
                own = kinds.setdefault((each.publication, each.type), {kept: [], gone: []})
                own[each.subscriber].append(number)
        found = []
        for _, own in sorted(kinds.items()):
            one, other = self.running(own[kept]), self.running(own[gone])
            if one and other:
                is_ended = not self.issues_left(one) and self.issues_left(other)
                found.append((other, one) if is_ended else (one, other))
        return found

    def merge_subscriptions(self, one: int, other: int) -> None:
        """All that the other one has goes to the first; what both received stays where it is."""
        if self.is_to_end(other):
            self.withdraw(other)
        elif self.issues_left(other):
            self.withdraw(one)
        first, second = self.subscriptions[one], self.subscriptions[other]
        days = [each for each in (first.begins_on, second.begins_on) if each]
        if self.issues_left(one) and self.issues_left(other):
            first.begins_on = min(days, default=None)
        for number in self.terms_of(other):
            self.terms[number].subscription, self.terms[number].moved = one, self.moment
        for key, sent in self.sent.items():
            self.sent[key] = sent._replace(subscription=one) if sent.subscription == other else sent
        got = {issue for key, issue in self.deliveries if key == one}
        self.deliveries = {
            (one if key == other and issue not in got else key, issue): each
            for (key, issue), each in self.deliveries.items()
        }
        for spans in (self.suspensions, self.aways):
            self.move_spans(spans, one, other)
        first.mailing = first.mailing or second.mailing
        first.billing = first.billing or second.billing
        first.renewed = max(filter(None, (first.renewed, second.renewed)), default=None)
        if (second.last_purchase or 0) > (first.last_purchase or 0):
            first.last_purchase, first.last_bundle = second.last_purchase, second.last_bundle
        second.cancelled_on, second.campaign = self.today, 0
        self.merged_subscriptions = {
            n: one if to == other else to for n, to in self.merged_subscriptions.items()
        }
        self.merged_subscriptions[other] = one

    def move_spans(self, spans: dict[int, Span], one: int, other: int) -> None:
        """Move spans, without the days that the first one has already: day by day."""
        own = [(span.first, n) for n, span in spans.items() if span.subscription == other]
        taken = [span for span in spans.values() if span.subscription == one]
        for _, number in sorted(own):
            span = spans.pop(number)
            ends = [day for each in taken if each.last for day in (each.last + DAY,)]
            starts = sorted({span.first, *ends})
            parts = []
            for start in starts:
                is_free = not any(t.first <= start <= (t.last or date.max) for t in taken)
                if is_free and span.first <= start <= (span.last or date.max):
                    after = [t.first - DAY for t in taken if t.first > start]
                    last = min([*after, span.last or date.max])
                    parts.append((start, None if last == date.max else last))
            ids = [number, *range(max([0, number, *spans]) + 1, 1000)]
            for key, (start, last_day) in zip(ids, parts, strict=False):
                spans[key] = Span(one, start, last_day, span.address)

    # Renewals

    def set_effort(self, publication: int, effort: int, issues_left: int) -> None:
        """Efforts are due in the order of their numbers."""
        others = {e: left for (p, e), left in self.efforts.items() if p == publication}
        check(all(left > issues_left for e, left in others.items() if e < effort))
        check(all(left < issues_left for e, left in others.items() if e > effort))
        self.efforts[publication, effort] = issues_left

    def remove_effort(self, publication: int, effort: int) -> None:
        check(self.efforts.pop((publication, effort), None) is not None)

    def select(self, publication: int) -> object:
        """Note the letters that are due; return their efforts, issues left, and to whom they go."""
        letters = {}
        for key, found in sorted(self.subscriptions.items()):
            left = self.issues_left(key)
            may = found.publication == publication and found.campaign and self.is_running(key)
            if not may or left == UNLIMITED or self.is_suspended(key, self.today):
                continue
            term = self.present_term(key)
            if term is None or self.terms[term].ended:
                continue
            last = self.last_regular(key) or date.max
            closed = self.issues_of(publication, closed=True)
            left = left or -sum(self.issues[issue].date > last for issue in closed)
            due = [e for (p, e), point in self.efforts.items() if p == publication
                   and point >= left]  # fmt: skip
            if due and not any(t == term and e >= max(due) for t, e in self.sent):
                self.sent[term, max(due)] = Sent(key, self.today)
                letters[key] = max(due), left, self.writes_to(key)
        return letters

    def writes_to(self, key: int) -> int:
        """The reader, if any term was the reader's own; else who paid for the newest one."""
        found = self.subscriptions[key]
        payers = [self.payer_of(n) for n in self.terms_of(key) if not self.is_free_copy(n)]
        if not payers or found.subscriber in payers or not self.subscribers[payers[-1]]:
            return found.subscriber
        return payers[-1]

    def payer_of(self, number: int) -> int:
        """Who ordered a term; of one of the opening, who has the billing address."""
        found = self.subscriptions[self.terms[number].subscription]
        if item := self.terms[number].item:
            return self.orders[self.items[item].order].subscriber
        return self.addresses[found.billing].subscriber if found.billing else found.subscriber

    # The plan

    def plan(self, publication: int, day: date) -> None:
        self.check_day(publication, day)
        add(self.issues, Issue(publication, day))

    def move_issue(self, issue: int, day: date) -> None:
        check(not self.issues[issue].closed)
        found = self.issues[issue]
        self.check_day(found.publication, day)
        days = [self.issues[n].date for n in self.issues_of(found.publication) if n != issue]
        for subscription in self.subscriptions.values():
            begins = subscription.begins_on
            if subscription.publication != found.publication or begins is None:
                continue
            is_first = begins <= found.date and not any(begins <= d < found.date for d in days)
            if is_first and day < begins:
                subscription.begins_on = day
        found.date = day

    def set_mailing_day(self, issue: int, day: date | None) -> None:
        check(not self.issues[issue].closed)
        self.issues[issue].mailed_on = day

    def remove_issue(self, issue: int) -> None:
        check(not self.issues[issue].closed)
        check(all(row.issue != issue for row in self.revenue))
        check(all(each.after_issue != issue for each in self.cancellations.values()))
        del self.issues[issue]

    def check_day(self, publication: int, day: date) -> None:
        """Issues close in the order of their dates."""
        newest = self.newest_closed(publication)
        check(newest is None or day > self.issues[newest].date)

    def set_publication(self, publication: int, **values: int | str) -> None:
        for name, value in values.items():
            setattr(self.publications[publication], name, value)

    def sell_bundle(self, bundle: int, *, is_active: bool) -> None:
        self.bundles[bundle].active = is_active


def in_proportion(cents: int, most: Sequence[int]) -> list[int]:
    """Divide cents in proportion: until each part, what falls on all until then, rounded down."""
    until = [cents * sum(most[: n + 1]) // (sum(most) or 1) for n in range(len(most))]
    return [after - before for before, after in zip([0, *until], until, strict=False)]
