"""The record of who did what: beside each change, in its transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput, NotFound
from masthead.store import accounts, audit, epochs, find_store
from tests.later import knowing
from tests.store.conftest import START_US
from tests.store.test_migrations import ADDS_A_COLUMN, numbers

if TYPE_CHECKING:
    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock

ADA = audit.Actor("ada", "a command")


def records(store: OpenStore, **only: int) -> list[tuple[int | None, str]]:
    """Return the account and the summary of each record."""
    with store.writer() as database:
        return [(entry.account_id, entry.summary) for entry in audit.entries(database, **only)]


def test_each_change_has_its_record_the_newest_last(opened: OpenStore, clock: Clock) -> None:
    """rules, "Who did what"."""
    accounts.add_account(opened, {"account_id": 3}, by=ADA)
    clock.now += 1
    accounts.set_account(opened, 2, {"plan": "Secret plan", "website": None}, by=ADA)
    accounts.rotate_credentials(opened, 2, by=ADA)
    accounts.rotate_credentials(opened, 2, overlap_us=90 * 1_000_000, by=ADA)
    accounts.save_accounts(opened, [{"account_id": 2, "plan": "x"}], by=ADA)
    epochs.start_epochs(opened, by=ADA)
    assert records(opened) == [
        (3, "account added"),
        (2, "set plan, website"),
        (2, "new credentials; those before end"),
        (2, "new credentials; those before work for 90 seconds more"),
        (None, "accounts: 0 inserted, 1 changed"),
        (None, "a new epoch began in 3 accounts"),
    ]
    with opened.writer() as database:
        first, *others = audit.entries(database)
    assert first == audit.Entry(START_US, "ada", "a command", 3, "account added")
    assert {entry.at for entry in others} == {START_US + 1}


def test_records_are_found_by_account_and_time(opened: OpenStore, clock: Clock) -> None:
    accounts.rotate_credentials(opened, 1, by=ADA)
    accounts.rotate_credentials(opened, 2, by=ADA)
    clock.now += 5
    epochs.start_epochs(opened, by=ADA)
    everywhere = (None, "a new epoch began in 2 accounts")
    assert records(opened, account_id=1) == [(1, "new credentials; those before end"), everywhere]
    assert records(opened, since_us=START_US + 5) == [everywhere]
    assert len(records(opened, since_us=START_US)) == 3


def test_what_was_done_to_no_single_account_is_kept_under_none(opened: OpenStore) -> None:
    """No account has the number 0: so each record has a place beside those of an account."""
    audit.record_reading(opened, ADA, "read", account_id=1)
    audit.record_reading(opened, ADA, "read all")
    with opened.writer() as database:
        found = database.rows("SELECT account_id, summary FROM audit ORDER BY account_id")
    assert found == [(0, "read all"), (1, "read")]
    assert records(opened) == [(1, "read"), (None, "read all")]


def test_what_is_refused_has_no_record(opened: OpenStore) -> None:
    """rules, "Who did what": neither exists without the other."""
    with pytest.raises(BadInput):
        accounts.add_account(opened, {"account_id": 1}, by=ADA)
    with pytest.raises(BadInput):
        accounts.set_account(opened, 1, {"api_key": "key-2"}, by=ADA)
    with pytest.raises(NotFound):
        accounts.rotate_credentials(opened, 9, by=ADA)
    with pytest.raises(NotFound):
        audit.record_reading(opened, ADA, "read", account_id=9)
    assert records(opened) == []


def test_a_change_that_cannot_be_recorded_is_not_made(opened: OpenStore) -> None:
    """rules, "Who did what"."""
    nobody = audit.Actor(None, "x")  # type: ignore[arg-type] # the database refuses it
    with pytest.raises(Exception, match=r"(?i)null"):
        accounts.set_account(opened, 1, {"plan": "Premium"}, by=nobody)
    with opened.writer() as database:
        assert accounts.settings_of(database, 1)["plan"] is None


def test_a_database_that_is_not_up_to_date_is_read_with_a_record_and_stays_as_it_is(
    opened: OpenStore, url: str
) -> None:
    """rules, "Who did what": a backup before an upgrade does not upgrade."""
    with knowing(ADDS_A_COLUMN):
        earlier = find_store(url)
        audit.record_reading(earlier, ADA, "read")
        with pytest.raises(NotFound):
            audit.record_reading(earlier, ADA, "read", account_id=9)
        earlier.close()
    assert records(opened) == [(None, "read")]
    with opened.writer() as database:
        assert numbers(database) == [1]
