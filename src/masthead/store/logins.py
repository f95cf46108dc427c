"""Failed logins: how many there were recently, and when the next attempt is allowed.

A failure is a wrong guess: a login with a password, stored only as a keyed hash. The same wrong
guess counts once in a window, so a device that repeats an old password does not lock its user out.
Windows slide and refused attempts are not counted, so a lock ends automatically
(decisions, "Limits of the login check").

An account has a count for each kind of login. When too many guesses at emails have failed, the
account is guarded. An email that has logged in before can still log in with the right password; all
other attempts get the same refusal (rules, "A guarded account").

Failures are stored in the counters, which loads do not lock, so a load never delays a login.
"""

from contextlib import suppress
from secrets import token_hex
from typing import Literal, NamedTuple

from masthead.errors import StoreUnavailable
from masthead.store.database import Connection, Dialect, Store
from masthead.store.secret import Secret

LOGIN_US = 15 * 60 * 1_000_000
ACCOUNT_US = 60 * 60 * 1_000_000
"""The windows, in microseconds, in which failures of a login and of an account are counted."""

KNOWN_US = 365 * 86_400 * 1_000_000
"""How long a successful login with an email is remembered, in microseconds."""

_NOTED_US = 86_400 * 1_000_000
"""A successful login with an email is noted at most once in this time, in microseconds."""

Kind = Literal[
    "email", "code", "operator", "guarded", "unknown", "link", "link client", "link mail"
]
"""What is counted together: guesses at emails, renewal codes and operators' names; requests for
links by email and from a client, and the mails with links (``sign_in_links``). While an account
is guarded, ``guarded`` counts guesses at emails that have logged in before. ``unknown`` counts
guesses at all other emails then, in one row that no limit reads."""

_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_BY_LOGIN = """
    SELECT failed_at FROM login_failures
    WHERE account_id = :account_id AND login = :login
        AND failed_at > :login_since AND failed_at <= :now
    ORDER BY failed_at DESC LIMIT 1 OFFSET :login_offset
    """
_BY_ACCOUNT = """
    SELECT failed_at FROM login_failures
    WHERE account_id = :account_id AND kind = :kind
        AND failed_at > :account_since AND failed_at <= :now
    ORDER BY failed_at DESC LIMIT 1 OFFSET :account_offset
    """
_SUCCEEDED = """
    SELECT succeeded_at FROM login_successes
    WHERE account_id = :account_id AND login = :login
    """
_STANDING: dict[Dialect, str] = {
    "sqlite": f"SELECT ({_BY_LOGIN}), ({_BY_ACCOUNT}), ({_SUCCEEDED})",
    "postgresql": f"""
        SELECT max(by_login), max(by_account), max(succeeded_at) FROM (
            SELECT failed_at AS by_login, CAST(NULL AS BIGINT) AS by_account,
                CAST(NULL AS BIGINT) AS succeeded_at FROM ({_BY_LOGIN}) AS l
            UNION ALL SELECT NULL, failed_at, NULL FROM ({_BY_ACCOUNT}) AS a
            UNION ALL SELECT NULL, NULL, succeeded_at FROM ({_SUCCEEDED}) AS s
        ) AS found
        """,
}
"""On PostgreSQL, all tables of the query filter by account, so a distributed database asks only the
account's node."""

_FORGET = """
    DELETE FROM login_failures
    WHERE account_id = :account_id AND failed_at <= :account_since
    """
_COUNT = """
    INSERT INTO login_failures (account_id, login, guess, failed_at, kind)
    VALUES (:account_id, :login, :guess, :now, :kind)
    ON CONFLICT (account_id, guess) DO UPDATE SET failed_at = excluded.failed_at
    WHERE login_failures.failed_at <= :login_since OR login_failures.failed_at > :now
    """
_COUNT_GUARDED = """
    INSERT INTO login_failures (account_id, login, guess, failed_at, kind)
    VALUES (:account_id, :login, :guess, :now, :kind)
    ON CONFLICT (account_id, guess) DO UPDATE SET failed_at =
        CASE WHEN login_failures.failed_at <= :login_since OR login_failures.failed_at > :now
        THEN excluded.failed_at ELSE login_failures.failed_at END
    """
"""Each refusal writes a row. Otherwise its time would show whether the guess was counted before."""

_FORGET_SUCCESSES = """
    DELETE FROM login_successes WHERE account_id = :account_id AND succeeded_at <= :known_since
    """
_NOTE_SUCCESS = """
    INSERT INTO login_successes (account_id, login, succeeded_at)
    VALUES (:account_id, :login, :now)
    ON CONFLICT (account_id, login) DO UPDATE SET succeeded_at = excluded.succeeded_at
    """
_FORGET_EMAIL = (
    "DELETE FROM login_successes WHERE account_id = :account_id AND login = :login",
    "DELETE FROM login_failures WHERE account_id = :account_id AND login = :login",
)


class Limits(NamedTuple):
    """Allowed failures of a login in 15 minutes and of an account in an hour; 0: no limit."""

    per_login: int = 10
    per_account: int = 600


class Attempt(NamedTuple):
    """An account, the login's kind, and keyed hashes of the login alone and with its password."""

    account_id: int
    kind: Kind
    login: str
    guess: str


