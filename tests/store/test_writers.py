"""Who writes beside whom: accounts do not wait for one another, an account's writers do.

SQLite has one writer for all accounts, and readers that never wait (`test_commits.py`). What is
seen here of sessions that wait is what PostgreSQL itself tells of them.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput, StoreUnavailable
from masthead.store import accounts, commits, epochs
from tests.long import ONE_SERVER
from tests.store.conftest import ON_POSTGRESQL, START_US

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock

WAIT_SECONDS_MAX = 60


class Beside:
    """Work that goes on in a thread of its own, until its result is asked for."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as failure:  # noqa: BLE001 - the caller of result() gets it
            self._failure = failure

    def wait_until_it_waits(self, database: Connection, count: int = 1) -> None:
        """Return once so many sessions of the database wait for a lock."""
        ends_at = time.monotonic() + WAIT_SECONDS_MAX
        while waiting_sessions(database) < count:
            self.assert_that_it_goes_on()
            assert time.monotonic() < ends_at, "it does not wait for a lock"

    def assert_that_it_goes_on(self) -> None:
        """Assert that it has not ended; else raise what it raised."""
        if not self._thread.is_alive():
            raise AssertionError("it has ended, and should still wait") from self._failure

    def end_without_waiting(self, database: Connection, others: int = 0) -> None:
        """Return once it has ended, and none but so many others waited for a lock meanwhile."""
        while self._thread.is_alive():
            assert waiting_sessions(database) <= others, "it waits"
        assert self.result() is None

    def result(self) -> BaseException | None:
        """Wait for the end; return what the work raised."""
        self._thread.join()
        return self._failure


def waiting_sessions(database: Connection, *, for_longer_than: str = "0") -> int:
    """Return how many sessions of the same database wait for a lock, on all of its nodes.

    ``for_longer_than`` is an interval of PostgreSQL.
    """
    ((of_all_nodes,),) = database.rows("SELECT to_regclass('citus_stat_activity')::TEXT")
    ((count,),) = database.rows(
        f"SELECT count(*) FROM {of_all_nodes or 'pg_stat_activity'} "
        "WHERE datname = current_database() AND wait_event_type = 'Lock' "
        "AND clock_timestamp() - query_start > :for_longer_than",
        for_longer_than=for_longer_than,
    )
    return int(count)


def load(store: OpenStore, account_id: int) -> None:
    """Do what a load of nothing but a commit does."""
    with store.writer() as database, database.transaction():
        database.lock_account(account_id)
        commits.begin_commit(database, account_id)


def stamps(store: OpenStore, account_id: int) -> list[int | None]:
    with store.reader() as database:
        database.set_tenant(account_id)
        rows = database.rows(
            "SELECT visible_at FROM commits WHERE account_id = :account_id ORDER BY commit_id",
            account_id=account_id,
        )
    return [stamp for (stamp,) in rows]


@ON_POSTGRESQL
def test_writers_of_different_accounts_do_not_wait_for_each_other(opened: OpenStore) -> None:
    """design, "The store": both transactions are open at once, and end in either order."""
    with ExitStack() as stack:
        transactions = {}
        for account_id in (1, 2):
            database = stack.enter_context(opened.writer(waits=False))
            transactions[account_id] = stack.enter_context(ExitStack())
            transactions[account_id].enter_context(database.transaction())
            database.lock_account(account_id)
            assert commits.begin_commit(database, account_id) == 2
        transactions[1].close()
        assert stamps(opened, 1) == [START_US, None]
        assert stamps(opened, 2) == [START_US]
        transactions[2].close()
    assert stamps(opened, 2) == [START_US, None]


@ON_POSTGRESQL
def test_the_second_writer_of_an_account_waits_for_the_first(opened: OpenStore) -> None:
    """design, "The store": so commits are numbered in the order in which they become visible."""
    with opened.writer() as onlooker:
        with opened.writer() as database, database.transaction():
            database.lock_account(1)
            assert commits.begin_commit(database, 1) == 2
            second = Beside(lambda: load(opened, 1))
            second.wait_until_it_waits(onlooker)
            assert stamps(opened, 1) == [START_US]
        assert second.result() is None
        assert waiting_sessions(onlooker) == 0
    assert stamps(opened, 1) == [START_US, None, None]


