"""The fee of a reminder: an invoice of its own, and never revenue (billing, "Reminders").

All amounts are whole cents. A fee has no tax.
"""

from masthead.billing import printed
from masthead.billing.printed import Line, Payer, PrintedInvoice
from masthead.billing.references import creditor_reference
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.books.invoicing import numbered, post_invoice, seller_of
from masthead.store.billing import invoices
from masthead.store.billing.invoices import Invoice, InvoiceLine
from masthead.store.books.operation import Operation

_DESCRIPTION = {"en": "Fee for reminder {level}", "de": "Gebühr für Mahnung {level}"}


def bill_fee(
    change: Operation, settings: BillingSettings, payer: Payer, level: int, cents: int, due_on: str
) -> Invoice:
    """Make the invoice of a fee within the operation that records its reminder.

    The payer's credit is not used for it. No statement is run, only rows are queued.
    """
    settings = spoken(settings, payer)
    invoice = numbered(change, settings, "invoice", payer.subscriber_id, None)
    invoice = invoice._replace(
        due_on=due_on,
        net=cents,
        total=cents,
        open_cents=cents,
        payment_reference=creditor_reference(invoice.number_text),
    )
    description = _DESCRIPTION[settings.language].format(level=level)
    line = Line(description=description, net=cents, tax=0, percent=0, category="E", goods="fee")
    record = PrintedInvoice(
        kind=invoice.kind,
        number=invoice.number_text,
        issued_on=invoice.issued_on,
        due_on=due_on,
        seller=seller_of(settings),
        payer=payer,
        language=settings.language,
        currency=change.currency,
        prices_with_tax=settings.prices_with_tax,
        lines=(line,),
        tax_totals=printed.tax_totals([line], settings.language),
        net=cents,
        tax=0,
        total=cents,
        payment_reference=invoice.payment_reference or "",
    )
    invoices.add_invoice(change, invoice, printed.to_json(record))
    invoices.add_lines(
        change,
        [
            InvoiceLine(
                invoice_id=invoice.invoice_id,
                line_number=1,
                order_item_id=None,
                goods="fee",
                description=description,
                copies=1,
                net=cents,
                tax=0,
                percent=0,
                category="E",
            )
        ],
    )
    post_invoice(change, settings, invoice)
    return invoice
