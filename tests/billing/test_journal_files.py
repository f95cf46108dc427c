"""Entries of the journal: they balance, split into pairs, and are written as CSV and for DATEV."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing import datev, journal_csv
from masthead.billing.journal_accounts import JOURNAL_ACCOUNTS, JournalAccount
from masthead.billing.journal_entries import (
    Entry,
    Posting,
    balanced,
    earned_entry,
    numbers_of,
    pairs,
)
from masthead.billing.settings import BillingSettings
from masthead.errors import BadInput

NUMBERS: dict[JournalAccount, str] = {
    account: str(4000 + number) for number, account in enumerate(JOURNAL_ACCOUNTS)
}
NOVEMBER = datev.Batch(
    consultant=29098,
    client=55003,
    fiscal_year="2026-01-01",
    first="2026-11-01",
    last="2026-11-30",
    title="Masthead 2026-11",
    currency="EUR",
    made_at="2026-12-03 10:15:00",
)
PAID: list[Posting] = [("bank", 4900), ("fees", 100), ("prepayments", -5000)]

accounts = st.sampled_from(JOURNAL_ACCOUNTS)
amounts = st.integers(-10_000, 10_000)


@st.composite
def lines_that_balance(draw: st.DrawFn) -> list[Posting]:
    """Lines of some accounts that add up to 0."""
    lines = draw(st.lists(st.tuples(accounts, amounts), max_size=6))
    return [*lines, (draw(accounts), -sum(cents for _, cents in lines))]


def entry(lines: list[Posting], text: str = "payment 7", invoice: str | None = None) -> Entry:
    """Return an entry of 24 November."""
    return Entry("12", "2026-11-24", text, lines, invoice, 7)


def written(
    entries: list[Entry],
    batch: datev.Batch = NOVEMBER,
    numbers: dict[JournalAccount, str] | None = None,
) -> list[list[str]]:
    """Return the fields of a file for DATEV by its lines."""
    data = b"".join(datev.lines(batch, entries, numbers or NUMBERS))
    assert data.endswith(b"\r\n")
    lines = data.decode("cp1252").split("\r\n")[:-1]
    return [re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', line) for line in lines]


def test_each_account_has_a_number_that_datev_takes() -> None:
    numbers = numbers_of(BillingSettings())
    datev.check_batch(NOVEMBER, numbers)
    assert len(set(numbers.values())) == len(JOURNAL_ACCOUNTS)


@given(lines_that_balance())
def test_an_entry_has_one_line_for_each_account(lines: list[Posting]) -> None:
    kept = balanced(lines)
    assert sum(cents for _, cents in kept) == 0
    assert all(cents for _, cents in kept)
    for account in JOURNAL_ACCOUNTS:
        expected = sum(cents for each, cents in lines if each == account)
        assert [cents for each, cents in kept if each == account] == ([expected] * bool(expected))


def test_an_entry_that_does_not_balance_is_a_mistake_of_the_program() -> None:
    with pytest.raises(AssertionError, match="does not balance"):
        balanced([("bank", 1), ("fees", 1)])


@given(lines_that_balance(), st.sampled_from(["", "x"]))
def test_the_pairs_of_an_entry_are_the_entry(lines: list[Posting], same: str) -> None:
    """Accounts with the same number are one, so no pair has it on both sides."""
    numbers = NUMBERS | ({"revenue": "1", "product_revenue": "1"} if same else {})
    found = pairs(lines, numbers)
    sums: dict[str, int] = {}
    for account, cents in lines:
        sums[numbers[account]] = sums.get(numbers[account], 0) + cents
    for debit, credit, cents in found:
        assert cents > 0
        assert debit != credit
        sums[debit] -= cents
        sums[credit] += cents
    assert not any(sums.values())


def test_what_a_publication_earned_goes_from_deferred_to_revenue() -> None:
    assert earned_entry("e", "2026-11-01", "Tide", 250).lines == [
        ("deferred", 250),
        ("revenue", -250),
    ]
    back = earned_entry("e", "2026-11-01", "Tide", -250)
    assert back.lines == [("deferred", -250), ("revenue", 250)]
    assert back.text == "earned, taken back: Tide"


def test_the_csv_has_a_row_for_each_line() -> None:
    rows = list(journal_csv.rows([entry(PAID, invoice="2026-000123")], NUMBERS, "EUR"))
    begin, end = ["12", "2026-11-24"], ["EUR", "payment 7", "2026-000123", "7"]
    assert rows == [
        [*begin, NUMBERS["bank"], "bank", "49.00", "", *end],
        [*begin, NUMBERS["fees"], "fees", "1.00", "", *end],
        [*begin, NUMBERS["prepayments"], "prepayments", "", "50.00", *end],
    ]
    assert len(journal_csv.HEAD) == len(rows[0])


def test_the_head_of_a_file_for_datev_has_31_fields() -> None:
    """developer.datev.de, "DATEV-Format", "Header": the example there has the same form."""
    head, fields = written([])
    assert ";".join(head) == (
        '"EXTF";700;21;"Buchungsstapel";13;20261203101500000;;"RE";"Masthead";"";29098;55003;'
        '20260101;4;20261101;20261130;"Masthead 2026-11";"";1;0;0;"EUR";;"";;;"";;;"";""'
    )
    assert len(head) == 31
    assert len(fields) == 125
    places = {1: "Umsatz (ohne Soll/Haben-Kz)", 7: "Konto", 10: "Belegdatum", 11: "Belegfeld 1"}
    places |= {14: "Buchungstext", 21: "Beleginfo - Art 1", 36: "Beleginfo - Inhalt 8"}
    places |= {37: "KOST1 - Kostenstelle", 48: "Zusatzinformation - Art 1", 88: "Stück"}
    places |= {103: "Buchungs GUID", 114: "Festschreibung", 120: "Land", 125: "Abw. Skontokonto"}
    assert {place: fields[place - 1] for place in places} == places


def test_an_entry_of_three_lines_takes_two_rows_for_datev() -> None:
    """decisions, "The journal in DATEV's format"."""
    first, second = written([entry(PAID, invoice="2026-000123")])[2:]
    shown = {1: "49,00", 2: '"S"', 3: '"EUR"', 7: NUMBERS["bank"], 8: NUMBERS["prepayments"]}
    shown |= {10: "2411", 11: '"2026-000123"', 14: '"payment 7"', 114: "0"}
    for row, differing in ((first, {}), (second, {1: "1,00", 7: NUMBERS["fees"]})):
        assert len(row) == 125
        filled = {place: value for place, value in enumerate(row, 1) if value}
        assert filled == shown | differing


@given(st.text(max_size=80), st.text(max_size=50), st.integers(1, 999_999_999_999), st.booleans())
def test_each_field_fits_the_expression_of_the_format(
    text: str, invoice: str, cents: int, is_back: bool
) -> None:
    """developer.datev.de, "Buchungsstapel": the expressions of the fields that are filled."""
    lines: list[Posting] = [("bank", -cents if is_back else cents)]
    lines.append(("prepayments", -lines[0][1]))
    (row,) = written([entry(lines, text, invoice)])[2:]
    for place, expression in (
        (1, r"(?!0{1,10},00)\d{1,10},\d{2}"),
        (2, r'"(S|H)"'),
        (3, r'"[A-Z]{3}"'),
        (7, r"(?!0{1,9}$)\d{1,9}"),
        (8, r"(?!0{1,9}$)\d{1,9}"),
        (10, r"\d{4}"),
        (11, r'"[\w$&%*+\-/]{0,36}"'),
        (114, r"0|1"),
    ):
        assert re.fullmatch(expression, row[place - 1])
    assert len(row[13][1:-1].replace('""', '"')) <= 60
    assert row[13].isprintable()


def test_text_that_windows_1252_lacks_is_replaced() -> None:
    (row,) = written([entry([*PAID[:1], ("clearing", -4900)], 'Zürich "Łódź"\n€5')])[2:]
    assert row[13] == '"Zürich ""?ód?"" €5"'


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        ({"consultant": 1000}, "1000 is not a consultant's number of DATEV"),
        ({"client": 0}, "0 is not a client's number of DATEV"),
        ({"account_length": 9}, "accounts have 4 to 8 digits in DATEV, not 9"),
        ({"fiscal_year": "soon"}, "'soon' is not the first day of a fiscal year"),
        ({"fiscal_year": "2026-02-30"}, "'2026-02-30' is not the first day of a fiscal year"),
        ({"fiscal_year": "2026-11-02"}, "not within the fiscal year that begins on 2026-11-02"),
        ({"last": "2027-01-01"}, "2026-11-01 to 2027-01-01 is not within the fiscal year"),
    ],
)
def test_a_head_that_datev_refuses_is_refused(changed: dict[str, Any], refusal: str) -> None:
    with pytest.raises(BadInput, match=re.escape(refusal)):
        written([], NOVEMBER._replace(**changed))


@pytest.mark.parametrize("number", ["", "0000", "12AB", "123456", "1200.1"])
def test_a_number_that_is_no_account_of_datev_is_refused(number: str) -> None:
    with pytest.raises(BadInput, match=f"the account bank has the number {number!r}: DATEV takes"):
        written([], numbers=NUMBERS | {"bank": number})


def test_an_amount_of_more_than_ten_digits_is_refused() -> None:
    most = 999_999_999_999
    assert written([entry([("bank", most), ("unpaid", -most)])])[2][0] == "9999999999,99"
    with pytest.raises(BadInput, match=re.escape("10,000,000,000.00 EUR of 2026-11-24")):
        written([entry([("bank", most + 1), ("unpaid", -most - 1)])])


def test_more_rows_than_datev_reads_are_refused() -> None:
    many = [entry([("bank", 1), ("unpaid", -1)])] * 99_999
    assert sum(1 for _ in datev.lines(NOVEMBER, many, NUMBERS)) == 99_999 + 2
    with pytest.raises(BadInput, match="write a file for fewer days"):
        list(datev.lines(NOVEMBER, [*many, many[0]], NUMBERS))
