"""How failed logins are counted, and when the next guess is due.

decisions, "Limits of the login check".
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import apsw
import pytest

from masthead.errors import StoreUnavailable
from masthead.store import logins, open_store
from masthead.store.logins import ACCOUNT_US, LOGIN_US, Limits, attempt_of
from tests.store.conftest import ON_SQLITE, opening

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock

LIMITS = Limits(per_login=3, per_account=5)
SECOND_US = 1_000_000


class Door:
    """Where guesses are made that are all wrong."""

    def __init__(self, store: OpenStore, limits: Limits = LIMITS) -> None:
        """Stand before that store."""
        self._store = store
        self._limits = limits

    def wait(self, login: str = "ada", *, account_id: int = 1) -> int:
        """Return how long the next guess at the login has to wait."""
        attempt = attempt_of(self._store.secret, account_id, login, "right")
        with self._store.counters() as counters:
            return logins.wait_us(counters, self._limits, attempt, self._store.clock())

    def fail(self, *guesses: str, login: str = "ada", account_id: int = 1) -> None:
        """Guess wrong."""
        for guess in guesses:
            attempt = attempt_of(self._store.secret, account_id, login, guess)
            with self._store.counters() as counters:
                logins.count_failure(counters, self._limits, attempt, self._store.clock())


def test_a_login_is_refused_from_so_many_wrong_guesses_on(opened: OpenStore) -> None:
    """decisions, "Limits of the login check"."""
    door = Door(opened)
    door.fail("a", "b")
    assert door.wait() == 0
    door.fail("c")
    assert door.wait() == LOGIN_US
    assert door.wait("ADA") == LOGIN_US
    assert door.wait("ben") == 0
    assert door.wait(account_id=2) == 0


def test_the_window_slides_and_each_guess_leaves_it_by_itself(
    opened: OpenStore, clock: Clock
) -> None:
    """decisions, "Limits of the login check": who is refused has a time to come back at."""
    door = Door(opened)
    door.fail("a")
    clock.now += 60 * SECOND_US
    door.fail("b", "c")
    assert door.wait() == LOGIN_US - 60 * SECOND_US
    clock.now += LOGIN_US - 60 * SECOND_US
    assert door.wait() == 0
    door.fail("d")
    assert door.wait() == 60 * SECOND_US


def test_the_same_wrong_guess_again_counts_once(opened: OpenStore, clock: Clock) -> None:
    """decisions, "Limits of the login check": a device with an old password locks nobody out."""
    door = Door(opened)
    for _ in range(20):
        door.fail("old")
        clock.now += SECOND_US
    door.fail("b")
    assert door.wait() == 0
    # In the next window it is a guess again.
    clock.now += LOGIN_US
    door.fail("old", "b", "c")
    assert door.wait() == LOGIN_US


def test_an_account_is_refused_from_so_many_wrong_guesses_on(
    opened: OpenStore, clock: Clock
) -> None:
    """decisions, "Limits of the login check": a few guesses at each of many logins."""
    door = Door(opened)
    for login in ("a", "b", "c", "d"):
        door.fail("guess", login=login)
    assert door.wait() == 0
    door.fail("guess", login="e")
    assert door.wait() == ACCOUNT_US
    assert door.wait(account_id=2) == 0
    clock.now += ACCOUNT_US
    assert door.wait() == 0


@pytest.mark.parametrize(
    ("limits", "wait", "others_wait"),
    [
        (Limits(0, 0), 0, 0),
        (Limits(3, 0), LOGIN_US, 0),
        (Limits(0, 5), ACCOUNT_US, ACCOUNT_US),
    ],
)
def test_no_limit_is_0(opened: OpenStore, limits: Limits, wait: int, others_wait: int) -> None:
    """decisions, "Limits of the login check"."""
    door = Door(opened, limits)
    door.fail(*"abcdef")
    assert door.wait() == wait
    assert door.wait("ben") == others_wait


def test_a_clock_that_is_set_back_locks_nobody_out(opened: OpenStore, clock: Clock) -> None:
    door = Door(opened)
    door.fail("a", "b", "c")
    clock.now -= 86_400 * SECOND_US
    assert door.wait() == 0
    door.fail("a", "b", "c")
    assert door.wait() == LOGIN_US


def test_failures_that_no_window_reaches_are_forgotten(opened: OpenStore, clock: Clock) -> None:
    door = Door(opened, Limits(100, 100))
    door.fail(*"abcdef")
    clock.now += ACCOUNT_US
    door.fail("g")
    assert len(failures(opened)) == 1


def failures(store: OpenStore) -> list[tuple[int, str, str, int]]:
    """Return all that is kept of failed logins."""
    lender = store.counters if store.dialect == "sqlite" else store.writer
    with lender() as database:
        return database.rows("SELECT * FROM login_failures")


def test_neither_login_nor_password_is_kept(opened: OpenStore) -> None:
    """decisions, "Limits of the login check": keyed hashes, which nobody can try out."""
    Door(opened).fail("correct horse", login="ada@example.org")
    ((_, login, guess, _),) = failures(opened)
    assert len(login) == len(guess) == 64
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MASTHEAD_SECRET_KEY", "0" * 64)
        other = type(opened.secret)(None)
        assert attempt_of(other, 1, "ada@example.org", "correct horse").login != login


def test_what_is_counted_outlives_the_server(opened: OpenStore, url: str, clock: Clock) -> None:
    """decisions, "Limits of the login check": across workers and restarts."""
    Door(opened).fail("a", "b", "c")
    with opening(url, clock) as other:
        assert Door(other).wait() == LOGIN_US
        opened.close()
        assert Door(opened).wait() == LOGIN_US


def test_no_guess_is_lost_where_several_count_at_once(
    opened: OpenStore, url: str, clock: Clock
) -> None:
    limits = Limits(100, 100)

    def guess(name: int) -> None:
        with opening(url, clock) as own:
            Door(own, limits).fail(*(f"{name}-{number}" for number in range(20)))

    threads = [threading.Thread(target=guess, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failures(opened)) == 80


def test_a_load_that_holds_the_writer_delays_no_login(opened: OpenStore) -> None:
    """decisions, "Limits of the login check": the counters is beside what loads write."""
    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        database.change("UPDATE accounts SET plan = 'x'")
        door = Door(opened)
        door.fail("a", "b", "c")
        assert door.wait() == LOGIN_US


@ON_SQLITE
def test_a_counter_file_that_somebody_holds_is_an_error_in_time(
    opened: OpenStore, url: str
) -> None:
    """It is not waited for long: what waits is the event loop."""
    door = Door(opened)
    door.fail("a")
    with ExitStack() as stack:
        holder = apsw.Connection(url.removeprefix("sqlite:///") + "-logins")
        stack.callback(holder.close)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="busy"):
            door.fail("b")


def test_a_counter_file_that_was_removed_is_made_anew(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    with opening(url) as opened:
        Door(opened).fail("a", "b", "c")
    (tmp_path / "x.db-logins").unlink()
    assert Door(open_store(url)).wait() == 0
