"""Entries of statements that are of direct debits (billing, "Bank statements", "Direct debit").

An entry names a claim by its end-to-end id, or a run by the id of its file or batch and the sum.
All amounts are whole cents.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from masthead.bank_files.entries import Entry
from masthead.billing import matching
from masthead.billing.mandates import SCHEMES, batch_id
from masthead.billing.matching import Match
from masthead.billing.return_reasons import reason_in
from masthead.books.debit_collections import Came, take, take_all
from masthead.books.debit_returns import Back, give_back
from masthead.circulation.amounts import in_currency
from masthead.store.billing import bank_entries, claims, debit_runs, invoices
from masthead.store.billing.claims import Claim, Selection
from masthead.store.billing.debit_runs import Part, Run
from masthead.store.books.operation import Operation

_BATCH = re.compile(r"\b(MH[0-9]{14}-[0-9]+)(?:-(CORE|B2B)-(FRST|RCUR|OOFF|FNAL))?(?![-0-9])")


class Settled(NamedTuple):
    """What an entry of direct debits became, as a match; it has no invoice for a whole batch.

    ``name`` is the id by which the entry is of a claim or a batch.
    """

    match: Match
    payment_id: int | None
    name: str


class ClaimEntries:
    """Finds and books the entries of direct debits of one file, which is read part by part."""

    def __init__(self, change: Operation) -> None:
        self._change = change
        self._named: dict[str, Claim] = {}
        self._numbers: dict[int, str] = {}
        self._batches: set[str] = set()
        """The names of the batches that entries of this file have settled."""

    def book(self, entries: Sequence[Entry]) -> dict[str, Settled]:
        """Book those of some entries that are of direct debits.

        Returns what they became, by their fingerprints.
        """
        ids = {each.end_to_end_id for each in entries if each.end_to_end_id}
        self._named = claims.claims_named(self._change, sorted(ids))
        taken = self._take(entries)
        found = invoices.invoices_by_id(
            self._change, {each.invoice_id for each in self._named.values()}
        )
        self._numbers = {each.invoice_id: each.number_text for each in found}
        done = {
            each.fingerprint: self._book(each, is_taken=each.fingerprint in taken)
            for each in entries
        }
        return {key: settled for key, settled in done.items() if settled is not None}

    def _take(self, entries: Sequence[Entry]) -> set[str]:
        """Book what came for claims, together; return the fingerprints of these entries."""
        came: dict[str, Came] = {}
        taken = set()
        for entry in entries:
            claim = self._named.get(entry.end_to_end_id)
            is_due = claim is not None and claim.status == "sent" and entry.cents == claim.cents
            if claim is not None and is_due and claim.end_to_end_id not in came:
                came[claim.end_to_end_id] = Came(claim, self._day(entry), _fee(entry))
                taken.add(entry.fingerprint)
        if came:
            take(self._change, list(came.values()))
            self._named |= claims.claims_named(self._change, sorted(came))
        return taken

    def _book(self, entry: Entry, *, is_taken: bool) -> Settled | None:
        claim = self._named.get(entry.end_to_end_id)
        if claim is not None and is_taken:
            return self._settled(claim, f"payment {claim.payment_id}, by its claim")
        if claim is not None:
            return self._returned(entry, claim) if entry.cents < 0 else self._paid(entry, claim)
        if entry.cents <= 0:
            return None
        for text in (entry.batch_id, entry.end_to_end_id, entry.reference):
            if found := _BATCH.search(text):
                run = debit_runs.run_of_message(self._change, found[1])
                if run is not None:
                    return self._batch(entry, run, found[0])
        return None

    def _paid(self, entry: Entry, claim: Claim) -> Settled:
        if claim.payment_id is not None:
            return self._settled(claim, f"payment {claim.payment_id} was booked before")
        if entry.cents != claim.cents:
            claimed = in_currency(claim.cents, self._change.currency)
            return self._unknown(claim, f"its claim is {claimed}: the amount differs")
        if claim.status == "cancelled":
            return self._unknown(claim, "its debit run was cancelled")
        return self._unknown(claim, "the bank refused its claim before")

    def _returned(self, entry: Entry, claim: Claim) -> Settled:
        currency = self._change.currency
        if claim.status == "cancelled":
            return self._unknown(claim, "its debit run was cancelled")
        if claim.status == "returned":
            if entry.fee > claim.fee:
                said = in_currency(entry.fee, currency)
                return self._unknown(claim, f"it came back before; the fee of {said} is not booked")
            return self._settled(claim, "the return was booked before")
        # What is more than the claim is the bank's fee, where the entry does not say so.
        fee = entry.fee + max(-entry.cents - claim.cents, 0)
        if -entry.cents < claim.cents:
            claimed = in_currency(claim.cents, currency)
            return self._unknown(claim, f"only a part of its claim of {claimed} is returned")
        day = self._day(entry)
        if claim.status == "sent":
            # Its money came with the batch, whose entry is not read yet.
            take(self._change, [Came(claim, day, 0)])
            claim = self._again(claim)
        reason = reason_in(entry.return_reason)
        (done,) = give_back(self._change, [Back(claim, day, reason, fee)])
        self._named[claim.end_to_end_id] = done.claim
        return self._settled(done.claim, f"by its claim: {done.sentence}")

    def _batch(self, entry: Entry, run: Run, name: str) -> Settled:
        """Book the entry of a whole run, or of its claims of one scheme and sequence."""
        said = f"debit run {run.debit_run_id}"
        which, parts = self._selected(run, name)
        with_bank = sum(each.cents for each in parts if each.status == "sent")
        # What came back without a payment was refused: the bank never collected it.
        held = ("sent", "paid")
        collected = sum(each.cents for each in parts if each.status in held or each.was_paid)
        if entry.cents not in {with_bank, collected}:
            left = in_currency(with_bank, self._change.currency)
            return _of_batch("unknown", name, f"it names {said}, of which {left} is with the bank")
        if not with_bank:
            if name in self._batches or bank_entries.is_settled(self._change, name):
                return _of_batch("unknown", name, f"another entry is of {said} already")
            self._batches.add(name)
            return _of_batch("settled", name, f"the payments of {said} were booked before")
        taken = take_all(self._change, which, self._day(entry), _fee(entry))
        self._batches.add(name)
        self._named = claims.claims_named(self._change, sorted(self._named))
        return _of_batch("settled", name, f"{said}: {taken.sentence_in(self._change.currency)}")

    def _selected(self, run: Run, name: str) -> tuple[Selection, Sequence[Part]]:
        parts = debit_runs.parts_of_run(self._change, run.debit_run_id)
        if name == run.message_id:
            return Selection(run.debit_run_id, status="sent"), parts
        own = [
            each for each in parts if batch_id(run.message_id, each.scheme, each.sequence) == name
        ]
        for each in own:
            return Selection(run.debit_run_id, each.scheme, each.sequence, "sent"), own
        return Selection(run.debit_run_id, SCHEMES[0], "FNAL", "sent"), own

    def _again(self, claim: Claim) -> Claim:
        found = claims.claims_named(self._change, [claim.end_to_end_id])[claim.end_to_end_id]
        self._named[claim.end_to_end_id] = found
        return found

    def _settled(self, claim: Claim, why: str) -> Settled:
        return Settled(
            Match("settled", self._of(claim), why), claim.payment_id, claim.end_to_end_id
        )

    def _unknown(self, claim: Claim, why: str) -> Settled:
        return Settled(Match("unknown", self._of(claim), why), None, claim.end_to_end_id)

    def _of(self, claim: Claim) -> matching.Claim:
        number = self._numbers[claim.invoice_id]
        return matching.Claim(claim.invoice_id, number, None, claim.subscriber_id, 0)

    def _day(self, entry: Entry) -> str:
        # The bank may value a movement on a day to come.
        return min(entry.value_date, self._change.today)


def _of_batch(status: matching.Status, name: str, why: str) -> Settled:
    return Settled(Match(status, None, why), None, name)


def _fee(entry: Entry) -> int:
    return min(max(entry.fee, 0), entry.cents)
