"""The stories find each planted mistake: the model is worth something only if it can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.billing.faults import FAULTS
from tests.billing.faults_of_sales import FAULTS_OF_SALES
from tests.billing.reminder_faults import FAULTS as FAULTS_OF_REMINDERS
from tests.billing.story import tell
from tests.billing.story_of_reminders import tell as tell_of_reminders
from tests.billing.story_of_renewals import tell as tell_of_renewals
from tests.long import LONG_ON_SQLITE, ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.circulation.desk import Desk
    from tests.circulation.faults import Plant

ALWAYS_FOUND = {
    "a number of an invoice is lost",
    "credit is used twice",
    "a payment that comes back leaves what was earned",
    "the same is credited twice",
    "the fee of a reminder is settled before what was ordered",
    "shipping stays when an invoice is taken back",
}
"""Faults that the short form plants too."""


def _each(faults: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test with each of the faults; most of them in the long form only."""
    return pytest.mark.parametrize(
        "fault",
        [pytest.param(fault, marks=() if fault in ALWAYS_FOUND else ONLY_LONG) for fault in faults],
    )


@LONG_ON_SQLITE
def test_the_story_is_what_the_model_says(shared: Desk) -> None:
    clerk = tell(shared)
    assert clerk.counts[True] > 5 * clerk.counts[False] > 0


@LONG_ON_SQLITE
def test_the_story_of_reminders_is_what_the_model_says(shared: Desk) -> None:
    tell_of_reminders(shared)


@LONG_ON_SQLITE
def test_the_story_of_renewals_is_what_the_model_says(shared: Desk) -> None:
    tell_of_renewals(shared)


@LONG_ON_SQLITE
@_each(FAULTS)
def test_the_story_finds_each_fault(
    shared: Desk, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finds(tell, FAULTS[fault], shared, monkeypatch)


@LONG_ON_SQLITE
@_each(FAULTS_OF_REMINDERS)
def test_the_story_of_reminders_finds_each_fault(
    shared: Desk, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finds(tell_of_reminders, FAULTS_OF_REMINDERS[fault], shared, monkeypatch)


@LONG_ON_SQLITE
@_each(FAULTS_OF_SALES)
def test_the_story_of_renewals_finds_each_fault(
    shared: Desk, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finds(tell_of_renewals, FAULTS_OF_SALES[fault], shared, monkeypatch)


def _finds(
    tell_it: Callable[[Desk], object],
    plant: Plant,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = plant(monkeypatch)
    # The product itself refuses an entry that does not balance.
    with pytest.raises(AssertionError):
        tell_it(desk)
    monkeypatch.undo()
    assert times(), "the mistake was never made"
