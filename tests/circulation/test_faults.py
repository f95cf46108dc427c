"""The story finds each planted mistake: the proof is worth something only if it can fail."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.circulation.doing import prepare
from tests.circulation.faults import FAULTS
from tests.circulation.proving import proving
from tests.circulation.shown import Differs
from tests.circulation.story import tell
from tests.feed.places import place_of
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.feed.places import Place
    from tests.servers import Store


@pytest.fixture(scope="module")
def place(store: Store) -> Iterator[Place]:
    with closing(place_of(store, prepare(store))) as found:
        yield found


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=ONLY_LONG)], indirect=True, scope="session"
)
def test_the_story_is_what_the_model_says(place: Place) -> None:
    """circulation, "What must hold"; decisions, "When an unlimited term begins"."""
    with proving(place.begin()) as proof:
        tell(proof)
    place.end()


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=ONLY_LONG)], indirect=True, scope="session"
)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_story_finds_each_fault(
    place: Place, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proving(place.begin()) as proof:
        times = FAULTS[fault](monkeypatch)
        with pytest.raises(Differs):
            tell(proof)
        monkeypatch.undo()
        assert times(), "the mistake was never made"
    place.end()
