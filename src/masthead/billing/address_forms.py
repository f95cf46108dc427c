"""How each country writes an address: the order of its parts, and what they are called.

The orders are those that the countries' posts ask for. A country that is in no table writes the
postal code before the city (decisions, "Forms of addresses").
"""

from typing import Literal, NamedTuple

from masthead.contract.printable import single_spaced

Part = Literal["zip_code", "city", "state"]
CodeWord = Literal["postal code", "ZIP code", "postcode", "Eircode", "PIN code"]
CityWord = Literal["city", "post town", "suburb"]
StateWord = Literal["state", "province", "county", "canton"]

_CITY_FIRST = {"US": "{city}, {state} {code}", "CA": "{city} {state} {code}"} | dict.fromkeys(
    ("AU", "IN", "NZ", "SG", "JP", "KR"), "{city} {state} {code}"
)
_CODE_BELOW = {"GB", "IE"}
_NEED_STATE = {"AU", "CA", "IN", "US"}
_STATES: dict[str, StateWord] = {
    "AU": "state",
    "CA": "province",
    "ES": "province",
    "GB": "county",
    "IE": "county",
    "IN": "state",
    "IT": "province",
    "US": "state",
}
_CODES: dict[str, CodeWord] = {
    "AU": "postcode",
    "GB": "postcode",
    "IE": "Eircode",
    "IN": "PIN code",
    "NZ": "postcode",
    "US": "ZIP code",
}
_CITIES: dict[str, CityWord] = {"AU": "suburb", "GB": "post town"}
_WITHOUT_CODES = {"AE", "HK", "IE", "MO", "QA"}


class AddressForm(NamedTuple):
    """The fields of an address below the street, in the order in which a country writes them.

    ``rows`` are the fields of each line. ``needs_code`` and ``needs_state`` tell which of them a
    reader must fill.
    """

    rows: tuple[tuple[Part, ...], ...]
    code: CodeWord
    city: CityWord
    state: StateWord
    needs_code: bool
    needs_state: bool


def address_form(country: str, *, has_state: bool = False) -> AddressForm:
    """Return the form of an address in a country, by its code.

    ``has_state``: the address has a state or county already, so the form shows it in any country.
    """
    country = country.upper()
    rows: tuple[tuple[Part, ...], ...]
    if country in _CODE_BELOW:
        rows = (("city",), ("state",), ("zip_code",))
    elif country in _CITY_FIRST:
        rows = (("city", "state", "zip_code"),)
    else:
        rows = (("zip_code", "city"), ("state",))
    if country not in _STATES and not has_state:
        rows = tuple(filter(None, (tuple(p for p in row if p != "state") for row in rows)))
    return AddressForm(
        rows,
        _CODES.get(country, "postal code"),
        _CITIES.get(country, "city"),
        _STATES.get(country, "state"),
        country not in _WITHOUT_CODES,
        country in _NEED_STATE,
    )


def city_lines(city: str, state: str, code: str, country: str) -> list[str]:
    """Return the lines of a city as its country writes them: the postal code first in most."""
    country = country.upper()
    if country in _CODE_BELOW:
        return [city, state, code]
    form = _CITY_FIRST.get(country, "{code} {city}")
    line = single_spaced(form.format(city=city, state=state, code=code)).strip(", ")
    return [line] if form.find("{state}") >= 0 or not state else [line, state]
