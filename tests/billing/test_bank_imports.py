"""Files of banks: what they settle, propose, and leave to a person (billing, "Bank statements")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.bank_files.csv_mapping import Columns, Mapping
from masthead.billing.references import creditor_reference, spaced
from masthead.books import bank_decisions, bank_imports
from masthead.books.bank_imports import import_file
from tests.bank_files.camt_files import IBAN, Booked, Detail, document
from tests.billing import bureau as desks
from tests.billing.bureau import accounts, number_of, order, refused, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.circulation.desk import Desk

DAY = "2026-04-13"
NUMBER = "2026-000001"
REFERENCE = creditor_reference(NUMBER)
WHOLE = "12.84"


@pytest.fixture
def bank(bureau: Desk) -> Desk:
    """An account that bills and has a bank account."""
    desks.fill(bureau, seller_iban=IBAN)
    return bureau


def booked(
    amount: str, text: str, name: str = "Somebody", *, end_to_end_id: str = "", reason: str = ""
) -> Booked:
    """Return an entry of a statement."""
    detail = Detail(name=name, texts=[text], end_to_end_id=end_to_end_id, reason=reason)
    return Booked(amount, [detail], "BOOK", DAY, DAY)


def written(folder: Path, *entries: Booked, account: str = IBAN) -> Path:
    """Write a statement of the account's currency."""
    path = folder / "statement.xml"
    text = document(entries, account=account, version=8).replace("EUR", "USD")
    path.write_text(text, encoding="utf-8")
    return path


def statuses(done: bank_imports.Imported) -> list[str]:
    """Return what the entries of a file became."""
    return [each.entry.status for each in done.entries]


def stored(desk: Desk, *names: str) -> Sequence[tuple[object, ...]]:
    """Return columns of the stored entries."""
    return [tuple(row[name] for name in names) for row in desk.table("bank_entries")]


@pytest.mark.parametrize("text", [REFERENCE, spaced(REFERENCE).lower(), f"{NUMBER} thanks"])
def test_an_entry_that_names_an_invoice_settles_it(bank: Desk, tmp_path: Path, text: str) -> None:
    one = order(bank)
    done = import_file(bank.books, written(tmp_path, booked(WHOLE, text)))
    assert statuses(done) == ["settled"]
    assert done.sentence == "entries of statement.xml: 1 settled (12.84 USD)"
    assert shown(bank, one).invoice.open_cents == 0
    (payment,) = bank.table("payments")
    assert (payment["cents"], payment["value_date"], payment["payment_type"]) == (
        1284,
        DAY,
        "transfer",
    )
    assert payment["source"] == stored(bank, "fingerprint")[0][0]
    assert stored(bank, "status", "invoice_id", "payment_id", "iban") == [("settled", 1, 1, "4300")]


def test_an_end_to_end_id_settles_the_invoice_that_it_is_of(bank: Desk, tmp_path: Path) -> None:
    one = order(bank)
    entry = booked(WHOLE, "thanks", end_to_end_id=REFERENCE)
    assert statuses(import_file(bank.books, written(tmp_path, entry))) == ["settled"]
    assert shown(bank, one).invoice.open_cents == 0


def test_the_same_file_again_changes_nothing(bank: Desk, tmp_path: Path) -> None:
    order(bank)
    path = written(tmp_path, booked(WHOLE, NUMBER), booked("5.00", "what"), booked("-1.00", "fee"))
    assert statuses(import_file(bank.books, path)) == ["settled", "unknown", "unknown"]
    before = bank.everything()
    again = import_file(bank.books, path)
    assert (again.entries, again.known) == ([], 3)
    assert bank.everything() == before


def test_an_overlapping_file_adds_only_what_is_new(bank: Desk, tmp_path: Path) -> None:
    one = order(bank)
    first = booked("4.00", REFERENCE)
    import_file(bank.books, written(tmp_path, first._replace(bank_reference="1")))
    done = import_file(
        bank.books,
        written(tmp_path, first._replace(bank_reference="1"), first._replace(bank_reference="2")),
    )
    assert (len(done.entries), done.known) == (1, 1)
    assert shown(bank, one).invoice.open_cents == 1284 - 800


def test_a_dry_run_says_the_same_and_changes_nothing(bank: Desk, tmp_path: Path) -> None:
    order(bank)
    path = written(tmp_path, booked(WHOLE, REFERENCE))
    before = bank.everything()
    said = import_file(bank.books, path, dry_run=True)
    assert bank.everything() == before
    assert import_file(bank.books, path) == said


def test_amount_and_name_are_proposed_and_confirmed(bank: Desk, tmp_path: Path) -> None:
    one = order(bank)
    done = import_file(bank.books, written(tmp_path, booked(WHOLE, "thanks", "AMES ADA")))
    assert statuses(done) == ["proposed"]
    assert shown(bank, one).invoice.open_cents == 1284
    (waiting,) = bank_decisions.to_decide(bank.books)
    assert (waiting.number, waiting.entry.bank_entry_id) == (NUMBER, 1)
    assert bank_decisions.confirm(bank.books, 1).sentence == (
        "entry 1: payment 1 of 12.84 USD; invoice 2026-000001 is paid"
    )
    assert stored(bank, "status", "payment_id") == [("taken", 1)]
    assert bank_decisions.to_decide(bank.books) == []
    assert "the entry is taken already" in refused(bank, bank_decisions.confirm, 1)


