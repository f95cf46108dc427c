"""The fields of an address, and which addresses are whole (circulation, "Addresses")."""

from collections.abc import Iterable, Mapping

POSTAL = (
    "company",
    "address",
    "city",
    "state",
    "zip_code",
    "country_name",
    "country_abbreviation",
)
"""The fields of an address besides its name."""

FIELDS = ("first_name", "last_name", *POSTAL)
"""The fields of an address; all are texts, None where there is none."""

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
_WHOLE = {"address", "city"}


def lacking(
    address: Mapping[str, str | None], present: Iterable[Mapping[str, str | None]] = ()
) -> tuple[str, ...]:
    """Return the fields that an address lacks to be whole; empty if it is whole.

    A whole address has a street and a city. Without a country, or in a country without cities, a
    street is enough, or a city and a postal code. An address without a country still needs a city
    if one of the reader's addresses in ``present`` has a street and a city.
    """
    has = _filled(address)
    countries = {
        (address.get(name) or "").strip().lower()
        for name in ("country_abbreviation", "country_name")
    } - {""}
    is_enough = "address" in has or {"city", "zip_code"} <= has
    if has >= _WHOLE or (_WITHOUT_CITIES & countries and is_enough):
        return ()
    if not countries and is_enough and not any(_filled(each) >= _WHOLE for each in present):
        return ()
    return tuple(name for name in ("address", "city") if name not in has)


def _filled(address: Mapping[str, str | None]) -> set[str]:
    return {name for name in _NAMES if (address.get(name) or "").strip()}


def refusal(
    address: Mapping[str, str | None], present: Iterable[Mapping[str, str | None]] = ()
) -> str | None:
    """Return the sentence that refuses a part of an address; None if the address is whole."""
    fields = lacking(address, present)
    if not fields:
        return None
    missing = " and ".join(f"the {_NAMES[name]}" for name in fields)
    verb = "is" if len(fields) == 1 else "are"
    return f"{missing} of the address {verb} missing: an address has a street and a city at least"
