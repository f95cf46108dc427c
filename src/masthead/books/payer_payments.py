"""Payments of payers: money that comes, comes back, and is paid back (billing, "Payment").

A payment settles the invoice that it names, or else the payer's oldest ones first. What is over is
the payer's credit. All amounts are whole cents, with tax.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.billing.reminding import day_after
from masthead.books.account import Books
from masthead.books.payment_allocation import allocate
from masthead.books.settlement import Expected, look_ahead
from masthead.circulation.amounts import CENTS_MAX, in_currency
from masthead.contract.moments import is_day
from masthead.contract.printable import printable, single_spaced
from masthead.errors import BadInput
from masthead.store.billing import invoices, payments
from masthead.store.billing.closed_months import check_bills, first_open_day
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.journal import post
from masthead.store.billing.payer_movements import kept_payer
from masthead.store.billing.payments import Payment
from masthead.store.billing.settings import settings_of
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation

TEXT_MAX = 200
"""The most characters of a reference and of a reason."""


SAME_DAYS = 180
"""Days between two payments within which the same reference means the same payment: a cheque is
handed in within half a year."""


class Incoming(NamedTuple):
    """Money that came: with tax, on its value date; ``fee`` is what the bank kept of it.

    ``reference`` is such as the number of a cheque. ``source`` identifies the entry of a bank's
    file: the same source again is not booked twice.
    """

    cents: int
    value_date: str | None = None
    payment_type: str | None = None
    reference: str | None = None
    fee: int = 0
    source: str | None = None


class Received(NamedTuple):
    """What a payment settled: invoices with what is open of them now, and the payer's credit.

    ``is_known``: the payment was booked before, and nothing changed.
    """

    payment_id: int
    subscriber_id: int
    cents: int
    invoices: tuple[Invoice, ...]
    credit: int
    currency: str
    is_known: bool = False

    @property
    def sentence(self) -> str:
        """What was booked."""
        amount = in_currency(self.cents, self.currency)
        if self.is_known:
            return f"payment {self.payment_id} of {amount} was booked before: nothing changed"
        said = [f"payment {self.payment_id} of {amount}"]
        for each in self.invoices:
            if each.open_cents:
                missing = in_currency(each.open_cents, self.currency)
                said.append(f"{each.name} is open with {missing}")
            else:
                said.append(f"{each.name} is paid")
        if self.credit:
            credit = in_currency(self.credit, self.currency)
            said.append(f"the payer has a credit of {credit}")
        return "; ".join(said)


def add(
    books: Books,
    incoming: Incoming,
    *,
    invoice: str | None = None,
    subscriber_id: int | None = None,
    dry_run: bool = False,
) -> Received:
    """Book a payment of an invoice, by its number, or of a payer.

    Raises NotFound for an unknown invoice or payer. Raises BadInput, with the ``field``, for a
    value date to come or in a closed month, an amount that is not above 0, a fee of more than the
    amount, and a payment that was booked before, by its reference (decisions, "The same cheque
    again").
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        incoming = _checked(change, incoming)
        named = None if invoice is None else invoices.invoice_numbered(change, invoice)
        done = receive(change, incoming, invoice=named, subscriber_id=subscriber_id)
        if incoming.reference and (named is None or not named.open_cents):
            _check_new(change, done.payment_id)
        if not done.is_known:
            change.say(done.sentence)
    return done


def _check_new(change: Operation, payment_id: int) -> None:
    """Raise BadInput if another payment is the same by payer, amount, type and reference."""
    new = payments.find_payment(change, payment_id)
    others = payments.same_payments(
        change, new, day_after(new.value_date, -SAME_DAYS), day_after(new.value_date, SAME_DAYS)
    )
    for other in others:
        if other.payment_id != payment_id:
            amount = in_currency(new.cents, change.currency)
            raise BadInput(
                f"{amount} of {reader_named(change, new.subscriber_id)} with the reference "
                f"{printable(new.reference or '')} was booked on {other.value_date} as payment "
                f"{other.payment_id}: if this is another payment, give another reference",
                field="reference",
            )


def _checked(change: Operation, incoming: Incoming) -> Incoming:
    day = check_day(change, incoming.value_date)
    check_amount(change, incoming.cents)
    if not 0 <= incoming.fee <= incoming.cents:
        raise BadInput("the fee is at most the amount of the payment", field="fee")
    return incoming._replace(
        value_date=day,
        payment_type=checked_text(incoming.payment_type, "type"),
        reference=checked_text(incoming.reference, "reference"),
    )


def check_amount(change: Operation, cents: int) -> None:
    """Raise BadInput, with the ``field``, for an amount that no payment has."""
    if cents <= 0:
        raise BadInput("the amount of a payment is above 0", field="amount")
    if cents > CENTS_MAX:
        most = in_currency(CENTS_MAX, change.currency)
        raise BadInput(f"the amount of a payment is at most {most}", field="amount")


def check_day(change: Operation, day: str | None) -> str:
    """Return the day on which money came or went, by default today.

    Raises BadInput, with the ``field``, for a day to come, in a closed month, or before
    billing began.
    """
    day = day or change.today
    if not is_day(day):
        raise BadInput(f"{day!r} is not a day such as 2026-11-05", field="value_date")
    if day > change.today:
        raise BadInput(f"{day} is still to come: the money has moved already", field="value_date")
    first = first_open_day(change, day)
    if first != day:
        begun = check_bills(change)
        where = f"before billing began on {begun}" if day < begun else "in a closed month"
        raise BadInput(f"{day} is {where}: the first open day is {first}", field="value_date")
    return day


def checked_text(text: str | None, field: str) -> str | None:
    """Return a text on one line, None if it is empty. Raises BadInput if it is too long."""
    text = single_spaced(text or "")
    if len(text) > TEXT_MAX:
        raise BadInput(
            f"the {field} has {len(text)} characters: {TEXT_MAX} is the most", field=field
        )
    return text or None


def receive(
    change: Operation,
    incoming: Incoming,
    *,
    invoice: str | Invoice | None = None,
    subscriber_id: int | None = None,
) -> Received:
    """Book a payment within a running operation; a closed month's is booked to the first open day.

    The caller writes the audit entry. Raises NotFound for an unknown invoice or payer, BadInput if
    neither is named, or the invoice is a credit note or of another payer.
    """
    if incoming.source is not None:
        known = payments.payment_of_source(change, incoming.source)
        if known is not None:
            return Received(
                known.payment_id, known.subscriber_id, known.cents, (), 0, change.currency, True
            )
    named = invoices.invoice_numbered(change, invoice) if isinstance(invoice, str) else invoice
    payer = _payer(change, named, subscriber_id)
    if not invoices.has_looked_ahead(change, payer):
        look_ahead(change, [Expected(payer, incoming.cents, named)])
    settings = settings_of(change)
    value_date = incoming.value_date or change.today
    day = first_open_day(change, value_date)
    payment = Payment(
        payment_id=change.new_id("payments"),
        subscriber_id=payer,
        kind="payment",
        value_date=value_date,
        booked_on=day,
        cents=incoming.cents,
        fee=incoming.fee,
        payment_type=incoming.payment_type,
        reference=incoming.reference,
        reverses_id=None,
        reason=None,
        source=incoming.source,
        left_cents=incoming.cents,
    )
    payments.add_payment(change, payment)
    post(
        change,
        day,
        f"payment {payment.payment_id}",
        [
            ("bank", incoming.cents - incoming.fee),
            ("fees", incoming.fee),
            ("prepayments", -incoming.cents),
        ],
        payment_id=payment.payment_id,
    )
    wanted = [] if named is None else [named]
    wanted += [
        each
        for each in invoices.open_invoices(change, payer)
        if named is None or each.invoice_id != named.invoice_id
    ]
    # What a bounced payment left the payer owing comes first.
    usable = min(incoming.cents, max(payments.credit_of(change, payer), 0))
    settled = allocate(change, settings, payment, usable, wanted, day)
    return Received(
        payment.payment_id,
        payer,
        incoming.cents,
        tuple(settled),
        payments.credit_of(change, payer),
        change.currency,
    )


def _payer(change: Operation, named: Invoice | None, subscriber_id: int | None) -> int:
    if named is None:
        if subscriber_id is None:
            raise BadInput(
                "a payment names an invoice or a payer", field="invoice", code="names_no_invoice"
            )
        return kept_payer(change, subscriber_id)
    if named.kind == "credit_note":
        raise BadInput(
            f"{named.name} takes back an invoice: a payment names the invoice", field="invoice"
        )
    if subscriber_id is not None and kept_payer(change, subscriber_id) != named.subscriber_id:
        raise BadInput(
            f"{named.name} is one of {reader_named(change, named.subscriber_id)}, and not of "
            "the payer that is named",
            field="invoice",
        )
    return named.subscriber_id


class PaidBack(NamedTuple):
    """Credit that was paid back to a payer, and the credit that is left."""

    payment_id: int
    subscriber_id: int
    cents: int
    left: int
    currency: str

    @property
    def sentence(self) -> str:
        """What was paid back."""
        said = (
            f"{in_currency(self.cents, self.currency)} is paid back to subscriber "
            f"{self.subscriber_id}"
        )
        if self.left:
            said += f", who has {in_currency(self.left, self.currency)} of credit left"
        return said


def pay_back(
    books: Books,
    subscriber_id: int,
    cents: int | None = None,
    *,
    day: str | None = None,
    payment_type: str | None = None,
    reference: str | None = None,
    dry_run: bool = False,
) -> PaidBack:
    """Book that credit of a payer was paid back: by default all of it.

    Raises NotFound for an unknown payer. Raises BadInput if there is less credit, or for a day to
    come or in a closed month.
    """
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        subscriber_id = kept_payer(change, subscriber_id)
        day = check_day(change, day)
        credit = payments.credit_of(change, subscriber_id)
        cents = credit if cents is None else cents
        if not 0 < cents <= credit:
            has = in_currency(max(credit, 0), change.currency)
            raise BadInput(
                f"{reader_named(change, subscriber_id)} has a credit of {has}: "
                + ("nothing can be paid back" if credit <= 0 else "that is the most"),
                field="amount",
            )
        left = cents
        for each in payments.with_credit(change, subscriber_id):
            part = min(left, max(each.left_cents, 0))
            payments.change_left(change, each.payment_id, -part)
            left -= part
        payment_id = change.new_id("payments")
        payments.add_payment(
            change,
            Payment(
                payment_id=payment_id,
                subscriber_id=subscriber_id,
                kind="paid_back",
                value_date=day,
                booked_on=day,
                cents=-cents,
                fee=0,
                payment_type=checked_text(payment_type, "type"),
                reference=checked_text(reference, "reference"),
                reverses_id=None,
                reason=None,
                source=None,
                left_cents=0,
            ),
        )
        post(
            change,
            day,
            f"paid back, payment {payment_id}",
            [("bank", -cents), ("prepayments", cents)],
            payment_id=payment_id,
        )
        done = PaidBack(payment_id, subscriber_id, cents, credit - cents, change.currency)
        change.say(done.sentence)
    return done


def list_payments(books: Books, subscriber_id: int) -> Sequence[Payment]:
    """Return the payments of a payer, the oldest first. Raises NotFound for an unknown payer."""
    with books.read() as reading:
        return payments.payments_of(reading, kept_payer(reading, subscriber_id))
