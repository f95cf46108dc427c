"""The words of documents: texts, amounts, days and addresses, ready to print (docs/documents.md).

Amounts and days have the form of the document's language, by the data of Unicode's CLDR. Templates
get texts as values, never as markup, so that no name can be taken for a command of a template.
"""

import re
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal

from masthead.billing.address_forms import city_lines
from masthead.billing.places import country_of
from masthead.billing.printed import Language, Payer, Seller
from masthead.billing.references import spaced
from masthead.contract.moments import is_day
from masthead.contract.printable import printable, single_spaced

_WORD_MAX = 28
"""The most characters of a word on one line; a longer one may break anywhere."""

_BREAK = "\u200b"
_DAY = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
_US_LETTER = {"US", "CA", "MX", "CO", "CL", "PH"}
"""Countries that print on US Letter; all others print on A4."""


class Look(NamedTuple):
    """How an account's documents look: a colour such as ``#1f3a5f``, and the path of the logo.

    The path begins at the folder of the templates, ``/logo.png``; it is "" without a logo.
    """

    colour: str = "#1f3a5f"
    logo: str = ""


def text_of(text: str) -> str:
    r"""Return text as a document prints it: on one line, control characters as escapes (``\x1b``).

    A word of more than 28 characters gets places where it may break.
    """
    kept = printable(single_spaced(text))
    return " ".join(_breakable(word) if len(word) > _WORD_MAX else word for word in kept.split(" "))


def _breakable(word: str) -> str:
    return _BREAK.join(word[at : at + 4] for at in range(0, len(word), 4))


class Words(NamedTuple):
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


def shared_data(
    seller: Seller, recipient: Payer, *, words: "Words", day: str, title: str, look: Look
) -> dict[str, Any]:
    """Return what each document with a letterhead has: who writes it, to whom, when, its looks.

    ``title`` is the name of the PDF after that of the seller; ``day`` is the day of the document.
    """
    return {
        "language": words.language,
        "title": text_of(f"{seller.name} {title}"),
        "paper": "us-letter" if seller.country.upper() in _US_LETTER else "a4",
        "author": text_of(seller.name),
        "colour": look.colour,
        "logo": look.logo,
        "date": day,
        "seller": _seller_data(seller, words.language),
        "address": address_lines(recipient, seller.country, words.language),
    }


def _seller_data(seller: Seller, language: Language) -> dict[str, Any]:
    city = city_lines(seller.city, "", seller.postal_code, seller.country)
    return {
        "name": text_of(seller.name),
        "address": [text_of(each) for each in (seller.street, *city) if each.strip()],
        "vat_id": text_of(seller.vat_id),
        "tax_number": text_of(seller.tax_number),
        "email": text_of(seller.email),
        "iban": text_of(spaced(seller.iban.replace(" ", ""))),
        "bic": text_of(seller.bic),
        "bank": text_of(seller.bank),
        "country": country_name(seller.country, language),
    }


def address_lines(to: Payer, home: str, language: Language) -> list[str]:
    """Return the lines of an address with its names, in the form of its country.

    The country stands last, in capitals, if it is not ``home``. Empty lines are left out.
    """
    country = to.country.upper() or country_of(to.country_name) or ""
    lines = [
        to.company,
        to.name,
        *to.address_lines,
        *city_lines(to.city, to.state, to.postal_code, country or home),
    ]
    if country != home.upper():
        lines.append((country_name(country, language) or to.country_name).upper())
    return [text_of(each) for each in lines if each.strip()]


def country_name(code: str, language: Language) -> str:
    """Return the name of a country in a language; its code if it is unknown, "" without one."""
    return str(_locale(language).territories.get(code.upper(), code))
