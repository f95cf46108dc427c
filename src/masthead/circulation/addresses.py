"""When an address is whole (circulation, "Addresses")."""

from collections.abc import Mapping

__all__ = ["lacking", "refusal"]

_WITHOUT_CITIES = {
    *("gi", "gibraltar"),
    *("hk", "hong kong"),
    *("mc", "monaco"),
    *("mo", "macao", "macau"),
    *("nr", "nauru"),
    *("sg", "singapore"),
    *("va", "vatican city"),
}
"""Countries whose addresses need no city, by code and name."""

_NAMES = {"address": "street", "city": "city", "zip_code": "postal code"}


def lacking(address: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the fields that an address lacks to be whole; none of them if it is.

    That is a street and a city. In a country without cities it is a street, or a city and a postal
    code. Where no country is named, two of street, city and postal code are enough, since they find
    a house in most countries.
    """
    has = {name for name in _NAMES if (address.get(name) or "").strip()}
    countries = [
        (address.get(name) or "").strip().lower()
        for name in ("country_abbreviation", "country_name")
    ]
    if {"address", "city"} <= has:
        return ()
    if _WITHOUT_CITIES.intersection(countries) and ("address" in has or len(has) > 1):
        return ()
    if not any(countries) and len(has) > 1:
        return ()
    return tuple(name for name in ("address", "city") if name not in has)


def refusal(address: Mapping[str, str | None]) -> str | None:
    """Return the sentence that refuses a part of an address, None for a whole one."""
    fields = lacking(address)
    if not fields:
        return None
    missing = " and ".join(f"the {_NAMES[name]}" for name in fields)
    verb = "is" if len(fields) == 1 else "are"
    return f"{missing} of the address {verb} missing: an address has a street and a city at least"
