"""The story finds each planted mistake: the proof is worth something only if it can fail."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING

import pytest

from tests.circulation.beginning import FREE, TWO_COPIES
from tests.circulation.chapters import Chapters
from tests.circulation.doing import prepare
from tests.circulation.faults import FAULTS
from tests.circulation.faults_of_renewals import FAULTS_OF_CANCELLING, FAULTS_OF_RENEWALS
from tests.circulation.found_from import FOUND_FROM
from tests.circulation.model_records import Asked
from tests.circulation.proving import proving
from tests.circulation.shown import Differs
from tests.circulation.story import REFUSED, STORY, tell
from tests.circulation.story_of_renewals import STORY_OF_CANCELLING, STORY_OF_RENEWALS
from tests.feed.places import place_of
from tests.long import LONG_ON_SQLITE, ONLY_LONG, SHORT_ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.circulation.faults import Plant
    from tests.circulation.proving import Proof
    from tests.circulation.story import Step
    from tests.feed.places import Place
    from tests.servers import Store

    Find = Callable[[str, Plant, Sequence[Step]], None]

ALWAYS_FOUND = {
    "a delivery takes an issue for each copy",
    "a gap list forgets suspensions",
    "a preview changes something",
    "grace is counted twice",
    "each share is rounded",
    "a renewal cuts the copies that are paid for",
    "changed balances are not in the feed",
    "an operation is not in the audit log",
    "a late reader gets an earlier effort",
    "readers to whom all was refunded get grace",
    "a cancelled-after subscription is served once too often",
    "undoing brings money back twice",
}
"""Faults that the short form plants too: those of the page, and some of each kind of rule."""


@pytest.fixture(scope="module")
def place(store: Store) -> Iterator[Place]:
    with closing(place_of(store, prepare(store))) as found:
        yield found


@pytest.fixture(scope="module")
def chapters_of(store: Store) -> Callable[[Sequence[Step]], Chapters]:
    """Tells each story in which faults are planted, once."""
    url = prepare(store)
    told: dict[int, Chapters] = {}

    def chapters_of(steps: Sequence[Step]) -> Chapters:
        if id(steps) not in told:
            told[id(steps)] = Chapters(store, url, steps)
        return told[id(steps)]

    return chapters_of


@pytest.fixture
def find(
    store: Store,
    place: Place,
    chapters_of: Callable[[Sequence[Step]], Chapters],
    monkeypatch: pytest.MonkeyPatch,
) -> Find:
    """Plants a fault, and tells a story that must find it.

    The long form plants so many that it begins with the chapter from which a fault is found. If it
    is not found from there, the whole story is told.
    """

    def is_found(plant: Plant, proof: Proof, steps: Sequence[Step]) -> bool:
        times = plant(monkeypatch)
        try:
            tell(proof, steps)
        except Differs:
            return times() > 0
        finally:
            monkeypatch.undo()
        return False

    def find(fault: str, plant: Plant, steps: Sequence[Step]) -> None:
        number = FOUND_FROM.get(fault, 0)
        if number and fault not in ALWAYS_FOUND and store.kind == "sqlite":
            chapters = chapters_of(steps)
            with chapters.begin(number) as proof:
                if is_found(plant, proof, chapters.since(number)):
                    return
        with proving(place.begin()) as proof:
            assert is_found(plant, proof, steps)
        place.end()

    return find


@SHORT_ON_SQLITE
def test_the_story_is_what_the_model_says(place: Place) -> None:
    """circulation, "What must hold"; rules, "The beginning of an unlimited term"."""
    with proving(place.begin()) as proof:
        tell(proof)
    place.end()


@LONG_ON_SQLITE
@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=() if fault in ALWAYS_FOUND else ONLY_LONG) for fault in FAULTS],
)
def test_the_story_finds_each_fault(find: Find, fault: str) -> None:
    find(fault, FAULTS[fault], STORY)


@SHORT_ON_SQLITE
@pytest.mark.parametrize("steps", [STORY_OF_RENEWALS, STORY_OF_CANCELLING], ids=["letters", "ends"])
def test_the_stories_of_renewals_are_what_the_model_says(
    place: Place, steps: Sequence[Step]
) -> None:
    """circulation, "Renewals", "Extension"; rules, "Who was refunded", "How it is undone"."""
    with proving(place.begin()) as proof:
        tell(proof, steps)
    place.end()


@LONG_ON_SQLITE
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=() if fault in ALWAYS_FOUND else ONLY_LONG)
        for fault in (*FAULTS_OF_RENEWALS, *FAULTS_OF_CANCELLING)
    ],
)
def test_the_stories_of_renewals_find_each_fault(find: Find, fault: str) -> None:
    steps = STORY_OF_RENEWALS if fault in FAULTS_OF_RENEWALS else STORY_OF_CANCELLING
    find(fault, {**FAULTS_OF_RENEWALS, **FAULTS_OF_CANCELLING}[fault], steps)


@SHORT_ON_SQLITE
def test_grace_that_one_item_cannot_take_comes_out_of_the_next(place: Place) -> None:
    """rules, "Grace in an order with several items"."""
    free, long = Asked(FREE), Asked(TWO_COPIES)
    with proving(place.begin()) as proof:
        proof.do("set", key=5, type="Digital")
        for issue in (3, 4):
            proof.do("close", issue=issue, grace_issues=2, since=date(2026, 1, 1))
        proof.do("order", payer=4, address=None, asked=(free, long), is_paid=True)
        terms = proof.books.terms_of(5)
        assert [proof.books.left(term) for term in terms] == [0, 1]
    place.end()


@SHORT_ON_SQLITE
def test_an_issue_for_which_was_booked_stays_in_the_plan(place: Place) -> None:
    """rules, "A reopened issue with revenue stays in the plan"."""
    with proving(place.begin()) as proof:
        proof.do("close", issue=3)
        proof.do("reopen", issue=3)
        assert proof.do("remove_issue", issue=3) == REFUSED
        proof.do("move_issue", issue=3, day=date(2026, 3, 2))
    place.end()
