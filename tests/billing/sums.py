"""What must hold of an account that bills, asked of its tables alone (billing, "What must hold").

The sums are worked out here in plain Python from the rows, and share no code with the product.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

Rows = list[dict[str, Any]]


def check_sums(desk: Desk) -> None:
    """Assert the sums of invoices, payments and the journal, for each payer and in total."""
    invoices = [row for row in desk.table("invoices") if row["kind"] != "credit_note"]
    notes = [row for row in desk.table("invoices") if row["kind"] == "credit_note"]
    allocations, payments = desk.table("allocations"), desk.table("payments")
    _check_invoices(invoices, notes, allocations)
    _check_lines(desk.table("invoices"), desk.table("invoice_lines"))
    _check_payments(invoices, payments, allocations)
    _check_numbers(desk.table("invoices"))
    begun = desk.table("billing")
    if begun:
        _check_journal(desk, str(begun[0]["begun_on"]), invoices, notes, allocations, payments)
    _check_revenue(desk)


def settled(allocations: Rows, invoice_id: int, kind: str) -> int:
    """Return what settles an invoice by a kind of allocation."""
    return sum(
        row["cents"]
        for row in allocations
        if row["invoice_id"] == invoice_id and row["kind"] == kind
    )


def _check_invoices(invoices: Rows, notes: Rows, allocations: Rows) -> None:
    """Assert invoiced = settled + deposits + open + credited + written off, of each invoice."""
    for row in invoices:
        number = row["invoice_id"]
        by_kind = [
            settled(allocations, number, kind) for kind in ("payment", "credit_note", "write_off")
        ]
        assert row["total"] == row["net"] + row["tax"], row
        assert row["total"] == row["open_cents"] + sum(by_kind), row
        assert row["open_cents"] >= 0, row
        assert all(cents >= 0 for cents in by_kind), (row, by_kind)
        of_it = [note for note in notes if note["of_invoice_id"] == number]
        assert by_kind[1] == sum(note["total"] for note in of_it), row
        for name in ("net", "tax", "total"):
            assert sum(note[name] for note in of_it) <= row[name], row
    for row in notes:
        assert row["open_cents"] == 0, row


def _check_lines(invoices: Rows, lines: Rows) -> None:
    """Assert that the lines of each invoice and credit note add up to what it says."""
    for row in invoices:
        own = [line for line in lines if line["invoice_id"] == row["invoice_id"]]
        for name in ("net", "tax"):
            assert sum(line[name] for line in own) == row[name], row


def _check_payments(invoices: Rows, payments: Rows, allocations: Rows) -> None:
    """Assert payments = settled + deposits + credits + paid back, of each payer."""
    payer_of = {row["invoice_id"]: row["subscriber_id"] for row in invoices}
    used = Counter[int]()
    of_payer = Counter[int]()
    for row in allocations:
        if row["kind"] == "payment":
            used[row["payment_id"]] += row["cents"]
            of_payer[payer_of[row["invoice_id"]]] += row["cents"]
    for row in payments:
        assert used[row["payment_id"]] >= 0, row
        if row["kind"] != "payment":
            assert not used[row["payment_id"]], row
    for payer in {row["subscriber_id"] for row in payments}:
        came = sum(row["cents"] for row in payments if row["subscriber_id"] == payer)
        left = sum(row["left_cents"] for row in payments if row["subscriber_id"] == payer)
        assert came == of_payer[payer] + left, (payer, came, of_payer[payer], left)


def _check_numbers(invoices: Rows) -> None:
    """Assert that the numbers of each series have no gap."""
    numbers: dict[str, list[int]] = {}
    for row in invoices:
        numbers.setdefault(row["series"], []).append(row["number"])
    for series, found in numbers.items():
        assert sorted(found) == list(range(1, len(found) + 1)), series


def _check_journal(
    desk: Desk, begun: str, invoices: Rows, notes: Rows, allocations: Rows, payments: Rows
) -> None:
    """Assert that each entry balances, and that the balances are what the tables come to."""
    lines = desk.table("journal_lines")
    entries: dict[int, Rows] = {}
    for row in lines:
        entries.setdefault(row["entry_id"], []).append(row)
    for entry in entries.values():
        assert sum(row["cents"] for row in entry) == 0, entry
        assert all(row["cents"] for row in entry), entry
        assert len({row["booked_on"] for row in entry}) == 1, entry
        assert str(entry[0]["booked_on"]) >= begun, entry
    balances = Counter[str]()
    for row in lines:
        balances[row["account"]] += row["cents"]
    for row in desk.table("revenue"):
        if row["kind"] == "earned" and str(row["booked_on"]) >= begun:
            balances["deferred"] += row["cents"]
            balances["revenue"] -= row["cents"]
    whole = {row["invoice_id"] for row in invoices if not row["open_cents"]}
    waiting = [row for row in invoices if row["invoice_id"] not in whole]
    of_waiting = [note for note in notes if note["of_invoice_id"] not in whole]
    deposits = sum(settled(allocations, row["invoice_id"], "payment") for row in waiting)
    assert balances["receivables"] == deposits + sum(row["open_cents"] for row in waiting)
    assert -balances["prepayments"] == deposits + sum(row["left_cents"] for row in payments)
    assert balances["bank"] == sum(row["cents"] - row["fee"] for row in payments)
    assert -balances["reminder_fees"] == sum(
        settled(allocations, row["invoice_id"], "payment")
        for row in invoices
        if row["invoice_id"] in whole and row["order_id"] is None
    )
    assert balances["fees"] == sum(row["fee"] for row in payments)
    liability = sum(
        row["cents"] if row["kind"] == "received" else -row["cents"]
        for row in desk.table("revenue")
    )
    assert -balances["deferred"] == liability
    net, tax = (
        sum(row[name] for row in waiting) - sum(row[name] for row in of_waiting)
        for name in ("net", "tax")
    )
    assert -balances["unpaid"] == net - _kept(desk, waiting, of_waiting)
    due = [row["value"] for row in desk.table("billing_settings") if row["name"] == "tax_due"]
    assert -balances["tax_not_due"] == (0 if due == ["invoice"] else tax)
    assert sum(balances.values()) == 0


def _kept(desk: Desk, waiting: Rows, of_waiting: Rows) -> int:
    """Return the net of open invoices that stays revenue: what ended while they were paid."""
    orders = {row["order_id"] for row in waiting}
    items = {r["order_item_id"]: r for r in desk.table("order_items") if r["order_id"] in orders}
    terms = {row["term_id"] for row in desk.table("terms") if row["order_item_id"] in items}
    kept = sum(
        row["cents"] if row["kind"] == "received" else -row["cents"]
        for row in desk.table("revenue")
        if row["term_id"] in terms and row["kind"] != "earned"
    )
    billed = {row["invoice_id"] for row in waiting}
    credited = {note["invoice_id"] for note in of_waiting}
    for line in desk.table("invoice_lines"):
        item = items.get(line["order_item_id"], {})
        if item.get("product_id") and item["refund_date"] and not item["is_dropped"]:
            if line["invoice_id"] in billed:
                kept += line["net"]
            elif line["invoice_id"] in credited:
                kept -= line["net"]
    return int(kept)


def _check_revenue(desk: Desk) -> None:
    """Assert that no term has earned or given back more than was received."""
    sums: dict[int, Counter[str]] = {}
    for row in desk.table("revenue"):
        sums.setdefault(row["term_id"], Counter())[row["kind"]] += row["cents"]
    for term, found in sums.items():
        unearned = found["received"] - found["earned"] - found["refunded"]
        assert unearned >= 0, (term, found)
