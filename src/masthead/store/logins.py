"""Failed logins: how many there were recently, and when the next attempt is allowed.

A failure is a wrong guess, that is a login with a password, of which only a keyed hash is stored.
The same wrong guess counts once in a window, so a device that repeats an old password does not lock
its user out. Windows slide, and refused attempts are not counted, so a lock ends by itself
(decisions, "Limits of the login check").

Failures are stored in the counters, which loads do not lock: a load never delays a login.
"""

from typing import NamedTuple

from masthead.store.database import Connection
from masthead.store.secret import Secret

__all__ = ["Attempt", "Limits", "attempt_of", "count_failure", "wait_us"]

LOGIN_US = 15 * 60 * 1_000_000
ACCOUNT_US = 60 * 60 * 1_000_000
"""The windows in which the failures of a login, and those of an account, are counted."""

_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_WAIT = """
    SELECT max(by_login), max(by_account) FROM (
        SELECT failed_at AS by_login, CAST(NULL AS BIGINT) AS by_account FROM (
            SELECT failed_at FROM login_failures
            WHERE account_id = :account_id AND login = :login
                AND failed_at > :login_since AND failed_at <= :now
            ORDER BY failed_at DESC LIMIT 1 OFFSET :login_offset) AS l
        UNION ALL
        SELECT NULL, failed_at FROM (
            SELECT failed_at FROM login_failures
            WHERE account_id = :account_id AND failed_at > :account_since AND failed_at <= :now
            ORDER BY failed_at DESC LIMIT 1 OFFSET :account_offset) AS a
    ) AS found
    """
"""One query of the account's table, so that a distributed database asks only the account's node."""

_COUNT = (
    "DELETE FROM login_failures WHERE account_id = :account_id AND failed_at <= :account_since",
    """
    INSERT INTO login_failures (account_id, login, guess, failed_at)
    VALUES (:account_id, :login, :guess, :now)
    ON CONFLICT (account_id, guess) DO UPDATE SET failed_at = excluded.failed_at
    WHERE login_failures.failed_at <= :login_since OR login_failures.failed_at > :now
    """,
)


class Limits(NamedTuple):
    """Failures that a login may have in 15 minutes, and an account in an hour; 0: any number."""

    per_login: int = 10
    per_account: int = 600


class Attempt(NamedTuple):
    """An account, and the keyed hashes of a login and of the login with its password."""

    account_id: int
    login: str
    guess: str


def attempt_of(secret: Secret, account_id: int, login: str, password: str) -> Attempt:
    """Return the attempt. The case of ASCII letters in the login is ignored."""
    login = login.translate(_ASCII_LOWER)
    return Attempt(
        account_id,
        secret.fingerprint("login", account_id, login),
        secret.fingerprint("guess", account_id, login, password),
    )


def wait_us(counters: Connection, limits: Limits, attempt: Attempt, now: int) -> int:
    """Return the microseconds until the attempt is allowed; 0: it is allowed now."""
    if limits == (0, 0):
        return 0
    # With a limit of n, the n-th newest failure in the window; if there is one, it is reached.
    ((by_login, by_account),) = counters.rows(
        _WAIT,
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
    """Count a wrong guess, and delete those that are older than all windows."""
    if limits == (0, 0):
        return
    values = {**_window(now), **attempt._asdict()}
    for statement in _COUNT:
        counters.rows(
            statement, **{name: value for name, value in values.items() if f":{name}" in statement}
        )


def _window(now: int) -> dict[str, int]:
    return {"now": now, "login_since": now - LOGIN_US, "account_since": now - ACCOUNT_US}
