"""What a person decides about entries of a bank's statement (billing, "Bank statements").

The entries are those that reading a file did not settle (``masthead.books.bank_imports``).
"""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.bank_imports import Read
from masthead.books.payer_payments import TEXT_MAX, Incoming, Received, receive
from masthead.errors import BadInput
from masthead.store.billing import bank_entries, invoices
from masthead.store.billing.bank_entries import BankEntry
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.invoices import Invoice
from masthead.store.books.operation import Operation


class Decided(NamedTuple):
    """What a person decided about an entry; ``received`` is None if it was ignored."""

    bank_entry_id: int
    received: Received | None

    @property
    def sentence(self) -> str:
        """What the entry became."""
        if self.received is None:
            return f"entry {self.bank_entry_id} is ignored"
        return f"entry {self.bank_entry_id}: {self.received.sentence}"


def confirm(books: Books, entry_id: int, *, dry_run: bool = False) -> Decided:
    """Book a proposed entry as the payment of the invoice that is proposed.

    Raises NotFound if there is no such entry, BadInput if nothing is proposed for it.
    """
    with books.change(dry_run=dry_run) as change:
        entry = _undecided(change, entry_id)
        if entry.invoice_id is None:
            raise BadInput(f"nothing is proposed for entry {entry_id}: name an invoice or a payer")
        (invoice,) = invoices.invoices_by_id(change, [entry.invoice_id])
        done = _booked(change, entry, invoice=invoice)
        change.say(done.sentence)
    return done


def assign(
    books: Books,
    entry_id: int,
    *,
    invoice: str | None = None,
    subscriber_id: int | None = None,
    dry_run: bool = False,
) -> Decided:
    """Book an entry as a payment of an invoice, by its number, or of a payer.

    Raises NotFound if there is no such entry, invoice or payer. Raises BadInput if the entry was
    decided before, or its money went out.
    """
    with books.change(dry_run=dry_run) as change:
        entry = _undecided(change, entry_id)
        done = _booked(change, entry, invoice=invoice, subscriber_id=subscriber_id)
        change.say(done.sentence)
    return done


def ignore(
    books: Books, entry_id: int, reason: str | None = None, *, dry_run: bool = False
) -> Decided:
    """Mark an entry as none of a payer, such as a fee of the bank; its words go.

    Raises NotFound if there is no such entry, BadInput if it was decided before.
    """
    with books.change(dry_run=dry_run) as change:
        entry = _undecided(change, entry_id)
        bank_entries.ignore_entry(change, entry.bank_entry_id, (reason or "")[:TEXT_MAX] or None)
        done = Decided(entry.bank_entry_id, None)
        change.say(done.sentence)
    return done


def _undecided(change: Operation, entry_id: int) -> BankEntry:
    check_bills(change)
    entry = bank_entries.find_entry(change, entry_id)
    if entry.status not in {"proposed", "unknown"}:
        raise BadInput(f"entry {entry_id} is {entry.status} already: nothing was changed")
    return entry


def _booked(
    change: Operation,
    entry: BankEntry,
    *,
    invoice: str | Invoice | None = None,
    subscriber_id: int | None = None,
) -> Decided:
    if entry.cents <= 0:
        raise BadInput(
            f"the money of entry {entry.bank_entry_id} went out: reverse the payment that it gives "
            "back, or ignore it"
        )
    incoming = Incoming(
        entry.cents,
        min(entry.value_date, change.today),
        bank_entries.payment_type_of(change, entry.bank_file_id),
        (entry.reference or entry.end_to_end_id or "")[:TEXT_MAX] or None,
        min(entry.fee, entry.cents),
        entry.fingerprint,
    )
    received = receive(change, incoming, invoice=invoice, subscriber_id=subscriber_id)
    paid = received.invoices[0].invoice_id if received.invoices else None
    bank_entries.take_entry(
        change, entry.bank_entry_id, received.subscriber_id, paid, received.payment_id
    )
    return Decided(entry.bank_entry_id, received)


def to_decide(books: Books, *, after: int = 0, limit: int = 100) -> list[Read]:
    """Return the entries that wait for a person, by id, after an id."""
    with books.read() as reading:
        entries = bank_entries.entries_to_decide(reading, after=after, limit=limit)
        numbers = {
            each.invoice_id: each.number_text
            for each in invoices.invoices_by_id(
                reading, {each.invoice_id for each in entries if each.invoice_id is not None}
            )
        }
        return [
            Read(
                each,
                numbers.get(each.invoice_id or 0),
                _what_to_do(each),
                reading.currency,
            )
            for each in entries
        ]


def _what_to_do(entry: BankEntry) -> str:
    if entry.cents <= 0:
        return "reverse the payment that it gives back, or ignore it"
    return "confirm it or name another" if entry.invoice_id else "name an invoice or a payer"
