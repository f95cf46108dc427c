"""Claims that come back from the bank: refused, or returned (billing, "Direct debit").

A claim that the bank refused before it collected has moved no money: its invoice is simply open. A
claim that was collected comes back by a reversal of exactly its payment. After a number of returns
in a row (``mandate_rests_after``), its mandate rests.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from masthead.bank_files import pain002
from masthead.bank_files.entries import BadValueError
from masthead.bank_files.pain002 import Rejection
from masthead.billing.mandates import SCHEMES, SEQUENCES, batch_id, rests
from masthead.billing.return_reasons import reason_of
from masthead.books.account import Books
from masthead.books.payment_reversals import take_back
from masthead.circulation.amounts import CENTS_MAX, in_currency
from masthead.contract.printable import counted, printable
from masthead.errors import BadInput
from masthead.store.billing import claims, debit_runs, invoices, mandates, payments
from masthead.store.billing.claims import Claim, Selection
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation

BYTES_MAX = 1 << 30
"""The size of a report; one of 200,000 claims has some 100 MiB."""

_AT_ONCE = 500


class Returned(NamedTuple):
    """A claim that came back: its invoice's number, and whether its money had come.

    ``mandate`` is the reference of its mandate if that rests now.
    """

    claim: Claim
    number: str
    was_paid: bool
    mandate: str | None
    currency: str

    @property
    def sentence(self) -> str:
        """What came back, and why."""
        claim = self.claim
        amount = in_currency(claim.cents, self.currency)
        word = "is returned" if self.was_paid else "is refused"
        said = f"{amount} of invoice {self.number} {word}: {printable(claim.return_reason or '')}"
        if claim.fee:
            said += f", with a fee of {in_currency(claim.fee, self.currency)}"
        return said if self.mandate is None else f"{said}; mandate {self.mandate} rests"


class Imported(NamedTuple):
    """What a report brought: claims that came back, known returns, and ids of unknown claims."""

    name: str
    returned: Sequence[Returned]
    known: int
    unknown: Sequence[str]
    currency: str

    @property
    def sentence(self) -> str:
        """How much came back, was known already, and is of no claim."""
        cents = sum(each.claim.cents for each in self.returned)
        parts = []
        if self.returned:
            amount = in_currency(cents, self.currency)
            parts.append(f"{counted(len(self.returned), 'claim')} of {amount} returned")
        if rested := sum(each.mandate is not None for each in self.returned):
            parts.append(f"{counted(rested, 'mandate')} {'rests' if rested == 1 else 'rest'}")
        if self.known:
            parts.append(f"{self.known} known already")
        if self.unknown:
            first = printable(self.unknown[0])
            parts.append(f"{len(self.unknown)} of no claim of this account, such as {first}")
        return f"returns of {printable(self.name)}: {', '.join(parts) or 'none'}"


def import_report(
    books: Books,
    path: Path,
    *,
    name: str | None = None,
    leave_unknown: bool = False,
    dry_run: bool = False,
) -> Imported:
    """Read a status report of the bank, pain.002, and take back what it refuses.

    ``name`` is the name that it had where it came from, by default that of ``path``.
    The same report again changes nothing. Raises BadInput for a report that names what this account
    never handed in; ``leave_unknown`` leaves such claims out, and takes back the others. Raises
    BadInput, with the line, for a file that is not pain.002 or cannot be read.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file")
    size = path.stat().st_size
    if size > BYTES_MAX:
        raise BadInput(f"{path}: has {size:,} bytes, and a report has {BYTES_MAX:,} at most")
    with books.change(dry_run=dry_run) as change, path.open("rb") as file:
        check_bills(change)
        rejections = _with_name(name or str(path), pain002.read(file))
        done = _import(change, name or path.name, rejections)
        _check_unknown(done, leave=leave_unknown)
        if done.returned:
            change.say(done.sentence)
    return done


def _check_unknown(done: Imported, *, leave: bool) -> None:
    """Refuse a report of claims that were never handed in: it may be that of another account."""
    has_own = bool(done.returned or done.known)
    if not done.unknown or (leave and has_own):
        return
    first, more = printable(done.unknown[0]), len(done.unknown) - 1
    which = f"{first} and {more} more" if more else first
    said = f"{printable(done.name)} names {which}, which this account never handed in to the bank"
    if has_own:
        raise BadInput(said, code="claims_not_handed_in")
    raise BadInput(said)


