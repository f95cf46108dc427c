"""The story finds each planted mistake: the model is worth something only if it can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.billing.faults import FAULTS
from tests.billing.story import tell
from tests.long import LONG_ON_SQLITE, ONLY_LONG

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

ALWAYS_FOUND = {
    "a number of an invoice is lost",
    "credit is used twice",
    "a payment that comes back leaves what was earned",
    "the same is credited twice",
}
"""Faults that the short form plants too."""


@LONG_ON_SQLITE
def test_the_story_is_what_the_model_says(shared: Desk) -> None:
    clerk = tell(shared)
    assert clerk.counts[True] > 5 * clerk.counts[False] > 0


@LONG_ON_SQLITE
@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=() if fault in ALWAYS_FOUND else ONLY_LONG) for fault in FAULTS],
)
def test_the_story_finds_each_fault(
    shared: Desk, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = FAULTS[fault](monkeypatch)
    # The product itself refuses an entry that does not balance.
    with pytest.raises(AssertionError):
        tell(shared)
    monkeypatch.undo()
    assert times(), "the mistake was never made"
