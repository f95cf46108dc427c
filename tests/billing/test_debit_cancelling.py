"""Cancelling a debit run that the bank never got (billing, "Direct debit")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import bank_imports, debit_collections, debit_runs
from masthead.errors import BadInput, NotFound
from masthead.store import audit
from tests.bank_files.debits import Status, report
from tests.billing import debits
from tests.billing.bureau import order
from tests.billing.debits import DAY, back, batch, came, claims, file_of, read_report, run, sign
from tests.billing.debits import written as statement
from tests.billing.sums import check_sums
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

NAME = "MH20260415120000-1"
"""The id of the file of the first run."""


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """Two payers with mandates, whose invoices were handed in."""
    debits.fill(bureau)
    for payer in (1, 2):
        sign(bureau, payer)
        order(bureau, payer)
    run(bureau)
    return bureau


def test_its_invoices_are_handed_in_again(collector: Desk) -> None:
    """decisions, "A debit run that the bank never got": the mandates were not used."""
    assert run(collector).run.claims == 0
    done = debit_runs.cancel(collector.books, 1)
    assert done.sentence == (
        "debit run 1 is cancelled: 2 invoices of 25.68 EUR can be handed in again"
    )
    assert claims(collector, "status") == [("cancelled",), ("cancelled",)]
    assert [row["used_on"] for row in collector.table("mandates")] == [None, None]
    (said,) = [each.sentence for each in debit_runs.listed_runs(collector.books)]
    assert said.endswith("2 claims of 25.68 EUR; 2 cancelled (25.68 EUR)")
    again = run(collector)
    assert again.sentence.endswith("collects 2 invoices of 25.68 EUR on 2026-04-29: 2 CORE FRST")
    assert [row["used_on"] for row in collector.table("mandates")] == [DAY, DAY]
    check_sums(collector)


def test_a_mandate_keeps_the_day_of_its_other_claims(collector: Desk) -> None:
    order(collector, 1)
    collector.to("2026-04-16")
    later = run(collector, "2026-04-30").run.debit_run_id
    debit_runs.cancel(collector.books, later)
    assert [row["used_on"] for row in collector.table("mandates")] == [DAY, DAY]


def test_it_is_recorded_and_a_dry_run_changes_nothing(collector: Desk) -> None:
    before = claims(collector, "status")
    recorded = _recorded(collector)
    debit_runs.cancel(collector.books, 1, dry_run=True)
    assert claims(collector, "status") == before
    assert _recorded(collector) == recorded
    debit_runs.cancel(collector.books, 1)
    assert _recorded(collector) == recorded + 1


def _recorded(desk: Desk) -> int:
    entries = audit.entries(desk.connection, account_id=desk.account_id)
    return sum(each.summary.startswith("debit run 1 is cancelled") for each in entries)


def test_a_run_is_cancelled_once_and_its_file_is_not_written_again(collector: Desk) -> None:
    debit_runs.cancel(collector.books, 1)
    with pytest.raises(BadInput, match="debit run 1 was cancelled before"):
        debit_runs.cancel(collector.books, 1)
    with pytest.raises(BadInput, match="debit run 1 was cancelled: its file is not for the bank"):
        file_of(collector)
    with pytest.raises(BadInput, match="no claim of debit run 1 is with the bank"):
        debit_collections.collected(collector.books, 1, "2026-04-15")
    with pytest.raises(NotFound, match="there is no debit run 7"):
        debit_runs.cancel(collector.books, 7)


def test_a_run_that_the_bank_has_answered_stays(collector: Desk) -> None:
    read_report(collector, report(NAME, claims=[Status(f"{NAME}-1")]))
    with pytest.raises(BadInput, match="the bank has answered to debit run 1, so it has the file"):
        debit_runs.cancel(collector.books, 1)
    assert claims(collector, "status") == [("returned",), ("sent",)]


def test_what_the_bank_says_of_it_all_the_same_waits_for_a_person(
    collector: Desk, tmp_path: Path
) -> None:
    debit_runs.cancel(collector.books, 1)
    collector.to(DAY)
    entries = (came("12.84", f"{NAME}-1"), back("12.84", f"{NAME}-2"), batch("25.68", NAME))
    done = bank_imports.import_file(collector.books, statement(tmp_path, *entries))
    assert done.sentence.count("3 unknown") == 1
    assert collector.table("payments") == []
    said = read_report(collector, report(NAME, claims=[Status(f"{NAME}-1")]))
    assert said.returned == []
    assert claims(collector, "status") == [("cancelled",), ("cancelled",)]


def test_cancelled_claims_let_no_mandate_rest(collector: Desk) -> None:
    """billing, "Direct debit": after a number of returns, and these did not come back."""
    debit_runs.cancel(collector.books, 1)
    second = run(collector).run
    debit_runs.cancel(collector.books, second.debit_run_id)
    third = run(collector).run
    first_claim = 5
    read_report(
        collector,
        report(third.message_id, claims=[Status(f"{third.message_id}-{first_claim}")]),
    )
    assert [row["status"] for row in collector.table("mandates")] == ["active", "active"]


def test_the_command_says_so(collector: Desk) -> None:
    words = ("debit", "cancel", 1, "--account", collector.account_id)
    tried = masthead(*words, "--dry-run", database=collector.url).stdout
    assert tried.endswith("nothing was changed: this was a dry run\n")
    assert masthead(*words, database=collector.url).stdout == (
        "debit run 1 is cancelled: 2 invoices of 25.68 EUR can be handed in again\n"
    )
    again = masthead(*words, database=collector.url, exit_status=1).stderr
    assert again == "debit run 1 was cancelled before\n"


def test_the_file_of_a_run_replaces_no_other(collector: Desk, tmp_path: Path) -> None:
    path = tmp_path / "debits.xml"
    words = ("debit", "file", 1, path, "--account", collector.account_id)
    masthead(*words, database=collector.url)
    path.write_text("mine")
    said = masthead(*words, database=collector.url, exit_status=1).stderr
    assert said == f"{path} exists already: --replace replaces it\n"
    assert path.read_text() == "mine"
    masthead(*words, "--replace", database=collector.url)
    assert path.read_bytes() == file_of(collector)
    assert list(tmp_path.iterdir()) == [path]
