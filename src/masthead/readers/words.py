"""The words of the readers' pages in the language of the reader: sentences, days and amounts.

English is the language of the source; the others come from the catalogues in ``locales``, each
with the domain ``readers`` (decisions, "Languages of the readers' pages").
"""

import gettext
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal

from masthead.billing.address_forms import city_lines
from masthead.billing.countries import CODES
from masthead.billing.places import country_of
from masthead.web.words import marked

DOMAIN = "readers"
LOCALES = Path(__file__).parent / "locales"

_DAY_LOCALES = {"en": "en_GB"}
"""Locales of days: those of English are such that no reader mistakes a day for a month."""


class Words:
    """Sentences, days and amounts in a language, such as ``de``."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.translations = _translations(language)

    def gettext(self, message: str, **values: object) -> str:
        """Return a message in the language, with the values in place of ``%(name)s``."""
        return self.translations.gettext(message) % values

    def ngettext(self, one: str, many: str, number: int, **values: object) -> str:
        """Return the message for a number, which is the value ``num``."""
        found = self.translations.ngettext(one, many, number)
        return found % {"num": self.number(number), **values}

    def day(self, day: str | None) -> str:
        """Return a day in words: ``28 November 2026``, ``28. November 2026``; "" for None."""
        if not day:
            return ""
        parsed = date.fromisoformat(day[:10])
        return format_date(parsed, "long", locale=_day_locale(self.language))

    def money(self, cents: int | None, currency: str) -> str:
        """Return an amount with its currency: ``€1,234.50``, ``1.234,50 €``; "" for None."""
        if cents is None:
            return ""
        return format_currency(Decimal(cents) / 100, currency, locale=_locale(self.language))

    def number(self, number: int | Decimal) -> str:
        """Return a number: ``1,234``, ``1.234``."""
        return format_decimal(number, locale=_locale(self.language))

    def list_of(self, texts: Sequence[str]) -> str:
        """Return texts as a list in a sentence: ``a, b and c``."""
        if len(texts) <= 1:
            return "".join(texts)
        return self.gettext(
            marked("%(first)s and %(last)s"), first=", ".join(texts[:-1]), last=texts[-1]
        )

    def country(self, code: str) -> str:
        """Return the name of a country by its code; the code if there is no such country."""
        return str(_locale(self.language).territories.get(code.upper(), code))

    def countries(self) -> list[tuple[str, str]]:
        """Return the code and the name of each country, in the order of the names."""
        return list(_countries(self.language))

    def address_lines(self, fields: Mapping[str, str | None], home: str = "") -> list[str]:
        """Return the lines of an address in the form of its country; none is empty.

        The name of the country stands last if it is not ``home``, the code of a country.
        """
        given = {name: (text or "").strip() for name, text in fields.items()}

        def has(name: str) -> str:
            return given.get(name, "")

        code = country_of(has("country_abbreviation"), has("country_name")) or ""
        lines = [
            has("company"),
            f"{has('first_name')} {has('last_name')}".strip(),
            *has("address").splitlines(),
            *city_lines(has("city"), has("state"), has("zip_code"), code or home),
        ]
        if code != home.upper():
            lines.append(self.country(code) if code else has("country_name"))
        return [line for line in lines if line]


@cache
def words_of(language: str) -> Words:
    """Return the words of a language, which are read once."""
    return Words(language)


@cache
def _translations(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, LOCALES, [language], fallback=True)


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language)


@cache
def _day_locale(language: str) -> Locale:
    return Locale.parse(_DAY_LOCALES.get(language, language))


@cache
def _countries(language: str) -> tuple[tuple[str, str], ...]:
    names = _locale(language).territories
    found = [(code, str(names.get(code, code))) for code in CODES]
    return tuple(sorted(found, key=lambda each: _as_sorted(each[1])))


def _as_sorted(name: str) -> str:
    """Return a name as lists sort it: letters with accents stand beside those without."""
    plain = str.maketrans("ÄÅÁÂÇÉÖÓÔÜÚäåáâçéèöóôüú", "AAAACEOOOUUaaaaceeooouu")
    return name.translate(plain).casefold()