@ON_POSTGRESQL
@ONE_SERVER
def test_a_writer_waits_for_a_row(opened: OpenStore) -> None:
    """It is the same behind a pooler, and on each node of a distributed database."""
    with opened.writer() as onlooker:
        with opened.writer() as database, database.transaction():
            database.lock_account(1)
            second = Beside(lambda: load(opened, 1))
            second.wait_until_it_waits(onlooker)
            assert onlooker.rows(
                "SELECT DISTINCT relation::REGCLASS::TEXT FROM pg_locks WHERE locktype = 'tuple'"
            ) == [("account_locks",)]
        assert second.result() is None


@ON_POSTGRESQL
def test_a_writer_that_is_not_patient_gives_up(opened: OpenStore, hasty: None) -> None:
    def load_impatiently() -> None:
        with opened.writer(waits=False) as database, database.transaction():
            database.lock_account(1)

    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        with pytest.raises(StoreUnavailable, match="lock timeout"):
            load_impatiently()


@ON_POSTGRESQL
def test_stamping_does_not_wait_for_a_load_of_the_same_account(
    opened: OpenStore, clock: Clock
) -> None:
    """design, "The change feed": what is visible is stamped, what is not yet comes later."""
    load(opened, 1)
    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        assert commits.begin_commit(database, 1) == 3
        clock.now += 5
        commits.stamp_commits(opened, 1, waits=False)
        assert stamps(opened, 1) == [START_US, START_US + 5]
    clock.now += 5
    commits.stamp_commits(opened, 1, waits=False)
    assert stamps(opened, 1) == [START_US, START_US + 5, START_US + 10]


@ON_POSTGRESQL
def test_who_stamps_sees_all_that_was_stamped_before(opened: OpenStore, clock: Clock) -> None:
    """A second one waits, and finds nothing left to stamp: a stamp is never changed."""
    load(opened, 1)
    with opened.writer() as onlooker:
        with opened.writer() as database, database.transaction():
            commits.stamp_waiting(database, 1)
            clock.now += 5
            second = Beside(lambda: commits.stamp_commits(opened, 1))
            second.wait_until_it_waits(onlooker)
        assert second.result() is None
    assert stamps(opened, 1) == [START_US, START_US + 1]


@ON_POSTGRESQL
def test_a_load_of_an_idle_account_does_not_keep_others_without_stamps(
    opened: OpenStore, clock: Clock, hasty: None
) -> None:
    """An idle account's empty commit would have to wait for its load; a killed one's need not."""
    load(opened, 2)
    clock.now += commits.IDLE_US + 1
    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        with pytest.raises(StoreUnavailable, match="lock timeout"):
            commits.stamp_all(opened)
        assert stamps(opened, 2) == [START_US, clock.now]
    commits.stamp_all(opened)
    assert stamps(opened, 1) == [START_US, clock.now]


@ON_POSTGRESQL
def test_a_load_does_not_keep_accounts_from_being_added_and_changed(opened: OpenStore) -> None:
    """A key that has leaked is replaced at once, however long its account's load takes."""

    def change() -> None:
        accounts.add_account(opened, {"account_id": 3})
        accounts.set_account(opened, 1, {"plan": "Premium"})
        accounts.rotate_credentials(opened, 1)

    with opened.writer() as onlooker:
        with opened.writer() as database, database.transaction():
            database.lock_account(1)
            commits.begin_commit(database, 1)
            Beside(change).end_without_waiting(onlooker)
        settings = accounts.settings_of(onlooker, 1)
    assert settings["plan"] == "Premium"
    assert settings["api_key"] != "key-1"


