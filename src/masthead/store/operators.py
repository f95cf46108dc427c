"""The operators who sign in to the console: their names, roles, passwords and sessions.

A session (``session_rows``) ends at sign-out, half an hour after its last request, twelve hours
after it began, or when its operator's password or role changes (decisions, "Sessions of the
console"). Its mark is the ``sessions_from`` of its operator; no clock decides.
"""

import secrets
from functools import cache
from typing import Literal, NamedTuple, get_args

from argon2.exceptions import VerifyMismatchError

from masthead.contract.printable import is_name
from masthead.errors import BadInput, NotFound
from masthead.store import accounts, audit, logins, passwords
from masthead.store.database import Connection, Store
from masthead.store.search_filters import ascii_lower
from masthead.store.session_rows import SessionRows
from masthead.store.session_tokens import key_of

Role = Literal["clerk", "manager", "finance", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)

_NAME_MAX = 50
_SESSIONS = SessionRows[int]("operator_sessions", "operator_id", "sessions_from")

LIMITS = logins.Limits(per_login=10, per_account=0)
"""The allowed wrong passwords of a name in 15 minutes, as in the login check of subscribers. An
account has no limit: otherwise a guesser could lock out all its operators."""

_WITHOUT_OPERATORS = -1
"""The account that counts wrong passwords for accounts without operators and unknown accounts.

Old failures are deleted account by account, so failures in invented accounts would pile up.
"""


@cache
def _nobodys_hash() -> str:
    """Return the hash that a password is compared with if the name is unknown.

    The comparison takes the same time. Making the hash takes as long as a comparison, so each
    process makes it once.
    """
    return passwords.HASHER.hash(secrets.token_hex())


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
    return connection.rows_as(
        Operator,
        f"""
        SELECT account_id, operator_id, name, role FROM operators {of_account}
        ORDER BY account_id, name_lower
        """,
        **values,
    )


