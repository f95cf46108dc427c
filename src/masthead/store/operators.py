"""The publisher's people who sign in to the console: their names, roles, passwords and sessions.

A session is a random token, of which only the SHA-256 is stored. The browser has it as
``ACCOUNT.TOKEN``. It ends when it is signed out, half an hour after its last request, twelve hours
after its beginning, and when its operator's password or role changes (decisions, "Sessions of the
console"). Sessions are counted apart from the data, so that a load never delays a sign-in.
"""

import hashlib
import re
import secrets
from functools import cache
from typing import Literal, NamedTuple, get_args

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from masthead.contract.printable import is_name
from masthead.errors import BadInput, NotFound
from masthead.store import accounts, audit, logins
from masthead.store.database import Connection, Row, Store
from masthead.store.search_filters import ascii_lower

__all__ = [
    "ROLES",
    "Operator",
    "Role",
    "add_operator",
    "end_session",
    "find_session",
    "operators_of",
    "remove_operator",
    "set_operator",
    "sign_in",
    "wait_us",
]

Role = Literal["clerk", "manager", "finance", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)

IDLE_US = 30 * 60 * 1_000_000
"""A session ends so long after its last request."""

SESSION_US = 12 * 60 * 60 * 1_000_000
"""A session ends so long after its beginning."""

AHEAD_US = 5 * 60 * 1_000_000
"""Clocks of several machines may be so far apart. A session that is further ahead has ended."""

_NOTED_EVERY_US = 60 * 1_000_000
_NAME_MAX = 50
_PASSWORD_MIN = 10
_PASSWORD_MAX = 1_000
_TOKEN_BYTES = 32
_COOKIE = re.compile(r"(0|[1-9][0-9]{0,17})\.([A-Za-z0-9_-]+)", re.ASCII)

LIMITS = logins.Limits(per_login=10, per_account=0)
"""Wrong passwords of a name in 15 minutes, as at the login check of subscribers. An account has no
limit: else whoever guesses could lock out everybody."""

_WITHOUT_OPERATORS = -1
"""The account in which wrong passwords are counted where one has no operators, or does not exist.

So their number is not that of the accounts that somebody invents: old ones are deleted account by
account.
"""

_hasher = PasswordHasher()


@cache
def _nobodys_hash() -> str:
    """Return what a password is compared with if there is nobody of the name.

    It takes the same time. It is made once a process: that takes as long as a comparison.
    """
    return _hasher.hash(secrets.token_hex())


class _Key(NamedTuple):
    account_id: int
    token_hash: str


class Operator(NamedTuple):
    """An operator of an account."""

    account_id: int
    operator_id: int
    name: str
    role: Role


def operators_of(connection: Connection, account_id: int | None = None) -> list[Operator]:
    """Return the operators of an account by name, or of all accounts by account and name."""
    of_account = "" if account_id is None else "WHERE account_id = :account_id"
    values = {} if account_id is None else {"account_id": account_id}
    rows = connection.rows(
        f"""
        SELECT account_id, operator_id, name, role FROM operators {of_account}
        ORDER BY account_id, name_lower
        """,
        **values,
    )
    return [Operator(*row) for row in rows]


def add_operator(
    store: Store,
    account_id: int,
    name: str,
    role: Role,
    password: str,
    *,
    by: audit.Actor | None = None,
) -> Operator:
    """Add an operator. Raises NotFound for an unknown account, BadInput for a name or password.

    Names differ by more than the case of ASCII letters.
    """
    _check_name(name)
    hashed = _hashed(password)
    with store.writer() as connection, connection.transaction():
        connection.lock_account(account_id)
        accounts.settings_of(connection, account_id)
        if _row(connection, account_id, name):
            raise BadInput(f"account {account_id} has an operator {name!r} already")
        ((newest,),) = connection.rows(
            "SELECT max(operator_id) FROM operators WHERE account_id = :account_id",
            account_id=account_id,
        )
        added = Operator(account_id, (newest or 0) + 1, name, role)
        connection.change(
            """
            INSERT INTO operators (
                account_id, operator_id, name, name_lower, role, password_hash, sessions_from)
            VALUES (:account_id, :operator_id, :name, :name_lower, :role, :hashed, :now)
            """,
            **added._asdict(),
            name_lower=ascii_lower(name),
            hashed=hashed,
            now=store.clock(),
        )
        summary = f"operator {name!r} was added as {role}"
        audit.record(connection, by, summary, account_id=account_id)
    return added


