"""Reminders in the model of billing: who is reminded, at which level, with which fee.

Invoices are named by their numbers in the model. The fee of a letter is an invoice without items.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from tests.billing.model_records import Invoice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.billing.model import Billing

Then = Literal["nothing", "stop", "write_off"]
"""What the last level does."""

DUE_DAYS = 14
"""Days after which an invoice is due; a receipt is due at once."""

REST_DAYS = 7
"""Days without a reminder after one, and after a payment came back."""


class Level(NamedTuple):
    """So many days after the due day, with a fee."""

    days: int
    fee: int
    then: Then


def levels(then: Then) -> list[Level]:
    """Return three levels, of which the last one does so; one that writes off has no fee."""
    return [
        Level(5, 0, "nothing"),
        Level(12, 500, "nothing"),
        Level(20, 0 if then == "write_off" else 300, then),
    ]


class Late(NamedTuple):
    """An invoice that is due for a reminder at a level, the first of which is 1."""

    due_on: str
    number: int
    level: int


@dataclass(eq=False)
class Reminders:
    """The levels, and all reminders: invoice, level, day and fee."""

    levels: Sequence[Level] = ()
    sent: list[tuple[int, int, str, int]] = field(default_factory=list)

    def late(self, billing: Billing) -> list[Late]:
        """Return what is due for a reminder, the oldest first."""
        found = []
        for number, invoice in enumerate(billing.invoices):
            before = [(level, day) for n, level, day, _ in self.sent if n == number]
            level = max((each for each, _ in before), default=0) + 1
            quiet = max([invoice.came_back, *(day for _, day in before)])
            if (
                invoice.open <= billing.tolerance
                or level > len(self.levels)
                or (quiet and _days(quiet, billing.today) < REST_DAYS)
                or not self.can_be_reminded(billing, number)
            ):
                continue
            due_on = _later(invoice.issued, 0 if invoice.is_receipt else DUE_DAYS)
            if _days(due_on, billing.today) >= self.levels[level - 1].days:
                found.append(Late(due_on, number, level))
        return sorted(found)

    @staticmethod
    def can_be_reminded(billing: Billing, number: int) -> bool:
        """Whether it is no fee, undisputed, of a payer who is there, and not for the bank."""
        invoice = billing.invoices[number]
        states = {each.state for each in billing.debits.claims if each.invoice == number}
        by_bank = invoice.payer in billing.debits.signed and "returned" not in states
        is_with_bank = by_bank or "sent" in states
        is_owed = not invoice.is_fee and not invoice.is_disputed
        return is_owed and not is_with_bank and invoice.payer not in billing.erased

    def remind(self, billing: Billing) -> None:
        """Use credits, then write a letter to each payer, and do what the levels say."""
        for each in self.late(billing):
            billing.use_credit(billing.invoices[each.number])
        late = self.late(billing)
        losses = [each for each in late if self.level(each).then == "write_off"]
        letters: dict[int, list[Late]] = {}
        for each in late:
            if each not in losses:
                letters.setdefault(billing.invoices[each.number].payer, []).append(each)
        in_order = sorted(letters.items())
        for each in [each for _, own in in_order for each in own]:
            if self.level(each).then == "stop":
                billing.stop(billing.invoices[each.number])
        for payer, own in in_order:
            self.write(billing, payer, own)
        for each in losses:
            billing.write_off(billing.invoices[each.number], keep=False)
            self.sent.append((each.number, each.level, billing.today, 0))

    def level(self, late: Late) -> Level:
        return self.levels[late.level - 1]

    def write(self, billing: Billing, payer: int, own: Sequence[Late]) -> None:
        """Write a letter to a payer, with the fee of its highest level."""
        leading = max(own, key=lambda each: (each.level, _days(each.due_on, billing.today)))
        fee = self.level(leading).fee
        if fee:
            billing.invoices.append(Invoice(payer, [], billing.today, fee, 0))
        for each in own:
            its_fee = fee if each is leading else 0
            self.sent.append((each.number, each.level, billing.today, its_fee))


def _days(first: str, last: str) -> int:
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def _later(day: str, days: int) -> str:
    return f"{date.fromisoformat(day) + timedelta(days)}"
