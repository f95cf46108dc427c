"""CSV files of banks, shops and card providers, by a mapping."""

from pathlib import Path

import pytest

from masthead.bank_files.csv_mapping import Columns, Mapping, read_mapping
from masthead.bank_files.reading import open_bank_file
from masthead.errors import BadInput
from tests.bank_files.reading import entries_in, entry_in

BANK = Mapping(
    Columns(
        date="Wert",
        booked_on="Buchung",
        amount="Betrag",
        name="Name",
        iban="Konto",
        reference=["Zweck", "Kunde"],
        end_to_end_id="E2E",
        currency="W",
    ),
    dates="DD.MM.YY",
    decimal_sign=",",
    account="DE89 3704 0044 0532 0130 00",
)
_HEADER = "Buchung;Wert;Name;Konto;Zweck;Kunde;E2E;Betrag;W\n"
_ROW = "03.11.26;02.11.26;Zoë;NL91 ABNA;RF18 53;900;E-1;1.234,50;EUR\n"


def test_a_row_of_a_bank_is_read(tmp_path: Path) -> None:
    entry = entry_in(tmp_path, _HEADER + _ROW, BANK)
    assert (entry.value_date, entry.booked_on) == ("2026-11-02", "2026-11-03")
    assert (entry.cents, entry.name, entry.iban) == (123450, "Zoë", "NL91ABNA")
    assert (entry.reference, entry.end_to_end_id, entry.line) == ("RF18 53 900", "E-1", 2)


def test_the_account_and_the_currency_come_from_the_file_or_the_mapping(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(_HEADER + _ROW, encoding="utf-8")
    with open_bank_file(tmp_path / "file", BANK) as file:
        found = [(each.account, each.currency) for each in file.statements]
    assert found == [("DE89370400440532013000", "EUR")]


@pytest.mark.parametrize(
    ("columns", "row", "cents", "fee"),
    [
        (Columns(date="d", amount="a"), "-5.00,,", -500, 0),
        (Columns(date="d", amount="a", direction="b"), "5.00,S,", -500, 0),
        (Columns(date="d", amount="a", direction="b"), "5.00,H,", 500, 0),
        (Columns(date="d", credit="a", debit="b"), "5.00,,", 500, 0),
        (Columns(date="d", credit="a", debit="b"), ",5.00,", -500, 0),
        (Columns(date="d", amount="a", fee="b"), "10.00,0.65,", 1000, 65),
        (Columns(date="d", amount="a", fee="b"), "10.00,-0.65,", 1000, 65),
        (Columns(date="d", amount="a", net="b"), "10.00,9.35,", 1000, 65),
        (Columns(date="d", amount="a", net="b"), "-10.00,-10.30,", -1000, 30),
        (Columns(date="d", net="a", fee="b"), "9.35,-0.65,", 1000, 65),
        (Columns(date="d", amount="a", fee="b", net="c"), "10.00,-0.65,9.35", 1000, 65),
    ],
)
def test_amounts_and_fees_are_written_in_many_ways(
    tmp_path: Path, columns: Columns, row: str, cents: int, fee: int
) -> None:
    entry = entry_in(tmp_path, f"d,a,b,c\n2026-11-02,{row}\n", Mapping(columns, debits=["S"]))
    assert (entry.cents, entry.fee) == (cents, fee)


def test_a_fee_that_does_not_add_up_is_refused(tmp_path: Path) -> None:
    mapping = Mapping(Columns(date="d", amount="a", fee="b", net="c"))
    with pytest.raises(BadInput, match=r"line 2: the amount 10\.00 less the fee 0\.65 is not"):
        entries_in(tmp_path, "d,a,b,c\n2026-11-02,10.00,0.65,9.00\n", mapping)


def test_rows_that_are_not_booked_are_left_out_and_counted(tmp_path: Path) -> None:
    mapping = Mapping(Columns(date="d", amount="a", state="s"), booked=["Completed"])
    text = "d,a,s\n2026-11-02,1.00,Pending\n2026-11-02,2.00,Completed\n\n"
    (tmp_path / "file").write_text(text, encoding="utf-8")
    with open_bank_file(tmp_path / "file", mapping) as file:
        found = [entry.cents for each in file.statements for entry in each.entries]
        assert (found, file.tally.pending) == ([200], 1)


def test_lines_before_the_header_are_skipped(tmp_path: Path) -> None:
    mapping = Mapping(Columns(date="d", amount="a"), skip_lines=2, separator="|")
    text = "Account 1\n\nd|a\n2026-11-02|1.00\n"
    assert entry_in(tmp_path, text, mapping).line == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Buchung;Wert\n", "line 1: there is no column 'Betrag'"),
        (_HEADER + _ROW.replace("1.234,50", "1234.50"), "line 2: Betrag: '1234.50' is not an"),
        (_HEADER + _ROW.replace("1.234,50", "1,234"), "fractions of a cent"),
        (_HEADER + _ROW.replace("1.234,50", ""), "the amount is missing"),
        (_HEADER + _ROW.replace("02.11.26", "31.11.26"), "there is no day 2026-11-31"),
        (_HEADER + _ROW.replace("02.11.26", "2026-11-02"), "not a day written DD.MM.YY"),
        (_HEADER + "03.11.26;02.11.26\n", "the row has 2 cells, and there are 9 columns"),
        (_HEADER + _ROW + '"never closed', "line 3"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_in_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence) as refused:
        entries_in(tmp_path, text, BANK)
    assert "\n" not in str(refused.value)


def test_a_mapping_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "bank.toml"
    path.write_text(
        'dates = "DD.MM.YY"\ndecimal_sign = ","\n[columns]\ndate = "Wert"\namount = "Betrag"\n'
        'reference = ["A", "B"]\n',
        encoding="utf-8",
    )
    mapping = read_mapping(path)
    assert mapping.columns.references == ["A", "B"]
    assert mapping.columns.names == ["Wert", "Betrag", "A", "B"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("columns = {", "bank.toml"),
        (f"columns = {'[' * 5_000}", "nested too deeply"),
        ("[columns]\n", "date"),
        ("[columns]\ndate = 'a'\n", "name the column of the amount"),
        ("[columns]\ndate = 'a'\namount = 'b'\ncredit = 'c'\n", "name the column of the amount"),
        ("[columns]\ndate = 'a'\nnet = 'b'\n", "or of the fee too"),
        ("[columns]\ndate = 'a'\namount = 'b'\ndirection = 'c'\n", "debits: list the values"),
        ("[columns]\ndate = 'a'\namount = 'b'\nstate = 'c'\n", "booked: list the values"),
        ("[columns]\ndate = 'a'\namount = 'b'\nsum = 'c'\n", "sum"),
        ("dates = 'DD.MM'\n[columns]\ndate = 'a'\namount = 'b'\n", "dates: is a form such as"),
        ("decimal_sign = ';'\n[columns]\ndate = 'a'\namount = 'b'\n", "decimal_sign: is"),
    ],
)
def test_a_wrong_mapping_is_refused_in_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "bank.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=sentence) as refused:
        read_mapping(path)
    assert "\n" not in str(refused.value)
