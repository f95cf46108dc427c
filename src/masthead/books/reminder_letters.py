"""The letters of reminders: what each prints, its fee, and what stops (billing, "Reminders").

All amounts are whole cents, with tax.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from masthead.billing import reminder_mails
from masthead.billing.printed import Payer, to_json
from masthead.billing.printed_reminders import PrintedReminder, RemindedInvoice
from masthead.billing.reminding import REST_DAYS, Due, Letter, day_after
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.books import refunds
from masthead.books.credit_notes import credit_what_ended
from masthead.books.invoicing import seller_of
from masthead.books.reminder_fees import bill_fee
from masthead.store.billing import outbox
from masthead.store.billing import reminders as stored
from masthead.store.billing.printing import heading_of, headings_of
from masthead.store.billing.reminders import Reminder
from masthead.store.books.operation import Operation

if TYPE_CHECKING:
    from masthead.store.billing.invoices import Invoice

_AT_ONCE = 500
"""For how many letters one statement reads what they print."""

_REASON = {
    "en": "Not paid after the reminder of {day}",
    "de": "Trotz Mahnung vom {day} nicht bezahlt",
}
"""Why the credit note of what stops was made."""


class _Read(NamedTuple):
    """What the letters of some payers print, by order, invoice and payer; and who wants mails."""

    payers: Mapping[int, Payer]
    first_lines: Mapping[int, str]
    open_fees: Mapping[int, int]
    addresses: Mapping[int, str]


class _Note(NamedTuple):
    """A credit note, and how much less of its invoice is open with it."""

    number: str
    cents: int


def write_letters(
    change: Operation,
    settings: BillingSettings,
    letters: Sequence[Letter],
    read_until: str | None,
) -> list[str]:
    """Record letters with their fees; end what their levels stop.

    Returns the numbers of the credit notes of what stopped. Statements run once for many letters,
    except for what stops.
    """
    numbers = []
    for first in range(0, len(letters), _AT_ONCE):
        some = letters[first : first + _AT_ONCE]
        notes = {
            each.invoice.invoice_id: note
            for letter in some
            for each in letter.due
            if each.level.then_do == "stop" and (note := _stop(change, settings, each))
        }
        numbers += [each.number for each in notes.values()]
        read = _read(change, some)
        for letter in some:
            _write(change, settings, letter, read, notes, read_until)
    return numbers


def _read(change: Operation, letters: Sequence[Letter]) -> _Read:
    orders = [each.leading.invoice.order_id for each in letters]
    ids = [each.invoice.invoice_id for letter in letters for each in letter.due]
    payers = [each.subscriber_id for each in letters]
    headings = headings_of(change, [each for each in orders if each is not None])
    return _Read(
        {order_id: heading.payer for order_id, heading in headings.items()},
        stored.first_lines(change, ids),
        stored.open_fees(change, payers),
        outbox.addresses_of(change, payers),
    )


def _stop(change: Operation, settings: BillingSettings, late: Due) -> _Note | None:
    """End what an invoice would pay for; return its credit note."""
    invoice = late.invoice
    assert invoice.order_id is not None
    if settings.language_by_country:
        settings = spoken(settings, heading_of(change, invoice.order_id).payer)
    only_terms = refunds.end_unpaid(change, invoice.order_id)
    reason = _REASON[settings.language].format(day=change.today)
    note = credit_what_ended(change, invoice.order_id, reason, with_shipping=only_terms)
    return None if note is None else _Note(note.number_text, min(note.total, invoice.open_cents))


def _write(
    change: Operation,
    settings: BillingSettings,
    letter: Letter,
    read: _Read,
    notes: Mapping[int, _Note],
    read_until: str | None,
) -> None:
    leading = letter.leading
    assert leading.invoice.order_id is not None
    payer = read.payers[leading.invoice.order_id]
    settings = spoken(settings, payer)
    pay_by = day_after(change.today, REST_DAYS)
    fee: Invoice | None = None
    if letter.fee:
        level = leading.level.level
        fee = bill_fee(change, settings, payer, level, letter.fee, pay_by)
    own = [notes[key] for each in letter.due if (key := each.invoice.invoice_id) in notes]
    record = PrintedReminder(
        level=leading.level.level,
        reminded_on=change.today,
        pay_by=pay_by,
        read_until=read_until or "",
        seller=seller_of(settings),
        payer=payer,
        language=settings.language,
        currency=change.currency,
        text=leading.level.text or "",
        invoices=tuple(_printed(each, read.first_lines) for each in letter.due),
        fee=letter.fee,
        fee_invoice=fee.number_text if fee else "",
        earlier_fees=read.open_fees.get(letter.subscriber_id, 0),
        credit=sum(each.cents for each in own),
        credit_notes=tuple(each.number for each in own),
        payment_reference=letter.due[0].invoice.payment_reference or "",
        then_do=leading.level.then_do,
    )
    for each in letter.due:
        is_leading = each is leading
        reminder = Reminder(
            reminder_id=change.new_id("reminders"),
            invoice_id=each.invoice.invoice_id,
            subscriber_id=letter.subscriber_id,
            level=each.level.level,
            reminded_on=change.today,
            fee=letter.fee if is_leading else 0,
            fee_invoice_id=fee.invoice_id if fee and is_leading else None,
            read_until=read_until,
        )
        stored.add_reminder(change, reminder, to_json(record) if is_leading else None)
        address = read.addresses.get(letter.subscriber_id)
        if is_leading and address is not None:
            outbox.queue_to(
                change,
                address,
                "reminder",
                letter.subscriber_id,
                outbox.About(reminder_id=reminder.reminder_id),
                outbox.Words(*reminder_mails.words_of(record)),
            )


def _printed(late: Due, first_lines: Mapping[int, str]) -> RemindedInvoice:
    invoice = late.invoice
    return RemindedInvoice(
        number=invoice.number_text,
        issued_on=invoice.issued_on,
        due_on=invoice.due_on,
        description=first_lines.get(invoice.invoice_id, ""),
        total=invoice.total,
        open=invoice.open_cents,
        level=late.level.level,
        days_overdue=late.days_overdue,
        payment_reference=invoice.payment_reference or "",
    )
