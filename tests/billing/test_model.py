"""After any sequence of operations billing equals the model (billing, "What must hold").

``pytest tests/billing/test_model.py --sequences 1000`` tries as many sequences as one has time for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.billing.machine import sequences
from tests.long import MORE_WITH_EVERY, SHORT_ON_SQLITE

if TYPE_CHECKING:
    import pytest

    from tests.circulation.desk import Desk
    from tests.servers import Store

STEPS = 25
HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
SHARE = {"sqlite": 1, "postgresql": 5}
"""Of the sequences that are asked for, one of so many runs: some cost more time than others."""


@SHORT_ON_SQLITE
@MORE_WITH_EVERY
def test_billing_is_what_the_model_says(
    store: Store, shared: Desk, request: pytest.FixtureRequest
) -> None:
    run_state_machine_as_test(
        sequences(shared),
        settings=settings(
            max_examples=request.config.getoption("--sequences") // SHARE[store.kind],
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=HEALTH,
        ),
    )
