"""How subscriptions are cancelled, end, and go on as if nothing had been: a part of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.circulation.model import check, rounded
from tests.circulation.model_closing import Closing
from tests.circulation.model_records import Booked, Cancellation, CancelledTerm

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date


class Cancelling(Closing):
    """The rules of "Cancelling", and what refunds have in common with it."""

    def net_back(self, item_id: int) -> int:
        """What was refunded of an item, without its tax."""
        return sum(self.booked(number, "refunded") for number in self.terms_of_items([item_id]))

    def tax_back(self, item_id: int, net: int) -> int:
        """The tax of all that is given back of an item, with ``net`` now, less what was before."""
        item, net_back = self.items[item_id], self.net_back(item_id)
        given_back = item.refunded - net_back
        return max(rounded(item.tax * (net_back + net), item.net) - given_back, 0)

    def end(self, terms: Iterable[int]) -> None:
        """End terms: their issues go, and what stays unearned is earned."""
        for number in terms:
            self.book(number, None, "earned", self.unearned(number), self.today)
            self.terms[number].ended = self.terms[number].ended or self.moment

    def cancel(
        self,
        key: int,
        *,
        refund: bool,
        after_issue: int | None = None,
        at_end: bool = False,
    ) -> None:
        """Cancel a subscription: now, after an issue to come, or when its issues are used up."""
        found = self.subscriptions[key]
        check(found.cancelled_on is None)
        self.withdraw(key)
        if after_issue:
            issue = self.issues[after_issue]
            check(issue.publication == found.publication and not issue.closed)
        check(not at_end or (self.issues_left(key) > 0 and not refund))
        made = Cancellation(self.today, after_issue, at_end, refund, found.campaign)
        self.cancellations[key] = made
        found.campaign = 0
        if not after_issue and not at_end:
            self.end_subscription(key)

    def is_to_end(self, key: int) -> bool:
        return key in self.cancellations and not self.cancellations[key].ended_on

    def last_day(self, key: int) -> date | None:
        issue = self.cancellations[key].after_issue if self.is_to_end(key) else None
        return self.issues[issue].date if issue else None

    def end_subscription(self, key: int, issue: int | None = None) -> None:
        """End all its terms: what is unearned goes back with its tax, or is earned."""
        found, made, terms = self.subscriptions[key], self.cancellations[key], self.terms_of(key)
        terms = [number for number in terms if not self.terms[number].ended]
        unearned = {number: self.unearned(number) for number in terms}
        kept = {number: self.left(number) for number in terms}
        backs: dict[int, list[int]] = {}
        for number in terms:
            if made.is_refund and self.terms[number].item and unearned[number]:
                backs.setdefault(self.terms[number].item or 0, []).append(number)
        tax = {n: self.tax_back(n, sum(unearned[t] for t in own)) for n, own in backs.items()}
        for number in terms if made.is_refund else []:
            self.book(number, None, "refunded", unearned[number], self.today)
        self.end(terms)
        for number in terms:
            item_id = self.terms[number].item or 0
            is_first = backs.get(item_id, [None])[0] == number
            item = self.items[item_id] if is_first else None
            cents = (0, unearned[number]) if made.is_refund else (unearned[number], 0)
            before = item.refunded_on if item else None
            self.cancelled_terms[number] = CancelledTerm(
                kept[number], *cents, tax[item_id] if is_first else 0, before
            )
        for item_id, own in backs.items():
            item = self.items[item_id]
            item.refunded += tax[item_id] + sum(unearned[number] for number in own)
            item.refunded_on = self.today
        found.cancelled_on, found.campaign = self.today, 0
        made.ended_on, made.ended_issue = self.today, issue
        made.booked = len(self.revenue)

    def finalize(self, issue: int) -> None:
        for key, made in self.cancellations.items():
            is_own = self.subscriptions[key].publication == self.issues[issue].publication
            if is_own and made.ended_on and not made.final_issue:
                made.final_issue = issue

    def end_due(self, issue: int) -> None:
        """End with this issue what was cancelled after it, and what has none left at last."""
        for key, made in sorted(self.cancellations.items()):
            is_own = self.subscriptions[key].publication == self.issues[issue].publication
            is_last = made.after_issue == issue or (made.at_end and not self.issues_left(key))
            if is_own and is_last and not made.ended_on:
                self.end_subscription(key, issue)

    def revive_ended(self, issue: int) -> None:
        """What an issue ended has not ended any more, since it is reopened."""
        for key, made in self.cancellations.items():
            if made.final_issue == issue:
                made.final_issue = None
            if made.ended_issue == issue:
                self.revive(key)

    def uncancel(self, key: int) -> None:
        """Undo it, unless an issue was closed since it ended, or money went another way."""
        check(key in self.cancellations)
        made, found = self.cancellations[key], self.subscriptions[key]
        check(not made.final_issue and self.subscribers[found.subscriber])
        if made.ended_on:
            own = [n for n in self.terms_of(key) if n in self.cancelled_terms]
            items = {self.terms[number].item for number in own} - {None}
            others = set(self.terms_of_items(each for each in items if each))
            for row in self.revenue[made.booked :]:
                check(row.term not in own)
                check(row.kind != "refunded" or row.term not in others)
            for number in own:
                term = self.terms[number]
                is_paid = term.item and self.orders[self.items[term.item].order].paid_on
                check(not term.price or term.paid_on or not is_paid)
            self.revive(key)
        self.withdraw(key)

    def withdraw(self, key: int) -> None:
        """Forget a cancelling that is still to come."""
        if self.is_to_end(key):
            self.subscriptions[key].campaign = self.cancellations.pop(key).campaign

    def revive(self, key: int) -> None:
        """Take back what an end has done: the cancelling is still to come afterwards."""
        made = self.cancellations[key]
        backs: dict[int, tuple[int, date | None]] = {}
        for number in self.terms_of(key):
            if number not in self.cancelled_terms:
                continue
            kept, term = self.cancelled_terms.pop(number), self.terms[number]
            term.ended = None
            for kind, cents in (("refunded", kept.refunded), ("earned", kept.earned)):
                if cents:
                    self.revenue.append(Booked(number, None, kind, -cents, self.today))
            if kept.refunded and term.item:
                cents, before = backs.get(term.item, (0, kept.before))
                backs[term.item] = cents + kept.refunded + kept.tax, before
        for item_id, (cents, before) in backs.items():
            item = self.items[item_id]
            item.refunded -= cents
            others = (n for n, kept in self.cancelled_terms.items() if kept.refunded)
            is_left = any(self.terms[number].item == item_id for number in others)
            item.refunded_on = (before or item.refunded_on) if is_left else None
        self.subscriptions[key].cancelled_on = None
        made.ended_on, made.ended_issue, made.booked = None, None, 0
