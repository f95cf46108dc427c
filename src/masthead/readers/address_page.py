"""The fields of an address in the form of its country, from the form and into the form."""

from collections.abc import Mapping
from typing import NamedTuple

from masthead.billing.address_forms import AddressForm, Part, address_form
from masthead.billing.countries import CODES
from masthead.billing.places import country_of
from masthead.books.reader_home import Reader
from masthead.circulation.addresses import FIELDS
from masthead.readers.forms import Form
from masthead.readers.page_request import PageRequest
from masthead.readers.words import Words, words_of
from masthead.web.words import marked

CODE_WORDS: Mapping[str, str] = {
    "postal code": marked("Postal code"),
    "ZIP code": marked("ZIP code"),
    "postcode": marked("Postcode"),
    "Eircode": marked("Eircode"),
    "PIN code": marked("PIN code"),
}
CITY_WORDS: Mapping[str, str] = {
    "city": marked("City"),
    "post town": marked("Post town"),
    "suburb": marked("Suburb or town"),
}
STATE_WORDS: Mapping[str, str] = {
    "state": marked("State"),
    "province": marked("Province"),
    "county": marked("County"),
}
"""What the parts of an address are called on a form, by the words of the rule."""

_COUNTRY = "country"
_TYPED = tuple(name for name in FIELDS if not name.startswith(_COUNTRY))


class AddressShown(NamedTuple):
    """The lower part of the form of an address: the rows of its fields and their labels."""

    rows: tuple[tuple[Part, ...], ...]
    code_label: str
    city_label: str
    state_label: str
    needs_code: bool
    needs_state: bool
    countries: list[tuple[str, str]]


def values_of(address: Mapping[str, str], reader: Reader) -> dict[str, str]:
    """Return an address as the form shows it: its country by its code, if that is known.

    An address without a name is the reader's, who has one.
    """
    values = {name: address.get(name, "") for name in _TYPED}
    if not (values["first_name"] or values["last_name"] or values["company"]):
        values["first_name"] = reader.first_name or ""
        values["last_name"] = reader.last_name or ""
    name = address.get("country_name", "")
    code = country_of(address.get("country_abbreviation"), name)
    return {**values, _COUNTRY: name if code is None else code}


def address_of(form: Form) -> dict[str, str]:
    """Return the address that was typed, with the fields of the interface."""
    typed = {name: form[name] for name in _TYPED}
    country = form[_COUNTRY]
    if country.upper() not in CODES:
        return {**typed, "country_name": country, "country_abbreviation": ""}
    name = words_of("en").country(country)
    return {**typed, "country_name": name, "country_abbreviation": country.upper()}


def is_choosing_country(form: Form) -> bool:
    """Return whether the reader only asks for the form of another country."""
    return form["show"] == _COUNTRY


def shown(form: Form, words: Words) -> AddressShown:
    """Return the form of the country that is chosen."""
    found = _form_of(form)
    countries = words.countries()
    if form[_COUNTRY].upper() not in CODES:
        # An address without a country, or with a name that no list of countries has, keeps that.
        countries.insert(0, (form[_COUNTRY], form[_COUNTRY]))
    return AddressShown(
        found.rows,
        words.gettext(CODE_WORDS[found.code]),
        words.gettext(CITY_WORDS[found.city]),
        words.gettext(STATE_WORDS[found.state]),
        found.needs_code,
        found.needs_state,
        countries,
    )


def check(request: PageRequest, form: Form) -> None:
    """Record an error for each field that the country's form needs and that is empty."""
    found = _form_of(form)
    needed = {
        "address": True,
        "city": True,
        "zip_code": found.needs_code,
        "state": found.needs_state,
    }
    for name, is_needed in needed.items():
        if is_needed and not form[name]:
            form.refuse(name, request.gettext("Please fill this in."))
    if not (form["first_name"] or form["last_name"] or form["company"]):
        form.refuse("last_name", request.gettext("Please fill this in."))


def _form_of(form: Form) -> AddressForm:
    return address_form(form[_COUNTRY], has_state=bool(form["state"]))
