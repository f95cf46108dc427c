"""After any sequence of operations the database equals the model (circulation, "What must hold").

``pytest tests/circulation/test_proof.py --sequences 100000`` tries as many sequences as one
has time for.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.circulation.doing import prepare
from tests.circulation.machine import sequences
from tests.feed.places import place_of
from tests.long import MORE_WITH_EVERY, SHORT_ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.feed.places import Place
    from tests.servers import Store

STEPS = 40
HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
SHARE = {"sqlite": 1, "postgresql": 5}
"""Of the sequences that are asked for, one of so many runs: some cost more time than others."""


@pytest.fixture(scope="module")
def place(store: Store) -> Iterator[Place]:
    with closing(place_of(store, prepare(store))) as found:
        yield found


@SHORT_ON_SQLITE
@MORE_WITH_EVERY
def test_the_books_are_what_the_model_says(
    store: Store, place: Place, request: pytest.FixtureRequest
) -> None:
    """circulation, "What must hold"; rules, "Grace in an order with several items"."""
    run_state_machine_as_test(
        sequences(place),
        settings=settings(
            max_examples=request.config.getoption("--sequences") // SHARE[store.kind],
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=HEALTH,
        ),
    )
