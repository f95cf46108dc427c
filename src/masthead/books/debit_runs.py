"""Debit runs: invoices are handed to the bank for collection (billing, "Direct debit").

A run stores its claims in one transaction. Its file is written from what is stored, so it has the
same bytes each time, and no invoice is in two files while it is with the bank. Nothing is paid by
handing in: ``books.debit_collections`` books what the bank has collected. All amounts are cents.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from typing import NamedTuple

import msgspec

from masthead.bank_files.pain008 import VERSIONS, Collection, Creditor, Version, pieces
from masthead.billing.mandates import check_collection_day, message_id
from masthead.billing.settings import BillingSettings
from masthead.books.account import Books
from masthead.books.payment_allocation import use_credit
from masthead.circulation.amounts import in_currency
from masthead.contract.moments import is_day
from masthead.contract.printable import counted, listed
from masthead.errors import BadInput
from masthead.store.billing import claims, debit_runs, invoices, payments
from masthead.store.billing.claims import Claim, Selection
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.debit_runs import LeftOut, Part, Run
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation

__all__ = [
    "Cancelled",
    "Claim",
    "File",
    "Made",
    "Part",
    "Run",
    "Shown",
    "cancel",
    "claims_of",
    "file_of",
    "listed_runs",
    "run",
]


class Made(NamedTuple):
    """A run, its parts by scheme and sequence, and what it left out.

    ``run.claims`` is 0 if nothing was due: no run was stored then. ``settled`` is the number of
    invoices that the credits of their payers paid before.
    """

    run: Run
    parts: Sequence[Part]
    left_out: LeftOut
    currency: str
    settled: int = 0

    @property
    def sentence(self) -> str:
        """What is handed in, for which day, and what is not."""
        run = self.run
        if not run.claims:
            return f"no invoice can be collected on {run.collected_on}{self._left_out}"
        kinds = [f"{each.claims} {each.scheme.upper()} {each.sequence}" for each in self.parts]
        return (
            f"debit run {run.debit_run_id} collects {counted(run.claims, 'invoice')} of "
            f"{in_currency(run.cents, self.currency)} on {run.collected_on}: "
            f"{', '.join(kinds)}{self._left_out}"
        )

    @property
    def _left_out(self) -> str:
        words = [
            (self.left_out.announced, "issued too late to be announced"),
            (self.left_out.resting, "of a mandate that rests"),
            (self.left_out.with_bank, "with the bank already"),
        ]
        found = [f"{count} {said}" for count, said in words if count]
        said = f"; left out: {listed(found)}" if found else ""
        if self.settled:
            verb = "is" if self.settled == 1 else "are"
            said += f"; {counted(self.settled, 'invoice')} {verb} paid by the credit of the payer"
        return said


class Shown(NamedTuple):
    """A run in a list, with its parts by scheme, sequence and status."""

    run: Run
    parts: Sequence[Part]
    currency: str

    @property
    def sentence(self) -> str:
        """The run, and what became of its claims."""
        run = self.run
        said = (
            f"debit run {run.debit_run_id}  {run.collected_on}  {counted(run.claims, 'claim')} of "
            f"{in_currency(run.cents, self.currency)}"
        )
        sums: dict[str, tuple[int, int]] = {}
        for each in self.parts:
            number, cents = sums.get(each.status, (0, 0))
            sums[each.status] = (number + each.claims, cents + each.cents)
        for status, (number, cents) in sorted(sums.items()):
            words = "with the bank" if status == "sent" else status
            said += f"; {number} {words} ({in_currency(cents, self.currency)})"
        return said


def run(books: Books, day: str, *, version: str = VERSIONS[0], dry_run: bool = False) -> Made:
    """Hand in all invoices that can be collected on a day.

    They are open, due by the day, announced long enough before (``debit_notice_days``), of a payer
    with an active mandate, and not with the bank. The credit of a payer settles them first. A run
    without any is not stored. Raises BadInput
    for a day for which a bank takes no file today, an account that has no euros, and settings
    without a name, an IBAN and a creditor identifier.
    """
    if not is_day(day):
        raise BadInput(f"{day!r} is not a day such as 2026-11-05", field="collected_on")
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        check_collection_day(day, change.today)
        settings = settings_of(change)
        creditor = _creditor(change, settings)
        done = _run(change, settings, day, _version(version), creditor)
        if done.run.claims or done.settled:
            change.say(done.sentence)
    return done


def _run(
    change: Operation, settings: BillingSettings, day: str, version: Version, creditor: str
) -> Made:
    noticed = timedelta(days=settings.debit_notice_days)
    issued_by = (date.fromisoformat(day) - noticed).isoformat()
    settled = _use_credits(change, settings, day, issued_by)
    out = debit_runs.left_out(change, day, issued_by)
    run_id = change.new_id("debit_runs")
    made = Run(run_id, change.now, day, message_id(change.now, run_id), version, 0, 0, creditor)
    debit_runs.add_run(change, made)
    number, cents = debit_runs.add_claims(change, run_id, made.message_id, day, issued_by)
    if not number:
        debit_runs.drop_run(change, run_id)
        return Made(made, (), out, change.currency, settled)
    debit_runs.finish_run(change, run_id, number, cents)
    parts = debit_runs.parts_of_run(change, run_id)
    return Made(made._replace(claims=number, cents=cents), parts, out, change.currency, settled)


def _use_credits(change: Operation, settings: BillingSettings, day: str, issued_by: str) -> int:
    """Settle what is due by the credits of its payers; return how many invoices are paid."""
    due = debit_runs.due_with_credit(change, day, issued_by)
    found = {each.invoice_id: each for each in invoices.invoices_by_id(change, due)}
    settled = 0
    for key in due:
        if payments.credit_of(change, found[key].subscriber_id) > 0:
            settled += not use_credit(change, settings, found[key]).open_cents
    return settled


def _version(text: str) -> Version:
    for version in VERSIONS:
        if text == version:
            return version
    raise BadInput(f"{text!r} is not a version that is written: {listed(VERSIONS, 'or')} is")


def _creditor(change: Operation, settings: BillingSettings) -> str:
    if change.currency != "EUR":
        raise BadInput(
            f"the account has {change.currency}, and direct debits of the SEPA are in EUR"
        )
    needed = ("seller_name", "seller_iban", "creditor_id")
    missing = [name for name in needed if not getattr(settings, name)]
    if missing:
        raise BadInput(
            f"a file for the bank needs {listed(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not set",
            code="billing_settings_missing",
        )
    creditor = Creditor(
        settings.seller_name, settings.seller_iban, settings.seller_bic, settings.creditor_id
    )
    return msgspec.json.encode(creditor._asdict()).decode()


class Cancelled(NamedTuple):
    """A run that was cancelled."""

    run: Run
    currency: str

    @property
    def sentence(self) -> str:
        """Which run was cancelled, and what can be collected again."""
        run = self.run
        return (
            f"debit run {run.debit_run_id} is cancelled: {counted(run.claims, 'invoice')} of "
            f"{in_currency(run.cents, self.currency)} can be handed in again"
        )


def cancel(books: Books, run_id: int, *, dry_run: bool = False) -> Cancelled:
    """Cancel a run whose file the bank never got; its invoices can be handed in again.

    What credits of payers settled stays settled. Raises NotFound if there is no such run. Raises
    BadInput if it was cancelled, or if the bank has answered: a claim was paid or came back.
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        found = debit_runs.find_run(change, run_id)
        states = {each.status for each in debit_runs.parts_of_run(change, run_id)}
        if states == {"cancelled"}:
            raise BadInput(f"debit run {run_id} was cancelled before")
        if states != {"sent"}:
            raise BadInput(
                f"the bank has answered to debit run {run_id}, so it has the file: only a run that "
                "was not handed in can be cancelled"
            )
        debit_runs.cancel_claims(change, run_id)
        done = Cancelled(found, change.currency)
        change.say(done.sentence)
    return done


