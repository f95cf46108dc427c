"""The story of direct debits finds each planted mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.billing.debit_faults import DEBIT_FAULTS
from tests.billing.story_of_debits import tell
from tests.long import LONG_ON_SQLITE, ONLY_LONG

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

ALWAYS_FOUND = {
    "an invoice is handed in twice",
    "a resting mandate is debited",
    "each claim is the first one",
    "a return opens the other invoices of its run",
}
"""Faults that the short form plants too."""


@LONG_ON_SQLITE
def test_the_story_of_direct_debits_is_right(shared: Desk, tmp_path: Path) -> None:
    tell(shared, tmp_path)


@LONG_ON_SQLITE
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=() if fault in ALWAYS_FOUND else ONLY_LONG)
        for fault in DEBIT_FAULTS
    ],
)
def test_the_story_finds_each_fault(
    shared: Desk, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = DEBIT_FAULTS[fault](monkeypatch)
    with pytest.raises(AssertionError):
        tell(shared, tmp_path)
    monkeypatch.undo()
    assert times(), "the mistake was never made"
