"""How invoices, receipts and credit notes are made (billing, "Invoice").

:func:`bill` makes the invoice of an order, :func:`credit_what_ended` the credit note of what was
refunded or has ended since. Both run in the operation that takes or changes the order;
``books.invoices`` has the operations of their own. All amounts are whole cents.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from masthead.billing import numbering, printed
from masthead.billing.mandates import first_collection_day
from masthead.billing.printed import DirectDebit, Goods, PrintedInvoice, Seller
from masthead.billing.references import creditor_reference
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.billing.tax import TaxPart, fixed_part
from masthead.books.payment_allocation import use_credit
from masthead.circulation.refunding import tax_of
from masthead.store.billing import invoices, payments
from masthead.store.billing.invoices import Invoice, InvoiceLine, Kind
from masthead.store.billing.journal import post
from masthead.store.billing.mandates import collecting_mandate
from masthead.store.billing.outbox import queue_document
from masthead.store.billing.printing import ItemPrinted, heading_of, items_printed
from masthead.store.billing.settings import settings_of
from masthead.store.books import order_money
from masthead.store.books.operation import Operation


class Billed(NamedTuple):
    """The lines of an order to bill: the parts of each item by its id, and of the shipping."""

    items: Mapping[int, Sequence[TaxPart]]
    shipping: Sequence[TaxPart] = ()

    @property
    def total(self) -> int:
        """The sum of the lines, with tax."""
        return sum(
            part.net + part.tax for parts in (*self.items.values(), self.shipping) for part in parts
        )


def bill(
    change: Operation, order_id: int, billed: Billed, *, is_paid: bool = False
) -> Invoice | None:
    """Make the invoice of an order, and use the payer's credit for it; None if nothing is due.

    Returns the invoice with what is still open.

    ``is_paid`` makes a receipt: the caller books the payment. Without ``is_paid``, the credit that
    the payer has settles the invoice, wholly or in part.
    """
    settings = settings_of(change)
    lines: list[tuple[int | None, TaxPart]] = [
        (item_id, part)
        for item_id, item_parts in billed.items.items()
        for part in item_parts
        if part.net or part.tax
    ]
    lines += [(None, part) for part in billed.shipping if part.net or part.tax]
    net = sum(part.net for _, part in lines)
    tax = sum(part.tax for _, part in lines)
    if not net + tax:
        return None
    kind: Kind = "receipt" if is_paid else "invoice"
    due_on = date.fromisoformat(change.today) + timedelta(settings.due_days)
    heading = heading_of(change, order_id)
    settings = spoken(settings, heading.payer)
    invoice = numbered(change, settings, kind, heading.payer.subscriber_id, order_id)._replace(
        due_on=None if is_paid else due_on.isoformat(), net=net, tax=tax, total=net + tax
    )
    invoice = invoice._replace(
        payment_reference=creditor_reference(invoice.number_text), open_cents=invoice.total
    )
    items = items_printed(change, order_id)
    rows = [
        _line(invoice, number, item_id, part, items, settings)
        for number, (item_id, part) in enumerate(lines, 1)
    ]
    printed_lines = tuple(printed_line(row, items, settings) for row in rows)
    credit = 0 if is_paid else payments.credit_of(change, invoice.subscriber_id)
    prepaid = min(max(credit, 0), invoice.total)
    missing = invoice.total - prepaid
    waived = missing if prepaid and missing <= settings.tolerance else 0
    record = PrintedInvoice(
        kind=invoice.kind,
        number=invoice.number_text,
        issued_on=invoice.issued_on,
        due_on=invoice.due_on,
        paid_on=invoice.issued_on if is_paid else None,
        seller=seller_of(settings),
        payer=heading.payer,
        language=settings.language,
        currency=change.currency,
        prices_with_tax=settings.prices_with_tax,
        order_reference=heading.reference,
        lines=printed_lines,
        tax_totals=printed.tax_totals(printed_lines, settings.language),
        net=net,
        tax=tax,
        total=invoice.total,
        prepaid=prepaid,
        waived=waived,
        payment_reference=invoice.payment_reference or "",
        direct_debit=None
        if is_paid or missing == waived
        else _direct_debit(change, settings, invoice),
    )
    invoices.add_invoice(change, invoice, printed.to_json(record))
    invoices.add_lines(change, rows)
    post_invoice(change, settings, invoice)
    invoices.name_on_purchases(change, invoice)
    queue_document(change, invoice)
    if credit > 0:
        invoice = use_credit(change, settings, invoice)
    return invoice


def _direct_debit(
    change: Operation, settings: BillingSettings, invoice: Invoice
) -> DirectDebit | None:
    """Return how an invoice is collected, None if its payer has no active mandate."""
    mandate = collecting_mandate(change, settings, invoice.subscriber_id)
    if mandate is None or mandate.iban_end is None:
        return None
    return DirectDebit(
        collected_on=first_collection_day(
            invoice.issued_on, invoice.due_on or "", settings.debit_notice_days
        ),
        mandate=mandate.reference,
        creditor_id=settings.creditor_id,
        iban_end=mandate.iban_end,
    )


def billed_as_ordered(change: Operation, order: order_money.BookedOrder) -> Billed:
    """Return what is due of an order, with the tax that the order has."""
    terms = order_money.terms_of(change, [item.order_item_id for item in order.items])
    items = {}
    for item in order.items:
        own = [term for term in terms if term.order_item_id == item.order_item_id]
        if own:
            net = sum(term.price for term in own if term.is_due)
            goods: Goods = "print"
        else:
            net = 0 if item.refund_date else item.net
            goods = "product"
        tax = item.tax if net == item.net and net else tax_of(net, item.net, item.tax)
        if not own and item.refund_date:
            tax = 0
        items[item.order_item_id] = [fixed_part(goods, net, tax)]
    return Billed(items)


def numbered(
    change: Operation,
    settings: BillingSettings,
    kind: Kind,
    subscriber_id: int,
    order_id: int | None,
) -> Invoice:
    """Return a new document without amounts, with the next number of its series."""
    is_credit = kind == "credit_note"
    form = settings.credit_note_number if is_credit else settings.invoice_number
    year = int(change.today[:4])
    series = numbering.series_of(form, year, is_credit=is_credit)
    number = invoices.next_number(change, series)
    return Invoice(
        invoice_id=change.new_id("invoices"),
        kind=kind,
        series=series,
        number=number,
        number_text=numbering.written(form, year, number),
        subscriber_id=subscriber_id,
        order_id=order_id,
        of_invoice_id=None,
        issued_on=change.today,
        due_on=None,
        net=0,
        tax=0,
        total=0,
        open_cents=0,
        payment_reference=None,
        reason=None,
    )


def _line(
    invoice: Invoice,
    number: int,
    item_id: int | None,
    part: TaxPart,
    items: Mapping[int, ItemPrinted],
    settings: BillingSettings,
) -> InvoiceLine:
    item = items.get(item_id or 0)
    shipping = "Versand" if settings.language == "de" else "Shipping"
    return InvoiceLine(
        invoice_id=invoice.invoice_id,
        line_number=number,
        order_item_id=item_id,
        goods=part.goods,
        description=shipping if item is None else item.name or item.publication,
        copies=1 if item is None else item.copies,
        net=part.net,
        tax=part.tax,
        percent=part.percent,
        category=part.category,
    )


def printed_line(
    row: InvoiceLine, items: Mapping[int, ItemPrinted], settings: BillingSettings
) -> printed.Line:
    """Return a line as its document prints it; ``items`` has what the items are called."""
    item = items.get(row.order_item_id or 0)
    period = ""
    if item is not None and item.issues:
        is_german = settings.language == "de"
        if item.issues > 0:
            period = f"{item.issues} {'Ausgaben' if is_german else 'issues'}"
        if item.until:
            until = f"{'bis' if is_german else 'until'} {item.until}"
            period = ", ".join(filter(None, (period, until)))
    return printed.Line(
        description=row.description,
        publication=item.publication if item else "",
        period=period,
        reader=item.reader if item else "",
        copies=row.copies,
        net=row.net,
        tax=row.tax,
        percent=row.percent,
        category=row.category,  # type: ignore[arg-type]
        goods=row.goods,  # type: ignore[arg-type]
    )


def seller_of(settings: BillingSettings) -> Seller:
    """Return the seller as documents print it."""
    return Seller(
        name=settings.seller_name,
        street=settings.seller_street,
        city=settings.seller_city,
        postal_code=settings.seller_postal_code,
        country=settings.seller_country,
        vat_id=settings.seller_vat_id,
        tax_number=settings.seller_tax_number,
        email=settings.seller_email,
        iban=settings.seller_iban,
        bic=settings.seller_bic,
        bank=settings.seller_bank,
    )


def post_invoice(change: Operation, settings: BillingSettings, invoice: Invoice) -> None:
    """Post that an invoice was made: its payer owes it, and nothing is revenue yet."""
    post(
        change,
        change.today,
        invoice.name,
        [
            ("receivables", invoice.total),
            ("unpaid", -invoice.net),
            (settings.tax_account, -invoice.tax),
        ],
        invoice_id=invoice.invoice_id,
    )
