"""References of payments (billing, "Invoice")."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.references import (
    creditor_reference,
    is_creditor_reference,
    spaced,
    transfer_code,
)

_IBAN = "DE02120300000000202051"
_REFERENCE = "RF18539007547034"
"""The example of the standard, as published with its check digits."""


def test_the_reference_has_the_check_digits_of_the_standard() -> None:
    assert creditor_reference("539007547034") == _REFERENCE
    assert creditor_reference("c2026-000123") == creditor_reference("C2026000123")
    assert is_creditor_reference(_REFERENCE)


@given(st.from_regex(r"[0-9A-Za-z][0-9A-Za-z/ -]{0,19}", fullmatch=True))
def test_a_reference_passes_its_check_and_no_other_digit_does(number: str) -> None:
    reference = creditor_reference(number)
    assert is_creditor_reference(reference)
    for at, sign in enumerate(reference[2:], start=2):
        if sign.isdigit():
            other = str((int(sign) + 1) % 10)
            assert not is_creditor_reference(reference[:at] + other + reference[at + 1 :])


@given(st.text(max_size=30))
def test_no_text_breaks_the_check(text: str) -> None:
    assert is_creditor_reference(text) in {True, False}


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("", "'' has no letter A to Z and no digit"),
        ("-/-", "'-/-' has no letter A to Z and no digit"),
        ("1" * 22, "has 22 letters and digits: a payment reference has room for 21"),
    ],
)
def test_a_number_without_a_reference_is_refused(number: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        creditor_reference(number)


def test_a_reference_is_printed_in_groups_of_four() -> None:
    assert spaced(_REFERENCE) == "RF18 5390 0754 7034"


def _code(**changed: object) -> str | None:
    values: dict[str, object] = {
        "name": "Verlag am Park",
        "iban": "DE02 1203 0000 0000 2020 51",
        "bic": "BYLADEM1001",
        "cents": 4990,
        "currency": "EUR",
        "reference": _REFERENCE,
    }
    return transfer_code(**(values | changed))  # type: ignore[arg-type] # of the right types


def test_the_code_of_a_transfer_has_the_lines_of_the_standard() -> None:
    code = _code()
    assert code is not None
    assert code.split("\n") == [
        "BCD",
        "002",
        "1",
        "SCT",
        "BYLADEM1001",
        "Verlag am Park",
        _IBAN,
        "EUR49.90",
        "",
        _REFERENCE,
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"currency": "USD"},
        {"iban": ""},
        {"iban": "DE03120300000000202051"},
        {"cents": 0},
        {"cents": 100_000_000_000},
        {"name": " "},
        {"reference": "2026-000001"},
    ],
)
def test_there_is_no_code_where_a_bank_could_not_read_it(changed: dict[str, object]) -> None:
    assert _code(**changed) is None


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=15),
    st.integers(-1, 10**12),
)
def test_a_code_has_ten_lines_whatever_the_name_is(name: str, bic: str, cents: int) -> None:
    code = _code(name=name, bic=bic, cents=cents)
    if code is not None:
        assert len(code.split("\n")) == len(code.splitlines()) == 10
        assert len(code.encode()) <= 331
