"""Made-up invoices, receipts and credit notes, on which templates are tried."""

from typing import get_args

import msgspec

from masthead.billing.printed import (
    DirectDebit,
    Kind,
    Language,
    Line,
    Payer,
    PrintedInvoice,
    Seller,
    tax_totals,
)
from masthead.billing.references import creditor_reference

SELLER = Seller(
    name="Feldpost Verlag GmbH",
    street="Lindenallee 12",
    postal_code="10115",
    city="Berlin",
    country="DE",
    vat_id="DE136695976",
    tax_number="27/123/45678",
    email="abo@feldpost.example",
    iban="DE02120300000000202051",
    bic="BYLADEM1001",
    bank="Deutsche Kreditbank",
)
"""A publisher with all that a document can show of it; the IBAN is an example of the bank's."""

PAYER = Payer(
    subscriber_id=4711,
    name="Johanna Kessler",
    address_lines=("Hauptstraße 7", "Hinterhaus, 3. Stock"),
    postal_code="50667",
    city="Köln",
    country="DE",
)
BUSINESS = Payer(
    subscriber_id=815,
    company="Librairie du Marché SARL",
    name="Étienne Lefèvre",
    address_lines=("14 rue des Écoles",),
    postal_code="75005",
    city="Paris",
    country="FR",
    vat_id="FR40303265045",
)
"""A business in another country of the EU, which owes the tax itself."""

_WORDS = {
    "en": ("Field Notes", "One-year subscription", "Winter 2026", "Autumn 2027"),
    "de": ("Feldpost", "Jahresabonnement", "Winter 2026", "Herbst 2027"),
}
_OTHER_WORDS = {
    "en": ("Digital edition", "1 December 2026 to 30 November 2027", "Shipping"),
    "de": ("Digitalausgabe", "1. Dezember 2026 bis 30. November 2027", "Versand"),
}


def _lines(language: Language) -> tuple[Line, ...]:
    publication, year, first, last = _WORDS[language]
    digital, period, shipping = _OTHER_WORDS[language]
    return (
        Line(
            description=year,
            publication=publication,
            first_issue=first,
            last_issue=last,
            copies=2,
            net=8972,
            tax=628,
            percent=700,
            category="S",
            goods="print",
        ),
        Line(
            description=digital,
            publication=publication,
            period=period,
            reader="Ida Kessler",
            net=2017,
            tax=383,
            percent=1900,
            category="S",
            goods="digital",
        ),
        Line(description=shipping, net=1121, tax=79, percent=700, category="S", goods="shipping"),
    )


_REASONS = {"en": "The order was cancelled.", "de": "Die Bestellung wurde widerrufen."}
_CARD = {"en": "card", "de": "Karte"}


def invoice(
    kind: Kind = "invoice",
    language: Language = "de",
    *,
    lines: tuple[Line, ...] | None = None,
    payer: Payer = PAYER,
    seller: Seller = SELLER,
    currency: str = "EUR",
) -> PrintedInvoice:
    """Return a made-up document of a kind in a language, with the totals of its lines."""
    lines = _lines(language) if lines is None else lines
    net, tax = sum(line.net for line in lines), sum(line.tax for line in lines)
    number = "C2026-000009" if kind == "credit_note" else "2026-000123"
    return PrintedInvoice(
        kind=kind,
        number=number,
        issued_on="2026-11-28",
        due_on="2026-12-12" if kind == "invoice" else None,
        paid_on="2026-11-28" if kind == "receipt" else None,
        payment_type=_CARD[language] if kind == "receipt" else "",
        seller=seller,
        payer=payer,
        language=language,
        currency=currency,
        prices_with_tax=not payer.vat_id,
        order_reference="S-20881",
        lines=lines,
        tax_totals=tax_totals(lines, language),
        net=net,
        tax=tax,
        total=net + tax,
        payment_reference=creditor_reference(number),
        corrects="2026-000123" if kind == "credit_note" else "",
        corrects_issued_on="2026-11-02" if kind == "credit_note" else None,
        reason=_REASONS[language] if kind == "credit_note" else "",
    )


def without_tax(line: Line) -> Line:
    """Return a line under reverse charge, as a business in another country gets it."""
    return msgspec.structs.replace(line, tax=0, percent=0, category="AE")


def collected_invoice(language: Language = "de") -> PrintedInvoice:
    """Return a made-up invoice that is collected by direct debit."""
    return msgspec.structs.replace(
        invoice("invoice", language),
        direct_debit=DirectDebit(
            collected_on="2026-12-14",
            mandate="M4711-1",
            creditor_id="DE98ZZZ09999999999",
            iban_end="4300",
        ),
    )


def invoice_samples() -> list[tuple[str, PrintedInvoice]]:
    """Return an invoice, a receipt and credit notes in each language, each with its name."""
    found: list[tuple[str, PrintedInvoice]] = []
    for language in get_args(Language):
        found += [(f"{kind}-{language}", invoice(kind, language)) for kind in get_args(Kind)]
        lines = tuple(without_tax(line) for line in _lines(language))
        found.append(
            (
                f"reverse-charge-{language}",
                invoice("invoice", language, lines=lines, payer=BUSINESS),
            )
        )
        found.append((f"direct-debit-{language}", collected_invoice(language)))
    return found
