"""One entry of a bank's file that pays for several invoices or payers.

Rule: billing, "Bank statements"; decisions, "Entries of several payers" (D-378).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import bank_decisions
from masthead.books.bank_decisions import Part
from masthead.books.bank_imports import import_file
from masthead.errors import MastheadError
from tests.bank_files.camt_files import IBAN
from tests.billing import bureau as desks
from tests.billing.bureau import accounts, order, refused, shown
from tests.billing.sums import check_sums
from tests.billing.test_bank_imports import booked, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

ONE, TWO = "2026-000001", "2026-000002"
WORDS = ("name", "iban", "reference", "end_to_end_id")


@pytest.fixture
def paid_together(bureau: Desk, tmp_path: Path) -> Desk:
    """An account with an open invoice of Ada and one of Ben, and a transfer of 20.00 that waits."""
    desks.fill(bureau, seller_iban=IBAN)
    order(bureau)
    order(bureau, payer=2)
    import_file(bureau.books, written(tmp_path, booked("20.00", "for both of us", "Ada and Ben")))
    return bureau


def test_an_entry_pays_for_two_payers(paid_together: Desk) -> None:
    """The entry keeps nothing of its words, since it belongs to nobody (D-378)."""
    desk = paid_together
    done = bank_decisions.split(desk.books, 1, [Part(1284, ONE), Part(716, subscriber_id=2)])
    assert done.sentence == (
        "entry 1 is split into 2 payments: payment 1 of 12.84 USD; invoice 2026-000001 is paid | "
        "payment 2 of 7.16 USD; invoice 2026-000002 is open with 5.68 USD"
    )
    assert [
        (row["subscriber_id"], row["cents"], row["reference"]) for row in desk.table("payments")
    ] == [(1, 1284, "part of 20.00 USD of 2026-04-13"), (2, 716, "part of 20.00 USD of 2026-04-13")]
    (entry,) = desk.table("bank_entries")
    assert (entry["status"], entry["subscriber_id"], entry["payment_id"]) == ("taken", None, 1)
    assert [entry[name] for name in WORDS] == [None] * 4
    assert accounts(desk)["bank"] == 2000
    check_sums(desk)
    assert "is taken already" in refused(desk, bank_decisions.split, 1, [])


def test_parts_of_one_payer_keep_the_words_and_leave_a_credit(paid_together: Desk) -> None:
    desk = paid_together
    third = order(desk)
    parts = [Part(1000, ONE), Part(500, ONE), Part(500, subscriber_id=1)]
    assert bank_decisions.split(desk.books, 1, parts, dry_run=True).received[2].credit == 0
    assert desk.table("payments") == []
    bank_decisions.split(desk.books, 1, parts)
    assert shown(desk, third).invoice.open_cents == 2 * 1284 - 2000
    assert {row["reference"] for row in desk.table("payments")} == {"for both of us"}
    (entry,) = desk.table("bank_entries")
    assert (entry["subscriber_id"], entry["invoice_id"], entry["name"]) == (1, 1, "Ada and Ben")
    check_sums(desk)


def test_the_fee_is_taken_from_the_first_payments(paid_together: Desk) -> None:
    desk = paid_together
    (entry,) = desk.table("bank_entries")
    desk.put("bank_entries", **entry | {"bank_entry_id": 2, "fingerprint": "f2", "fee": 150})
    bank_decisions.split(desk.books, 2, [Part(100, TWO), Part(1900, ONE)])
    assert [row["fee"] for row in desk.table("payments")] == [100, 50]
    assert accounts(desk)["fees"] == 150


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ([Part(2000, ONE)], "an entry is split into two parts or more"),
        ([Part(2100, ONE), Part(-100, TWO)], "the amount of each part is above 0"),
        ([Part(1284, ONE), Part(1284, TWO)], "the amount of the entry: 5.68 USD is too much"),
        ([Part(1284, ONE), Part(700, TWO)], "the amount of the entry: 0.16 USD is missing"),
        ([Part(1284, ONE), Part(716, "2026-9")], "there is no invoice or credit note 2026-9"),
        ([Part(1284, ONE), Part(716, subscriber_id=99)], "99"),
        ([Part(1284, ONE), Part(716)], "names an invoice or a payer"),
    ],
)
def test_what_cannot_be_split_changes_nothing(
    paid_together: Desk, parts: list[Part], sentence: str
) -> None:
    with pytest.raises(MastheadError) as error:
        bank_decisions.split(paid_together.books, 1, parts)
    assert sentence in str(error.value)
    assert paid_together.table("payments") == []
    assert [row["status"] for row in paid_together.table("bank_entries")] == ["unknown"]
