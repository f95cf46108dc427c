"""Stamps rise strictly with any clock, and no change stays without one (design)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import StoreUnavailable
from masthead.store import commits
from tests.long import examples
from tests.store.conftest import START_US

if TYPE_CHECKING:
    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock


def begin(store: OpenStore, account_id: int = 1) -> int:
    with store.writer() as database, database.transaction():
        database.lock_account(account_id)
        return commits.begin_commit(database, account_id)


def stamps(store: OpenStore, account_id: int = 1) -> list[int | None]:
    with store.reader() as database:
        database.set_tenant(account_id)
        rows = database.rows(
            "SELECT visible_at FROM commits WHERE account_id = :id ORDER BY commit_id",
            id=account_id,
        )
    return [stamp for (stamp,) in rows]


def first_since(store: OpenStore, since: int, account_id: int = 1) -> int | None:
    with store.reader() as database:
        database.set_tenant(account_id)
        return commits.position_of(database, account_id, since).first_commit


def newest_stamp(store: OpenStore, account_id: int) -> int:
    with store.reader() as database:
        database.set_tenant(account_id)
        return commits.position_of(database, account_id).newest_stamp


def test_a_new_account_has_a_first_stamp_of_the_time_it_was_made(opened: OpenStore) -> None:
    assert stamps(opened) == [START_US]


def test_commits_are_numbered_in_each_account_for_itself(opened: OpenStore) -> None:
    assert [begin(opened), begin(opened), begin(opened, 2)] == [2, 3, 2]


def test_a_commit_has_no_stamp_until_it_is_given_one(opened: OpenStore, clock: Clock) -> None:
    begin(opened)
    assert stamps(opened) == [START_US, None]
    clock.now += 5
    commits.stamp_commits(opened, 1)
    assert stamps(opened) == [START_US, START_US + 5]


@examples(10, 200)
@given(steps=st.lists(st.integers(-(10**12), 10**9), min_size=1, max_size=8))
def test_stamps_rise_strictly_however_the_clock_steps(
    opened: OpenStore, clock: Clock, steps: list[int]
) -> None:
    for step in steps:
        clock.now = max(0, clock.now + step)
        newest = max(filter(None, stamps(opened)))
        begin(opened)
        commits.stamp_commits(opened, 1)
        assert stamps(opened)[-1] == max(clock.now, newest + 1)
    found = [stamp for stamp in stamps(opened) if stamp is not None]
    assert found == sorted(set(found))


def test_commits_that_wait_together_are_stamped_in_their_order(opened: OpenStore) -> None:
    for _ in range(3):
        begin(opened)
    commits.stamp_commits(opened, 1)
    assert stamps(opened) == [START_US, START_US + 1, START_US + 2, START_US + 3]


def test_a_stamp_is_never_changed(opened: OpenStore, clock: Clock) -> None:
    begin(opened)
    commits.stamp_commits(opened, 1)
    before = stamps(opened)
    clock.now += 10**9
    commits.stamp_commits(opened, 1)
    assert stamps(opened) == before


def test_a_running_server_stamps_what_a_killed_load_left(opened: OpenStore, clock: Clock) -> None:
    begin(opened, 1)
    begin(opened, 2)
    clock.now += 7
    commits.stamp_all(opened)
    assert stamps(opened, 1) == stamps(opened, 2) == [START_US, START_US + 7]


def test_an_idle_account_gets_an_empty_commit_each_hour(opened: OpenStore, clock: Clock) -> None:
    """Else the time that its partners hold would fall out of the feed's five days."""
    clock.now += commits.IDLE_US
    commits.stamp_all(opened)
    assert stamps(opened) == [START_US]
    clock.now += 1
    commits.stamp_all(opened)
    commits.stamp_all(opened)
    assert stamps(opened) == [START_US, clock.now]
    assert stamps(opened, 2) == [START_US, clock.now]


def test_a_clock_set_back_makes_no_account_idle(opened: OpenStore, clock: Clock) -> None:
    clock.now -= 10 * commits.IDLE_US
    commits.stamp_all(opened)
    assert stamps(opened) == [START_US]


def test_the_newest_stamp_is_the_accounts_own(opened: OpenStore, clock: Clock) -> None:
    """No tenant sees when another one loads."""
    clock.now += 9
    begin(opened, 2)
    commits.stamp_commits(opened, 2)
    assert newest_stamp(opened, 1) == START_US
    assert newest_stamp(opened, 2) == START_US + 9


def test_the_first_commit_since_a_time_includes_that_time(opened: OpenStore, clock: Clock) -> None:
    for _ in range(2):
        clock.now += 10
        begin(opened)
        commits.stamp_commits(opened, 1)
    assert first_since(opened, 0) == 1
    assert first_since(opened, START_US) == 1
    assert first_since(opened, START_US + 1) == 2
    assert first_since(opened, START_US + 10) == 2
    assert first_since(opened, START_US + 11) == 3
    assert first_since(opened, START_US + 21) is None


def test_a_commit_without_a_stamp_is_later_than_any_time(opened: OpenStore) -> None:
    number = begin(opened)
    assert first_since(opened, 2**62) == number
    assert first_since(opened, 2**62, account_id=2) is None


def test_a_commit_that_was_rolled_back_leaves_nothing(opened: OpenStore) -> None:
    def fail() -> None:
        with opened.writer() as database, database.transaction():
            commits.begin_commit(database, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert stamps(opened) == [START_US]


def test_the_server_does_not_wait_for_a_long_load_to_stamp(opened: OpenStore, hasty: None) -> None:
    """SQLite has one writer, and a later call makes up for it; PostgreSQL stamps meanwhile."""
    begin(opened)
    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        assert commits.begin_commit(database, 1) == 3
        if opened.dialect == "sqlite":
            with pytest.raises(StoreUnavailable, match="busy"):
                commits.stamp_all(opened)
            assert stamps(opened) == [START_US, None]
        else:
            commits.stamp_all(opened)
            assert stamps(opened) == [START_US, START_US + 1]
    commits.stamp_all(opened)
    assert stamps(opened) == [START_US, START_US + 1, START_US + 2]


def test_readers_do_not_wait_for_a_writer(opened: OpenStore) -> None:
    with opened.writer() as database, database.transaction():
        commits.begin_commit(database, 1)
        assert stamps(opened) == [START_US]


def test_a_snapshot_does_not_see_what_is_written_while_it_is_read(opened: OpenStore) -> None:
    with opened.reader() as database:
        database.set_tenant(1)
        with database.snapshot():
            before = commits.position_of(database, 1)
            begin(opened)
            assert commits.position_of(database, 1, 2**62).first_commit is None
            commits.stamp_commits(opened, 1)
            assert commits.position_of(database, 1) == before
    assert first_since(opened, before.newest_stamp + 1) == 2
