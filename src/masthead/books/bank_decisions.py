"""What a person decides about entries of a bank's statement (billing, "Bank statements").

The entries are those that reading a file did not settle (``masthead.books.bank_imports``).
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.bank_imports import Read
from masthead.books.payer_payments import TEXT_MAX, Incoming, Received, receive
from masthead.books.settlement import Expected, look_ahead
from masthead.circulation.amounts import in_currency
from masthead.errors import BadInput
from masthead.store.billing import bank_entries, invoices
from masthead.store.billing.bank_entries import BankEntry
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.payer_movements import kept_payers
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


class Part(NamedTuple):
    """A part of an entry, in cents: of an invoice, by its number, or of a payer."""

    cents: int
    invoice: str | None = None
    subscriber_id: int | None = None


class SplitUp(NamedTuple):
    """What the parts of an entry became, one payment each."""

    bank_entry_id: int
    received: tuple[Received, ...]

    @property
    def sentence(self) -> str:
        """How many payments the entry became, and what they settle."""
        said = " | ".join(each.sentence for each in self.received)
        return f"entry {self.bank_entry_id} is split into {len(self.received)} payments: {said}"


def confirm(books: Books, entry_id: int, *, dry_run: bool = False) -> Decided:
    """Book a proposed entry as the payment of the invoice that is proposed.

    Raises NotFound if there is no such entry, BadInput if nothing is proposed for it.
    """
    with books.change(dry_run=dry_run) as change:
        entry = _undecided(change, entry_id)
        if entry.invoice_id is None:
            raise BadInput("nothing is proposed for the entry: name an invoice or a payer")
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


def split(books: Books, entry_id: int, parts: Sequence[Part], *, dry_run: bool = False) -> SplitUp:
    """Book an entry as several payments, which settle what they name, in this order.

    The bank's fee is taken from the first payments. Parts of several payers leave no words of the
    entry (decisions, "Entries of several payers").
    Raises NotFound if there is no such entry, invoice or payer. Raises BadInput if there are fewer
    than two parts, their sum is not the amount of the entry, the entry was decided before, or its
    money went out.
    """
    with books.change(dry_run=dry_run) as change:
        entry = _undecided(change, entry_id)
        whole = _incoming(change, entry)
        _check_parts(entry, parts, change.currency)
        named = [
            None if each.invoice is None else invoices.invoice_numbered(change, each.invoice)
            for each in parts
        ]
        ids = {each.subscriber_id for each in parts if each.subscriber_id is not None}
        meant = kept_payers(change, ids)
        parts = [
            each._replace(subscriber_id=meant.get(each.subscriber_id or 0, each.subscriber_id))
            for each in parts
        ]
        payers = {
            part.subscriber_id if invoice is None else invoice.subscriber_id
            for part, invoice in zip(parts, named, strict=True)
        }
        if len(payers) > 1:
            said = f"part of {in_currency(entry.cents, change.currency)} of {entry.value_date}"
            whole = whole._replace(reference=said)
        received = _received(change, parts, named, _incoming_parts(whole, parts))
        if len(payers) > 1:
            bank_entries.take_entry_of_payers(change, entry_id, received[0].payment_id)
        else:
            _take(change, entry, received[0])
        done = SplitUp(entry_id, tuple(received))
        change.say(done.sentence)
    return done


def _check_parts(entry: BankEntry, parts: Sequence[Part], currency: str) -> None:
    if len(parts) < 2:
        raise BadInput("an entry is split into two parts or more", field="parts")
    if any(each.cents <= 0 for each in parts):
        raise BadInput("the amount of each part is above 0", field="parts")
    missing = entry.cents - sum(each.cents for each in parts)
    if missing:
        whole, rest = (in_currency(cents, currency) for cents in (entry.cents, abs(missing)))
        raise BadInput(
            f"the parts are not {whole}, the amount of the entry: {rest} "
            f"{'is missing' if missing > 0 else 'is too much'}",
            field="parts",
        )


def _received(
    change: Operation,
    parts: Sequence[Part],
    named: Sequence[Invoice | None],
    incoming: Sequence[Incoming],
) -> list[Received]:
    """Book the payments of the parts, after looking up together what they are for."""
    look_ahead(
        change,
        [
            Expected(payer, money.cents, invoice, money.source)
            for part, invoice, money in zip(parts, named, incoming, strict=True)
            if (payer := invoice.subscriber_id if invoice else part.subscriber_id) is not None
        ],
    )
    done, left = list[Received](), dict[int, int]()
    for part, invoice, money in zip(parts, named, incoming, strict=True):
        now = invoice
        if invoice is not None:
            # Another part may have paid some of it.
            open_cents = left.get(invoice.invoice_id, invoice.open_cents)
            now = invoice._replace(open_cents=open_cents)
        received = receive(change, money, invoice=now, subscriber_id=part.subscriber_id)
        left |= {each.invoice_id: each.open_cents for each in received.invoices}
        done.append(received)
    return done


def _incoming_parts(whole: Incoming, parts: Sequence[Part]) -> list[Incoming]:
    """Return the money of each part; the sources of all but the first end with its number."""
    fee, found = whole.fee, []
    for number, part in enumerate(parts, 1):
        own = min(fee, part.cents)
        fee -= own
        source = whole.source if number == 1 else f"{whole.source}/{number}"
        found.append(whole._replace(cents=part.cents, fee=own, source=source))
    return found


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
        raise BadInput(f"the entry is {entry.status} already: nothing was changed")
    return entry


def _booked(
    change: Operation,
    entry: BankEntry,
    *,
    invoice: str | Invoice | None = None,
    subscriber_id: int | None = None,
) -> Decided:
    incoming = _incoming(change, entry)
    received = receive(change, incoming, invoice=invoice, subscriber_id=subscriber_id)
    _take(change, entry, received)
    return Decided(entry.bank_entry_id, received)


def _incoming(change: Operation, entry: BankEntry) -> Incoming:
    if entry.cents <= 0:
        raise BadInput(
            "the money of the entry went out: reverse the payment that it gives back, or ignore it"
        )
    return Incoming(
        entry.cents,
        min(entry.value_date, change.today),
        bank_entries.payment_type_of(change, entry.bank_file_id),
        (entry.reference or entry.end_to_end_id or "")[:TEXT_MAX] or None,
        min(entry.fee, entry.cents),
        entry.fingerprint,
    )


def _take(change: Operation, entry: BankEntry, received: Received) -> None:
    paid = received.invoices[0].invoice_id if received.invoices else None
    bank_entries.take_entry(
        change, entry.bank_entry_id, received.subscriber_id, paid, received.payment_id
    )


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
