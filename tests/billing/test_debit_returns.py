"""Claims that come back: refused, or returned by the bank (billing, "Direct debit")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    debit_collections,
    mandates,
    payment_reversals,
)
from masthead.books.bank_imports import import_file
from masthead.books.debit_returns import import_report
from masthead.errors import BadInput
from tests.bank_files.debits import Status, report
from tests.billing import debits
from tests.billing.bureau import accounts, order, refused
from tests.billing.debits import DAY, LATER, back, batch, came, claims, run, sign, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

MESSAGE = "MH20260415120000-1"
FIRST, SECOND = f"{MESSAGE}-1", f"{MESSAGE}-2"


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """An account that bills in euros and has a creditor identifier."""
    debits.fill(bureau)
    return bureau


@pytest.fixture
def handed_in(collector: Desk) -> Desk:
    """The same with a run of an invoice of Ada's and one of Ben's, on the day it is collected."""
    for payer in (1, 2):
        sign(collector, payer)
        order(collector, payer)
    run(collector)
    collector.to(DAY)
    return collector


def _open(desk: Desk) -> list[int]:
    return [row["open_cents"] for row in desk.table("invoices")]


def _report(folder: Path, text: str) -> Path:
    path = folder / "report.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_claim_that_the_bank_refuses_leaves_its_invoice_open(
    handed_in: Desk, tmp_path: Path
) -> None:
    path = _report(tmp_path, report(MESSAGE, claims=[Status(FIRST, "AC04")]))
    done = import_report(handed_in.books, path)
    assert done.sentence == "returns of report.xml: 1 claim of 12.84 EUR returned"
    assert [each.sentence for each in done.returned] == [
        "12.84 EUR of invoice 2026-000001 is refused: AC04 the account is closed"
    ]
    assert claims(handed_in, "status", "return_reason", "returned_on", "payment_id") == [
        ("returned", "AC04 the account is closed", "2026-04-14", None),
        ("sent", None, None, None),
    ]
    assert handed_in.table("payments") == []
    assert _open(handed_in) == [1284, 1284]


def test_a_refused_claim_is_handed_in_again_as_the_first_one(
    handed_in: Desk, tmp_path: Path
) -> None:
    """decisions, "The first claim of a mandate"."""
    import_report(
        handed_in.books, _report(tmp_path, report(MESSAGE, claims=[Status(FIRST, "AM04")]))
    )
    assert run(handed_in, "2026-05-05").run.claims == 1
    assert claims(handed_in, "invoice_id", "sequence", "status") == [
        (1, "FRST", "returned"),
        (2, "FRST", "sent"),
        (1, "FRST", "sent"),
    ]


def test_a_return_takes_back_exactly_its_payment(handed_in: Desk, tmp_path: Path) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    handed_in.to("2026-05-04")
    path = _report(tmp_path, report(MESSAGE, claims=[Status(SECOND, "MD06", fee="3.00")]))
    (done,) = import_report(handed_in.books, path).returned
    assert done.sentence == (
        "12.84 EUR of invoice 2026-000002 is returned: MD06 the payer objects, with a fee of "
        "3.00 EUR"
    )
    assert _open(handed_in) == [0, 1284]
    assert [(row["kind"], row["reverses_id"], row["fee"]) for row in handed_in.table("payments")][
        2
    ] == ("reversal", 2, 300)
    assert accounts(handed_in)["fees"] == 300
    assert accounts(handed_in)["bank"] == 1284 - 300
    assert claims(handed_in, "status", "fee") == [("paid", 0), ("returned", 300)]
    run(handed_in, "2026-05-15")
    assert claims(handed_in, "invoice_id", "sequence")[2] == (2, "RCUR")


def test_the_same_report_again_changes_nothing(handed_in: Desk, tmp_path: Path) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    path = _report(tmp_path, report(MESSAGE, claims=[Status(FIRST, "AM04")]))
    import_report(handed_in.books, path)
    before = handed_in.everything()
    again = import_report(handed_in.books, path)
    assert again.sentence == "returns of report.xml: 1 known already"
    assert handed_in.everything() == before


@pytest.mark.parametrize("leave", [False, True])
def test_an_unknown_claim_is_one_sentence_and_changes_nothing(
    handed_in: Desk, tmp_path: Path, *, leave: bool
) -> None:
    """decisions, "A report with claims of others"."""
    before = handed_in.everything()
    for text, named in (
        (report(MESSAGE, claims=[Status("OTHER-1")]), "OTHER-1"),
        (report(MESSAGE, claims=[Status("OTHER-1"), Status("OTHER-2")]), "OTHER-1 and 1 more"),
        (report("MH1", group=Status("")), "MH1"),
        (report(MESSAGE, batch=Status(f"{MESSAGE}-B2B-FRST")), f"{MESSAGE}-B2B-FRST"),
        (report(MESSAGE, batch=Status("B")), "B"),
    ):
        with pytest.raises(BadInput) as error:
            import_report(handed_in.books, _report(tmp_path, text), leave_unknown=leave)
        assert str(error.value) == (
            f"report.xml names {named}, which this account never handed in to the bank"
        )
        assert error.value.code == ""
    assert handed_in.everything() == before


def test_an_unknown_claim_beside_known_ones_is_left_out_only_where_that_is_said(
    handed_in: Desk, tmp_path: Path
) -> None:
    """decisions, "A report with claims of others"."""
    both = report(MESSAGE, claims=[Status(FIRST, "AM04"), Status("OTHER-1")])
    path = _report(tmp_path, both)
    before = handed_in.everything()
    with pytest.raises(BadInput, match="names OTHER-1, which this account never") as error:
        import_report(handed_in.books, path)
    assert error.value.code == "claims_not_handed_in"
    assert handed_in.everything() == before
    done = import_report(handed_in.books, path, leave_unknown=True)
    assert ([each.claim.end_to_end_id for each in done.returned], done.unknown) == (
        [FIRST],
        ["OTHER-1"],
    )
    assert claims(handed_in, "status") == [("returned",), ("sent",)]


@pytest.mark.parametrize(
    "text",
    [
        report(MESSAGE, group=Status("", "TM01")),
        report(MESSAGE, batch=Status(f"{MESSAGE}-CORE-FRST", "TM01")),
        report(
            MESSAGE,
            group=Status("", "TM01"),
            batch=Status(f"{MESSAGE}-CORE-FRST", "TM01"),
            claims=[Status(FIRST, "TM01"), Status(SECOND, "TM01")],
        ),
    ],
    ids=["file", "batch", "each level"],
)
def test_a_refused_file_or_batch_refuses_each_claim_of_it(
    handed_in: Desk, tmp_path: Path, text: str
) -> None:
    done = import_report(handed_in.books, _report(tmp_path, text))
    assert done.sentence == "returns of report.xml: 2 claims of 25.68 EUR returned"
    assert (
        claims(handed_in, "status", "return_reason")
        == [("returned", "TM01 the file came too late")] * 2
    )


def test_a_dry_run_says_the_same_and_changes_nothing(handed_in: Desk, tmp_path: Path) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    path = _report(tmp_path, report(MESSAGE, claims=[Status(FIRST)]))
    before = handed_in.everything()
    said = import_report(handed_in.books, path, dry_run=True)
    assert handed_in.everything() == before
    assert import_report(handed_in.books, path) == said


def test_another_file_is_refused(handed_in: Desk, tmp_path: Path) -> None:
    statement = written(tmp_path, came("12.84", FIRST))
    assert "is XML, but not a status report of a bank" in refused(
        handed_in, import_report, statement
    )
    assert "there is no such file" in refused(handed_in, import_report, tmp_path / "none")


def test_a_mandate_rests_after_two_returns_in_a_row(handed_in: Desk, tmp_path: Path) -> None:
    path = _report(tmp_path, report(MESSAGE, claims=[Status(FIRST, "AM04")]))
    assert import_report(handed_in.books, path).returned[0].mandate is None
    handed_in.to("2026-05-04")
    message = run(handed_in, LATER).run.message_id
    path = _report(tmp_path, report(message, claims=[Status(f"{message}-3", "AM04")]))
    (done,) = import_report(handed_in.books, path).returned
    assert done.sentence.endswith("AM04 insufficient funds; mandate M1-1 rests")
    (mandate,) = mandates.of_payer(handed_in.books, 1)
    assert (mandate.status, mandate.reason) == ("resting", "2 debits in a row came back")
    assert mandates.of_payer(handed_in.books, 2)[0].status == "active"
    assert "1 of a mandate that rests" in run(handed_in, "2026-05-16").sentence


def test_a_mandate_that_is_resumed_begins_to_count_again(handed_in: Desk, tmp_path: Path) -> None:
    debits_back = report(MESSAGE, claims=[Status(FIRST)])
    handed_in.put("billing_settings", setting_id=99, name="mandate_rests_after", value="1")
    (done,) = import_report(handed_in.books, _report(tmp_path, debits_back)).returned
    assert done.mandate == "M1-1"
    handed_in.to("2026-05-01")
    mandates.resume(handed_in.books, "M1-1")
    handed_in.rows(
        "UPDATE billing_settings SET value = '2' "
        "WHERE account_id = :account_id AND name = 'mandate_rests_after' RETURNING 1"
    )
    message = run(handed_in, LATER).run.message_id
    path = _report(tmp_path, report(message, claims=[Status(f"{message}-3")]))
    assert import_report(handed_in.books, path).returned[0].mandate is None


def test_a_debit_that_is_paid_between_two_returns_keeps_the_mandate_active(
    handed_in: Desk, tmp_path: Path
) -> None:
    import_report(handed_in.books, _report(tmp_path, report(MESSAGE, claims=[Status(FIRST)])))
    handed_in.to("2026-05-04")
    run(handed_in, "2026-05-05")
    handed_in.to("2026-05-05")
    debit_collections.collected(handed_in.books, 2, "2026-05-05")
    order(handed_in)
    handed_in.to("2026-05-12")
    message = run(handed_in, "2026-05-19").run.message_id
    path = _report(tmp_path, report(message, claims=[Status(f"{message}-4")]))
    (done,) = import_report(handed_in.books, path).returned
    assert done.mandate is None


def test_a_payment_that_is_reversed_by_hand_returns_its_claim(handed_in: Desk) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    payment_reversals.reverse(handed_in.books, 1, day=DAY, fee=250, reason="by letter")
    assert claims(handed_in, "status", "return_reason", "fee")[0] == (
        "returned",
        "by letter",
        250,
    )
    assert run(handed_in, "2026-05-05").run.claims == 1


# Statements of the bank.


def _statuses(desk: Desk) -> list[str]:
    return [row["status"] for row in desk.table("bank_entries")]


def test_entries_of_claims_become_their_payments(handed_in: Desk, tmp_path: Path) -> None:
    path = written(tmp_path, came("12.84", FIRST), came("12.84", SECOND))
    done = import_file(handed_in.books, path)
    assert [each.entry.status for each in done.entries] == ["settled", "settled"]
    assert done.entries[0].sentence.endswith(": invoice 2026-000001: payment 1, by its claim")
    assert claims(handed_in, "status", "payment_id") == [("paid", 1), ("paid", 2)]
    assert [row["payment_type"] for row in handed_in.table("payments")] == ["direct debit"] * 2
    assert _open(handed_in) == [0, 0]
    before = handed_in.everything()
    assert import_file(handed_in.books, path).known == 2
    assert handed_in.everything() == before


@pytest.mark.parametrize("name", [MESSAGE, f"{MESSAGE}-CORE-FRST"])
def test_the_entry_of_a_batch_pays_each_claim(handed_in: Desk, tmp_path: Path, name: str) -> None:
    (read,) = import_file(handed_in.books, written(tmp_path, batch("25.68", name))).entries
    assert read.why == "debit run 1: 2 payments of 25.68 EUR"
    assert claims(handed_in, "status") == [("paid",), ("paid",)]
    assert _statuses(handed_in) == ["settled"]


_NUMBERED = f"192?00SEPA?20{f'KREF+{MESSAGE}-CORE-FRST'[:27]}?21{f'KREF+{MESSAGE}-CORE-FRST'[27:]}"


@pytest.mark.parametrize("text", [_NUMBERED, f"/TRTP/SEPA/PREF/{MESSAGE}-CORE-FRST/"])
def test_the_entry_of_a_batch_in_mt940_pays_each_claim(
    handed_in: Desk, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "april.sta"
    path.write_text(
        ":20:S\n:25:37040044/0532013000\n:28C:1/1\n:60F:C260429EUR0,00\n"
        f":61:260429C25,68NDDTNONREF//B1\n:86:{text}\n:62F:C260429EUR25,68\n-\n",
        encoding="ascii",
    )
    (read,) = import_file(handed_in.books, path).entries
    assert read.why == "debit run 1: 2 payments of 25.68 EUR"


def test_a_batch_that_was_booked_by_hand_is_known_once(handed_in: Desk, tmp_path: Path) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    first = batch("25.68", MESSAGE)
    done = import_file(
        handed_in.books,
        written(tmp_path, first, came("12.84", SECOND), first._replace(bank_reference="2")),
    )
    assert [each.why for each in done.entries if each.entry.cents == 2568] == [
        "the payments of debit run 1 were booked before",
        "another entry is of debit run 1 already",
    ]
    assert len(handed_in.table("payments")) == 2


def test_a_batch_of_another_sum_is_left_to_a_person(handed_in: Desk, tmp_path: Path) -> None:
    (read,) = import_file(handed_in.books, written(tmp_path, batch("25.00", MESSAGE))).entries
    assert read.entry.status == "unknown"
    assert read.why == "it names debit run 1, of which 25.68 EUR is with the bank"
    other = written(tmp_path, batch("25.68", "MH20260101000000-1"))
    assert import_file(handed_in.books, other).entries[0].why == ("nothing in it names an invoice")
    assert claims(handed_in, "status") == [("sent",), ("sent",)]


def test_a_batch_without_what_was_refused_before_pays_the_rest(
    handed_in: Desk, tmp_path: Path
) -> None:
    import_report(handed_in.books, _report(tmp_path, report(MESSAGE, claims=[Status(FIRST)])))
    import_file(handed_in.books, written(tmp_path, batch("12.84", MESSAGE)))
    assert claims(handed_in, "status") == [("returned",), ("paid",)]
    assert _open(handed_in) == [1284, 0]


def test_a_return_in_a_statement_has_the_banks_fee(handed_in: Desk, tmp_path: Path) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    path = written(tmp_path, back("15.84", FIRST, "MS03", "3.00"))
    (read,) = import_file(handed_in.books, path).entries
    assert read.why == (
        "by its claim: 12.84 EUR of invoice 2026-000001 is returned: MS03 the bank gave no reason, "
        "with a fee of 3.00 EUR"
    )
    assert claims(handed_in, "status", "fee", "return_reason")[0] == (
        "returned",
        300,
        "MS03 the bank gave no reason",
    )
    assert _open(handed_in) == [1284, 0]
    before = handed_in.everything()
    import_file(handed_in.books, path)
    assert handed_in.everything() == before


def test_a_return_without_a_reason_repeats_no_words_of_the_payer(
    handed_in: Desk, tmp_path: Path
) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    import_file(handed_in.books, written(tmp_path, back("12.84", FIRST, reason="")))
    assert claims(handed_in, "status", "return_reason")[0] == (
        "returned",
        "the bank gave no reason",
    )


def test_a_return_before_the_batch_leaves_the_books_right(handed_in: Desk, tmp_path: Path) -> None:
    """The bank has collected the whole batch, and given one of its claims back.

    decisions, "Returns before the money".
    """
    import_file(handed_in.books, written(tmp_path, back("15.84", FIRST, "AM04", "3.00")))
    assert claims(handed_in, "status") == [("returned",), ("sent",)]
    assert _open(handed_in) == [1284, 1284]
    (read,) = import_file(handed_in.books, written(tmp_path, batch("25.68", MESSAGE))).entries
    assert read.entry.status == "settled"
    assert accounts(handed_in)["bank"] == 1284 - 300
    assert _open(handed_in) == [1284, 0]


def test_a_return_that_was_reported_before_is_known(handed_in: Desk, tmp_path: Path) -> None:
    debit_collections.collected(handed_in.books, 1, DAY)
    import_report(
        handed_in.books, _report(tmp_path, report(MESSAGE, claims=[Status(FIRST, fee="3.00")]))
    )
    path = written(tmp_path, back("15.84", FIRST, "AC04", "3.00"), back("17.84", FIRST, fee="5.00"))
    first, second = import_file(handed_in.books, path).entries
    assert first.why == "the return was booked before"
    assert second.why == "it came back before; the fee of 5.00 EUR is not booked"
    assert _statuses(handed_in) == ["settled", "unknown"]
    assert len(handed_in.table("payments")) == 3


def test_entries_that_do_not_fit_their_claim_are_left_to_a_person(
    handed_in: Desk, tmp_path: Path
) -> None:
    import_report(handed_in.books, _report(tmp_path, report(MESSAGE, claims=[Status(FIRST)])))
    path = written(tmp_path, came("12.84", FIRST), came("10.00", SECOND), back("2.84", SECOND))
    assert [each.why for each in import_file(handed_in.books, path).entries] == [
        "the bank refused its claim before",
        "its claim is 12.84 EUR: the amount differs",
        "only a part of its claim of 12.84 EUR is returned",
    ]
    assert handed_in.table("payments") == []
    assert _statuses(handed_in) == ["unknown"] * 3


def test_one_file_can_collect_and_return_a_claim(handed_in: Desk, tmp_path: Path) -> None:
    path = written(tmp_path, back("12.84", SECOND), came("12.84", FIRST), came("12.84", SECOND))
    import_file(handed_in.books, path)
    assert claims(handed_in, "status") == [("paid",), ("returned",)]
    assert _open(handed_in) == [0, 1284]
    assert accounts(handed_in)["bank"] == 1284


def test_a_fee_for_a_batch_is_that_of_its_first_payments(handed_in: Desk, tmp_path: Path) -> None:
    entry = batch("23.68", MESSAGE)
    path = written(tmp_path, entry)
    text = path.read_text(encoding="utf-8").replace(
        "<NtryDtls>",
        '<Chrgs><Rcrd><Amt Ccy="EUR">2.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>'
        "<ChrgInclInd>true</ChrgInclInd></Rcrd></Chrgs><NtryDtls>",
    )
    path.write_text(text, encoding="utf-8")
    import_file(handed_in.books, path)
    assert [row["fee"] for row in handed_in.table("payments")] == [200, 0]
    assert accounts(handed_in)["bank"] == 2368
