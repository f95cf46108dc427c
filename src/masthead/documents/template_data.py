"""What a template gets of an invoice: texts that are ready to print (docs/documents.md).

Amounts and days have the form of the document's language, by the data of Unicode's CLDR. Templates
get texts as values, never as markup, so that no name can be taken for a command of a template.
"""

import re
from datetime import date
from decimal import Decimal
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

import segno
from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal

from masthead.billing.printed import Language, Line, Payer, PrintedInvoice, Seller
from masthead.billing.references import spaced, transfer_code
from masthead.contract.moments import is_day
from masthead.contract.printable import printable, single_spaced
from masthead.documents.electronic_invoice import details_of, xml_of

_WORD_MAX = 28
"""The most characters of a word on one line; a longer one may break anywhere."""

_BREAK = "\u200b"
_DAY = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
_LETTER = {"US", "CA", "MX", "CO", "CL", "PH"}
"""Countries that print on US Letter; all others print on A4."""

_CITY_FIRST = {"US": "{city}, {state} {code}", "CA": "{city} {state} {code}"} | dict.fromkeys(
    ("AU", "IN", "NZ", "SG", "JP", "KR"), "{city} {state} {code}"
)
_CODE_BELOW = {"GB", "IE"}


class Look(NamedTuple):
    """How an account's documents look: a colour such as ``#1f3a5f``, and the path of the logo.

    The path begins at the folder of the templates, ``/logo.png``; it is "" without a logo.
    """

    colour: str = "#1f3a5f"
    logo: str = ""


def invoice_data(printed: PrintedInvoice, look: Look) -> dict[str, Any]:
    """Return what a template gets of an invoice, a receipt or a credit note."""
    words = _Words(printed.language, printed.currency)
    seller = printed.seller
    with_tax = printed.prices_with_tax
    return {
        "kind": printed.kind,
        "language": printed.language,
        "title": text_of(f"{printed.seller.name} {printed.number}"),
        "number": text_of(printed.number),
        "paper": "us-letter" if seller.country.upper() in _LETTER else "a4",
        "colour": look.colour,
        "logo": look.logo,
        "date": printed.issued_on,
        "issued_on": words.day(printed.issued_on),
        "due_on": words.day(printed.due_on),
        "paid_on": words.day(printed.paid_on),
        "payment_type": text_of(printed.payment_type),
        "seller": _seller(seller, printed),
        "payer": _payer(printed.payer, seller.country, printed.language),
        "currency": printed.currency,
        "prices_with_tax": with_tax,
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
        "is_due": printed.kind == "invoice" and printed.due > 0,
        "due": words.money(printed.due),
        "payment_reference": spaced(printed.payment_reference),
        "corrects": text_of(printed.corrects),
        "corrects_issued_on": words.day(printed.corrects_issued_on),
        "reason": text_of(printed.reason),
        "notes": [text_of(note) for note in printed.notes if note.strip()],
        "qr": _transfer_code(printed),
        "xml": xml_of(printed).decode(),
    }


def text_of(text: str) -> str:
    r"""Return text as a document prints it: on one line, control characters as escapes (``\x1b``).

    A word of more than 28 characters gets places where it may break.
    """
    kept = printable(single_spaced(text))
    return " ".join(_breakable(word) if len(word) > _WORD_MAX else word for word in kept.split(" "))


def _breakable(word: str) -> str:
    return _BREAK.join(word[at : at + 4] for at in range(0, len(word), 4))


class _Words(NamedTuple):
    """How a language writes the amounts of a currency, days and percentages."""

    language: Language
    currency: str

    def money(self, cents: int) -> str:
        """Return an amount with its currency: ``€1,234.50``, ``1.234,50 €``."""
        return format_currency(Decimal(cents) / 100, self.currency, locale=_locale(self.language))

    def number(self, cents: int) -> str:
        """Return an amount without its currency: ``1,234.50``, ``1.234,50``."""
        return format_decimal(Decimal(cents) / 100, "#,##0.00", locale=_locale(self.language))

    def percent(self, hundredths: int) -> str:
        """Return a percentage: ``5.5%``, ``5,5 %``."""
        number = format_decimal(Decimal(hundredths) / 100, "0.##", locale=_locale(self.language))
        return f"{number}\u00a0%" if self.language == "de" else f"{number}%"

    def day(self, day: str | None) -> str:
        """Return a day in words: ``28 November 2026``, ``28. November 2026``; "" for None."""
        if day is None:
            return ""
        locale = _locale(self.language, of_days=True)
        return format_date(date.fromisoformat(day), "long", locale=locale)

    def period(self, text: str) -> str:
        """Return the text of a period with its days in words."""
        return _DAY.sub(lambda found: self.day(found[0]) if is_day(found[0]) else found[0], text)


@cache
def _locale(language: Language, *, of_days: bool = False) -> Locale:
    """Return the locale of a language; English days are such that no reader mistakes them."""
    return Locale.parse("en_GB" if of_days and language == "en" else language)


def _line(line: Line, words: _Words, *, with_tax: bool) -> dict[str, Any]:
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


def _seller(seller: Seller, printed: PrintedInvoice) -> dict[str, Any]:
    city = _city(seller.city, "", seller.postal_code, seller.country)
    return {
        "name": text_of(seller.name),
        "address": [text_of(each) for each in (seller.street, *city) if each.strip()],
        "vat_id": text_of(seller.vat_id),
        "tax_number": text_of(seller.tax_number),
        "email": text_of(seller.email),
        "iban": text_of(spaced(seller.iban.replace(" ", ""))),
        "bic": text_of(seller.bic),
        "bank": text_of(seller.bank),
        "country": _country(seller.country, printed.language),
    }


def _payer(payer: Payer, home: str, language: Language) -> dict[str, Any]:
    lines = [
        payer.company,
        payer.name,
        *payer.address_lines,
        *_city(payer.city, payer.state, payer.postal_code, payer.country or home),
    ]
    if payer.country.upper() != home.upper():
        lines.append((_country(payer.country, language) or payer.country_name).upper())
    return {
        "subscriber_id": str(payer.subscriber_id),
        "name": text_of(payer.name),
        "company": text_of(payer.company),
        "address": [text_of(each) for each in lines if each.strip()],
        "vat_id": text_of(payer.vat_id),
    }


def _city(city: str, state: str, code: str, country: str) -> list[str]:
    """Return the lines of a city as its country writes them: the postal code first in most."""
    country = country.upper()
    if country in _CODE_BELOW:
        return [city, state, code]
    form = _CITY_FIRST.get(country, "{code} {city}")
    line = single_spaced(form.format(city=city, state=state, code=code)).strip(", ")
    return [line] if form.find("{state}") >= 0 or not state else [line, state]


def _country(code: str, language: Language) -> str:
    """Return the name of a country in a language; its code if it is unknown, "" without one."""
    return str(_locale(language).territories.get(code.upper(), code))


def _transfer_code(printed: PrintedInvoice) -> str:
    """Return the SVG of the code for a bank transfer; "" if there is none."""
    if printed.kind != "invoice" or printed.due <= 0:
        return ""
    code = transfer_code(
        name=printed.seller.name,
        iban=printed.seller.iban,
        bic=printed.seller.bic,
        cents=printed.due,
        currency=printed.currency,
        reference=printed.payment_reference,
    )
    if code is None:
        return ""
    out = BytesIO()
    # The standard asks for level M, and for no more than version 13.
    segno.make_qr(code, error="m", boost_error=False, encoding="utf-8", mask=3).save(
        out, kind="svg", xmldecl=False, svgns=True, border=0, nl=False, omitsize=True
    )
    return out.getvalue().decode()
