"""What a reminder prints, as one typed record (billing, "Reminders").

The record is made when the reminder is recorded, and stored as JSON: the letter that is written
again has the same bytes. All amounts are whole cents, and all days are texts ``YYYY-MM-DD``.
"""

from typing import Literal

import msgspec

from masthead.billing.printed import Language, Payer, Seller

ThenDo = Literal["nothing", "stop", "write_off"]
"""What a level of reminders does with an invoice: it stops the service with its letter, or writes
off what is open, without a letter."""


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of what is printed. A field that has its default is left out of the JSON."""


class RemindedInvoice(_Record, frozen=True, kw_only=True):
    """An invoice of which the letter reminds.

    ``description`` is what was ordered, by its first line. ``open`` is what is missing of
    ``total``. ``level`` is that of this invoice, which is at most the letter's.
    """

    number: str
    issued_on: str
    due_on: str
    description: str = ""
    total: int
    open: int
    level: int
    days_overdue: int
    payment_reference: str = ""


class PrintedReminder(_Record, frozen=True, kw_only=True):
    """Everything that a reminder prints: one letter to one payer, with all invoices that are due.

    ``level`` counts from 1 and is the highest of the invoices, which stand with the oldest first.
    ``text`` is the publisher's own text of that level, in place of the template's; '' without one.
    ``pay_by`` is the day until which the payer is asked to pay. ``read_until`` is the newest value
    date of the payments that were read before, '' if there was none: "payments until that day are
    considered". ``fee`` is that of this reminder, with the number of its invoice;
    ``earlier_fees`` is what is open of the fees before it. ``payment_reference`` is the creditor
    reference (ISO 11649) for one transfer of all that is due. ``then_do`` is ``stop`` if the
    subscriptions that are not paid end with this letter: ``credit`` is then taken off, by the
    credit notes with the numbers ``credit_notes``.
    """

    level: int
    reminded_on: str
    pay_by: str
    read_until: str = ""
    seller: Seller
    payer: Payer
    language: Language
    currency: str
    text: str = ""
    invoices: tuple[RemindedInvoice, ...]
    fee: int = 0
    fee_invoice: str = ""
    earlier_fees: int = 0
    credit: int = 0
    credit_notes: tuple[str, ...] = ()
    payment_reference: str = ""
    then_do: ThenDo = "nothing"

    @property
    def open(self) -> int:
        """What is open of the invoices, without fees, in cents."""
        return sum(each.open for each in self.invoices)

    @property
    def due(self) -> int:
        """What the payer has to pay in all, in cents."""
        return max(self.open + self.earlier_fees + self.fee - self.credit, 0)