def _with_name(name: str, found: Iterator[Rejection]) -> Iterator[Rejection]:
    try:
        yield from found
    except BadValueError as error:
        raise BadInput(f"{printable(name)}: {printable(error)}") from None


def _import(change: Operation, name: str, rejections: Iterator[Rejection]) -> Imported:
    returned: list[Returned] = []
    known = 0
    unknown: list[str] = []
    seen = set[int]()
    while some := list(islice(rejections, _AT_ONCE)):
        named = claims.claims_named(change, [each.name for each in some if each.level == "claim"])
        backs: list[Back] = []
        for each in some:
            found = _claims_of(change, each, named)
            if not found:
                unknown.append(each.name or each.message_id)
            day = min(each.made_on or change.today, change.today)
            reason = reason_of(each.code, each.text)
            for claim in found:
                if claim.claim_id in seen:
                    continue
                seen.add(claim.claim_id)
                if claim.status in {"returned", "cancelled"}:
                    known += 1
                else:
                    backs.append(Back(claim, day, reason, min(each.fee, CENTS_MAX)))
        returned += give_back(change, backs)
    return Imported(name, returned, known, unknown, change.currency)


def _claims_of(change: Operation, rejection: Rejection, named: dict[str, Claim]) -> Sequence[Claim]:
    if rejection.level == "claim":
        claim = named.get(rejection.name)
        return [] if claim is None else [claim]
    run = debit_runs.run_of_message(change, rejection.message_id)
    if run is None:
        return []
    if rejection.level == "file":
        return claims.claims_of(change, Selection(run.debit_run_id), after=0, limit=run.claims)
    for scheme in SCHEMES:
        for sequence in SEQUENCES:
            if rejection.name == batch_id(run.message_id, scheme, sequence):
                which = Selection(run.debit_run_id, scheme, sequence)
                return claims.claims_of(change, which, after=0, limit=run.claims)
    return []


class Back(NamedTuple):
    """A claim that comes back on a day, with the bank's reason and its fee in cents."""

    claim: Claim
    day: str
    reason: str
    fee: int


def give_back(change: Operation, backs: Sequence[Back]) -> list[Returned]:
    """Take back claims that are with the bank or paid, each once; let mandates rest.

    The caller writes the audit entry.
    """
    numbers = {
        each.invoice_id: each.number_text
        for each in invoices.invoices_by_id(change, {back.claim.invoice_id for back in backs})
    }
    done = []
    for back in backs:
        claim = back.claim
        was_paid = claim.status == "paid"
        # What the bank refuses has cost nothing that it booked.
        fee = back.fee if was_paid else 0
        if was_paid:
            assert claim.payment_id is not None
            payment = payments.find_payment(change, claim.payment_id)
            day = max(back.day, payment.value_date)
            take_back(change, payment, day, fee, back.reason)
        else:
            day = back.day
            claims.mark_returned(change, claim.claim_id, day, back.reason, 0)
        now = claim._replace(status="returned", returned_on=day, return_reason=back.reason, fee=fee)
        done.append(Returned(now, numbers[claim.invoice_id], was_paid, None, change.currency))
    resting = _let_rest(change, {back.claim.mandate_id for back in backs})
    last = {each.claim.mandate_id: number for number, each in enumerate(done)}
    return [
        each._replace(mandate=resting.get(each.claim.mandate_id))
        if last[each.claim.mandate_id] == number
        else each
        for number, each in enumerate(done)
    ]


def _let_rest(change: Operation, ids: set[int]) -> dict[int, str]:
    """Let mandates rest whose last claims came back; return their references by id."""
    most = settings_of(change).mandate_rests_after
    history = defaultdict[int, list[bool]](list)
    for claim in claims.settled_claims_of(change, ids):
        history[claim.mandate_id].append(claim.status == "returned")
    resting = [key for key, returned in history.items() if rests(returned, most)]
    if not resting:
        return {}
    mandates.change_status(
        change, resting, "resting", f"{counted(most, 'debit')} in a row came back"
    )
    return mandates.references_of(change, resting)
