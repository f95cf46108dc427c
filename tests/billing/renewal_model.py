"""Automatic renewal in the model of billing: consents, what was announced, and what is ordered.

Terms are named by their numbers in the model. Which term a subscription is at, and when its last
issue comes, is circulation's: it is told here as a fact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from tests.billing.model_records import Item, Term, check

if TYPE_CHECKING:
    from tests.billing.model import Billing

NOTICE_DAYS = 30
ORDER_DAYS = 14
"""Days from the announcement to the order, and from this to the day of the last issue."""

WAITS_DAYS = 30
"""Days that an order waits for its last term to be paid."""

ISSUES = 2
"""What the renewing bundle has."""


class Fact(NamedTuple):
    """A subscription: its present term, and the day of its last issue, if that is to come.

    ``is_ending``: it was cancelled, is to end, or its reader is not there any more.
    """

    publication: int
    term: int
    last_issue: str | None
    has_issues: bool
    is_ending: bool


@dataclass(eq=False)
class Announced:
    """A renewal that was announced by a consent, with its net and tax."""

    consent: int
    subscription: int
    term: int
    net: int
    tax: int
    announced_on: str
    day: str
    state: str = "announced"


@dataclass(eq=False)
class Renewals:
    """The price of the bundle, all consents (subscription, and whether it runs), and the rest."""

    net: int = 200
    tax: int = 14
    consents: list[tuple[int, bool]] = field(default_factory=list)
    announced: list[Announced] = field(default_factory=list)

    def running(self, subscription: int) -> int | None:
        """Return the number of the consent that runs."""
        wanted = (subscription, True)
        return self.consents.index(wanted) if wanted in self.consents else None

    def agree(self, subscription: int) -> None:
        check(self.running(subscription) is None)
        self.consents.append((subscription, True))

    def disagree(self, subscription: int, facts: dict[int, Fact]) -> None:
        """Stop a consent, and what was announced by it."""
        number = self.running(subscription)
        check(number is not None)
        if number is not None:
            self.consents[number] = (subscription, False)
        self.stop_announced(facts)

    def stop_announced(self, facts: dict[int, Fact]) -> None:
        """Nothing comes without its consent, or after another order."""
        for each in self.announced:
            if each.state == "announced" and (
                not self.consents[each.consent][1] or facts[each.subscription].term != each.term
            ):
                each.state = "stopped"

    def merge(self, gone: int, kept: int) -> None:
        """A subscription is another's: if both have a consent that runs, the other's continues."""
        has_one = self.running(kept) is not None
        self.consents = [
            (kept, is_running and not has_one) if key == gone else (key, is_running)
            for key, is_running in self.consents
        ]
        for each in self.announced:
            each.subscription = kept if each.subscription == gone else each.subscription

    def night(self, billing: Billing, facts: dict[int, Fact]) -> None:
        """Announce what is due, and order what was announced for today or before."""
        terms = [term for invoice in billing.invoices for term in invoice.terms]
        for number, (key, _) in enumerate(self.consents):
            fact = facts[key]
            if fact.is_ending or (not fact.has_issues and terms[fact.term].is_over):
                self.consents[number] = (key, False)
        self.stop_announced(facts)
        running = {key for key, is_running in self.consents if is_running}
        for key in sorted(running, key=lambda key: (facts[key].publication, key)):
            self.announce(billing, key, facts[key])
        for each in self.announced:
            if each.state != "announced" or each.day > billing.today:
                continue
            if self.stands(billing, each.subscription, facts[each.subscription]):
                self.order(billing, each)
            elif billing.today > _later(each.day, max(NOTICE_DAYS, WAITS_DAYS)):
                each.state = "refused"

    def stands(self, billing: Billing, key: int, fact: Fact) -> bool:
        """Whether nothing is in the way of a renewal."""
        term = [term for invoice in billing.invoices for term in invoice.terms][fact.term]
        is_disputed = any(
            each.is_disputed and key in [term.subscription for term in each.terms]
            for each in billing.invoices
        )
        is_paid = term.is_paid or not term.price
        return self.running(key) is not None and is_paid and not (term.is_over or is_disputed)

    def announce(self, billing: Billing, key: int, fact: Fact) -> None:
        """Announce a renewal that is due, once for each term."""
        number, today = self.running(key), billing.today
        is_near = fact.last_issue is None or fact.last_issue <= _later(
            today, ORDER_DAYS + NOTICE_DAYS
        )
        of_term = [each for each in self.announced if each.term == fact.term]
        earlier = [each for each in of_term if each.state == "stopped" and each.consent != number]
        if number is None or not is_near or len(of_term) > len(earlier):
            return
        if self.stands(billing, key, fact):
            self.announced = [each for each in self.announced if each not in earlier]
            wanted = _later(fact.last_issue, -ORDER_DAYS) if fact.last_issue else today
            day = max(_later(today, NOTICE_DAYS), wanted)
            self.announced.append(Announced(number, key, fact.term, self.net, self.tax, today, day))

    def order(self, billing: Billing, each: Announced) -> None:
        """Order what was announced, at its price, for who paid for the last term."""
        payers = [invoice.payer for invoice in billing.invoices for _ in invoice.terms]
        term = Term(each.subscription, ISSUES, each.net)
        billing.order(payers[each.term], [Item(each.net, each.tax, [term])], is_paid=False)
        each.state = "renewed"


def _later(day: str, days: int) -> str:
    return f"{date.fromisoformat(day) + timedelta(days)}"
