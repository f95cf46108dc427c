"""Payments that come back: bounced, returned, charged back (billing, "Reversal").

All amounts are whole cents, with tax.
"""

from typing import TYPE_CHECKING, NamedTuple

from masthead.books.account import Books
from masthead.books.payer_payments import check_day, checked_text
from masthead.books.settlement import reopen
from masthead.circulation.amounts import CENTS_MAX, in_currency
from masthead.circulation.refunding import tax_of
from masthead.errors import BadInput
from masthead.store.billing import claims, invoices, payments
from masthead.store.billing.closed_months import check_bills, first_open_day
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.journal import post
from masthead.store.billing.payments import Payment
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation

if TYPE_CHECKING:
    from masthead.billing.journal_accounts import JournalAccount


class Reversed(NamedTuple):
    """A payment that was taken back, and the invoices that are open again."""

    payment_id: int
    reversal_id: int
    cents: int
    fee: int
    day: str
    invoices: tuple[Invoice, ...]
    currency: str

    @property
    def sentence(self) -> str:
        """What was taken back, and what is open again."""
        said = (
            f"payment {self.payment_id} of {in_currency(self.cents, self.currency)} is taken back "
            f"on {self.day}"
        )
        if self.fee:
            said += f", with a fee of {in_currency(self.fee, self.currency)}"
        for each in self.invoices:
            missing = in_currency(each.open_cents, self.currency)
            said += f"; {each.name} is open with {missing}"
        return said


def reverse(
    books: Books,
    payment_id: int,
    *,
    day: str | None = None,
    fee: int = 0,
    reason: str | None = None,
    dry_run: bool = False,
) -> Reversed:
    """Book that a payment came back: a bounced cheque, a returned debit, a chargeback.

    Its invoices are open again, and their running terms unpaid, from ``day`` on (by default today).
    Raises NotFound for an unknown payment. Raises BadInput if it was reversed before, is no
    payment, or for a day to come, before the payment, or in a closed month.
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        payment = payments.find_payment(change, payment_id)
        if payment.kind != "payment":
            raise BadInput(f"payment {payment_id} is money that went out: it cannot come back")
        if payments.reversal_of(change, payment_id) is not None:
            raise BadInput(f"payment {payment_id} was taken back before: nothing was changed")
        day = check_day(change, day)
        if day < payment.value_date:
            raise BadInput(
                f"payment {payment_id} came on {payment.value_date}: it did not come back before, "
                f"on {day}",
                field="value_date",
            )
        if not 0 <= fee <= CENTS_MAX:
            raise BadInput("the fee is 0 or more", field="fee")
        done = take_back(change, payment, day, fee, checked_text(reason, "reason"))
        change.say(done.sentence)
    return done


def take_back(
    change: Operation, payment: Payment, day: str, fee: int, reason: str | None
) -> Reversed:
    """Take a payment back within a running operation; a closed month's is booked to an open day.

    The claim whose money it was is returned. The caller writes the audit entry, and has checked
    that the payment was not taken back before.
    """
    settings = settings_of(change)
    allocated = payments.invoices_paid_by(change, payment.payment_id)
    found = {
        each.invoice_id: each
        for each in invoices.invoices_by_id(change, [key for key, _ in allocated])
    }
    opened = []
    booked_on = first_open_day(change, day)
    for invoice_id, cents in allocated:
        invoice = found[invoice_id]
        booked_on = max(booked_on, *payments.days_of(change, invoice_id))
        written = payments.settled_of(change, invoice_id).written_off
        if written > settings.tolerance:
            _lose(change, invoice, payment, cents, booked_on)
            continue
        if not invoice.open_cents:
            reopen(change, settings, invoice, booked_on)
        payments.allocate(
            change, invoice_id, "payment", -cents, booked_on, payment_id=payment.payment_id
        )
        payments.allocate(change, invoice_id, "write_off", -written, booked_on)
        now = invoice._replace(open_cents=invoice.open_cents + cents + written)
        invoices.change_open(change, invoice_id, now.open_cents)
        opened.append(now)
    payments.change_left(
        change, payment.payment_id, sum(cents for _, cents in allocated) - payment.cents
    )
    reversal = Payment(
        payment_id=change.new_id("payments"),
        subscriber_id=payment.subscriber_id,
        kind="reversal",
        value_date=day,
        booked_on=booked_on,
        cents=-payment.cents,
        fee=fee,
        payment_type=payment.payment_type,
        reference=payment.reference,
        reverses_id=payment.payment_id,
        reason=reason,
        source=None,
        left_cents=0,
    )
    payments.add_payment(change, reversal)
    post(
        change,
        booked_on,
        f"payment {payment.payment_id} taken back",
        [("bank", -payment.cents - fee), ("fees", fee), ("prepayments", payment.cents)],
        payment_id=reversal.payment_id,
    )
    claim = claims.claim_of_payment(change, payment.payment_id)
    if claim is not None:
        claims.mark_returned(change, claim.claim_id, day, reason, fee)
    return Reversed(
        payment.payment_id,
        reversal.payment_id,
        payment.cents,
        fee,
        day,
        tuple(opened),
        change.currency,
    )


def _lose(change: Operation, invoice: Invoice, payment: Payment, cents: int, day: str) -> None:
    """Write off what a payment settled of an invoice whose rest was written off before."""
    payments.allocate(
        change, invoice.invoice_id, "payment", -cents, day, payment_id=payment.payment_id
    )
    payments.allocate(change, invoice.invoice_id, "write_off", cents, day)
    tax = tax_of(cents, invoice.total, invoice.tax)
    # The fee of a reminder was never revenue, so nothing of it is lost.
    lost_in: JournalAccount = "reminder_fees" if invoice.is_fee else "losses"
    post(
        change,
        day,
        f"{invoice.name} is written off",
        [("prepayments", -cents), (lost_in, cents - tax), ("tax", tax)],
        invoice_id=invoice.invoice_id,
    )
