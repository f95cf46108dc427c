"""Files of banks: their entries become payments, or a person decides (billing, "Bank statements").

A file is read in one transaction. Each entry is stored with its fingerprint, so the same file
again, or another one with the same entries, changes nothing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from masthead.bank_files import csv_mapping
from masthead.bank_files.accounts import is_same_account
from masthead.bank_files.entries import Entry, Statement
from masthead.bank_files.reading import BankFile, open_bank_file
from masthead.billing.matching import (
    Claim,
    Match,
    match,
    numbers_in,
    references_in,
    words_of,
)
from masthead.books.account import Books
from masthead.books.bank_claims import ClaimEntries
from masthead.books.payer_payments import TEXT_MAX, Incoming, receive
from masthead.books.settlement import Expected, look_ahead
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import printable
from masthead.errors import BadInput
from masthead.store.billing import bank_entries, invoices
from masthead.store.billing.bank_entries import KEPT_OF_IBAN, TRANSFER, BankEntry
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation

ByInvoice = Mapping[int, int]

_AT_ONCE = 500
"""The number of entries whose invoices are looked up together."""


class Read(NamedTuple):
    """An entry of a file: what it became, and why. ``number`` is that of its invoice."""

    entry: BankEntry
    number: str | None
    why: str
    currency: str

    @property
    def sentence(self) -> str:
        """The entry with its words, for the person who decides about it."""
        entry = self.entry
        amount = in_currency(entry.cents, self.currency)
        said = f"entry {entry.bank_entry_id} of {entry.value_date}, {amount}"
        texts = [text for text in (entry.name, entry.reference) if text]
        if texts:
            said += f" ({printable('; '.join(texts))})"
        if entry.status == "proposed":
            said += f": perhaps invoice {self.number}"
        elif entry.status == "settled" and self.number:
            said += f": invoice {self.number}"
        if entry.return_reason:
            said += f", returned: {printable(entry.return_reason)}"
        return f"{said}: {self.why}"


class Imported(NamedTuple):
    """What a file brought: its new entries, and how many were known or are not booked yet."""

    name: str
    entries: Sequence[Read]
    known: int
    pending: int
    currency: str

    def of(self, status: str) -> list[Read]:
        """Return the entries that became ``settled``, ``proposed`` or ``unknown``."""
        return [each for each in self.entries if each.entry.status == status]

    @property
    def sentence(self) -> str:
        """How many entries were settled, are proposed, unknown, and were known already."""
        parts = []
        for status in ("settled", "proposed", "unknown"):
            if found := self.of(status):
                cents = sum(each.entry.cents for each in found)
                amount = in_currency(cents, self.currency)
                parts.append(f"{len(found)} {status} ({amount})")
        if self.known:
            parts.append(f"{self.known} known already")
        if self.pending:
            parts.append(f"{self.pending} not booked yet")
        return f"entries of {printable(self.name)}: {', '.join(parts) or 'none'}"


def import_file(
    books: Books,
    path: Path,
    mapping: csv_mapping.Mapping | None = None,
    *,
    name: str | None = None,
    dry_run: bool = False,
) -> Imported:
    """Read a file of a bank, shop or card provider, and book what is certain.

    An entry that names one open invoice becomes its payment. The others are stored for a person.
    ``name`` is what errors call the file, by default its path.
    Raises BadInput for a file that cannot be read, is of another account than the seller's, or in
    another currency.
    """
    with books.change(dry_run=dry_run) as change, open_bank_file(path, mapping, name) as file:
        check_bills(change)
        importing = _Importing(change, file, mapping)
        for statement in file.statements:
            importing.check(name or str(path), statement)
            while some := list(islice(statement.entries, _AT_ONCE)):
                importing.take(some)
        done = Imported(
            file.name, importing.read, importing.known, file.tally.pending, change.currency
        )
        if done.entries:
            change.say(done.sentence)
    return done


class _Importing:
    """The entries of a file that are read so far."""

    def __init__(
        self, change: Operation, file: BankFile, mapping: csv_mapping.Mapping | None
    ) -> None:
        self.read: list[Read] = []
        self.known = 0
        self._change = change
        self._file = file
        self._settings = settings_of(change)
        self._payment_type = mapping.payment_type if mapping else TRANSFER
        self._account = ""
        self._file_id: int | None = None
        self._next_id = 0
        self._seen: set[str] = set()
        self._debits = ClaimEntries(change)
        self._open: dict[int, int] = {}
        """What is open of the invoices that the entries of this part may be of."""
        self._alike: dict[int, dict[frozenset[str], list[Claim]]] = {}

    def check(self, name: str, statement: Statement) -> None:
        """Raise BadInput for a statement of another account or currency."""
        where = f"{name}: line {statement.line}" if statement.line else name
        own = self._settings.seller_iban
        if statement.account and not own:
            raise BadInput(
                f"{where}: the statement is of the bank account {statement.account}, and no bank "
                "account (seller_iban) is set for billing"
            )
        if statement.account and not is_same_account(statement.account, own):
            raise BadInput(
                f"{where}: the statement is of the bank account {statement.account}, and that of "
                f"this publisher ends with {own[-KEPT_OF_IBAN:]}"
            )
        if statement.currency not in {"", self._change.currency}:
            raise BadInput(
                f"{where}: the statement is in {statement.currency}, and the account has "
                f"{self._change.currency}"
            )
        self._account = statement.account

    def take(self, entries: Sequence[Entry]) -> None:
        """Book or store entries that are not known yet."""
        prints = [each.fingerprint for each in entries]
        known = bank_entries.known_fingerprints(self._change, prints) | self._seen
        new = [each for each in entries if each.fingerprint not in known]
        self.known += len(entries) - len(new)
        self._seen.update(prints)
        if not new:
            return
        if self._file_id is None:
            file = self._file
            self._file_id = bank_entries.add_file(
                self._change, file.name, file.digest, self._account, self._payment_type
            )
        of_claims = self._debits.book(new)
        debits = [each for each in new if each.fingerprint in of_claims]
        new = [each for each in new if each.fingerprint not in of_claims]
        references = [_references(each) for each in new]
        named = self._named(new, references)
        unnamed = {each.cents for each, claims in zip(new, named, strict=True) if not claims}
        self._look_up_amounts(unnamed)
        alike = [self._alike_of(each) for each in new]
        found = {
            each.invoice_id: each
            for each in invoices.invoices_by_id(
                self._change, {claim.invoice_id for claims in (*named, *alike) for claim in claims}
            )
        }
        self._open = {key: each.open_cents for key, each in found.items()}
        returned = bank_entries.payments_of_invoices(
            self._change,
            {
                claim.invoice_id
                for each, claims in zip(new, named, strict=True)
                for claim in claims
                if each.cents < 0
            },
        )
        look_ahead(
            self._change,
            [
                Expected(claim.subscriber_id, each.cents, found[claim.invoice_id], each.fingerprint)
                for each, claims in zip(new, named, strict=True)
                for claim in claims
                if each.cents > 0
            ],
        )
        self._next_id = self._change.new_id("bank_entries")
        first = len(self.read)
        for entry, own, claims, others in zip(new, references, named, alike, strict=True):
            done = self._match(entry, own, claims, others)
            self._take(entry, done, found, _why_returned(claims, returned))
        for entry in debits:
            settled = of_claims[entry.fingerprint]
            named_so = entry._replace(end_to_end_id=settled.name)
            self._store(named_so, settled.match, settled.payment_id, settled.match.why)
        # Queued together: a payment writes what is queued, one statement for each table.
        for each in self.read[first:]:
            bank_entries.add_entry(self._change, each.entry)

    def _named(self, entries: Sequence[Entry], references: Sequence[set[str]]) -> list[list[Claim]]:
        """Return the invoices that each entry names."""
        form = self._settings.invoice_number
        numbers = [
            {found for text in _texts(each) for found in numbers_in(text, form)} for each in entries
        ]
        claims = bank_entries.claims_named(
            self._change, sorted(set().union(*numbers)), sorted(set().union(*references))
        )
        by_number, by_reference = (
            defaultdict[str | None, list[Claim]](list),
            defaultdict[str | None, list[Claim]](list),
        )
        for claim in claims:
            by_number[claim.number_text].append(claim)
            by_reference[claim.payment_reference].append(claim)
        return [
            list(
                {
                    claim.invoice_id: claim
                    for found, by in ((own_numbers, by_number), (own_references, by_reference))
                    for each in sorted(found)
                    for claim in by.get(each, ())
                }.values()
            )
            for own_numbers, own_references in zip(numbers, references, strict=True)
        ]

    def _look_up_amounts(self, amounts: set[int]) -> None:
        """Look up the open invoices of amounts, once for the whole file."""
        new = {each for each in amounts if each > 0 and each not in self._alike}
        if not new:
            return
        self._alike |= {each: {} for each in new}
        for claim in bank_entries.claims_of_amounts(self._change, new):
            for name in claim.names:
                by_name = self._alike[claim.open_cents].setdefault(words_of(name), [])
                by_name.append(claim)

    def _alike_of(self, entry: Entry) -> Sequence[Claim]:
        """Return the invoices of the same amount whose payer has the name of the entry."""
        return self._alike.get(entry.cents, {}).get(words_of(entry.name), [])

    def _match(
        self,
        entry: Entry,
        references: set[str],
        named: Sequence[Claim],
        alike: Sequence[Claim],
    ) -> Match:
        done = match(entry.cents, entry.name, references, self._now(named), self._now(alike))
        if done.status == "settled" and not 0 <= entry.fee <= entry.cents:
            return Match("proposed", done.claim, "its fee is more than its amount")
        return done

    def _take(
        self, entry: Entry, done: Match, found: dict[int, Invoice], why_returned: str
    ) -> None:
        payment_id: int | None = None
        why = why_returned if entry.cents < 0 and why_returned else done.why
        if done.status == "settled" and done.claim is not None:
            invoice = found[done.claim.invoice_id]
            invoice = invoice._replace(open_cents=done.claim.open_cents)
            payment = receive(self._change, self._incoming(entry), invoice=invoice)
            payment_id = payment.payment_id
            for each in payment.invoices:
                self._open[each.invoice_id] = each.open_cents
            why = f"{payment.sentence} ({why})"
        self._store(entry, done, payment_id, why)

    def _now(self, claims: Sequence[Claim]) -> list[Claim]:
        """Return invoices with what is open of them after the entries before."""
        return [
            each._replace(open_cents=self._open.get(each.invoice_id, each.open_cents))
            for each in claims
        ]

    def _incoming(self, entry: Entry) -> Incoming:
        return Incoming(
            entry.cents,
            # The bank may value a movement on a day to come.
            min(entry.value_date, self._change.today),
            self._payment_type,
            (entry.reference or entry.end_to_end_id)[:TEXT_MAX] or None,
            entry.fee,
            entry.fingerprint,
        )

    def _store(self, entry: Entry, done: Match, payment_id: int | None, why: str) -> None:
        assert self._file_id is not None
        claim = done.claim
        stored = BankEntry(
            bank_entry_id=self._next_id,
            bank_file_id=self._file_id,
            fingerprint=entry.fingerprint,
            value_date=entry.value_date,
            cents=entry.cents,
            fee=entry.fee,
            status=done.status,
            subscriber_id=claim.subscriber_id if claim else None,
            invoice_id=claim.invoice_id if claim else None,
            payment_id=payment_id,
            name=entry.name or None,
            iban=entry.iban[-KEPT_OF_IBAN:] or None,
            reference=entry.reference or None,
            end_to_end_id=entry.end_to_end_id or None,
            return_reason=entry.return_reason or None,
            reason=None,
        )
        self._next_id += 1
        number = claim.number_text if claim else None
        self.read.append(Read(stored, number, why, self._change.currency))


def _texts(entry: Entry) -> tuple[str, ...]:
    return tuple(text for text in (entry.reference, entry.end_to_end_id) if text)


def _references(entry: Entry) -> set[str]:
    return {found for text in _texts(entry) for found in references_in(text)}


def _why_returned(named: Sequence[Claim], payments: ByInvoice) -> str:
    """Return which payment an entry that names invoices seems to give back, "" if it names none."""
    if not named:
        return ""
    claim = named[0]
    payment = payments.get(claim.invoice_id)
    if payment is None:
        return f"the money went out, and it names invoice {claim.number_text}"
    return (
        f"it seems to give back payment {payment} of invoice {claim.number_text}: reverse that "
        "payment, and ignore the entry"
    )
