"""Rules of mandates: references, creditor identifiers, days, and when a mandate rests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing import identifiers
from masthead.billing.mandates import (
    check_collection_day,
    checked_reference,
    message_id,
    reference_for,
    rests,
)
from masthead.errors import BadInput


def test_a_creditor_identifier_has_its_check_digits() -> None:
    assert identifiers.creditor_identifier("de98 zzz 09999999999") == "DE98ZZZ09999999999"
    for wrong in ("DE99ZZZ09999999999", "DE98", "98ZZZ", "ÄÖ98ZZZ09999999999"):
        with pytest.raises(BadInput, match="is not a creditor identifier, such as"):
            identifiers.creditor_identifier(wrong)


def test_the_bank_of_an_iban_is_known_in_some_countries() -> None:
    assert identifiers.bic_of("DE89 3704 0044 0532 0130 00") == "COBADEFFXXX"
    assert identifiers.bic_of("MT84MALT011000012345MTLCAST001S") in {"", "MALTMTMTXXX"}


@pytest.mark.parametrize("text", ["M17-1", "Abo/2026", " M1 ", "a" * 35])
def test_a_reference_is_what_banks_accept(text: str) -> None:
    assert checked_reference(text) == text.strip()


@pytest.mark.parametrize("text", ["", "M 1", "/M1", "M1/", "M//1", "Müller", "a" * 36])
def test_another_reference_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="cannot be the reference of a mandate"):
        checked_reference(text)


@given(st.integers(1, 10**15), st.integers(1, 10**6))
def test_a_made_reference_is_one(subscriber_id: int, number: int) -> None:
    made = reference_for(subscriber_id, number)
    assert checked_reference(made) == made


@given(st.lists(st.booleans(), max_size=6), st.integers(1, 4))
def test_a_mandate_rests_after_so_many_returns_in_a_row(returned: list[bool], most: int) -> None:
    in_a_row = 0
    for each in returned:
        in_a_row = in_a_row + 1 if each else 0
    assert rests(returned, most) == (in_a_row >= most)


@pytest.mark.parametrize("day", ["2026-04-15", "2026-04-30", "2025-12-31"])
def test_a_bank_takes_a_file_between_a_day_and_two_weeks_before(day: str) -> None:
    with pytest.raises(BadInput, match="which today is 2026-04-16 to 2026-04-29"):
        check_collection_day(day, "2026-04-15")
    check_collection_day("2026-04-16", "2026-04-15")
    check_collection_day("2026-04-29", "2026-04-15")


def test_the_id_of_a_file_names_its_time_and_its_run() -> None:
    assert message_id("2026-11-05 09:30:00", 7) == "MH20261105093000-7"