def set_operator(
    store: Store,
    account_id: int,
    name: str,
    *,
    role: Role | None = None,
    password: str | None = None,
    by: audit.Actor | None = None,
) -> None:
    """Change an operator's role or password, and end the operator's sessions.

    Raises NotFound if there is no such operator, BadInput for a password.
    """
    hashed = None if password is None else _hashed(password)
    with store.writer() as connection, connection.transaction():
        found = _found(connection, account_id, name)
        connection.change(
            """
            UPDATE operators SET role = coalesce(:role, role),
                password_hash = coalesce(:hashed, password_hash), sessions_from = :now
            WHERE account_id = :account_id AND operator_id = :operator_id
            """,
            role=role,
            hashed=hashed,
            now=store.clock(),
            account_id=account_id,
            operator_id=found.operator_id,
        )
        what = [f"role {role}"] if role else []
        what += ["a new password"] if hashed else []
        summary = f"operator {found.name!r} got {' and '.join(what)}"
        audit.record(connection, by, summary, account_id=account_id)
    _end_all(store, found)


def remove_operator(
    store: Store, account_id: int, name: str, *, by: audit.Actor | None = None
) -> None:
    """Remove an operator, and end the sessions. Raises NotFound if there is none of the name.

    What the audit log says of the operator stays.
    """
    with store.writer() as connection, connection.transaction():
        found = _found(connection, account_id, name)
        connection.change(
            "DELETE FROM operators WHERE account_id = :account_id AND operator_id = :operator_id",
            account_id=account_id,
            operator_id=found.operator_id,
        )
        summary = f"operator {found.name!r} was removed"
        audit.record(connection, by, summary, account_id=account_id)
    _end_all(store, found)


def wait_us(store: Store, account_id: int, name: str) -> int:
    """Return the microseconds until a sign-in with the name is allowed; 0: now."""
    attempt = _attempt(store, account_id, name, "")
    with store.counters() as counters:
        return logins.standing_of(counters, LIMITS, attempt, store.clock()).wait_us


def sign_in(store: Store, account_id: int, name: str, password: str) -> str | None:
    """Begin a session; return what the browser is to keep, or None if name and password are wrong.

    A wrong password is counted. An unknown name takes as long as a wrong password. The caller has
    asked :func:`wait_us` before, and lets nobody else sign in meanwhile.

    The session begins before the password is looked up: one that is changed meanwhile ends it.
    """
    now = store.clock()
    with store.reader() as connection:
        connection.set_tenant(account_id)
        row = _row(connection, account_id, name)
    try:
        _hasher.verify(row[-1] if row else _nobodys_hash(), password[:_PASSWORD_MAX])
        is_right = row is not None
    except VerifyMismatchError:
        is_right = False
    with store.counters() as counters:
        if not is_right or row is None:
            logins.count_failure(counters, LIMITS, _attempt(store, account_id, name, password), now)
            return None
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        counters.rows(
            "DELETE FROM operator_sessions WHERE account_id = :account_id AND begun_at < :before",
            account_id=account_id,
            before=now - SESSION_US,
        )
        counters.rows(
            """
            INSERT INTO operator_sessions (account_id, token_hash, operator_id, begun_at, used_at)
            VALUES (:account_id, :token_hash, :operator_id, :now, :now)
            """,
            account_id=account_id,
            token_hash=_digest(token),
            operator_id=row[1],
            now=now,
        )
    return f"{account_id}.{token}"


