"""Killed at any point, an operation happened or it did not (circulation, "What must hold")."""

from __future__ import annotations

from contextlib import closing
from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from tests.circulation.dying import Dying
from tests.circulation.moments import OPERATIONS, Middle
from tests.circulation.statements import counting
from tests.feed.places import place_of
from tests.long import LONG_ON_SQLITE, MORE_WITH_EVERY, ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.proving import Proof
    from tests.feed.places import Place
    from tests.servers import Store

POINTS = {"sqlite": (2, 40), "postgresql": (2, 8)}
"""Before how many statements of each operation its process is killed, without and with ``--every``,
beside the last but one."""


@pytest.fixture(scope="module")
def middle(store: Store) -> Middle:
    return Middle(store)


@pytest.fixture(scope="module")
def place(store: Store, middle: Middle) -> Iterator[Place]:
    with closing(place_of(store, middle.url)) as found:
        yield found


@pytest.fixture(scope="module")
def dying() -> Iterator[Dying]:
    with Dying() as running:
        yield running


def _spread(last: int, points: int) -> list[int]:
    """Return some numbers from 1 to ``last``, with the last two.

    Before the first statement, nothing was sent.
    """
    if last <= points:
        return [*range(1, last + 1)]
    return sorted({last * n // points for n in range(1, points + 1)} | {last - 1})


def _killed(proof: Proof, dying: Dying, url: str, operation: str, at: int) -> bool:
    """Kill the operation; check what it left; do it, if it did not happen. Return if it did."""
    name, given = OPERATIONS[operation]
    before = proof.shown()
    now = proof.office.now + 10_000_000
    assert dying.do(url, now, operation, at) == -SIGKILL
    proof.follower.poll(proof.office.store)
    if proof.shown() == before:
        proof.do(name, **given)
        return False
    proof.catch_up(name, given)
    # The next writer stamps what was left without a stamp.
    proof.do("set", key=4, type="Both")
    return True


# On a server, the end of a session undoes its transaction, whichever operation it was; tests of
# billing and of loads kill some there.
@ONLY_LONG
@LONG_ON_SQLITE
@MORE_WITH_EVERY
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_that_is_killed_happened_or_did_not(
    store: Store,
    middle: Middle,
    place: Place,
    dying: Dying,
    operation: str,
    request: pytest.FixtureRequest,
) -> None:
    name, given = OPERATIONS[operation]
    with closing(middle.proof(place.begin())) as proof, counting() as counts:
        getattr(proof.office, name)(**given)
    happened = []
    for at in _spread(counts.sent, POINTS[store.kind][request.config.option.every]):
        url = place.begin()
        with closing(middle.proof(url)) as proof:
            happened.append(_killed(proof, dying, url, operation, at))
        place.end()
    assert happened == sorted(happened), "an operation that was killed later did less"
    assert not happened[0]
    assert happened[-1], "the last statement is that of the stamp, after the operation"
