"""The tests of the readers' operations find each planted mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import reader_acts, reader_changes, reader_pauses
from masthead.store.books import reader_home
from masthead.store.books.subscription import stored_subscription
from tests.circulation.faults import _call, _nothing
from tests.readers_books import test_changing as changing
from tests.readers_books import test_home as home

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.circulation.desk import Desk
    from tests.circulation.faults import Plant


def _of_anybody(_right: Any, reading: Any, _subscriber_id: int, key: int) -> Any:
    return stored_subscription(reading.connection, reading.account_id, key)


def _with_the_recipients_name(right: Any, subscriber_id: int, *, is_asking: bool) -> Any:
    query = right(subscriber_id, is_asking=is_asking)
    return query.then(lambda rows: [each._replace(last_name="Secret") for each in rows])


FAULTS: dict[str, tuple[Plant, Callable[[Desk], None]]] = {
    "another reader's id is accepted": (
        _call(reader_acts, "own_subscription", _of_anybody),
        lambda desk: changing.test_another_readers_subscription_is_answered_as_an_unknown_one(
            desk, changing.CASES[2]
        ),
    ),
    "a pause is longer than the year allows": (
        _call(reader_pauses, "check_pause", _nothing),
        changing.test_a_pause_moves_the_last_day,
    ),
    "a change is undone after the issue was closed": (
        _call(reader_changes, "_why_not", lambda *_given: ""),
        lambda desk: changing.test_nothing_is_undone_after_the_next_issue_is_closed(
            desk, changing.CASES[2]
        ),
    ),
    "a payer is told the recipient's name of now": (
        _call(reader_home, "gifts", _with_the_recipients_name),
        home.test_what_a_recipient_is_called_later_is_not_told_to_the_donor,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(household: Desk, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, test = FAULTS[fault]
    times = plant(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test(household)
    monkeypatch.undo()
    assert times(), "the mistake was never made"
