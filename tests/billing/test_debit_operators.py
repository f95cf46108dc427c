"""No invoice is handed in twice: two operators at once, killed processes, merged and erased payers.

billing, "Direct debit" and "What must hold".
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from masthead.books import debit_collections, erasure, mandates, subscribers
from masthead.cli import cli
from masthead.errors import BadInput
from tests.billing import debits
from tests.billing.bureau import order, refused
from tests.billing.debits import DAY, LATER, claims, file_of, held, run, sign
from tests.billing.dying_debits import MODULE, hand_in
from tests.circulation.dying import Dying
from tests.circulation.statements import counting
from tests.long import SHORT_ON_SQLITE
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

WAIT_S = 0.05
"""So long the first operator waits for the other one, who mostly waits for the first one."""

KILLED = 5


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """An account with three payers with mandates, each with an invoice."""
    debits.fill(bureau)
    for payer in (1, 2, 3):
        sign(bureau, payer)
        order(bureau, payer)
    return bureau


def test_a_run_whose_file_has_no_folder_hands_in_nothing(
    collector: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["debit", "run", f"--on={DAY}", f"--to={tmp_path / 'gone' / 'debits.xml'}"]
    assert (
        cli.main(
            [*words, "--account=1", f"--database={collector.url}"],
            "masthead",
            standalone_mode=False,
        )
        == 2
    )
    assert "there is no folder" in capsys.readouterr().err
    assert claims(collector, "invoice_id") == []


def test_a_run_whose_file_exists_hands_in_nothing(collector: Desk, tmp_path: Path) -> None:
    path = tmp_path / "debits.xml"
    path.write_text("mine")
    words = ("debit", "run", f"--on={DAY}", f"--to={path}", f"--account={collector.account_id}")
    said = masthead(*words, database=collector.url, exit_status=1).stderr
    assert said == f"{path} exists already: --replace replaces it\n"
    assert claims(collector, "invoice_id") == []
    assert path.read_text() == "mine"


@SHORT_ON_SQLITE
def test_two_operators_hand_in_each_invoice_once(collector: Desk) -> None:
    done: list[int] = []
    beside = threading.Thread(
        target=lambda: done.append(hand_in(collector.url, collector.now, DAY))
    )

    def start() -> None:
        beside.start()
        beside.join(WAIT_S)

    with counting(8, start):
        done.append(hand_in(collector.url, collector.now, DAY))
    beside.join()
    assert sorted(done) == [0, 3]
    assert claims(collector, "invoice_id", "debit_run_id") == [(1, 1), (2, 1), (3, 1)]
    assert held(collector).collection.claims == 3


@SHORT_ON_SQLITE
def test_a_run_that_is_killed_is_whole_or_never_was(collector: Desk) -> None:
    with counting() as counts:
        hand_in(collector.url, collector.now, DAY)
    for payer in (1, 2, 3):
        order(collector, payer)
    with Dying(MODULE) as dying:
        for number in range(KILLED):
            at = 1 + (counts.sent - 1) * number // (KILLED - 1)
            dying.do(collector.url, collector.now, DAY, at)
            runs = [row["debit_run_id"] for row in collector.table("debit_runs")]
            assert [held(collector, each).collection.claims for each in runs] == [3] * len(runs)
    hand_in(collector.url, collector.now, DAY)
    assert sorted(row["invoice_id"] for row in collector.table("claims")) == [1, 2, 3, 4, 5, 6]
    assert [row["claims"] for row in collector.table("debit_runs")] == [3, 3]


def test_merged_payers_are_collected_by_the_newest_mandate(collector: Desk) -> None:
    run(collector)
    order(collector, 1)
    subscribers.merge(collector.books, 1, 2)
    assert run(collector).run.claims == 1
    assert claims(collector, "invoice_id", "mandate_id", "subscriber_id", "sequence") == [
        (1, 1, 1, "FRST"),
        (2, 2, 1, "FRST"),
        (3, 3, 3, "FRST"),
        (4, 2, 1, "RCUR"),
    ]
    collector.to(DAY)
    debit_collections.collected(collector.books, 1, DAY)
    debit_collections.collected(collector.books, 2, DAY)
    assert [row["open_cents"] for row in collector.table("invoices")] == [0, 0, 0, 0]


def test_an_erased_payer_has_no_account_and_no_file_any_more(collector: Desk) -> None:
    run(collector)
    assert file_of(collector)
    erasure.erase(collector.books, 1, "earn")
    (row, *_) = collector.table("mandates")
    assert (row["account_holder"], row["iban"], row["iban_end"]) == (None, None, None)
    assert row["reference"] == "M1-1"
    with pytest.raises(BadInput, match="so the file of debit run 1 cannot be written"):
        file_of(collector)
    assert [row["cents"] for row in collector.table("claims")] == [1284, 1284, 1284]
    collector.to("2026-05-04")
    assert run(collector, LATER).run.claims == 0
    assert mandates.listed(collector.books)[0].iban_end is None
    assert "mandate M1-1 has ended on" in refused(collector, mandates.rest, "M1-1")
