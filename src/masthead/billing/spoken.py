"""In which language a document is written (billing, "Documents")."""

from dataclasses import replace

from masthead.billing.printed import Payer
from masthead.billing.settings import BillingSettings

_GERMAN = {
    *("DE", "GERMANY", "DEUTSCHLAND", "AT", "AUSTRIA", "ÖSTERREICH"),
    *("CH", "SWITZERLAND", "SCHWEIZ", "LI", "LIECHTENSTEIN"),
}
"""The countries in which most people read German, by their codes and names."""


def spoken(settings: BillingSettings, reader: Payer) -> BillingSettings:
    """Return the settings with the language of the documents for a payer or reader.

    It is the language of the settings, unless ``language_by_country`` is set and the address is in
    another country than the seller's: then it is German in countries where most people read it, and
    English elsewhere (decisions, "The language of a document").
    """
    country = (reader.country or reader.country_name).strip().upper()
    if not settings.language_by_country or country in {"", settings.seller_country}:
        return settings
    return replace(settings, language="de" if country in _GERMAN else "en")
