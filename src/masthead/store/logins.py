"""Failed logins: how many there were of late, and when the next one may be tried.

A failure is a guess that was wrong: login and password, of which only a keyed hash is kept. The
same wrong guess again is no other guess, and counts once in a window: a device that goes on with an
old password locks nobody out. Windows slide, and who is refused is not counted, so a lock ends by
itself however often it is tried (decisions, "Limits of the login check").

All of it is in the counters, beside what loads write: a load never delays a login.
"""

from typing import NamedTuple

from masthead.store.database import Connection, Dialect
from masthead.store.secret import Secret

__all__ = ["Attempt", "Limits", "attempt_of", "count_failure", "wait_us"]

LOGIN_US = 15 * 60 * 1_000_000
ACCOUNT_US = 60 * 60 * 1_000_000
"""The windows in which the failures of a login, and those of an account, are counted."""

_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_WAIT: dict[Dialect, str] = {
    "sqlite": """
        SELECT (
            SELECT failed_at FROM login_failures
            WHERE account_id = :account_id AND login = :login
                AND failed_at > :login_since AND failed_at <= :now
            ORDER BY failed_at DESC LIMIT 1 OFFSET :login_offset
        ), (
            SELECT failed_at FROM login_failures
            WHERE account_id = :account_id AND failed_at > :account_since AND failed_at <= :now
            ORDER BY failed_at DESC LIMIT 1 OFFSET :account_offset
        )
        """,
    "postgresql": """
        SELECT by_login, by_account FROM nth_login_failures(:account_id, :login, :login_since,
            :account_since, :now, :login_offset, :account_offset)
        """,
}
_COUNT: dict[Dialect, tuple[str, ...]] = {
    "sqlite": (
        "DELETE FROM login_failures WHERE account_id = :account_id AND failed_at <= :account_since",
        """
        INSERT INTO login_failures (account_id, login, guess, failed_at)
        VALUES (:account_id, :login, :guess, :now)
        ON CONFLICT (account_id, guess) DO UPDATE SET failed_at = excluded.failed_at
        WHERE login_failures.failed_at <= :login_since OR login_failures.failed_at > :now
        """,
    ),
    "postgresql": (
        """
        SELECT count_login_failure(:account_id, :login, :guess, :login_since, :account_since, :now)
        """,
    ),
}


class Limits(NamedTuple):
    """So many failures of a login in 15 minutes, and of an account in an hour; 0: no limit."""

    per_login: int = 10
    per_account: int = 600


class Attempt(NamedTuple):
    """A login and a password that were given for an account, as keyed hashes."""

    account_id: int
    login: str
    guess: str


def attempt_of(secret: Secret, account_id: int, login: str, password: str) -> Attempt:
    """Return the attempt; letter case of ASCII in the login makes no other one of it."""
    login = login.translate(_ASCII_LOWER)
    return Attempt(
        account_id,
        secret.fingerprint("login", account_id, login),
        secret.fingerprint("guess", account_id, login, password),
    )


def wait_us(counters: Connection, limits: Limits, attempt: Attempt, now: int) -> int:
    """Return how long it is until the attempt may be made; 0: it may be made now."""
    if limits == (0, 0):
        return 0
    # The newest failures but so many: while there is one in the window, the limit is reached.
    ((by_login, by_account),) = counters.rows(
        _WAIT[counters.dialect],
        **_window(now),
        account_id=attempt.account_id,
        login=attempt.login,
        login_offset=max(limits.per_login, 1) - 1,
        account_offset=max(limits.per_account, 1) - 1,
    )
    waits = [0]
    if limits.per_login and by_login is not None:
        waits.append(by_login + LOGIN_US - now)
    if limits.per_account and by_account is not None:
        waits.append(by_account + ACCOUNT_US - now)
    return max(waits)


def count_failure(counters: Connection, limits: Limits, attempt: Attempt, now: int) -> None:
    """Count a guess that was wrong; forget those that no window reaches any more."""
    if limits == (0, 0):
        return
    for statement in _COUNT[counters.dialect]:
        counters.rows(statement, **_window(now), **attempt._asdict())


def _window(now: int) -> dict[str, int]:
    return {"now": now, "login_since": now - LOGIN_US, "account_since": now - ACCOUNT_US}
