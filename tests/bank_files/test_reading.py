"""The kind of a file by what it holds, amounts, and whether an account is the publisher's."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.bank_files.accounts import is_same_account
from masthead.bank_files.csv_mapping import Columns, Mapping
from masthead.bank_files.entries import BadValueError, cents_of
from masthead.bank_files.reading import open_bank_file
from masthead.errors import BadInput
from tests.bank_files.camt_files import IBAN, Booked, document
from tests.bank_files.reading import entries_in

_MAPPING = Mapping(Columns(date="d", amount="a"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \r\n", "is empty"),
        (b"d,a\n2026-11-02,1.00\n", "a CSV file needs a mapping"),
        (b"PK\x03\x04more", "is a ZIP file: unpack it"),
        (b"%PDF-1.7\n\0\0", "is not camt"),
        (b"<html><body>Sign in</body></html>", "no statement of a bank"),
        (b"<html><br></html>", "well-formed"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence) as refused:
        entries_in(tmp_path, content)
    assert "\n" not in str(refused.value)


def test_a_mapping_is_only_for_csv(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is XML, and a mapping is for CSV files"):
        entries_in(tmp_path, document([Booked()]), _MAPPING)


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"), open_bank_file(tmp_path / "none"):
        pass


def test_a_line_that_does_not_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: is longer than"):
        entries_in(tmp_path, "d,a\n2026-11-02,1.00\n" + "x" * (1 << 21), _MAPPING)


@given(content=st.binary(max_size=300), start=st.sampled_from([b"", b"<", b":20:", b"d,a\n"]))
def test_any_bytes_are_read_or_refused_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, start: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(start + content)
    refused = list[str]()
    for mapping in (None, _MAPPING):
        try:
            with open_bank_file(path, mapping) as file:
                for statement in file.statements:
                    assert all(len(each.fingerprint) == 32 for each in statement.entries)
        except BadInput as error:
            refused.append(str(error))
    assert all(each.startswith(str(path)) and "\n" not in each for each in refused)


@given(cents=st.integers(-(10**12), 10**12), sign=st.sampled_from([".", ","]))
def test_a_written_amount_is_read_exactly(cents: int, sign: str) -> None:
    other = "," if sign == "." else "."
    plain = f"{Decimal(cents) / 100:.2f}"
    grouped = f"{Decimal(cents) / 100:,.2f}"
    swapped = grouped.translate({ord(","): other, ord("."): sign})
    assert cents_of(plain.replace(".", sign), sign) == cents
    assert cents_of(swapped, sign, f"{other} ") == cents


@pytest.mark.parametrize("text", ["12.50", "1.23", "", "-", "12,505", "1e3", "0x1", "١٢", "--1"])
def test_what_is_not_an_amount_is_refused(text: str) -> None:
    with pytest.raises(BadValueError):
        cents_of(text, ",", ". ")


@pytest.mark.parametrize(
    ("named", "is_same"),
    [
        (IBAN, True),
        ("DE89 3704 0044 0532 0130 00", True),
        (f"{IBAN}EUR", True),
        (f"{IBAN}/EUR", True),
        ("37040044/532013000", True),
        ("37040044/0532013000EUR", True),
        ("0532013000", True),
        ("37040044/532013001", False),
        ("37040045/532013000", False),
        ("3000", False),
        ("DE88370400440532013000", False),
        ("", False),
    ],
)
def test_an_account_is_known_by_its_iban_or_number(named: str, is_same: bool) -> None:
    assert is_same_account(named, IBAN) is is_same
