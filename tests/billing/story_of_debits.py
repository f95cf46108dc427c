"""A month of direct debits that touches every rule of them, and what must hold after each step.

What must hold is asked of the tables alone, and shares no code with the product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import debit_collections, mandates
from masthead.books.bank_imports import import_file
from masthead.books.debit_returns import import_report
from tests.bank_files.debits import Status, report
from tests.billing import debits
from tests.billing.bureau import accounts, order
from tests.billing.debits import DAY, LATER, back, batch, held, run, sign, written
from tests.billing.sums import check_sums

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

ADA, BEN, CORA = 1, 2, 3


def tell(desk: Desk, folder: Path) -> None:
    """Do the steps; raise AssertionError where the tables are not as they must be."""
    debits.fill(desk)
    sign(desk, ADA)
    sign(desk, BEN, "b2b")
    resting = sign(desk, CORA)
    mandates.rest(desk.books, resting)
    for payer in (ADA, ADA, BEN, CORA):
        order(desk, payer)
    first = run(desk).run.message_id
    _check(desk)
    assert [row["subscriber_id"] for row in desk.table("claims")] == [ADA, ADA, BEN]
    run(desk)
    _check(desk)
    # The bank collects the business, refuses one of Ada's two, and then gives Ben's back.
    desk.to(DAY)
    import_file(desk.books, written(folder, batch("12.84", f"{first}-B2B-FRST")))
    _check(desk)
    _report(desk, folder, report(first, claims=[Status(f"{first}-1", "AM04")]))
    debit_collections.collected(desk.books, 1, DAY)
    _check(desk)
    assert _open(desk) == {ADA: 1284, CORA: 1284}
    import_file(desk.books, written(folder, back("15.84", f"{first}-3", "MD06", "3.00")))
    _check(desk)
    assert _open(desk) == {ADA: 1284, BEN: 1284, CORA: 1284}
    # Once more: Ben's comes back again, and the bank refuses the first one of Cora's.
    desk.to("2026-05-04")
    mandates.resume(desk.books, resting)
    second = run(desk, LATER).run.message_id
    _check(desk)
    assert [row["subscriber_id"] for row in desk.table("claims")[3:]] == [ADA, BEN, CORA]
    desk.to(LATER)
    _report(desk, folder, report(second, claims=[Status(f"{second}-6", "AC04")]))
    debit_collections.collected(desk.books, 2, LATER)
    _report(desk, folder, report(second, claims=[Status(f"{second}-5", "MD06", fee="3.00")]))
    _check(desk)
    assert _open(desk) == {BEN: 1284, CORA: 1284}
    assert accounts(desk).get("fees") == 600
    statuses = {row["subscriber_id"]: row["status"] for row in desk.table("mandates")}
    assert statuses == {ADA: "active", BEN: "resting", CORA: "active"}
    order(desk, BEN)
    desk.to("2026-05-29")
    run(desk, "2026-06-10")
    _check(desk)
    assert [row["subscriber_id"] for row in desk.table("claims")[6:]] == [CORA]


def _report(desk: Desk, folder: Path, text: str) -> None:
    path = folder / "report.xml"
    path.write_text(text, encoding="utf-8")
    import_report(desk.books, path)
    before = desk.everything()
    import_report(desk.books, path)
    assert desk.everything() == before


def _open(desk: Desk) -> dict[int, int]:
    found: dict[int, int] = {}
    for row in desk.table("invoices"):
        if row["open_cents"]:
            payer = row["subscriber_id"]
            found[payer] = found.get(payer, 0) + row["open_cents"]
    return found


def _check(desk: Desk) -> None:
    """Assert what must hold of mandates, runs and claims at any time."""
    check_sums(desk)
    found = desk.table("claims")
    with_bank = [row["invoice_id"] for row in found if row["status"] == "sent"]
    assert len(with_bank) == len(set(with_bank)), "an invoice is with the bank twice"
    for row in desk.table("debit_runs"):
        own = [each for each in found if each["debit_run_id"] == row["debit_run_id"]]
        assert (row["claims"], row["cents"]) == (len(own), sum(each["cents"] for each in own))
        of_file = held(desk, row["debit_run_id"])
        assert {each.end_to_end_id for each in of_file.debits} == {
            each["end_to_end_id"] for each in own
        }
    _check_sequences(desk)
    _check_payments(desk)


def _check_sequences(desk: Desk) -> None:
    """Assert that exactly the first claim that was not refused before its money is the first."""
    used: set[tuple[int, int]] = set()
    for row in desk.table("claims"):
        before = {run_id for mandate, run_id in used if mandate == row["mandate_id"]}
        assert row["sequence"] == ("RCUR" if before else "FRST"), row
        was_refused = row["status"] == "returned" and row["payment_id"] is None
        later = [
            each
            for each in desk.table("claims")
            if each["mandate_id"] == row["mandate_id"]
            and each["debit_run_id"] == row["debit_run_id"]
            and each["claim_id"] > row["claim_id"]
        ]
        if not was_refused or later:
            used.add((row["mandate_id"], row["debit_run_id"]))


def _check_payments(desk: Desk) -> None:
    """Assert that each collected claim has a payment, which is reversed if the claim came back."""
    payments = {row["payment_id"]: row for row in desk.table("payments")}
    reversed_ones = {row["reverses_id"]: row for row in payments.values() if row["reverses_id"]}
    of_claims = set()
    for row in desk.table("claims"):
        if row["status"] == "paid":
            assert row["payment_id"] not in reversed_ones, row
        if row["payment_id"] is not None:
            payment = payments[row["payment_id"]]
            assert payment["cents"] == row["cents"], row
            assert payment["subscriber_id"] == row["subscriber_id"], row
            of_claims.add(row["payment_id"])
            if row["status"] == "returned":
                assert reversed_ones[row["payment_id"]]["fee"] == row["fee"], row
    assert set(reversed_ones) <= of_claims
