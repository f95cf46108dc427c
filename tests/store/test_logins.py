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
from masthead.store.logins import ACCOUNT_US, KNOWN_US, LOGIN_US, Limits, attempt_of
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
            return logins.standing_of(counters, self._limits, attempt, self._store.clock()).wait_us

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
    """decisions, "Limits of the login check": a device with an old password locks no reader out."""
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


def test_setting_the_clock_back_locks_no_reader_out(opened: OpenStore, clock: Clock) -> None:
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
    """decisions, "Limits of the login check": keyed hashes, safe from guesses."""
    Door(opened).fail("correct horse", login="ada@example.org")
    ((_, login, guess, *_),) = failures(opened)
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
def test_a_locked_counter_file_is_an_error_in_time(opened: OpenStore, url: str) -> None:
    """It is not waited for long: what waits is the event loop."""
    door = Door(opened)
    door.fail("a")
    with ExitStack() as stack:
        holder = apsw.Connection(url.removeprefix("sqlite:///") + "-logins")
        stack.callback(holder.close)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="busy"):
            door.fail("b")


def test_a_removed_counter_file_is_made_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    with opening(url) as opened:
        Door(opened).fail("a", "b", "c")
    (tmp_path / "x.db-logins").unlink()
    assert Door(open_store(url)).wait() == 0


# A guarded account: guesses at emails have failed as often as the account allows.


class Reader:
    """A reader who logs in with an email, at a store whose account 1 may be guarded."""

    def __init__(self, store: OpenStore, limits: Limits = LIMITS) -> None:
        """Know where."""
        self._store = store
        self._limits = limits

    def log_in(self, email: str, password: str = "right") -> str:
        """Log in; the password "right" is right. Return "in", "no" or "later"."""
        store, limits = self._store, self._limits
        attempt = attempt_of(store.secret, 1, email, password)
        with store.counters() as counters:
            now = store.clock()
            standing = logins.standing_of(counters, limits, attempt, now)
            if standing.by_login_us:
                return "later"
            is_guarded = bool(standing.by_account_us)
            passes = not is_guarded or logins.may_pass(counters, limits, attempt, standing, now)
            if password != "right" or not passes:
                if is_guarded:
                    logins.count_guarded(counters, attempt, now, passes=passes)
                    return "later"
                logins.count_failure(counters, limits, attempt, now)
                return "no"
        logins.note_success(store, limits, attempt, standing)
        return "in"

    def guard(self) -> None:
        """Guess at other emails until the account is guarded."""
        for number in range(self._limits.per_account):
            assert self.log_in(f"nobody{number}@example.org", "x") == "no"


def test_an_email_that_has_opened_before_opens_while_its_account_is_guarded(
    opened: OpenStore, clock: Clock
) -> None:
    """rules, "A guarded account": within a year."""
    reader = Reader(opened)
    assert reader.log_in("ada@example.org") == "in"
    clock.now += KNOWN_US - 1
    reader.guard()
    assert reader.log_in("ADA@example.org") == "in"
    assert reader.log_in("ben@example.org") == "later"
    clock.now += ACCOUNT_US
    assert reader.log_in("ben@example.org") == "in"
    clock.now += KNOWN_US
    reader.guard()
    assert reader.log_in("ada@example.org") == "later"


def test_guesses_at_an_email_that_has_opened_count_while_its_account_is_guarded(
    opened: OpenStore, clock: Clock
) -> None:
    """rules, "A guarded account": for the email as at other times, and for all of them."""
    reader = Reader(opened)
    for email in ("ada@example.org", "ben@example.org", "cy@example.org"):
        assert reader.log_in(email) == "in"
    reader.guard()
    for guess in "aabbcd":
        assert reader.log_in("ada@example.org", guess) == "later"
    assert reader.log_in("ada@example.org") == "later"
    assert reader.log_in("ben@example.org") == "in"
    clock.now += LOGIN_US
    assert reader.log_in("ada@example.org") == "in"
    for guess in "ab":
        assert reader.log_in("ben@example.org", guess) == "later"
    for email in ("ada@example.org", "ben@example.org", "cy@example.org"):
        assert reader.log_in(email) == "later"


def test_what_a_guarded_account_counts_shows_nothing_afterwards(
    opened: OpenStore, clock: Clock
) -> None:
    """rules, "The same response for an unknown login"."""
    reader = Reader(opened, Limits(per_login=3, per_account=9))
    assert reader.log_in("ada@example.org") == "in"
    reader.guard()
    clock.now += ACCOUNT_US - 1
    for email in ("ada@example.org", "nobody@example.org"):
        for guess in "abcdefg":
            assert reader.log_in(email, guess) == "later"
    clock.now += 1
    for email in ("ada@example.org", "nobody@example.org"):
        for guess in "hij":
            assert reader.log_in(email, guess) == "no"
        assert reader.log_in(email, "k") == "later"


def test_what_is_kept_does_not_grow_with_the_guesses(opened: OpenStore) -> None:
    """rules, "A guarded account": one row for all that is refused anyway."""
    reader = Reader(opened)
    reader.guard()
    for number in range(30):
        assert reader.log_in(f"other{number}@example.org", "x") == "later"
    assert len(failures(opened)) == LIMITS.per_account + 1


def test_a_success_is_noted_once_a_day(opened: OpenStore, clock: Clock) -> None:
    """A login costs no write, but for the first one of a day."""
    reader = Reader(opened)
    lender = opened.counters if opened.dialect == "sqlite" else opened.writer
    noted = []
    for _ in range(3):
        assert reader.log_in("ada@example.org") == "in"
        with lender() as database:
            noted.append(database.rows("SELECT succeeded_at FROM login_successes"))
        clock.now += 13 * 3_600 * SECOND_US
    assert noted == [[(clock.now - 39 * 3_600 * SECOND_US,)]] * 2 + [
        [(clock.now - 13 * 3_600 * SECOND_US,)]
    ]
