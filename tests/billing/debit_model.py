"""Direct debit in the model of billing: who has a mandate, and what is with the bank.

A claim is with the bank (``sent``), ``paid``, or ``returned``. Invoices and payments are named by
their numbers in the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from tests.billing.model_records import check

if TYPE_CHECKING:
    from tests.billing.model import Billing

NOTICE_DAYS = 14
"""Days from an invoice until it is due, and until it may be collected."""


@dataclass(eq=False)
class Claim:
    """An invoice that was handed in; ``payment`` is the money that came for it."""

    invoice: int
    cents: int
    state: str = "sent"
    payment: int | None = None


@dataclass(eq=False)
class Debits:
    """The payers with a mandate, and all claims by run."""

    signed: set[int] = field(default_factory=set)
    runs: list[list[Claim]] = field(default_factory=list)

    @property
    def claims(self) -> list[Claim]:
        return [claim for run in self.runs for claim in run]

    def hand_in(self, billing: Billing, day: str) -> None:
        """Claim what is open, due and announced, and not with the bank, after using credits."""
        sent = {claim.invoice for claim in self.claims if claim.state == "sent"}
        until = f"{date.fromisoformat(day) - timedelta(NOTICE_DAYS)}"
        due = [
            (number, invoice)
            for number, invoice in enumerate(billing.invoices)
            if invoice.open and not invoice.is_receipt and invoice.issued <= until
            if invoice.payer in self.signed and number not in sent
        ]
        for _, invoice in due:
            billing.use_credit(invoice)
        made = [Claim(number, invoice.open) for number, invoice in due if invoice.open]
        if made:
            self.runs.append(made)

    def collect(self, billing: Billing) -> None:
        """The bank has collected what is with it of the last run: each claim is a payment."""
        sent = [claim for claim in self.runs[-1] if claim.state == "sent"] if self.runs else []
        check(sent)
        for claim in sent:
            payer = billing.invoices[claim.invoice].payer
            billing.pay(payer, claim.cents, of=claim.invoice)
            claim.state, claim.payment = "paid", len(billing.payments) - 1

    def give_back(self, billing: Billing, number: int, *, fee: int, day: str) -> None:
        """A claim comes back: exactly its payment is taken back, if it was paid."""
        claim = self.claims[number]
        if claim.state == "paid" and claim.payment is not None:
            day = max(day, billing.payments[claim.payment].day)
            billing.take_back(claim.payment, fee=fee, day=day)
        claim.state = "returned"

    def reversed(self, payment: int) -> None:
        """A payment was taken back by hand: its claim came back."""
        for claim in self.claims:
            if claim.payment == payment:
                claim.state = "returned"
