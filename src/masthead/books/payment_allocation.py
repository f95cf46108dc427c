"""Which invoices a payment settles (billing, "Payment").

The functions run in an operation. All amounts are whole cents.
"""

from collections.abc import Iterable

from masthead.billing.settings import BillingSettings
from masthead.books.settlement import settle
from masthead.store.billing import invoices, payments
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.payments import Payment
from masthead.store.books.operation import Operation
from masthead.store.books.order_money import Marked


def allocate(
    change: Operation,
    settings: BillingSettings,
    payment: Payment,
    cents: int,
    wanted: Iterable[Invoice],
    day: str,
) -> list[Invoice]:
    """Allocate up to ``cents`` of a payment to invoices, in their order.

    Returns the invoices with what is open of them now. What is missing of an invoice within the
    account's tolerance is written off. An invoice without anything missing is whole. An earlier day
    than that of the invoice, or of what settled a part of it before, is booked to the later one.
    """
    settled = []
    for invoice in wanted:
        part = min(cents, invoice.open_cents)
        if part <= 0:
            continue
        cents -= part
        on = day
        if day < change.today:
            on = max(day, invoice.issued_on, *payments.days_of(change, invoice.invoice_id))
        payments.allocate(
            change, invoice.invoice_id, "payment", part, on, payment_id=payment.payment_id
        )
        payments.change_left(change, payment.payment_id, -part)
        now = invoice._replace(open_cents=invoice.open_cents - part)
        if now.open_cents <= settings.tolerance:
            now = complete(change, settings, now, payment, on)
        else:
            invoices.change_open(change, invoice.invoice_id, now.open_cents)
        settled.append(now)
    return settled


def complete(
    change: Operation, settings: BillingSettings, invoice: Invoice, payment: Payment, day: str
) -> Invoice:
    """Write off what is open of an invoice that a payment has settled but for a small rest."""
    payments.allocate(change, invoice.invoice_id, "write_off", invoice.open_cents, day)
    invoices.change_open(change, invoice.invoice_id, 0)
    now = invoice._replace(open_cents=0)
    paid_on = max(payment.value_date, invoice.issued_on)
    settle(change, settings, now, Marked(paid_on, day, payment.payment_type, payment.reference))
    return now


def use_credit(change: Operation, settings: BillingSettings, invoice: Invoice) -> Invoice:
    """Settle a new invoice by the credit that the payer has; return it with what is open."""
    found = payments.with_credit(change, invoice.subscriber_id)
    most = sum(each.left_cents for each in found)
    for payment in found:
        part = min(payment.left_cents, most)
        if part <= 0 or not invoice.open_cents:
            continue
        before = invoice.open_cents
        (invoice,) = allocate(change, settings, payment, part, [invoice], change.today)
        most -= min(part, before)
    return invoice


def give_back(change: Operation, invoice: Invoice, cents: int, day: str) -> int:
    """Turn up to ``cents`` of what was paid for an invoice into credit of its payer.

    The newest payment comes first. Returns how many cents were given back.
    """
    left = cents
    for payment_id, paid in payments.paid_by(change, invoice.invoice_id) if cents > 0 else []:
        part = min(left, paid)
        if part <= 0:
            continue
        payments.allocate(change, invoice.invoice_id, "payment", -part, day, payment_id=payment_id)
        payments.change_left(change, payment_id, part)
        left -= part
    return cents - left
