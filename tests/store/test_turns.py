"""What an event loop reads of an embedded database in one of its turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.store import accounts
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.store import Connection
    from masthead.store import Store as OpenStore

pytestmark = ON_SQLITE


class Loop:
    """An event loop's turn, and the connection that reads in it."""

    def __init__(self, opened: OpenStore) -> None:
        self._ends: list[Callable[[], None]] = []
        reader = opened.open_loop_reader(self._ends.append)
        assert reader
        self.reader: Connection = reader

    def end_turn(self) -> None:
        """Call what has to be called before the loop looks for new requests."""
        while self._ends:
            self._ends.pop(0)()

    def accounts(self) -> int:
        """Return how many accounts the connection sees."""
        return len(accounts.accounts(self.reader))


@pytest.fixture
def loop(opened: OpenStore) -> Loop:
    """A turn that has begun to read: there are two accounts."""
    found = Loop(opened)
    assert found.accounts() == 2
    return found


def test_all_that_a_turn_asks_is_answered_from_one_state(opened: OpenStore, loop: Loop) -> None:
    """rules, "What one turn asks"."""
    accounts.add_account(opened, {"account_id": 3})
    assert loop.accounts() == 2
    with loop.reader.read_snapshot():
        assert loop.accounts() == 2
    loop.end_turn()
    assert loop.accounts() == 3


def test_a_snapshot_is_of_now_even_within_a_turn(opened: OpenStore, loop: Loop) -> None:
    """rules, "What one turn asks": it is never older than the clock that was read before it."""
    accounts.add_account(opened, {"account_id": 3})
    with loop.reader.snapshot():
        assert loop.accounts() == 3
        accounts.add_account(opened, {"account_id": 4})
        assert loop.accounts() == 3
    loop.end_turn()
    assert loop.accounts() == 4


def test_a_turn_that_a_question_failed_in_ends_like_any_other(
    opened: OpenStore, loop: Loop
) -> None:
    with pytest.raises(Exception, match="no such table"):
        loop.reader.rows("SELECT * FROM nowhere")
    accounts.add_account(opened, {"account_id": 3})
    loop.end_turn()
    assert loop.accounts() == 3
