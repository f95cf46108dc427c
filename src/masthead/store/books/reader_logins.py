"""The logins of a reader: a renewal code with a postal code, or an email with a password."""

import secrets
from typing import NamedTuple

from masthead.errors import BadInput, no_subscriber
from masthead.store.books.operation import Operation, Reading
from masthead.store.passwords import HASHER

_CODE_CHARACTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without I, O, 0 and 1, which are heard and read as one another."""

_CODE_LENGTH = 5
_PASSWORD_LENGTH = 12
_TRIES = 100


class Login(NamedTuple):
    """What a reader signs in with; ``has_password`` says that one is set, and none is shown."""

    email: str | None
    renewal_code: str | None
    has_password: bool
    delete_date: str | None
    postal_codes: tuple[str, ...] = ()


def login_of(books: Reading, subscriber_id: int) -> Login:
    """Return the login of a reader. Raises NotFound if there is no such reader."""
    row = books.row_as(
        tuple[str | None, str | None, int, str | None],
        """
        SELECT email, renewal_code,
            CASE WHEN password_md5 IS NULL AND password_hash IS NULL THEN 0 ELSE 1 END, delete_date
        FROM subscribers WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    )
    if row is None:
        raise no_subscriber(books.account_id, subscriber_id)
    email, code, has_password, delete_date = row
    found = books.rows_as(
        tuple[str],
        """
        SELECT DISTINCT zip_code FROM addresses
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            AND zip_code IS NOT NULL AND zip_code <> ''
        """,
        subscriber_id=subscriber_id,
    )
    return Login(email, code, bool(has_password), delete_date, tuple(sorted(z for (z,) in found)))


def renew_code(books: Operation, subscriber_id: int) -> str:
    """Give a reader another renewal code, which no other reader of the account has; return it."""
    for _ in range(_TRIES):
        code = _random(_CODE_LENGTH)
        taken = books.row(
            """
            SELECT 1 FROM subscribers
            WHERE account_id = :account_id AND renewal_code_lower = :code
            """,
            code=code.lower(),
        )
        if not taken:
            break
    else:
        raise BadInput("nearly all renewal codes of the account are in use")
    books.change(
        """
        UPDATE subscribers SET renewal_code = :code, commit_id = :commit_id
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
        code=code,
        commit_id=books.commit_id,
    )
    return code


def new_password() -> tuple[str, str]:
    """Return a random password, and its digest of Argon2, which takes a tenth of a second."""
    password = _random(_PASSWORD_LENGTH)
    return password, HASHER.hash(password)


def set_password(books: Operation, subscriber_id: int, digest: str) -> None:
    """Give a reader another password by its digest."""
    books.change(
        """
        UPDATE subscribers SET password_hash = :digest, password_md5 = NULL, commit_id = :commit_id
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
        digest=digest,
        commit_id=books.commit_id,
    )


def set_own_password(books: Operation, subscriber_id: int, digest: str, md5: str) -> None:
    """Give a reader the password that the reader chose, by its digest.

    ``md5`` is what the interface shows, if the account keeps it (``keep_password_md5``).
    """
    books.change(
        """
        UPDATE subscribers SET password_hash = :digest, commit_id = :commit_id,
            password_md5 = (
                SELECT CASE WHEN a.keep_password_md5 = 1 THEN CAST(:md5 AS TEXT) END
                FROM accounts AS a WHERE a.account_id = :account_id)
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
        digest=digest,
        md5=md5,
        commit_id=books.commit_id,
    )


def forget_password(books: Operation, subscriber_id: int) -> None:
    """Delete the password of a reader; then only the renewal code or a link by mail signs in."""
    books.change(
        """
        UPDATE subscribers SET password_hash = NULL, password_md5 = NULL, commit_id = :commit_id
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
        commit_id=books.commit_id,
    )


def _random(length: int) -> str:
    return "".join(secrets.choice(_CODE_CHARACTERS) for _ in range(length))
