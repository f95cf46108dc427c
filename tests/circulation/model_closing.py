"""How an issue is delivered, closed, and reopened: a part of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.circulation.model import Rules, check
from tests.circulation.model_records import Delivery, Entry, MailingList, Term, add

if TYPE_CHECKING:
    from datetime import date


class Closing(Rules):
    """The rules of "Closing an issue", of gap lists, and of reopening."""

    def is_beyond_credit(self, number: int) -> bool:
        term = self.terms[number]
        publication = self.publications[self.subscriptions[term.subscription].publication]
        is_unpaid = term.price > 0 and term.paid_on is None
        return is_unpaid and len(self.delivered(number)) >= publication.credit_issues

    def next_term(self, key: int) -> int | None:
        """The term that is delivered next: the oldest with issues left, with any number of copies.

        One beyond its credit is passed over while any is paid.
        """
        left = [number for number in self.terms_of(key) if self.left(number)]
        if any(self.is_paid(number) for number in left):
            left = [number for number in left if not self.is_beyond_credit(number)]
        return next(iter(left), None)

    def follow_copies(self) -> None:
        """The copies of a subscription are those of its next term, or stay without any."""
        for key, found in self.subscriptions.items():
            if number := self.next_term(key):
                found.copies = self.terms[number].copies + self.terms[number].free_copies

    def is_due(self, key: int, issue: int) -> bool:
        """Whether a subscription is to have an issue out of its terms: the page's rule 1."""
        found, day = self.subscriptions[key], self.issues[issue].date
        begins = found.begins_on is not None and found.begins_on <= day
        may = self.is_running(key) and not self.is_suspended(key, day)
        is_new = (key, issue) not in self.deliveries
        return begins and may and is_new and self.issues_left(key) != 0

    def is_deleted(self, key: int, issue: int) -> bool:
        """Whether a subscription would be due, had its reader not been deleted."""
        found = self.subscriptions[key]
        is_there = self.subscribers[found.subscriber]
        self.subscribers[found.subscriber] = True
        is_due = self.is_due(key, issue)
        self.subscribers[found.subscriber] = is_there
        return is_due and not is_there

    def gets_grace(self, key: int, issue: int, grace_issues: int, since: date) -> bool:
        """Rule 2: it has none left, and its last issue was not long ago."""
        day, last = self.issues[issue].date, self.last_regular(key)
        may = self.is_running(key) and not self.is_suspended(key, day)
        is_past = self.issues_left(key) == 0 and bool(self.subscriptions[key].campaign)
        term = self.present_term(key)
        may = may and not (term and self.terms[term].ended)
        is_recent = last is not None and since <= last < day
        return may and is_past and is_recent and len(self.grace_since(key)) < grace_issues

    def deliver(self, list_id: int, key: int, *, is_grace: bool) -> str | None:
        """Deliver an issue, or return why that cannot be: rules 3 and 4."""
        made, found = self.lists[list_id], self.subscriptions[key]
        issue = self.issues[made.issue]
        number = None if is_grace else self.next_term(key)
        address = self.address_on(key, issue.date)
        if number and self.is_beyond_credit(number):
            return "unpaid"
        if found.type != "Digital" and not (address and self.addresses[address].street):
            return "no address"
        term = self.terms[number] if number else Term(key, None, 0, 0, "", copies=found.copies)
        of_class = "unpaid" if term.price and not term.paid_on else term.of_class
        made.entries[key] = Entry(
            *(term.copies + term.free_copies, is_grace, self.is_paid(number), found.type),
            *("grace" if is_grace else of_class, term.free_copies, term.free_class),
        )
        passed = [n for n in self.terms_of(key) if number and n < number and self.left(n)]
        self.deliveries[key, made.issue] = Delivery(list_id, number, is_grace, address)
        return "passed over" if any(self.is_beyond_credit(n) for n in passed) else None

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
        found, held = self.issues[issue], {}
        number: int | None = add(self.lists, made, self.gone_lists)
        assert number is not None
        for key, subscription in sorted(self.subscriptions.items()):
            if subscription.publication != found.publication:
                continue
            since, is_due = made.grace_from, self.is_due(key, issue)
            if is_due or (since and self.gets_grace(key, issue, made.grace_issues, since)):
                held[key] = self.deliver(number, key, is_grace=not is_due)
            elif self.is_deleted(key, issue):
                held[key] = "deleted"
        held = {key: why for key, why in held.items() if why}
        if made.parent and not made.entries:
            del self.lists[number]
            return None, 0, held
        if not made.parent:
            found.closed, found.main_list = self.moment, number
            self.finalize(issue)
        self.settle_all(issue)
        self.follow_copies()
        self.end_due(issue)
        return number, len(made.entries), held

    def reopen(self, issue: int) -> object:
        """Undo the deliveries of the latest closed issue; return how many, of how many lists."""
        found = self.issues[issue]
        check(found.main_list and not found.is_written)
        check(self.newest_closed(found.publication) == issue)
        self.revive_ended(issue)
        undone = {key: d for (key, i), d in self.deliveries.items() if i == issue and d.list}
        for key, delivery in undone.items():
            subscription = self.subscriptions[key]
            if delivery.term:
                term = self.terms[delivery.term]
                entry = self.lists[delivery.list or 0].entries[key]
                check(max(term.ended or 0, term.moved or 0) < (found.closed or 0))
                check(term.copies == entry.copies - entry.free_copies)
            has_renewed = bool(delivery.term or self.issues_left(key))
            if has_renewed and subscription.begins_on is not None:
                subscription.begins_on = min(subscription.begins_on, found.date)
            del self.deliveries[key, issue]
        lists = {n for n, made in self.lists.items() if made.issue == issue}
        self.gone_lists |= lists
        self.lists = {n: made for n, made in self.lists.items() if n not in lists}
        found.closed = found.main_list = None
        self.take_back(issue)
        self.settle_all(issue)
        return len(undone), len(lists)

    def file(self, issue: int) -> None:
        check(self.issues[issue].main_list)
        self.issues[issue].is_written = True

    # What is cancelled: ``model_cancelling``

    def finalize(self, issue: int) -> None:
        raise NotImplementedError

    def end_due(self, issue: int) -> None:
        raise NotImplementedError

    def revive_ended(self, issue: int) -> None:
        raise NotImplementedError
