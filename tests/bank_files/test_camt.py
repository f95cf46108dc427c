"""Statements and notifications of camt, in each version that is read."""

import tracemalloc
from pathlib import Path

import pytest

from masthead.bank_files.camt import VERSIONS
from masthead.bank_files.reading import open_bank_file
from masthead.errors import BadInput
from tests.bank_files import camt_files
from tests.bank_files.camt_files import IBAN, PAYER_IBAN, Booked, Detail, document
from tests.bank_files.reading import entries_in, entry_in


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("message", ["camt.053", "camt.054"])
def test_an_entry_is_read_from_each_version(tmp_path: Path, version: int, message: str) -> None:
    detail = Detail(
        "10.00", "Zoë Ñandú", ("Invoice", "2026-000001"), "RF18539007547034", "E-1", "M-7"
    )
    entries = [Booked("10.00", [detail], bank_reference="B9")]
    (tmp_path / "file").write_text(
        document(entries, version=version, message=message), encoding="utf-8"
    )
    with open_bank_file(tmp_path / "file") as file:
        (found,) = [(each.account, each.currency, [*each.entries]) for each in file.statements]
    account, currency, (entry,) = found
    assert (account, currency) == (IBAN, "EUR")
    assert entry.value_date == "2026-11-02"
    assert entry.booked_on == "2026-11-03"
    assert entry.cents == 1000
    assert entry.name == "Zoë Ñandú"
    assert entry.iban == PAYER_IBAN
    assert entry.reference == "RF18539007547034 Invoice 2026-000001"
    assert (entry.end_to_end_id, entry.mandate_id) == ("E-1", "M-7")
    assert entry.bank_reference == "B9"
    assert (entry.fee, entry.return_reason, entry.is_reversal) == (0, "", False)


def test_an_entry_that_went_out_has_a_negative_amount(tmp_path: Path) -> None:
    entry = entry_in(tmp_path, document([Booked("-7.35")]))
    assert (entry.cents, entry.name) == (-735, "Erika Mustermann")


def test_an_end_to_end_id_that_was_not_provided_is_none(tmp_path: Path) -> None:
    assert not entry_in(tmp_path, document([Booked()])).end_to_end_id


@pytest.mark.parametrize("version", [2, 8])
def test_a_batch_gives_an_entry_for_each_transaction(tmp_path: Path, version: int) -> None:
    details = [Detail("4.00", "A"), Detail("6.50", "B")]
    found = entries_in(tmp_path, document([Booked("10.50", details)], version=version))
    assert [(each.cents, each.name) for each in found] == [(400, "A"), (650, "B")]


def test_a_batch_that_does_not_add_up_is_refused(tmp_path: Path) -> None:
    text = document([Booked("10.00", [Detail("4.00"), Detail("5.00")])])
    with pytest.raises(BadInput, match=r"line 5: the 2 transactions .* 9\.00, and 10\.00 was"):
        entries_in(tmp_path, text)


def test_a_batch_without_amounts_is_refused(tmp_path: Path) -> None:
    text = document([Booked("10.00", [Detail("4.00"), Detail()])])
    with pytest.raises(BadInput, match="1 of the 2 transactions of the entry name no amount"):
        entries_in(tmp_path, text)


def test_charges_within_the_amount_of_a_return_are_its_fee(tmp_path: Path) -> None:
    detail = Detail("-10.00", fee="5.00", is_fee_within=True, reason="MD06")
    entry = entry_in(tmp_path, document([Booked("-15.00", [detail])], version=8))
    assert (entry.cents, entry.fee) == (-1000, 500)
    assert (entry.return_reason, entry.name) == ("MD06", "Erika Mustermann")


def test_charges_of_version_2_are_a_fee_if_the_amounts_say_so(tmp_path: Path) -> None:
    within = entry_in(tmp_path, document([Booked("9.50", [Detail("10.00", fee="0.50")])]))
    assert (within.cents, within.fee) == (1000, 50)
    beside = entry_in(tmp_path, document([Booked("10.00", [Detail("10.00", fee="0.50")])]))
    assert (beside.cents, beside.fee) == (1000, 0)


def test_a_batch_less_its_charges_has_its_fees(tmp_path: Path) -> None:
    details = [Detail("4.00", fee="0.10"), Detail("6.00", fee="0.20")]
    found = entries_in(tmp_path, document([Booked("9.70", details)], version=4))
    assert [(each.cents, each.fee) for each in found] == [(400, 10), (600, 20)]


@pytest.mark.parametrize("version", [2, 8])
@pytest.mark.parametrize("state", ["PDNG", "INFO"])
def test_an_entry_that_is_not_booked_is_left_out_and_counted(
    tmp_path: Path, version: int, state: str
) -> None:
    text = document([Booked(state=state), Booked("3.00")], version=version)
    (tmp_path / "file").write_text(text, encoding="utf-8")
    with open_bank_file(tmp_path / "file") as file:
        cents = [entry.cents for each in file.statements for entry in each.entries]
        assert (cents, file.tally.pending) == ([300], 1)


