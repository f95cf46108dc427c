"""The fields of an address, and when it is whole (circulation, "Addresses")."""

from collections.abc import Iterable, Mapping

__all__ = ["FIELDS", "lacking", "refusal"]

FIELDS = (
    "first_name",
    "last_name",
    "company",
    "address",
    "city",
    "state",
    "zip_code",
    "country_name",
    "country_abbreviation",
)
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
    """Return the fields that an address lacks to be whole; none of them if it is.

    That is a street and a city. Where it names no country, or one without cities, it is a street,
    or a city and a postal code; but whoever has an address with a city, among those ``present``,
    has a city in any other that names no country.
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
    """Return the sentence that refuses a part of an address, None for a whole one."""
    fields = lacking(address, present)
    if not fields:
        return None
    missing = " and ".join(f"the {_NAMES[name]}" for name in fields)
    verb = "is" if len(fields) == 1 else "are"
    return f"{missing} of the address {verb} missing: an address has a street and a city at least"
