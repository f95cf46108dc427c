"""The id of a merged payer means the one who is kept (circulation, "Merging")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    bank_decisions,
    erasure,
    invoices,
    mandates,
    open_items,
    payer_payments,
    payer_statement,
    subscribers,
)
from masthead.books.bank_decisions import Part
from masthead.books.bank_imports import import_file
from masthead.books.mandates import Given
from masthead.books.payer_payments import Incoming
from masthead.errors import NotFound
from tests.billing import debits
from tests.billing.bureau import TODAY, number_of, order, refused
from tests.billing.debits import PAYERS, sign
from tests.billing.test_bank_imports import booked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.circulation.desk import Desk

KEPT, GONE = 2, 3


@pytest.fixture
def merged(bureau: Desk) -> Desk:
    """An account that collects, in which one payer with an open invoice has two ids."""
    debits.fill(bureau)
    order(bureau, payer=GONE)
    subscribers.merge(bureau.books, KEPT, GONE)
    return bureau


def test_a_payment_is_one_of_the_kept_payer_and_can_be_paid_back(merged: Desk) -> None:
    one = number_of(merged, 1)
    done = payer_payments.add(merged.books, Incoming(1384, TODAY), subscriber_id=GONE)
    assert done.subscriber_id == KEPT
    assert done.sentence == (
        f"payment 1 of 13.84 EUR; invoice {one} is paid; the payer has a credit of 1.00 EUR"
    )
    assert open_items.credit_of(merged.books, GONE) == ("Ben Ames", 100)
    back = payer_payments.pay_back(merged.books, GONE, 40)
    assert (back.subscriber_id, back.left) == (KEPT, 60)
    assert {row["subscriber_id"] for row in merged.table("payments")} == {KEPT}


def test_a_payment_names_the_invoice_of_the_kept_payer_and_the_merged_id(merged: Desk) -> None:
    one = number_of(merged, 1)
    done = payer_payments.add(merged.books, Incoming(1284, TODAY), invoice=one, subscriber_id=GONE)
    assert done.sentence == f"payment 1 of 12.84 EUR; invoice {one} is paid"


def test_an_entry_of_the_bank_is_booked_for_the_kept_payer(merged: Desk, tmp_path: Path) -> None:
    import_file(merged.books, debits.written(tmp_path, booked("20.00", "thanks", "Cora")))
    parts = [Part(1284, subscriber_id=GONE), Part(716, subscriber_id=KEPT)]
    bank_decisions.split(merged.books, 1, parts)
    (entry,) = merged.table("bank_entries")
    assert (entry["subscriber_id"], entry["reference"]) == (KEPT, "thanks")
    assert {row["subscriber_id"] for row in merged.table("payments")} == {KEPT}


def test_a_mandate_collects_from_the_kept_payer(merged: Desk) -> None:
    assert sign(merged, GONE) == "M2-1"
    assert [row["subscriber_id"] for row in merged.table("mandates")] == [KEPT]
    debits.run(merged)
    assert debits.claims(merged, "subscriber_id", "cents") == [(KEPT, 1284)]


def test_what_is_asked_of_a_merged_id_is_that_of_the_kept_payer(merged: Desk) -> None:
    """decisions, "The id of a merged payer"."""
    sign(merged, KEPT)
    payer_payments.add(merged.books, Incoming(1284, TODAY), subscriber_id=KEPT)
    read: list[Callable[[int], object]] = [
        lambda payer: payer_statement.statement(merged.books, payer),
        lambda payer: open_items.account_of(merged.books, payer),
        lambda payer: payer_payments.list_payments(merged.books, payer),
        lambda payer: mandates.of_payer(merged.books, payer),
        lambda payer: invoices.listed(merged.books, subscriber_id=payer),
    ]
    for each in read:
        assert each(GONE) == each(KEPT)
        with pytest.raises(NotFound):
            each(99)


@pytest.mark.parametrize("payer", [KEPT, GONE])
def test_an_erased_payer_gets_no_mandate(merged: Desk, payer: int) -> None:
    """decisions, "Bank accounts of mandates"."""
    erasure.erase(merged.books, KEPT, "earn")
    said = refused(merged, mandates.add, payer, Given(PAYERS[1], account_holder="Ben"))
    assert said == f"the reader was deleted on {TODAY}"
    assert not merged.table("mandates")
