"""No client of the change feed ever misses a change, whatever happens in whatever order.

design, "The change feed": at least once, never zero times, with an overlap of 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.feed.client import CopyDiffersError
from tests.feed.faults import FAULTS
from tests.feed.machine import schedules
from tests.feed.world import prepare

if TYPE_CHECKING:
    from tests.servers import Store

STEPS = 30
FAULTY_SCHEDULES_MAX = 3_000
HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@pytest.fixture(scope="module")
def template(store: Store) -> str:
    """The database with which every schedule begins."""
    return prepare(store)


def test_every_copy_is_whole_after_every_poll(
    store: Store, template: str, request: pytest.FixtureRequest
) -> None:
    run_state_machine_as_test(
        schedules(store, template),
        settings=settings(
            max_examples=request.config.getoption("--schedules"),
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=HEALTH,
        ),
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_the_schedules_find_each_fault(
    store: Store, template: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proof is worth something only if it fails where the feed is wrong."""
    machine = schedules(store, template)
    FAULTS[fault](monkeypatch, lambda: machine.running.clock())  # noqa: PLW0108
    with pytest.raises(CopyDiffersError):
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=FAULTY_SCHEDULES_MAX,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                report_multiple_bugs=False,
                print_blob=False,
                suppress_health_check=HEALTH,
            ),
        )