def test_a_statement_without_entries_names_its_account(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(document(), encoding="utf-8")
    with open_bank_file(tmp_path / "file") as file:
        assert [(each.account, [*each.entries]) for each in file.statements] == [(IBAN, [])]


def test_the_entries_are_the_difference_of_the_balances(tmp_path: Path) -> None:
    entries = [Booked("10.00"), Booked("-2.50")]
    good = document(entries, balances=("-1.00", "6.50"))
    assert [each.cents for each in entries_in(tmp_path, good)] == [1000, -250]
    bad = document(entries, balances=("-1.00", "7.50"))
    with pytest.raises(BadInput, match=r"add up to 7\.50, and its balances differ by 8\.50"):
        entries_in(tmp_path, bad)


def test_the_same_file_has_the_same_fingerprints_and_each_entry_its_own(tmp_path: Path) -> None:
    text = document([Booked(), Booked(), Booked("11.00")])
    first, second = entries_in(tmp_path, text), entries_in(tmp_path, text)
    assert first == second
    assert len({each.fingerprint for each in first}) == 3


def test_an_overlapping_statement_has_the_fingerprints_of_the_same_entries(tmp_path: Path) -> None:
    early = entries_in(tmp_path, document([Booked(), Booked("11.00")]))
    late = entries_in(tmp_path, document([Booked("11.00"), Booked(), Booked()]))
    known = {each.fingerprint for each in early}
    assert [each.fingerprint in known for each in late] == [True, True, False]


def test_equal_entries_of_two_pages_are_two_and_of_two_statements_one(tmp_path: Path) -> None:
    pages = [camt_files.statement([Booked()], page=page) for page in (1, 2)]
    of_pages = entries_in(tmp_path, camt_files.enclosed("".join(pages)))
    assert len({each.fingerprint for each in of_pages}) == 2
    again = camt_files.enclosed(camt_files.statement([Booked()]) * 2)
    assert len({each.fingerprint for each in entries_in(tmp_path, again)}) == 1


def test_entries_that_differ_only_in_the_name_have_fingerprints_of_their_own(
    tmp_path: Path,
) -> None:
    first = entry_in(tmp_path, document([Booked(details=[Detail(name="A")])]))
    other = entry_in(tmp_path, document([Booked(details=[Detail(name="B")])]))
    assert first.fingerprint != other.fingerprint


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "windows-1252"])
def test_other_encodings_are_read_as_the_file_says(tmp_path: Path, encoding: str) -> None:
    text = document([Booked(details=[Detail(name="Jürgen")])]).replace("UTF-8", encoding)
    assert entry_in(tmp_path, text.encode(encoding)).name == "Jürgen"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("camt.053", "camt.052"), r"is a message camt\.052"),
        (("camt.053.001.02", "camt.053.001.14"), r"is version 14 of camt\.053"),
        (("urn:iso:std:iso:20022:tech:xsd:", "urn:other:"), "no statement of a bank"),
        (("<Document ", "<Other "), "well-formed"),
        (('<Amt Ccy="EUR">10.00', '<Amt Ccy="EUR">10.005'), "fractions of a cent"),
        (('<Amt Ccy="EUR">10.00', '<Amt Ccy="EUR">10,00'), "is not an amount"),
        (('<Amt Ccy="EUR">10.00', '<Amt Ccy="EUR">1e3'), "is not an amount"),
        (('<Amt Ccy="EUR">10.00', '<Amt Ccy="USD">10.00'), "in 'USD', and the account in EUR"),
        (("<Dt>2026-11-02</Dt>", "<Dt>2026-11-31</Dt>"), "there is no day"),
        (("<CdtDbtInd>CRDT</CdtDbtInd>", ""), "whether it is a credit or a debit"),
        (("</Stmt>", ""), "not well-formed XML"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(
    tmp_path: Path, change: tuple[str, str], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence) as refused:
        entries_in(tmp_path, document([Booked()]).replace(*change))
    assert "\n" not in str(refused.value)


def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    text = document([Booked(), Booked("11.00")], version=8)
    for length in range(60, len(text.rstrip()), 97):
        with pytest.raises(BadInput, match="well-formed"):
            entries_in(tmp_path, text[:length])


def test_a_statement_of_many_entries_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def peak(count: int) -> int:
        entries = (Booked(details=[Detail(texts=[f"{number}"])]) for number in range(count))
        path.write_text(document(entries, version=8), encoding="utf-8")
        tracemalloc.start()
        with open_bank_file(path) as file:
            assert sum(1 for each in file.statements for _ in each.entries) == count
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few, many = peak(500), peak(4000)
    # Only a digest of each entry is kept, in 180 bytes, so that equal ones are counted. Other
    # threads of the tests take memory meanwhile.
    assert many - few < 3500 * 400
