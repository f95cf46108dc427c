"""Statements of MT940, with the three ways in which banks mark the parts of a text."""

from pathlib import Path

import pytest

from masthead.bank_files.reading import open_bank_file
from masthead.errors import BadInput
from tests.bank_files.reading import entries_in, entry_in

_PAYER = "NL91ABNA0417164300"


def _statement(*parts: str, account: str = "37040044/0532013000", closing: str = "C") -> str:
    total = sum(
        (1 if part[10] == "C" else -1) * int(part[11:].split("N")[0].replace(",", ""))
        for part in parts
        if part.startswith("261102")
    )
    marked = "".join(f"\r\n:61:{part}" if part[0].isdigit() else f"\r\n{part}" for part in parts)
    balance = f"{closing}261103EUR{abs(total) // 100},{abs(total) % 100:02}"
    return (
        f":20:STARTUMSE\r\n:25:{account}\r\n:28C:00001/001\r\n:60F:C261102EUR0,00"
        f"{marked}\r\n:62F:{balance}\r\n-\r\n"
    )


_ENTRY = "2611021103C100,50NTRF2026-000001//B9"


def test_an_entry_with_numbered_parts_is_read(tmp_path: Path) -> None:
    text = (
        ":86:166?00GUTSCHRIFT?109310?20EREF+E-1?21MREF+M-7?22SVWZ+RF18 5390 07"
        "\r\n54 7034?23Danke?30ABNANL2A?31" + _PAYER + "?32Zoë Ñandú?33und Söhne"
    )
    entry = entry_in(tmp_path, _statement(_ENTRY, text))
    assert (entry.value_date, entry.booked_on) == ("2026-11-02", "2026-11-03")
    assert entry.cents == 10050
    assert (entry.name, entry.iban) == ("Zoë Ñandú und Söhne", _PAYER)
    assert entry.reference == "RF18 5390 0754 7034 Danke 2026-000001"
    assert (entry.end_to_end_id, entry.mandate_id) == ("E-1", "M-7")
    assert entry.bank_reference == "B9"


def test_a_numbered_part_of_full_length_goes_on_without_a_space(tmp_path: Path) -> None:
    text = ":86:166?00X?20SVWZ+Rechnung Nr. 2026-0000?2112 vom 1.11."
    entry = entry_in(tmp_path, _statement("2611021103C1,00NTRFNONREF", text))
    assert entry.reference == "Rechnung Nr. 2026-000012 vom 1.11."


def test_a_text_between_slashes_is_read(tmp_path: Path) -> None:
    text = (
        f":86:/TRTP/SEPA OVERBOEKING/IBAN/{_PAYER}/BIC/ABNANL2A/NAME/J JANSEN\r\n"
        "/REMI/Factuur 2026-000001/EREF/E-1"
    )
    entry = entry_in(tmp_path, _statement("2611021103C1,00NTRFNONREF", text))
    assert (entry.name, entry.iban) == ("J JANSEN", _PAYER)
    assert (entry.reference, entry.end_to_end_id) == ("Factuur 2026-000001", "E-1")


def test_a_party_and_a_structured_reference_between_slashes_are_read(tmp_path: Path) -> None:
    text = f":86:/CNTP/{_PAYER}/ABNANL2A/J JANSEN/DELFT//REMI/STRD/CUR/RF18539007547034/"
    entry = entry_in(tmp_path, _statement("2611021103C1,00NTRFNONREF", text))
    assert (entry.name, entry.iban) == ("J JANSEN", _PAYER)
    assert entry.reference == "RF18539007547034"


def test_a_free_text_is_the_reference(tmp_path: Path) -> None:
    entry = entry_in(
        tmp_path, _statement("2611021103C1,00NTRFNONREF", ":86:Payment of", "invoice 2026-000001")
    )
    assert entry.reference == "Payment of invoice 2026-000001"


def test_an_entry_without_a_text_is_read(tmp_path: Path) -> None:
    first, second = entries_in(tmp_path, _statement(_ENTRY, "2611021103D1,00NMSCNONREF"))
    assert (first.cents, first.reference) == (10050, "2026-000001")
    assert (second.cents, second.reference) == (-100, "")


