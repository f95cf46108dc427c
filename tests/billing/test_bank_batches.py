"""Entries that are read together become what they become one by one (billing, "Performance")."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.references import creditor_reference
from masthead.books.bank_imports import import_file
from masthead.circulation.ordering import Item
from tests.bank_files.camt_files import IBAN, Booked, Detail, Form, document, enclosed, statement
from tests.billing import bureau as desks
from tests.billing import debits
from tests.billing.bureau import order
from tests.billing.sums import check_sums
from tests.long import SHORT_ON_SQLITE, examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.circulation.desk import Desk

WHOLE, OF_MUG = 1284, 963
"""What a year of Tide and a mug cost with tax, in cents."""

TABLES = (
    *("payments", "allocations", "invoices", "journal_lines", "revenue"),
    *("orders", "purchases", "terms", "subscriptions", "bank_entries"),
)
OTHERWISE = {"commit_id", "bank_file_id"}
"""The columns that say in which operation and from which file something came."""

ORDERS = st.lists(st.tuples(st.integers(1, 3), st.sampled_from("ymu")), min_size=1, max_size=6)
ENTRIES = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.sampled_from([WHOLE, OF_MUG, WHOLE - 30, 2 * WHOLE, 500, 784, 1]),
        st.sampled_from(["2026-04-01", "2026-04-13", "2026-04-15"]),
    ),
    min_size=1,
    max_size=8,
)
WANTED = {
    "y": Item(bundle_id=1, is_new=True),
    "m": Item(product_id=1),
    "u": Item(bundle_id=2, is_new=True),
}
"""A year of Tide, a mug, and Tide without an end."""


def fill(desk: Desk, orders: Iterable[tuple[int, str]]) -> None:
    """Write the account, with its orders and their open invoices."""
    desks.fill(desk, seller_iban=IBAN, tolerance="50")
    desk.put("bundles", bundle_id=2, name="Tide on and on", price=1200, tax=84)
    desk.put(
        "bundle_lines",
        bundle_id=2,
        line_number=1,
        publication_id=1,
        issues=-1,
        months=12,
        type="Print",
        copies=1,
        price=1200,
    )
    for payer, what in orders:
        order(desk, payer, WANTED[what])


def booked(entries: Iterable[tuple[int, int, str]]) -> list[Booked]:
    """Return entries that each name an invoice by its number, which may not exist."""
    return [
        Booked(
            f"{cents / 100:.2f}",
            [Detail(texts=[creditor_reference(f"2026-{number:06}")])],
            "BOOK",
            day,
            day,
            f"B{place}",
        )
        for place, (number, cents, day) in enumerate(entries)
    ]


def read(desk: Desk, entries: Sequence[Booked]) -> dict[str, list[dict[str, Any]]]:
    """Read one statement with the entries; return what the tables have then."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "statement.xml")
        text = document(entries, version=8).replace("EUR", "USD")
        path.write_text(text, encoding="utf-8")
        import_file(desk.books, path)
    return {
        name: [
            {column: value for column, value in row.items() if column not in OTHERWISE}
            for row in desk.table(name)
        ]
        for name in TABLES
    }


@SHORT_ON_SQLITE
@examples(25, 300)
@given(orders=ORDERS, entries=ENTRIES)
def test_entries_read_together_become_what_they_become_one_by_one(
    shared: Desk, orders: list[tuple[int, str]], entries: list[tuple[int, int, str]]
) -> None:
    fill(shared, orders)
    together = read(shared, booked(entries))
    check_sums(shared)
    fill(shared, orders)
    *_, one_by_one = [read(shared, [each]) for each in booked(entries)]
    assert together == one_by_one


def test_a_debit_and_transfers_of_one_file_settle_an_invoice_once(
    bureau: Desk, tmp_path: Path
) -> None:
    """Each statement of the file is read with what those before it have settled."""
    debits.fill(bureau)
    order(bureau)
    debits.sign(bureau)
    debits.run(bureau)
    bureau.to(debits.DAY)
    (claim,) = bureau.table("claims")
    entries = [
        transfer("5.00", "a"),
        debits.came("12.84", claim["end_to_end_id"]),
        transfer("7.84", "b"),
    ]
    form = Form(8, "camt.053")
    path = tmp_path / "april.xml"
    path.write_text(
        enclosed("".join(statement([dated(each)], form) for each in entries), form),
        encoding="utf-8",
    )
    done = import_file(bureau.books, path)
    assert [each.entry.status for each in done.entries] == ["settled", "settled", "proposed"]
    assert [each["open_cents"] for each in bureau.table("invoices")] == [0]
    check_sums(bureau)


def transfer(amount: str, reference: str) -> Booked:
    """Return an entry that names the invoice."""
    detail = Detail(amount, name="Ada Ames", texts=["2026-000001"])
    return Booked(amount, [detail], bank_reference=reference)


def dated(entry: Booked) -> Booked:
    """Return the entry on the day of the debit run."""
    return entry._replace(booked_on=debits.DAY, value_date=debits.DAY)
