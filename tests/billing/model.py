"""A small model of billing, in plain Python: what is owed, paid, given back and lost.

It says what an account holds after each operation, and shares no code with the product. Which term
an issue is delivered from is circulation's (``tests.circulation.model``): it is told here as a
fact. Amounts are whole cents; days are ``YYYY-MM-DD``. An operation that must be refused raises
``Refused``, after which the model is not used: the caller keeps a copy.
"""

from __future__ import annotations

import pickle
from collections import Counter
from typing import TYPE_CHECKING

from tests.billing.debit_model import Debits
from tests.billing.model_records import (
    NOTHING,
    Amount,
    Invoice,
    Item,
    Payment,
    Refused,
    Term,
    check,
    given_back,
    half_up,
    in_proportion,
    most_back,
    net_part,
    tax_back,
)
from tests.billing.reminder_model import Reminders
from tests.billing.renewal_model import Renewals

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Billing", "Invoice", "Item", "Payment", "Refused", "Term"]


class Billing:
    """The account: what is stored of invoices and payments, and the rules."""

    def __init__(self, today: str, *, tolerance: int = 0, due_by: str = "payment") -> None:
        self.today = today
        self.open_since = today[:8] + "01"
        self.tolerance = tolerance
        self.due_by = due_by
        self.invoices: list[Invoice] = []
        self.payments: list[Payment] = []
        self.credit_notes: list[int] = []
        self.merged: dict[int, int] = {}
        self.erased: set[int] = set()
        self.debits = Debits()
        self.reminders = Reminders()
        self.renewals = Renewals()
        self.ended: dict[int, tuple[int | None, bytes | None]] = {}
        """Subscriptions that have ended: with which issue, and how all was before; None instead if
        there is a credit note."""
        self.tax = self.losses = self.products = self.shipping = 0
        """What is due to the tax office, lost, and revenue of products and of shipping."""
        self.digital: Counter[str] = Counter()
        """Net and tax of what is digital, on all invoices less all credit notes."""

    # Orders

    def order(
        self, payer: int, items: list[Item], *, is_paid: bool, shipping: Amount = NOTHING
    ) -> None:
        """Take an order: its invoice uses the payer's credit; a receipt is paid at once."""
        net = sum(item.net for item in items) + shipping.net
        tax = sum(item.tax for item in items) + shipping.tax
        made = Invoice(payer, items, self.today, net, tax, shipping, is_receipt=is_paid)
        self.invoices.append(made)
        for item in items:
            self.digital.update(net=item.digital.net, tax=item.digital.tax)
        if self.due_by == "invoice":
            self.tax += tax
        if is_paid:
            self.pay(payer, net + tax, of=len(self.invoices) - 1)
            return
        self.use_credit(made)

    def use_credit(self, invoice: Invoice) -> None:
        """The credit of the payer settles an invoice, the oldest payment first."""
        usable = self.credit(invoice.payer)
        for number, payment in enumerate(self.payments):
            if payment.payer == invoice.payer and payment.left > 0 and usable > 0:
                part = min(payment.left, usable)
                usable -= min(part, invoice.open)
                self.settle(number, part, [invoice])

    def credit(self, payer: int) -> int:
        return sum(payment.left for payment in self.payments if payment.payer == payer)

    # Payments

    def pay(
        self, payer: int, cents: int, *, of: int | None = None, fee: int = 0, day: str | None = None
    ) -> None:
        """Take a payment: of the invoice ``of`` first, then of the oldest ones."""
        self.check_day(day := day or self.today)
        check(cents > 0, 0 <= fee <= cents)
        named = [] if of is None else [self.invoices[of]]
        check(all(invoice.payer == payer for invoice in named))
        self.payments.append(Payment(payer, "payment", cents, day, cents, fee))
        others = [each for each in self.invoices if each.payer == payer and each not in named]
        others.sort(key=lambda each: each.is_fee)
        usable = min(cents, max(self.credit(payer), 0))
        self.settle(len(self.payments) - 1, usable, [*named, *others], day)

    def check_day(self, day: str) -> None:
        """Money moves in an open month, and not in the future."""
        check(self.open_since <= day <= self.today)

    def settle(
        self, number: int, cents: int, wanted: Iterable[Invoice], day: str | None = None
    ) -> None:
        """Allocate so much of a payment; a rest within the tolerance is written off."""
        day = day or self.today
        for invoice in wanted:
            part = min(cents, invoice.open)
            if part <= 0:
                continue
            cents -= part
            invoice.paid[number] += part
            invoice.settled_on = max(day, invoice.issued, invoice.settled_on)
            self.payments[number].left -= part
            if invoice.open <= self.tolerance:
                invoice.written += invoice.open
                self.whole(invoice)

    def whole(self, invoice: Invoice, sign: int = 1) -> None:
        """An invoice is whole, or (-1) open again: terms, tax, products and losses follow.

        Nothing of the fee of a reminder is revenue or a loss.
        """
        if invoice.is_fee:
            return
        for term in invoice.terms:
            if sign > 0 and term.is_due:
                term.receive()
            elif sign < 0 and term.is_paid and term.price and not term.is_over:
                term.is_paid = False
                term.received = term.earned = term.refunded = 0
        invoice.is_paid = sign > 0
        lost_tax = half_up(invoice.written, invoice.tax, invoice.total)
        if self.due_by == "payment":
            self.tax += sign * (invoice.tax - invoice.credited_tax)
        self.tax -= sign * lost_tax
        self.losses += sign * (invoice.written - lost_tax)
        self.products += sign * sum(item.net for item in invoice.products)
        self.shipping += sign * invoice.shipping.net

    def reverse(self, number: int, *, fee: int = 0, day: str | None = None) -> None:
        """A payment came back."""
        self.check_day(day := day or self.today)
        payment = self.payments[number]
        check(payment.kind == "payment", not payment.is_reversed, day >= payment.day, fee >= 0)
        self.take_back(number, fee=fee, day=day)
        self.debits.reversed(number)

    def take_back(self, number: int, *, fee: int, day: str) -> None:
        """What a payment settled is open again, or lost if the rest was lost."""
        payment = self.payments[number]
        booked_on = max(day, self.open_since)
        for invoice in self.invoices:
            cents = invoice.paid[number]
            if not cents:
                continue
            booked_on = invoice.settled_on = max(booked_on, invoice.settled_on)
            invoice.came_back = booked_on
            if invoice.written > self.tolerance:
                lost_tax = half_up(cents, invoice.tax, invoice.total)
                invoice.written += cents
                self.tax -= lost_tax
                self.losses += 0 if invoice.is_fee else cents - lost_tax
            else:
                if not invoice.open:
                    self.whole(invoice, -1)
                invoice.written = 0
            del invoice.paid[number]
            payment.left += cents
        payment.left -= payment.cents
        payment.is_reversed = True
        self.payments.append(Payment(payment.payer, "reversal", -payment.cents, day, 0, fee))

    def pay_back(self, payer: int, cents: int | None, *, day: str | None = None) -> None:
        """Credit goes back to the payer, the oldest first."""
        self.check_day(day := day or self.today)
        credit = self.credit(payer)
        cents = credit if cents is None else cents
        check(0 < cents <= credit)
        rest = cents
        for payment in self.payments:
            if payment.payer == payer and payment.left > 0:
                part = min(payment.left, rest)
                payment.left, rest = payment.left - part, rest - part
        self.payments.append(Payment(payer, "paid_back", -cents, day))

    # What is given back

    def refund(self, invoice: Invoice, item: Item, cents: int | None) -> None:
        """Give money of an item back, and end it; by default what is unearned, with its tax."""
        most = most_back(invoice, item)
        if cents is None:
            unearned = sum(term.unearned for term in item.terms)
            cents = min(unearned + tax_back(item, unearned), most) if item.terms else most
        is_over = item.has_ended() if item.terms else item.is_over
        check(0 <= cents <= most, cents or not is_over)
        self.give_back(invoice, item, cents)

    def give_back(self, invoice: Invoice, item: Item, cents: int) -> None:
        """Give back so much of an item, which ends: first what is unearned, then earned."""
        net = net_part(invoice, item, cents)
        unearned = [term.unearned for term in item.terms]
        shares = in_proportion(min(net, sum(unearned)), unearned)
        backs = in_proportion(max(net - sum(unearned), 0), [term.earned for term in item.terms])
        for term, share, back in zip(item.terms, shares, backs, strict=True):
            term.refunded += share + back
            term.earned -= back
            term.end()
        item.refunded += cents
        item.is_dropped = item.is_dropped or (not item.terms and not invoice.is_paid)
        item.is_over = True

    def allow(self, invoice: Invoice, item: Item, cents: int) -> None:
        """Give back so much of what is unearned; the issues go on."""
        unearned = [term.unearned for term in item.terms]
        whole = sum(unearned) + tax_back(item, sum(unearned))
        check(invoice.is_paid, item.terms)
        check(0 < cents <= min(whole, most_back(invoice, item)))
        net = min(net_part(invoice, item, cents), sum(unearned))
        for term, part in zip(item.terms, in_proportion(net, unearned), strict=True):
            if part:
                term.refunded, term.allowed = term.refunded + part, term.allowed + part
                term.since, term.had = len(term.delivered), term.earned
        item.refunded += cents

    def end_everything(self, invoice: Invoice) -> None:
        """Give all of an order back, and end it."""
        for item in invoice.items:
            is_over = item.has_ended() if item.terms else item.is_over
            if (most := most_back(invoice, item)) or not is_over:
                self.give_back(invoice, item, most)

    def dispute(self, invoice: Invoice) -> None:
        check(not invoice.is_disputed)
        invoice.is_disputed = True

    def settle_dispute(self, invoice: Invoice, *, is_upheld: bool) -> None:
        """A dispute ends; if it is upheld, so does the order."""
        check(invoice.is_disputed)
        invoice.is_disputed = False
        if is_upheld:
            self.end_everything(invoice)
            self.note(invoice, with_shipping=True)

    def stop(self, invoice: Invoice) -> None:
        """What an invoice would pay for ends; products were sent."""
        for item in invoice.items:
            if item.terms and not item.has_ended():
                self.give_back(invoice, item, 0)
        self.note(invoice, with_shipping=all(item.terms for item in invoice.items))

    def end_subscriptions(self, ends: dict[int, bool], issue: int | None = None) -> None:
        """Subscriptions end, with a refund or without; then come the credit notes."""
        kept = pickle.dumps(self.invoices)
        for key, refund in ends.items():
            self.end_subscription(key, refund=refund)
        for invoice in self.invoices:
            keys = {term.subscription for term in invoice.terms} & ends.keys()
            if keys and self.note(invoice):
                self.ended |= dict.fromkeys(keys, (issue, None))
        for key in ends:
            self.ended.setdefault(key, (issue, kept))

    def go_on(self, key: int) -> None:
        """Undo the end of a subscription, unless there is a credit note."""
        _, kept = self.ended.pop(key)
        check(kept)
        before = pickle.loads(kept or b"")
        for invoice, was in zip(self.invoices, before, strict=False):
            for term, old in zip(invoice.terms, was.terms, strict=True):
                if term.subscription == key and not old.is_over:
                    term.earned, term.is_over = old.earned, False

    def end_subscription(self, key: int, *, refund: bool) -> None:
        """All terms of a subscription end; what is unearned is given back with its tax, or kept."""
        for invoice in self.invoices:
            for item in invoice.items:
                own = [t for t in item.terms if t.subscription == key and not t.is_over]
                if refund and (net := sum(term.unearned for term in own)):
                    item.refunded += net + tax_back(item, net)
                    item.is_over = True
                    for term in own:
                        term.refunded += term.unearned
                for term in own:
                    term.end()

    def note(self, invoice: Invoice, *, with_shipping: bool = False) -> bool:
        """Make the credit note of what of an order was given back or has ended since."""
        over, back = [], NOTHING
        if not invoice.is_paid and not invoice.open and invoice.written:
            check(not any(term.is_due for term in invoice.terms))
            return False
        for item in invoice.items:
            net, tax = given_back(item)
            net, tax = net - item.credited, tax - item.credited_tax
            check(net >= 0, tax >= 0)
            if net or tax:
                self.digital.subtract(item.take_digital(net, tax))
                item.credited, item.credited_tax = item.credited + net, item.credited_tax + tax
                over.append((item, net, tax))
        if with_shipping:
            back, invoice.shipping = invoice.shipping, NOTHING
        if not over and back == NOTHING:
            return False
        net = sum(net for _, net, _ in over) + back.net
        tax = sum(tax for *_, tax in over) + back.tax
        self.credit_notes.append(net + tax)
        invoice.settled_on = self.today
        was_open = invoice.open
        beyond = max(net + tax - was_open, 0)
        invoice.credited += net + tax
        invoice.credited_tax += tax
        for number in sorted(invoice.paid, reverse=True):
            part = min(beyond, invoice.paid[number])
            invoice.paid[number] -= part
            self.payments[number].left += part
            beyond -= part
        invoice.written -= beyond
        if invoice.is_paid:
            lost_tax = half_up(beyond, invoice.tax, invoice.total)
            self.tax -= tax - lost_tax
            self.losses -= beyond - lost_tax
            self.products -= sum(net for item, net, _ in over if not item.terms)
            self.shipping -= back.net
        elif self.due_by == "invoice":
            self.tax -= tax
        if was_open and not invoice.open and not invoice.is_paid and invoice.paid.total():
            self.whole(invoice)
        return True

    # Losses

    def write_off(self, invoice: Invoice, *, keep: bool) -> None:
        """What is open is lost. What was paid is the price of the terms, which end or go on."""
        lost, paid = invoice.open, invoice.paid.total()
        check(lost)
        invoice.settled_on = self.today
        if lost <= self.tolerance and paid:
            invoice.written += lost
            self.whole(invoice)
            return
        if invoice.is_fee:
            invoice.written += lost
            return
        due = [term for term in invoice.terms if term.is_due]
        tax = invoice.tax - invoice.credited_tax
        paid_tax = half_up(paid, tax, paid + lost)
        weights = [term.price - term.allowed for term in due]
        weights += [*(item.net for item in invoice.products), invoice.shipping.net]
        delivered = paid + lost - tax - sum(weights)
        rest = paid - paid_tax - delivered
        shares = in_proportion(max(rest, 0), weights)
        self.losses += max(-rest, 0)
        self.tax += paid_tax if self.due_by == "payment" else paid_tax - tax
        if paid:
            self.products += sum(weights[len(due) : -1])
            self.shipping += weights[-1]
            self.losses += sum(weights[len(due) :]) - sum(shares[len(due) :])
        invoice.written += lost
        invoice.is_paid = paid > 0
        for term, share in zip(due, shares, strict=False):
            term.allowed = term.allowed if paid else 0
            term.price, term.since, term.had = share + term.allowed, 0, 0
            if term.price:
                term.receive()
            if not keep:
                term.end()
        if not keep:
            for item in invoice.items:
                item.is_over = item.is_over or any(term in due for term in item.terms)

    # Issues

    def deliver(self, issue: int, terms: Iterable[int]) -> None:
        """An issue was delivered from terms, by their numbers; those that are paid earn."""
        every = [term for invoice in self.invoices for term in invoice.terms]
        for number in terms:
            term = every[number]
            term.delivered.append(issue)
            if term.is_paid:
                term.earned += term.due() - term.earned

    def undo(self, issue: int) -> None:
        """What was delivered of an issue was not."""
        for invoice in self.invoices:
            for term in invoice.terms:
                if issue in term.delivered:
                    term.delivered.remove(issue)
                    if term.is_paid:
                        term.earned += term.due() - term.earned

    # Payers and months

    def payer_of(self, payer: int) -> int:
        """Who has what a payer had, after all merging."""
        while payer in self.merged:
            payer = self.merged[payer]
        return payer

    def merge(self, kept: int, gone: int) -> None:
        """All invoices and payments of one payer are another's."""
        self.merged[gone] = kept
        if gone in self.debits.signed:
            self.debits.signed = self.debits.signed - {gone} | {kept}
        for invoice in self.invoices:
            invoice.payer = kept if invoice.payer == gone else invoice.payer
        for payment in self.payments:
            payment.payer = kept if payment.payer == gone else payment.payer

    def merge_subscriptions(self, gone: int, kept: int) -> None:
        """All terms of one subscription, and its automatic renewal, are another's."""
        for term in [term for invoice in self.invoices for term in invoice.terms]:
            term.subscription = kept if term.subscription == gone else term.subscription
        self.renewals.merge(gone, kept)

    def close_month(self) -> None:
        """The oldest open month is closed, once it has ended."""
        check(self.open_since[:7] < self.today[:7])
        year, month = int(self.open_since[:4]), int(self.open_since[5:7])
        self.open_since = f"{year + month // 12}-{month % 12 + 1:02}-01"