def test_an_unknown_entry_is_assigned_to_an_invoice_or_a_payer(bank: Desk, tmp_path: Path) -> None:
    one = order(bank)
    import_file(bank.books, written(tmp_path, booked("2.84", "hello"), booked("10.00", "hi")))
    assert "nothing is proposed for the entry" in refused(bank, bank_decisions.confirm, 1)
    bank_decisions.assign(bank.books, 1, invoice=NUMBER)
    assert shown(bank, one).invoice.open_cents == 1000
    bank_decisions.assign(bank.books, 2, subscriber_id=1)
    assert shown(bank, one).invoice.open_cents == 0
    assert stored(bank, "status", "subscriber_id") == [("taken", 1), ("taken", 1)]


def test_an_ignored_entry_loses_its_words(bank: Desk, tmp_path: Path) -> None:
    import_file(bank.books, written(tmp_path, booked("-1.00", "fees of April")))
    assert "went out" in refused(bank, bank_decisions.assign, 1, subscriber_id=1)
    bank_decisions.ignore(bank.books, 1, "A fee of the bank")
    assert stored(bank, "status", "name", "reference", "reason") == [
        ("ignored", None, None, "A fee of the bank")
    ]
    assert bank.table("payments") == []


def test_two_entries_of_one_invoice_settle_it_once(bank: Desk, tmp_path: Path) -> None:
    """The second one is over: a person decides about it."""
    order(bank)
    path = written(tmp_path, booked(WHOLE, REFERENCE), booked(WHOLE, f"{REFERENCE} again"))
    done = import_file(bank.books, path)
    assert statuses(done) == ["settled", "proposed"]
    assert done.entries[1].why == "it names an invoice that is paid"


def test_short_and_over_follow_the_rules_of_payments(bank: Desk, tmp_path: Path) -> None:
    one, two = order(bank), order(bank, 2)
    path = written(
        tmp_path,
        booked("10.00", REFERENCE),
        booked("20.00", creditor_reference(number_of(bank, two))),
    )
    assert statuses(import_file(bank.books, path)) == ["settled", "settled"]
    assert shown(bank, one).invoice.open_cents == 284
    assert [row["left_cents"] for row in bank.table("payments")] == [0, 2000 - 1284]


def test_a_returned_transfer_is_listed_with_its_payment_and_reason(
    bank: Desk, tmp_path: Path
) -> None:
    order(bank)
    import_file(bank.books, written(tmp_path, booked(WHOLE, REFERENCE)))
    returned = booked(f"-{WHOLE}", REFERENCE, reason="MD06")
    (read,) = import_file(bank.books, written(tmp_path, returned)).entries
    assert (read.entry.status, read.entry.return_reason) == ("unknown", "MD06")
    assert "it seems to give back payment 1 of invoice 2026-000001" in read.sentence


def test_a_payout_of_a_shop_has_its_fee(bank: Desk, tmp_path: Path) -> None:
    order(bank)
    path = tmp_path / "payout.csv"
    path.write_text(f"Day,Gross,Fee,Order\n{DAY},12.84,0.65,{NUMBER}\n", encoding="utf-8")
    mapping = Mapping(
        Columns(date="Day", amount="Gross", fee="Fee", reference="Order"), payment_type="card"
    )
    assert statuses(import_file(bank.books, path, mapping)) == ["settled"]
    (payment,) = bank.table("payments")
    assert (payment["cents"], payment["fee"], payment["payment_type"]) == (1284, 65, "card")
    assert accounts(bank)["bank"] == 1284 - 65
    assert accounts(bank)["fees"] == 65


def test_a_value_date_in_a_closed_month_is_booked_to_the_first_open_day(
    bank: Desk, tmp_path: Path
) -> None:
    order(bank)
    bank.put("closed_months", month_id=202604, closed_on="2026-05-02")
    bank.to("2026-05-04")
    import_file(bank.books, written(tmp_path, booked(WHOLE, REFERENCE)))
    (payment,) = bank.table("payments")
    assert (payment["value_date"], payment["booked_on"]) == (DAY, "2026-05-01")


def test_a_file_of_another_account_or_currency_is_refused(bank: Desk, tmp_path: Path) -> None:
    order(bank)
    other = written(tmp_path, booked(WHOLE, REFERENCE), account="NL91ABNA0417164300")
    assert "is of the bank account NL91ABNA0417164300, and that of this publisher ends with" in (
        refused(bank, import_file, other)
    )
    euros = tmp_path / "euros.xml"
    euros.write_text(document([booked(WHOLE, REFERENCE)]), encoding="utf-8")
    assert "is in EUR, and the account has USD" in refused(bank, import_file, euros)


def test_a_file_that_breaks_off_books_nothing(bank: Desk, tmp_path: Path) -> None:
    order(bank)
    path = written(tmp_path, booked(WHOLE, REFERENCE))
    path.write_text(path.read_text(encoding="utf-8").replace("</Stmt>", ""), encoding="utf-8")
    assert "well-formed" in refused(bank, import_file, path)


def test_an_account_without_a_bank_account_reads_no_statement(bureau: Desk, tmp_path: Path) -> None:
    assert "no bank account (seller_iban) is set" in refused(
        bureau, import_file, written(tmp_path, booked(WHOLE, REFERENCE))
    )


def test_an_account_that_does_not_bill_reads_none(shared: Desk, tmp_path: Path) -> None:
    desks.fill(shared, seller_iban=IBAN)
    shared.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING 1")
    assert "does not bill" in refused(
        shared, import_file, written(tmp_path, booked(WHOLE, REFERENCE))
    )