class File(NamedTuple):
    """The file of a run: its text, piece by piece, which can be read once."""

    run: Run
    pieces: Iterator[str]


@contextmanager
def file_of(books: Books, run_id: int) -> Iterator[File]:
    """Yield the file of a run for the bank, pain.008; it has the same bytes each time.

    Raises NotFound if there is no such run, BadInput if an account is gone, such as by erasing its
    payer.
    """
    with books.scan() as reading:
        found = debit_runs.find_run(reading, run_id)
        if any(each.status == "cancelled" for each in debit_runs.parts_of_run(reading, run_id)):
            raise BadInput(f"debit run {run_id} was cancelled: its file is not for the bank")
        debit_runs.check_accounts(reading, run_id)
        collection = Collection(
            found.version,
            found.message_id,
            found.created_at,
            found.collected_on,
            Creditor(**msgspec.json.decode(found.creditor)),
            found.claims,
            found.cents,
        )
        yield File(found, pieces(collection, debit_runs.batches_of(reading, found)))


def listed_runs(books: Books, *, after: int = 0, limit: int = 100) -> list[Shown]:
    """Return the runs after an id, by id, with what became of their claims."""
    with books.read() as reading:
        return [
            Shown(each, debit_runs.parts_of_run(reading, each.debit_run_id), reading.currency)
            for each in debit_runs.list_runs(reading, after=after, limit=limit)
        ]


def claims_of(
    books: Books, run_id: int, *, after: int = 0, limit: int = 100
) -> list[tuple[Claim, str]]:
    """Return claims of a run after an id, by id, each with the number of its invoice.

    Raises NotFound if there is no such run.
    """
    with books.read() as reading:
        debit_runs.find_run(reading, run_id)
        found = claims.claims_of(reading, Selection(run_id), after=after, limit=limit)
        numbers = {
            each.invoice_id: each.number_text
            for each in invoices.invoices_by_id(reading, {each.invoice_id for each in found})
        }
        return [(each, numbers[each.invoice_id]) for each in found]