def add_operator(
    store: Store,
    account_id: int,
    name: str,
    role: Role,
    password: str,
    *,
    by: audit.Actor | None = None,
) -> Operator:
    """Add and return an operator.

    Names must differ by more than the case of ASCII letters. Raises NotFound for an unknown
    account, BadInput for a bad or taken name or a bad password.
    """
    _check_name(name)
    hashed = _hashed(password, name)
    with store.writer() as connection, connection.transaction():
        connection.lock_account(account_id)
        accounts.settings_of(connection, account_id)
        if _row(connection, account_id, name):
            raise BadInput(f"account {account_id} has an operator {name!r} already")
        newest = connection.value_as(
            int,
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

    Raises NotFound if the operator does not exist, BadInput for a bad password or the same one.
    """
    hashed = None if password is None else _hashed(password, name)
    with store.writer() as connection:
        row = _row(connection, account_id, name)
    if row and password is not None and _is_password(row[-1], password):
        raise BadInput(f"operator {row[2]!r} has this password already")
    with store.writer() as connection, connection.transaction():
        found = _found(connection, account_id, name)
        connection.change(
            """
            UPDATE operators SET role = coalesce(:role, role),
                password_hash = coalesce(:hashed, password_hash),
                sessions_from = CASE WHEN sessions_from < :now THEN :now ELSE sessions_from + 1 END
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
    _SESSIONS.end_all(store, account_id, found.operator_id)


def remove_operator(
    store: Store, account_id: int, name: str, *, by: audit.Actor | None = None
) -> None:
    """Remove an operator and end the sessions. Raises NotFound if the operator does not exist.

    The operator's entries in the audit log stay.
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
    _SESSIONS.end_all(store, account_id, found.operator_id)


def named(known: list[Operator], account_id: int, name: str) -> Operator | None:
    """Return the operator of an account who has the name, or None."""
    own = (each for each in known if each.account_id == account_id)
    return next((each for each in own if ascii_lower(each.name) == ascii_lower(name)), None)


def wait_us(store: Store, account_id: int, name: str) -> int:
    """Return the microseconds until a sign-in with the name is allowed; 0 means now."""
    attempt = _attempt(store, account_id, name, "")
    with store.counters() as counters:
        return logins.standing_of(counters, LIMITS, attempt, store.clock()).wait_us


def sign_in(store: Store, account_id: int, name: str, password: str) -> str | None:
    """Begin a session; return the browser's cookie, or None if the name or the password is wrong.

    A wrong password is counted. An unknown name takes as long as a wrong password. The caller must
    call :func:`wait_us` first and allow no other sign-in meanwhile.

    The session gets the ``sessions_from`` that was read with the password's hash, so a password
    change meanwhile ends it.
    """
    now = store.clock()
    with store.reader() as connection:
        connection.set_tenant(account_id)
        row = _row(connection, account_id, name)
    is_right = _is_password(row[-1] if row else _nobodys_hash(), password) and row is not None
    if not is_right or row is None:
        with store.counters() as counters:
            logins.count_failure(counters, LIMITS, _attempt(store, account_id, name, password), now)
        return None
    return _SESSIONS.begin(store, account_id, row[1], row[4])


def find_session(store: Store, cookie: str) -> Operator | None:
    """Return the session's operator, or None if the session does not exist or has ended."""

    def signed_in(account_id: int, operator_id: int, sessions_from: int) -> Operator | None:
        with store.reader() as connection:
            connection.set_tenant(account_id)
            return connection.row_as(
                Operator,
                """
                SELECT account_id, operator_id, name, role FROM operators
                WHERE account_id = :account_id AND operator_id = :operator_id
                    AND sessions_from = :sessions_from
                """,
                account_id=account_id,
                operator_id=operator_id,
                sessions_from=sessions_from,
            )

    return _SESSIONS.find(store, cookie, signed_in)


def account_of_session(cookie: str) -> int | None:
    """Return the account of a session that may have ended; None if the cookie is not one."""
    key = key_of(cookie)
    return key.account_id if key else None


end_session = _SESSIONS.end


def _attempt(store: Store, account_id: int, name: str, password: str) -> logins.Attempt:
    # No subscriber's login contains a line end.
    attempt = logins.attempt_of(store.secret, account_id, f"operator\n{name}", password)
    attempt = attempt._replace(kind="operator")
    with store.reader() as connection:
        connection.set_tenant(account_id)
        if operators_of(connection, account_id):
            return attempt
    return attempt._replace(account_id=_WITHOUT_OPERATORS)


def _row(
    connection: Connection, account_id: int, name: str
) -> tuple[int, int, str, Role, int, str] | None:
    return connection.row_as(
        tuple[int, int, str, Role, int, str],
        """
        SELECT account_id, operator_id, name, role, sessions_from, password_hash FROM operators
        WHERE account_id = :account_id AND name_lower = :name_lower
        """,
        account_id=account_id,
        name_lower=ascii_lower(name),
    )


def _found(connection: Connection, account_id: int, name: str) -> Operator:
    row = _row(connection, account_id, name)
    if row is None:
        raise NotFound(f"account {account_id} has no operator {name!r}", code="unknown_operator")
    return Operator(*row[:4])


def _check_name(name: str) -> None:
    if name != name.strip() or not is_name(name, _NAME_MAX):
        raise BadInput(
            f"{name!r} is no name of an operator: it has 1 to {_NAME_MAX} characters, without "
            "spaces at its ends"
        )


def _hashed(password: str, name: str) -> str:
    """Return the hash of a new password; raise BadInput if it is easy to guess."""
    match passwords.weakness_of(password, name):
        case "length":
            raise BadInput(
                f"the password has {len(password)} characters: it needs {passwords.LENGTH_MIN} to "
                f"{passwords.LENGTH_MAX}"
            )
        case "characters":
            raise BadInput(
                f"the password needs {passwords.CHARACTERS_MIN} different characters or more, "
                "besides spaces"
            )
        case "login":
            raise BadInput("the password is the name: choose another")
    return passwords.HASHER.hash(password)


def _is_password(hashed: str, password: str) -> bool:
    try:
        return passwords.HASHER.verify(hashed, password[: passwords.LENGTH_MAX])
    except VerifyMismatchError:
        return False