class Standing(NamedTuple):
    """The microseconds until an attempt's login and its account allow it; 0: now.

    ``succeeded_at`` is when a reader last logged in with this email, in microseconds since 1970, or
    None if unknown.
    """

    by_login_us: int = 0
    by_account_us: int = 0
    succeeded_at: int | None = None

    @property
    def wait_us(self) -> int:
        """The microseconds until the attempt is allowed."""
        return max(self.by_login_us, self.by_account_us)


def attempt_of(secret: Secret, account_id: int, login: str, password: str) -> Attempt:
    """Return the attempt. The case of ASCII letters in the login is ignored."""
    login = login.translate(_ASCII_LOWER)
    return Attempt(
        account_id,
        "email" if "@" in login else "code",
        secret.fingerprint("login", account_id, login),
        secret.fingerprint("guess", account_id, login, password),
    )


def request_of(secret: Secret, account_id: int, kind: Kind, what: str) -> Attempt:
    """Return a request for a link, which counts also if it is the same as another."""
    login = secret.fingerprint(kind, account_id, what.translate(_ASCII_LOWER))
    return Attempt(account_id, kind, login, token_hex())


def standing_of(counters: Connection, limits: Limits, attempt: Attempt, now: int) -> Standing:
    """Return when the attempt is allowed, and when its login last succeeded."""
    if limits == (0, 0):
        return Standing()
    # The limit n is reached if the window has an n-th newest failure.
    ((by_login, by_account, succeeded_at),) = counters.rows_as(
        tuple[int | None, int | None, int | None],
        _STANDING[counters.dialect],
        **_window(now),
        account_id=attempt.account_id,
        kind=attempt.kind,
        login=attempt.login,
        login_offset=max(limits.per_login, 1) - 1,
        account_offset=max(limits.per_account, 1) - 1,
    )
    return Standing(
        by_login + LOGIN_US - now if limits.per_login and by_login is not None else 0,
        by_account + ACCOUNT_US - now if limits.per_account and by_account is not None else 0,
        succeeded_at if succeeded_at and succeeded_at > now - KNOWN_US else None,
    )


def count_failure(counters: Connection, limits: Limits, attempt: Attempt, now: int) -> None:
    """Count a wrong guess, and delete guesses that are older than all windows."""
    if limits != (0, 0):
        _count(counters, _COUNT, attempt, now)


def _count(counters: Connection, statement: str, attempt: Attempt, now: int) -> None:
    values = {**_window(now), **attempt._asdict()}
    for sql in (_FORGET, statement):
        counters.rows(sql, **{name: value for name, value in values.items() if f":{name}" in sql})


def may_pass(
    counters: Connection, limits: Limits, attempt: Attempt, standing: Standing, now: int
) -> bool:
    """Return whether the right password is accepted although the attempt's account is guarded.

    It is accepted for an email that has logged in before, until guesses at such emails reach the
    limits.
    """
    guarded = standing_of(counters, limits, _guarded(attempt), now)
    return standing.succeeded_at is not None and not guarded.wait_us


def count_guarded(counters: Connection, attempt: Attempt, now: int, *, passes: bool) -> None:
    """Count an attempt that a guarded account refused, if the right password would have passed.

    All other attempts of an account write one shared row. Otherwise the time of a response would
    show whether an email has logged in before.
    """
    counted = attempt._replace(kind="unknown", login="", guess="")
    _count(counters, _COUNT_GUARDED, _guarded(attempt) if passes else counted, now)


def note_success(store: Store, limits: Limits, attempt: Attempt, standing: Standing) -> None:
    """Note a successful login with an email, once a day; forget emails after a year without one.

    Renewal codes are not noted: they are short, so more guesses would find one. If the success
    cannot be noted, the reader still logs in.
    """
    at, now = standing.succeeded_at, store.clock()
    if not limits.per_account or attempt.kind != "email":
        return
    if at is not None and now - _NOTED_US < at <= now:
        return
    account_id = attempt.account_id
    with suppress(StoreUnavailable), store.counters() as counters:
        counters.set_tenant(account_id)
        counters.rows(_FORGET_SUCCESSES, account_id=account_id, known_since=now - KNOWN_US)
        counters.rows(_NOTE_SUCCESS, account_id=account_id, login=attempt.login, now=now)


def forget_email(store: Store, account_id: int, email: str) -> None:
    """Delete the counters of an email, such as when its subscriber is erased.

    They count logins and requests for links. Raises StoreUnavailable if they are unavailable.
    """
    attempt = attempt_of(store.secret, account_id, email, "")
    link = request_of(store.secret, account_id, "link", email)
    with store.counters() as counters:
        counters.set_tenant(account_id)
        for each in (attempt, _guarded(attempt), link):
            for sql in _FORGET_EMAIL:
                counters.rows(sql, account_id=account_id, login=each.login)


def _guarded(attempt: Attempt) -> Attempt:
    """Return the attempt as it is counted while its account is guarded, separate from all others.

    Afterwards, these counts therefore do not show which emails have logged in before.
    """
    return attempt._replace(
        kind="guarded", login=f"guarded {attempt.login}", guess=f"guarded {attempt.guess}"
    )


def _window(now: int) -> dict[str, int]:
    return {"now": now, "login_since": now - LOGIN_US, "account_since": now - ACCOUNT_US}
