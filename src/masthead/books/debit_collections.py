"""What the bank has collected of debit runs becomes payments (billing, "Direct debit").

Each claim is a payment of its own, so that a return takes back exactly that one. All amounts are
whole cents.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.payer_payments import Incoming, receive
from masthead.books.settlement import Expected, look_ahead
from masthead.circulation.amounts import in_currency
from masthead.contract.moments import is_day
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.billing import claims, debit_runs, invoices
from masthead.store.billing.claims import Claim, Selection
from masthead.store.billing.closed_months import check_bills
from masthead.store.books.operation import Operation

PAYMENT_TYPE = "direct debit"
"""The type of a payment that was collected."""

_AT_ONCE = 500


class Taken(NamedTuple):
    """Claims that became payments: their number, their sum, and how much of it was over.

    It is over where an invoice was paid otherwise, or credited, while it was with the bank. It
    settles other invoices of its payer, or is credit.
    """

    claims: int
    cents: int
    over: int

    def sentence_in(self, currency: str) -> str:
        """Return what was booked, with its amounts in a currency."""
        said = f"{counted(self.claims, 'payment')} of {in_currency(self.cents, currency)}"
        if self.over:
            said += (
                f"; {in_currency(self.over, currency)} is over, since invoices were settled "
                "meanwhile"
            )
        return said


class Collected(NamedTuple):
    """A run whose claims were collected on a day."""

    run_id: int
    day: str
    taken: Taken
    currency: str

    @property
    def sentence(self) -> str:
        """What was booked."""
        return (
            f"debit run {self.run_id} is collected on {self.day}: "
            f"{self.taken.sentence_in(self.currency)}"
        )


def collected(books: Books, run_id: int, day: str, *, dry_run: bool = False) -> Collected:
    """Book that the bank has collected all claims of a run that are with it.

    ``day`` is the value date; if its month is closed, the payments are booked to the first open
    day. Raises NotFound if there is no such run. Raises BadInput if nothing of it is with the bank,
    and for a day to come or before the run.
    """
    if not is_day(day):
        raise BadInput(f"{day!r} is not a day such as 2026-11-05", field="value_date")
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        run = debit_runs.find_run(change, run_id)
        if day > change.today:
            raise BadInput(
                f"{day} is still to come: the bank has not collected yet", field="value_date"
            )
        if day < run.created_at[:10]:
            raise BadInput(
                f"debit run {run_id} was made on {run.created_at[:10]}: the bank did not collect "
                f"before, on {day}",
                field="value_date",
            )
        taken = take_all(change, Selection(run_id, status="sent"), day)
        if not taken.claims:
            raise BadInput(f"no claim of debit run {run_id} is with the bank")
        done = Collected(run_id, day, taken, change.currency)
        change.say(done.sentence)
    return done


def take_all(change: Operation, which: Selection, day: str, fee: int = 0) -> Taken:
    """Book the claims of a run as collected; ``fee`` is what the bank charged for all of them."""
    done = Taken(0, 0, 0)
    after = 0
    while found := claims.claims_of(change, which, after=after, limit=_AT_ONCE):
        after = found[-1].claim_id
        came = []
        for claim in found:
            came.append(Came(claim, day, min(fee, claim.cents)))
            fee -= came[-1].fee
        some = take(change, came)
        done = Taken(done.claims + some.claims, done.cents + some.cents, done.over + some.over)
    return done


class Came(NamedTuple):
    """A claim that the bank has collected on a day, and what it charged, in cents."""

    claim: Claim
    day: str
    fee: int


def take(change: Operation, came: Sequence[Came]) -> Taken:
    """Book some claims, which are with the bank, as collected.

    What is over becomes the payer's credit, as with any payment. The caller writes the audit entry.
    """
    found = {
        each.invoice_id: each
        for each in invoices.invoices_by_id(change, {each.claim.invoice_id for each in came})
    }
    look_ahead(
        change,
        [
            Expected(
                each.claim.subscriber_id,
                each.claim.cents,
                found[each.claim.invoice_id],
                each.claim.end_to_end_id,
            )
            for each in came
        ],
    )
    over = 0
    for claim, day, fee in came:
        invoice = found[claim.invoice_id]
        received = receive(
            change,
            Incoming(claim.cents, day, PAYMENT_TYPE, invoice.number_text, fee, claim.end_to_end_id),
            invoice=invoice,
            subscriber_id=claim.subscriber_id,
        )
        over += max(claim.cents - invoice.open_cents, 0)
        # A payment that is over settles other invoices of its payer, which may be claims too.
        found |= {now.invoice_id: now for now in received.invoices}
        claims.mark_paid(change, claim.claim_id, received.payment_id)
    return Taken(len(came), sum(each.claim.cents for each in came), over)