@ON_POSTGRESQL
@pytest.mark.parametrize("account_id", [1, 2, 3])
def test_a_change_that_waits_for_a_load_holds_up_no_key(opened: OpenStore, account_id: int) -> None:
    """It waits for the load first, and then for those who change accounts."""

    def hide() -> None:
        accounts.set_account(opened, 1, {"hide_password_md5": 1})

    def change() -> None:
        if account_id == 3:
            accounts.add_account(opened, {"account_id": account_id})
        accounts.rotate_credentials(opened, account_id)

    with opened.writer() as onlooker:
        with opened.writer() as database, database.transaction():
            database.lock_account(1)
            waiting = Beside(hide)
            waiting.wait_until_it_waits(onlooker)
            Beside(change).end_without_waiting(onlooker, others=1)
            assert not accounts.hides_password_md5(onlooker, 1)
        assert waiting.result() is None
        assert accounts.hides_password_md5(onlooker, 1)


@ON_POSTGRESQL
def test_epochs_that_wait_for_a_load_hold_up_no_key_and_no_stamp(
    opened: OpenStore, clock: Clock, hasty: None
) -> None:
    """Of the other accounts, whose change feeds go on."""
    load(opened, 1)
    clock.now += 5
    with opened.writer() as onlooker:
        with opened.writer() as database, database.transaction():
            database.lock_account(2)
            waiting = Beside(lambda: epochs.start_epochs(opened))
            waiting.wait_until_it_waits(onlooker)
            Beside(lambda: accounts.rotate_credentials(opened, 1)).end_without_waiting(
                onlooker, others=1
            )
            commits.stamp_commits(opened, 1, waits=False)
            assert stamps(opened, 1) == [START_US, clock.now]
        assert waiting.result() is None
        for account_id in (1, 2):
            assert commits.position_of(onlooker, account_id).epoch_at == START_US + 1_000_000


@ON_POSTGRESQL
@pytest.mark.parametrize("first", ["epoch", "setting"])
def test_an_epoch_and_a_change_of_an_account_wait_for_each_other_but_not_for_ever(
    opened: OpenStore, first: str
) -> None:
    """Both wait for the same load, and each needs what the other would hold meanwhile."""

    def start_epoch() -> None:
        epochs.start_epochs(opened)

    def hide() -> None:
        accounts.set_account(opened, 1, {"hide_password_md5": 1})

    begun = (start_epoch, hide) if first == "epoch" else (hide, start_epoch)
    with opened.writer() as onlooker:
        with opened.writer() as database, database.transaction():
            database.lock_account(1)
            waiting = []
            for count, work in enumerate(begun, 1):
                waiting.append(Beside(work))
                waiting[-1].wait_until_it_waits(onlooker, count)
        assert [each.result() for each in waiting] == [None, None]
        assert accounts.hides_password_md5(onlooker, 1)
        assert commits.position_of(onlooker, 1).epoch_at is not None


def test_of_accounts_that_are_given_one_key_at_once_one_gets_it(opened: OpenStore) -> None:
    """The others are told what they would be told a moment later, on either kind."""
    barrier = threading.Barrier(4)

    def add(account_id: int) -> Callable[[], None]:
        def work() -> None:
            barrier.wait()
            accounts.add_account(opened, {"account_id": account_id, "api_key": "shared"})

        return work

    added = {account_id: Beside(add(account_id)) for account_id in range(11, 15)}
    results = {account_id: each.result() for account_id, each in added.items()}
    (owner,) = (account_id for account_id, result in results.items() if result is None)
    for account_id, result in results.items():
        if account_id != owner:
            assert isinstance(result, BadInput)
            assert str(result) == (
                f"account {account_id}: api_key: another account has this key; choose another"
            )
    with opened.writer() as database:
        assert [row[0] for row in accounts.accounts(database)] == [1, 2, owner]


def test_adding_one_account_concurrently_adds_it_once(opened: OpenStore) -> None:
    barrier = threading.Barrier(4)

    def add() -> None:
        barrier.wait()
        accounts.add_account(opened, {"account_id": 11})

    added = [Beside(add) for _ in range(4)]
    results = [each.result() for each in added]
    assert sorted(map(str, results)) == ["None", *["account 11 exists already"] * 3]
