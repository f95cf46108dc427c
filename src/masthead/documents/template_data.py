"""What a template gets of an invoice: texts that are ready to print (docs/documents.md)."""

from io import BytesIO
from typing import Any

import segno

from masthead.billing.countries import WITHOUT_VAT
from masthead.billing.printed import Line, Payer, PrintedInvoice, Seller
from masthead.billing.references import spaced, transfer_code
from masthead.documents.electronic_invoice import details_of, xml_of
from masthead.documents.words import Look, Words, shared_data, text_of


def invoice_data(printed: PrintedInvoice, look: Look) -> dict[str, Any]:
    """Return what a template gets of an invoice, a receipt or a credit note."""
    words = Words(printed.language, printed.currency)
    with_tax = printed.prices_with_tax
    return shared_data(
        printed.seller,
        printed.payer,
        words=words,
        day=printed.issued_on,
        title=printed.number,
        look=look,
    ) | {
        "kind": printed.kind,
        "number": text_of(printed.number),
        "issued_on": words.day(printed.issued_on),
        "due_on": words.day(printed.due_on),
        "paid_on": words.day(printed.paid_on),
        "payment_type": text_of(printed.payment_type),
        "payer": payer_data(printed.payer),
        "currency": printed.currency,
        "prices_with_tax": with_tax,
        "tax_is_vat": printed.seller.country not in WITHOUT_VAT,
        "order_reference": text_of(printed.order_reference),
        "lines": [_line(line, words, with_tax=with_tax) for line in printed.lines],
        "tax_totals": [
            {
                "category": total.category,
                "percent": words.percent(total.percent),
                "net": words.money(total.net),
                "tax": words.money(total.tax),
                "reason": text_of(total.reason),
            }
            for total in printed.tax_totals
        ],
        "net": words.money(printed.net),
        "tax": words.money(printed.tax),
        "total": words.money(printed.total),
        "prepaid": words.money(printed.prepaid) if printed.prepaid else "",
        "waived": words.money(printed.waived) if printed.waived else "",
        "is_due": printed.kind == "invoice" and printed.due > 0,
        "due": words.money(printed.due),
        "payment_reference": spaced(printed.payment_reference),
        "corrects": text_of(printed.corrects),
        "corrects_issued_on": words.day(printed.corrects_issued_on),
        "reason": text_of(printed.reason),
        "notes": [text_of(note) for note in printed.notes if note.strip()],
        "direct_debit": _direct_debit(printed, words),
        "qr": _transfer_code(printed),
        "xml": xml_of(printed).decode(),
    }


def _line(line: Line, words: Words, *, with_tax: bool) -> dict[str, Any]:
    amount = line.total if with_tax else line.net
    is_exact = line.copies > 1 and amount % line.copies == 0
    *details, reader = details_of(line) if line.reader.strip() else [*details_of(line), ""]
    return {
        "description": text_of(line.description),
        "details": [
            text_of(words.period(each) if each == line.period else each) for each in details
        ],
        "reader": text_of(reader),
        "copies": line.copies,
        "price_of_one": words.number(amount // line.copies) if is_exact else "",
        "percent": words.percent(line.percent),
        "category": line.category,
        "goods": line.goods,
        "amount": words.number(amount),
    }


def _direct_debit(printed: PrintedInvoice, words: Words) -> dict[str, str] | None:
    debit = printed.direct_debit
    if debit is None:
        return None
    return {
        "collected_on": words.day(debit.collected_on),
        "mandate": text_of(debit.mandate),
        "creditor_id": text_of(debit.creditor_id),
        "iban_end": text_of(debit.iban_end),
    }


def payer_data(payer: Payer) -> dict[str, Any]:
    """Return what a template gets of a payer, besides the address."""
    return {
        "subscriber_id": str(payer.subscriber_id),
        "name": text_of(payer.name),
        "company": text_of(payer.company),
        "vat_id": text_of(payer.vat_id),
    }


def _transfer_code(printed: PrintedInvoice) -> str:
    """Return the SVG of the code for a bank transfer; "" if there is none."""
    if printed.kind != "invoice" or printed.due <= 0 or printed.direct_debit is not None:
        return ""
    return code_of_transfer(
        printed.seller, printed.due, printed.currency, printed.payment_reference
    )


def code_of_transfer(seller: Seller, cents: int, currency: str, reference: str) -> str:
    """Return the SVG of the code for a bank transfer to a seller; "" if there can be none."""
    code = transfer_code(
        name=seller.name,
        iban=seller.iban,
        bic=seller.bic,
        cents=cents,
        currency=currency,
        reference=reference,
    )
    if code is None:
        return ""
    out = BytesIO()
    # The standard asks for level M, and for no more than version 13.
    segno.make_qr(code, error="m", boost_error=False, encoding="utf-8", mask=3).save(
        out, kind="svg", xmldecl=False, svgns=True, border=0, nl=False, omitsize=True
    )
    return out.getvalue().decode()
