"""Closing beside an order gives one of both orders of events (circulation, "What must hold").

One operation begins just before a statement of the other one, in a thread of its own.
"""

from __future__ import annotations

import copy
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.errors import MastheadError
from tests.circulation.doing import Office
from tests.circulation.model import Refused
from tests.circulation.moments import OPERATIONS, Middle
from tests.circulation.shown import of_model
from tests.circulation.statements import counting
from tests.feed.places import place_of
from tests.long import MORE_WITH_EVERY, ONLY_LONG, SHORT_ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.model_operations import Books
    from tests.circulation.shown import Shown
    from tests.feed.places import Place
    from tests.servers import Store

POINTS = {False: 4, True: 20}
WAIT_S = 0.05
"""So long the first operation waits for the other one, which mostly waits for it."""

PAIRS = [("close", "order"), ("order", "close"), ("close", "refund"), ("reopen", "order")]


@pytest.fixture(scope="module")
def middle(store: Store) -> Middle:
    return Middle(store)


@pytest.fixture(scope="module")
def place(store: Store, middle: Middle) -> Iterator[Place]:
    with closing(place_of(store, middle.url)) as found:
        yield found


def _after(books: Books, *operations: str) -> Shown:
    """Return what there is after operations in that order; one that is refused does nothing."""
    for operation in operations:
        name, given = OPERATIONS[operation]
        kept = copy.deepcopy(books)
        books.moment += 1
        try:
            getattr(books, name)(**given)
        except Refused:
            books = kept
    return of_model(books)


def _do(office: Office, operation: str) -> None:
    name, given = OPERATIONS[operation]
    try:
        getattr(office, name)(**given)
    except MastheadError as refusal:
        if "unavailable" in str(refusal) or "locked" in str(refusal):
            raise


@ONLY_LONG
@SHORT_ON_SQLITE
@MORE_WITH_EVERY
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_two_operations_at_once_are_one_after_the_other(
    middle: Middle, place: Place, pair: tuple[str, str], request: pytest.FixtureRequest
) -> None:
    first, second = pair
    with closing(middle.proof(place.begin())) as proof, counting() as counts:
        _do(proof.office, first)
    points = POINTS[request.config.option.every]
    with closing(middle.proof(place.begin())) as proof:
        orders = [_after(copy.deepcopy(proof.books), *each) for each in (pair, pair[::-1])]
    assert orders[0] != orders[1], "both orders give the same: nothing is shown"
    seen = []
    for number in range(points):
        at = 1 + (counts.sent - 1) * number // (points - 1)
        url = place.begin()
        with closing(middle.proof(url)) as proof:
            other = Office(url)
            other.now = proof.office.now + 20_000_000
            proof.office.step()
            proof.office.is_alone = other.is_alone = False
            beside = threading.Thread(target=_do, args=(other, second))

            def start(beside: threading.Thread = beside) -> None:
                beside.start()
                beside.join(WAIT_S)

            with counting(at, start):
                _do(proof.office, first)
            beside.join()
            other.leave()
            shown = proof.shown()
            assert shown in orders
            seen.append(orders.index(shown))
            proof.follower.poll(proof.office.store)
        place.end()
    assert 0 in seen
