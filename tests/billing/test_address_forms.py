"""The forms of addresses, country by country."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.address_forms import address_form, city_lines
from masthead.billing.countries import CODES


@pytest.mark.parametrize(
    ("country", "rows", "code", "city"),
    [
        ("DE", (("zip_code", "city"),), "postal code", "city"),
        ("AT", (("zip_code", "city"),), "postal code", "city"),
        ("CH", (("zip_code", "city"),), "postal code", "city"),
        ("FR", (("zip_code", "city"),), "postal code", "city"),
        ("IT", (("zip_code", "city"), ("state",)), "postal code", "city"),
        ("US", (("city", "state", "zip_code"),), "ZIP code", "city"),
        ("CA", (("city", "state", "zip_code"),), "postal code", "city"),
        ("GB", (("city",), ("state",), ("zip_code",)), "postcode", "post town"),
        ("IE", (("city",), ("state",), ("zip_code",)), "Eircode", "city"),
    ],
)
def test_each_country_has_its_order_and_its_words(
    country: str, rows: tuple[tuple[str, ...], ...], code: str, city: str
) -> None:
    """decisions, "Forms of addresses"."""
    form = address_form(country)
    assert (form.rows, form.code, form.city) == (rows, code, city)
    assert address_form(country.lower()) == form


def test_a_state_that_an_address_has_is_shown_in_any_country() -> None:
    assert "state" not in _fields("DE")
    assert "state" in _fields("DE", has_state=True)


def test_a_country_that_has_no_postal_codes_asks_for_none() -> None:
    assert not address_form("AE").needs_code
    assert address_form("DE").needs_code
    assert [country for country in ("US", "CA", "DE") if address_form(country).needs_state] == [
        "US",
        "CA",
    ]


@given(st.sampled_from(sorted(CODES)), st.booleans())
def test_each_form_has_each_field_once(country: str, has_state: bool) -> None:
    fields = _fields(country, has_state=has_state)
    assert len(fields) == len(set(fields))
    assert {"city", "zip_code"} <= set(fields)
    assert not has_state or "state" in fields


@given(st.sampled_from(sorted(CODES)))
def test_the_form_has_the_order_of_the_printed_lines(country: str) -> None:
    """What a reader fills in from left to right stands so on the label."""
    printed = " ".join(city_lines("CITY", "STATE", "CODE", country))
    words = {"city": "CITY", "zip_code": "CODE"}
    at = [printed.index(words[field]) for field in _fields(country) if field in words]
    assert at == sorted(at)


def _fields(country: str, *, has_state: bool = False) -> list[str]:
    form = address_form(country, has_state=has_state)
    return [field for row in form.rows for field in row]