def find_session(store: Store, cookie: str) -> Operator | None:
    """Return the operator whose session it is, or None if there is none or it has ended.

    It notes that the session is used, once a minute.
    """
    key = _key(cookie)
    if key is None:
        return None
    now = store.clock()
    with store.counters() as counters:
        found = counters.rows(
            """
            SELECT operator_id, begun_at, used_at FROM operator_sessions
            WHERE account_id = :account_id AND token_hash = :token_hash
            """,
            **key._asdict(),
        )
        if not found:
            return None
        ((operator_id, begun_at, used_at),) = found
        if now - used_at >= IDLE_US or now - begun_at >= SESSION_US:
            return None
        if max(begun_at, used_at) > now + AHEAD_US:
            return None  # of a clock that was ahead: nobody knows when it ends
        with store.reader() as connection:
            connection.set_tenant(key.account_id)
            row = connection.row(
                """
                SELECT account_id, operator_id, name, role, sessions_from FROM operators
                WHERE account_id = :account_id AND operator_id = :operator_id
                """,
                account_id=key.account_id,
                operator_id=operator_id,
            )
        if row is None or begun_at < row[-1]:
            return None
        if now - used_at >= _NOTED_EVERY_US:
            counters.rows(
                """
                UPDATE operator_sessions SET used_at = :now
                WHERE account_id = :account_id AND token_hash = :token_hash
                """,
                **key._asdict(),
                now=now,
            )
    return Operator(*row[:-1])


def end_session(store: Store, cookie: str) -> None:
    """End a session, if it is one."""
    key = _key(cookie)
    if key is None:
        return
    with store.counters() as counters:
        counters.rows(
            """
            DELETE FROM operator_sessions
            WHERE account_id = :account_id AND token_hash = :token_hash
            """,
            **key._asdict(),
        )


def _end_all(store: Store, operator: Operator) -> None:
    """Delete the sessions, which ``sessions_from`` has ended already, or the operator's removal."""
    with store.counters() as counters:
        counters.rows(
            """
            DELETE FROM operator_sessions
            WHERE account_id = :account_id AND operator_id = :operator_id
            """,
            account_id=operator.account_id,
            operator_id=operator.operator_id,
        )


def _key(cookie: str) -> _Key | None:
    found = _COOKIE.fullmatch(cookie)
    if found is None:
        return None
    return _Key(int(found[1]), _digest(found[2]))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _attempt(store: Store, account_id: int, name: str, password: str) -> logins.Attempt:
    # No subscriber's login has a line end in it.
    attempt = logins.attempt_of(store.secret, account_id, f"operator\n{name}", password)
    attempt = attempt._replace(kind="operator")
    with store.reader() as connection:
        connection.set_tenant(account_id)
        if operators_of(connection, account_id):
            return attempt
    return attempt._replace(account_id=_WITHOUT_OPERATORS)


def _row(connection: Connection, account_id: int, name: str) -> Row | None:
    return connection.row(
        """
        SELECT account_id, operator_id, name, role, password_hash FROM operators
        WHERE account_id = :account_id AND name_lower = :name_lower
        """,
        account_id=account_id,
        name_lower=ascii_lower(name),
    )


def _found(connection: Connection, account_id: int, name: str) -> Operator:
    row = _row(connection, account_id, name)
    if row is None:
        raise NotFound(f"account {account_id} has no operator {name!r}", code="unknown_operator")
    return Operator(*row[:-1])


def _check_name(name: str) -> None:
    if name != name.strip() or not is_name(name, _NAME_MAX):
        raise BadInput(
            f"{name!r} is no name of an operator: it has 1 to {_NAME_MAX} characters, without "
            "spaces at its ends"
        )


def _hashed(password: str) -> str:
    if not _PASSWORD_MIN <= len(password) <= _PASSWORD_MAX:
        raise BadInput(
            f"the password has {len(password)} characters: it needs {_PASSWORD_MIN} to "
            f"{_PASSWORD_MAX}"
        )
    return _hasher.hash(password)
