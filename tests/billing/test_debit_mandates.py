"""Mandates: adding, replacing, resting and ending them, and who can read an IBAN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import mandates
from masthead.books.mandates import Given
from masthead.store.billing.sealed import unseal_iban
from tests.billing import debits
from tests.billing.bureau import refused
from tests.billing.debits import PAYERS, sign

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

GERMAN = "DE02120300000000202051"


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """An account that bills in euros and has a creditor identifier."""
    debits.fill(bureau)
    return bureau


def test_a_mandate_has_a_sealed_iban_and_the_bank_of_it(collector: Desk) -> None:
    given = Given("de02 1203 0000 0000 2020 51", signed_on="2026-03-01")
    done = mandates.add(collector.books, 1, given)
    assert done.sentence == "mandate M1-1 (CORE) of subscriber 1, signed on 2026-03-01"
    (row,) = collector.table("mandates")
    assert (row["account_holder"], row["iban_end"], row["bic"], row["status"]) == (
        "Ada Ames",
        "2051",
        "BYLADEM1001",
        "active",
    )
    assert GERMAN not in str(row["iban"])
    assert unseal_iban(collector.connection, 1, 1, row["iban"]) == GERMAN


def test_no_audit_entry_has_an_iban(collector: Desk) -> None:
    sign(collector)
    said = [
        str(row) for row in collector.rows("SELECT * FROM audit WHERE account_id = :account_id")
    ]
    assert any("mandate M1-1" in each for each in said)
    assert not any("4300" in each or PAYERS[1] in each for each in said)


def test_another_mandate_takes_the_place_of_the_one_before(collector: Desk) -> None:
    sign(collector)
    done = mandates.add(collector.books, 1, Given(GERMAN, reference="Abo/7", scheme="b2b"))
    assert done.sentence == (
        "mandate Abo/7 (B2B) of subscriber 1, signed on 2026-04-15; mandate M1-1 has ended"
    )
    first, second = mandates.of_payer(collector.books, 1)
    assert (first.status, first.reason) == ("ended", "another mandate took its place")
    assert second.status == "active"


@pytest.mark.parametrize(
    ("payer", "given", "said"),
    [
        (1, Given("DE02120300000000202052"), "is not an IBAN"),
        (1, Given(GERMAN, bic="X"), "is not a BIC"),
        (1, Given(GERMAN, reference="M 1"), "cannot be the reference of a mandate"),
        (1, Given(GERMAN, signed_on="2026-04-16"), "is still to come: a mandate is signed first"),
        (1, Given(GERMAN, signed_on="April"), "is not a day"),
        (1, Given(GERMAN, scheme="cor1"), "is not a scheme"),
        (1, Given(GERMAN, reference="M2-1"), "there is a mandate M2-1 already"),
        (9, Given(GERMAN), "has no subscriber 9"),
    ],
)
def test_a_wrong_mandate_is_refused(collector: Desk, payer: int, given: Given, said: str) -> None:
    sign(collector, 2)
    assert said in refused(collector, mandates.add, payer, given)


def test_a_mandate_rests_is_resumed_and_ends(collector: Desk) -> None:
    reference = sign(collector)
    assert "is active already" in refused(collector, mandates.resume, reference)
    assert mandates.rest(collector.books, reference, "asked for").sentence == "mandate M1-1 rests"
    assert "rests already" in refused(collector, mandates.rest, reference)
    assert mandates.resume(collector.books, reference).sentence == "mandate M1-1 is active again"
    assert mandates.end(collector.books, reference).sentence == "mandate M1-1 has ended"
    for change in (mandates.end, mandates.rest, mandates.resume):
        assert "has ended on 2026-04-15: the payer has to sign" in refused(
            collector, change, reference
        )
    assert "there is no mandate M9" in refused(collector, mandates.end, "M9")


def test_a_resting_mandate_ends_when_another_is_signed(collector: Desk) -> None:
    mandates.rest(collector.books, sign(collector))
    sign(collector)
    assert [each.status for each in mandates.of_payer(collector.books, 1)] == ["ended", "active"]


def test_mandates_are_listed_by_payer_and_status(collector: Desk) -> None:
    sign(collector)
    mandates.rest(collector.books, sign(collector, 2))
    assert [each.reference for each in mandates.listed(collector.books)] == ["M1-1", "M2-1"]
    found = mandates.listed(collector.books, status="resting")
    assert [each.reference for each in found] == ["M2-1"]
    assert mandates.listed(collector.books, after=2) == []


def test_a_dry_run_adds_none(collector: Desk) -> None:
    before = collector.everything()
    mandates.add(collector.books, 1, Given(GERMAN), dry_run=True)
    assert collector.everything() == before
