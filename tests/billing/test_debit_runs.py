"""Debit runs: what is handed in, and no invoice twice (billing, "Direct debit")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.bank_files.pain008 import Creditor
from masthead.books import (
    debit_collections,
    debit_runs,
    invoices,
    mandates,
    payer_payments,
    payment_reversals,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item
from tests.bank_files.camt_files import IBAN
from tests.billing import debits
from tests.billing.bureau import begin, money, number_of, order, pay, refused, shown, use_currency
from tests.billing.debits import DAY, PAYERS, claims, file_of, held, run, sign

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """An account that bills in euros and has a creditor identifier."""
    debits.fill(bureau)
    return bureau


def test_due_invoices_of_payers_with_a_mandate_are_handed_in(collector: Desk) -> None:
    sign(collector)
    sign(collector, 2, "b2b")
    one, two, _ = order(collector), order(collector, 2, Item(product_id=1)), order(collector, 3)
    done = run(collector)
    assert done.sentence == (
        "debit run 1 collects 2 invoices of 22.47 EUR on 2026-04-29: 1 B2B FRST, 1 CORE FRST"
    )
    assert claims(collector, "invoice_id", "mandate_id", "cents", "sequence", "status") == [
        (1, 1, 1284, "FRST", "sent"),
        (2, 2, 963, "FRST", "sent"),
    ]
    found = held(collector)
    made = found.collection
    assert made.message_id == "MH20260415120000-1"
    assert made.creditor == Creditor("Tide Press", IBAN, "", "DE98ZZZ09999999999")
    assert (made.collected_on, made.claims, made.cents) == (DAY, 2, 2247)
    assert [(each.scheme, each.sequence, each.cents) for each in found.batches] == [
        ("b2b", "FRST", 963),
        ("core", "FRST", 1284),
    ]
    second, first = found.debits
    assert (first.iban, first.name, first.mandate, first.signed_on, first.text) == (
        PAYERS[1],
        "Ada Ames",
        "M1-1",
        "2026-04-01",
        number_of(collector, one),
    )
    assert (second.end_to_end_id, second.text) == (
        "MH20260415120000-1-2",
        number_of(collector, two),
    )
    assert [row["used_on"] for row in collector.table("mandates")] == [DAY, DAY]


def test_nothing_is_paid_by_handing_in(collector: Desk) -> None:
    sign(collector)
    one = order(collector)
    run(collector)
    assert shown(collector, one).invoice.open_cents == 1284
    assert collector.table("payments") == []
    assert money(collector, one) == {}


def test_an_invoice_is_with_the_bank_once(collector: Desk) -> None:
    sign(collector)
    order(collector)
    run(collector)
    assert run(collector).sentence == (
        "no invoice can be collected on 2026-04-29; left out: 1 with the bank already"
    )
    assert len(collector.table("debit_runs")) == 1
    order(collector)
    assert run(collector).run.claims == 1
    assert claims(collector, "invoice_id", "debit_run_id") == [(1, 1), (2, 2)]


def test_the_file_has_the_same_bytes_whatever_changes_afterwards(collector: Desk) -> None:
    sign(collector)
    order(collector)
    run(collector)
    before = file_of(collector)
    collector.rows(
        "UPDATE subscribers SET last_name = 'Bell' WHERE account_id = :account_id RETURNING 1"
    )
    mandates.add(collector.books, 1, mandates.Given(PAYERS[2]))
    debit_collections.collected(collector.books, 1, "2026-04-15")
    collector.to("2026-06-01")
    assert file_of(collector) == before


def test_the_older_format_is_written_where_the_bank_wants_it(collector: Desk) -> None:
    sign(collector)
    order(collector)
    debit_runs.run(collector.books, DAY, version="pain.008.001.02")
    assert held(collector).collection.version == "pain.008.001.02"
    assert "is not a version that is written" in refused(
        collector, debit_runs.run, DAY, version="pain.008.001.99"
    )


def test_the_first_claim_of_a_mandate_is_told_from_the_following(collector: Desk) -> None:
    sign(collector)
    order(collector)
    order(collector)
    assert run(collector).sentence.endswith("1 CORE FRST, 1 CORE RCUR")
    assert claims(collector, "invoice_id", "sequence") == [(1, "FRST"), (2, "RCUR")]
    order(collector)
    run(collector)
    assert claims(collector, "sequence")[2] == ("RCUR",)


def test_an_invoice_that_is_not_due_or_not_announced_waits(collector: Desk) -> None:
    sign(collector)
    order(collector)
    assert run(collector, "2026-04-28").sentence == ("no invoice can be collected on 2026-04-28")
    collector.to("2026-04-20")
    order(collector)
    done = run(collector, "2026-05-03")
    assert done.run.claims == 1
    collector.to("2026-04-29")
    assert run(collector, "2026-05-04").run.claims == 1


def test_an_invoice_that_is_due_at_once_is_announced_first(collector: Desk) -> None:
    debits.fill(collector, due_days="0")
    sign(collector)
    order(collector)
    assert run(collector, "2026-04-28").sentence == (
        "no invoice can be collected on 2026-04-28; left out: 1 issued too late to be announced"
    )
    assert run(collector).run.claims == 1


def test_a_mandate_that_rests_or_has_ended_is_not_debited(collector: Desk) -> None:
    mandates.rest(collector.books, sign(collector))
    mandates.end(collector.books, sign(collector, 2))
    order(collector)
    order(collector, 2)
    assert run(collector).sentence == (
        "no invoice can be collected on 2026-04-29; left out: 1 of a mandate that rests"
    )


def test_what_was_paid_in_part_is_collected_for_the_rest(collector: Desk) -> None:
    sign(collector)
    one = order(collector)
    pay(collector, one, Incoming(1000))
    run(collector)
    assert claims(collector, "cents") == [(284,)]


def test_what_is_open_again_of_a_collected_invoice_is_handed_in_again(collector: Desk) -> None:
    """decisions, "What is handed in again"."""
    sign(collector)
    one = order(collector)
    pay(collector, one, Incoming(1000))
    run(collector)
    collector.to(DAY)
    debit_collections.collected(collector.books, 1, DAY)
    payment_reversals.reverse(collector.books, 1, day=DAY)
    run(collector, "2026-05-05")
    assert claims(collector, "cents", "status") == [(284, "paid"), (1000, "sent")]


def test_a_dry_run_says_the_same_and_stores_nothing(collector: Desk) -> None:
    sign(collector)
    order(collector)
    before = collector.everything()
    said = debit_runs.run(collector.books, DAY, dry_run=True)
    assert collector.everything() == before
    assert debit_runs.run(collector.books, DAY).sentence == said.sentence


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("2026-04-15", "the bank cannot collect on 2026-04-15"),
        ("2026-04-30", "it needs a file 1 to 14 days before, which today is 2026-04-16 to"),
        ("soon", "'soon' is not a day"),
    ],
)
def test_a_day_for_which_no_bank_takes_a_file_is_refused(
    collector: Desk, day: str, said: str
) -> None:
    assert said in refused(collector, debit_runs.run, day)


def test_a_run_needs_euros_and_a_creditor(collector: Desk) -> None:
    collector.rows("DELETE FROM billing_settings WHERE account_id = :account_id RETURNING 1")
    collector.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING 1")
    begin(collector)
    assert "a file for the bank needs seller_iban and creditor_id, which are not set" in refused(
        collector, debit_runs.run, DAY
    )
    use_currency(collector, "USD")
    assert "the account has USD, and direct debits of the SEPA are in EUR" in refused(
        collector, debit_runs.run, DAY
    )


def test_collecting_pays_each_invoice_by_a_payment_of_its_own(collector: Desk) -> None:
    sign(collector)
    sign(collector, 2)
    one, two = order(collector), order(collector, 2)
    run(collector)
    collector.to("2026-04-30")
    done = debit_collections.collected(collector.books, 1, DAY)
    assert done.sentence == "debit run 1 is collected on 2026-04-29: 2 payments of 25.68 EUR"
    assert [
        (row["cents"], row["value_date"], row["payment_type"], row["reference"])
        for row in collector.table("payments")
    ] == [
        (1284, DAY, "direct debit", number_of(collector, one)),
        (1284, DAY, "direct debit", number_of(collector, two)),
    ]
    assert claims(collector, "status", "payment_id") == [("paid", 1), ("paid", 2)]
    assert shown(collector, two).invoice.open_cents == 0
    (found,) = debit_runs.listed_runs(collector.books)
    assert found.sentence == ("debit run 1  2026-04-29  2 claims of 25.68 EUR; 2 paid (25.68 EUR)")
    assert "no claim of debit run 1 is with the bank" in refused(
        collector, debit_collections.collected, 1, DAY
    )


def test_a_run_is_collected_on_a_day_that_has_come(collector: Desk) -> None:
    sign(collector)
    order(collector)
    run(collector)
    for day, said in (
        (DAY, "is still to come: the bank has not collected yet"),
        ("2026-04-14", "debit run 1 was made on 2026-04-15: the bank did not collect before"),
        ("then", "is not a day"),
    ):
        assert said in refused(collector, debit_collections.collected, 1, day)
    assert "there is no debit run 7" in refused(collector, debit_collections.collected, 7, DAY)


def test_a_payment_that_comes_while_the_bank_collects_makes_a_credit(collector: Desk) -> None:
    sign(collector)
    one = order(collector)
    run(collector)
    pay(collector, one, Incoming(1284))
    collector.to(DAY)
    done = debit_collections.collected(collector.books, 1, DAY)
    assert done.sentence.endswith("12.84 EUR is over, since invoices were settled meanwhile")
    assert [row["left_cents"] for row in collector.table("payments")] == [0, 1284]


def test_a_credit_of_the_payer_settles_what_is_due_before_the_bank_collects_the_rest(
    collector: Desk,
) -> None:
    """The payer paid by transfer what came back (decisions, "Credit before a direct debit")."""
    sign(collector)
    one, two = order(collector), order(collector)
    pay(collector, one, Incoming(1284))
    pay(collector, two, Incoming(1284))
    payer_payments.add(collector.books, Incoming(1500), subscriber_id=1)
    payment_reversals.reverse(collector.books, 1)
    payment_reversals.reverse(collector.books, 2)
    done = run(collector)
    assert done.sentence.endswith("1 CORE FRST; 1 invoice is paid by the credit of the payer")
    assert claims(collector, "invoice_id", "cents") == [(2, 1284 - 216)]
    assert shown(collector, one).invoice.open_cents == 0


def test_money_that_is_over_settles_the_payers_next_claim_and_is_then_over(
    collector: Desk,
) -> None:
    sign(collector)
    one, two = order(collector), order(collector)
    run(collector)
    pay(collector, one, Incoming(1284))
    collector.to(DAY)
    debit_collections.collected(collector.books, 1, DAY)
    assert shown(collector, two).invoice.open_cents == 0
    assert [row["left_cents"] for row in collector.table("payments")] == [0, 0, 1284]


def test_an_invoice_that_is_cancelled_with_the_bank_makes_a_credit(collector: Desk) -> None:
    sign(collector)
    one = order(collector)
    run(collector)
    invoices.cancel(collector.books, number_of(collector, one))
    assert run(collector).run.claims == 0
    collector.to(DAY)
    debit_collections.collected(collector.books, 1, DAY)
    assert payer_payments.list_payments(collector.books, 1)[0].left_cents == 1284


def test_a_value_date_in_a_closed_month_is_booked_to_the_first_open_day(collector: Desk) -> None:
    sign(collector)
    one = order(collector)
    run(collector)
    collector.put("closed_months", month_id=202604, closed_on="2026-05-02")
    collector.to("2026-05-04")
    debit_collections.collected(collector.books, 1, DAY)
    (payment,) = collector.table("payments")
    assert (payment["value_date"], payment["booked_on"]) == (DAY, "2026-05-01")
    assert shown(collector, one).invoice.open_cents == 0


def test_a_run_of_an_account_that_does_not_bill_is_refused(shared: Desk) -> None:
    debits.fill(shared)
    shared.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING 1")
    assert "does not bill" in refused(shared, debit_runs.run, DAY)