@pytest.mark.parametrize(
    ("mark", "cents", "is_reversal"),
    [("C", 500, False), ("D", -500, False), ("RC", -500, True), ("RD", 500, True)],
)
def test_the_mark_gives_the_sign(tmp_path: Path, mark: str, cents: int, is_reversal: bool) -> None:
    balance = "C261103EUR5,00" if cents > 0 else "D261103EUR5,00"
    text = (
        f":20:1\n:25:123456789\n:28C:1\n:60F:C261102EUR0,\n:61:261102{mark}R5,NTRFX\n"
        f":62F:{balance}\n"
    )
    entry = entry_in(tmp_path, text)
    assert (entry.cents, entry.is_reversal) == (cents, is_reversal)


def test_a_booking_in_the_next_year_has_its_year(tmp_path: Path) -> None:
    text = (
        ":20:1\n:25:123456789\n:60F:C261231EUR0,\n:61:2612310102C5,NTRFX\n"
        ":61:2701021231C5,NTRFX\n:62F:C270102EUR10,\n"
    )
    found = [(each.value_date, each.booked_on) for each in entries_in(tmp_path, text)]
    assert found == [("2026-12-31", "2027-01-02"), ("2027-01-02", "2026-12-31")]


def test_a_return_has_its_reason_and_its_fee(tmp_path: Path) -> None:
    text = (
        ":20:1\n:25:123456789\n:60F:C261102EUR20,\n"
        ":61:2611021103D15,00NRTI2026-000001//B9\n/OCMT/EUR10,00/CHGS/EUR5,00/\n"
        ":86:109?00Retoure?20EREF+E-1?32ERIKA?34914\n:62F:C261103EUR5,\n"
    )
    entry = entry_in(tmp_path, text)
    assert (entry.cents, entry.fee) == (-1000, 500)
    assert (entry.return_reason, entry.end_to_end_id) == ("914", "E-1")


def test_an_announced_entry_is_left_out_and_counted(tmp_path: Path) -> None:
    text = (
        ":20:1\n:25:123456789\n:60F:C261102EUR0,\n:61:261102EC5,NTRFX\n:86:soon\n"
        ":61:261102C1,NTRFX\n:62F:C261103EUR1,\n"
    )
    (tmp_path / "file").write_text(text, encoding="utf-8")
    with open_bank_file(tmp_path / "file") as file:
        found = [entry.cents for each in file.statements for entry in each.entries]
        assert (found, file.tally.pending) == ([100], 1)


def test_a_message_in_its_envelope_is_read(tmp_path: Path) -> None:
    text = "{1:F01BANKDEFFXXXX0000000000}{2:I940BANKDEFFXXXXN}{4:\r\n" + _statement(_ENTRY)
    assert entry_in(tmp_path, text.replace("\r\n-\r\n", "\r\n-}\r\n")).cents == 10050


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_each_encoding_of_a_bank_is_read(tmp_path: Path, encoding: str) -> None:
    text = _statement(_ENTRY, ":86:166?00X?32Jürgen")
    assert entry_in(tmp_path, text.encode(encoding)).name == "Jürgen"


def test_each_statement_names_its_account(tmp_path: Path) -> None:
    text = _statement(_ENTRY) + _statement(_ENTRY, account="DE89370400440532013000EUR")
    (tmp_path / "file").write_bytes(text.encode())
    with open_bank_file(tmp_path / "file") as file:
        found = [(each.account, each.currency, len([*each.entries])) for each in file.statements]
    assert found == [("37040044/0532013000", "EUR", 1), ("DE89370400440532013000EUR", "EUR", 1)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ((":62F:C261103EUR100,50", ""), "ends without a closing balance"),
        ((":62F:C261103EUR100,50", ":62F:C261103EUR100,51"), r"add up to 100\.50"),
        (("C100,50", "C100.50"), "line 5: .* is not an entry of MT940"),
        (("C100,50", "C100,505"), "fractions of a cent"),
        (("2611021103", "2613021103"), "there is no day"),
        ((":60F:C261102EUR0,00", ":60F:nothing"), "is not a balance"),
    ],
)
def test_a_statement_that_is_not_complete_is_refused(
    tmp_path: Path, change: tuple[str, str], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence) as refused:
        entries_in(tmp_path, _statement(_ENTRY).replace(*change))
    assert "\n" not in str(refused.value)
