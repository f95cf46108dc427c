"""The sessions of readers who are signed in to the readers' pages.

A session ends at sign-out, half an hour after its last request, twelve hours after it began, and
when what its reader signs in with changes: a session keeps a mark of the email, the digests of the
password and the renewal code, and is valid only while they are the same. So a new password, another
renewal code, erasure, merging and deletion end it at once (decisions, "Sessions of readers").
"""

from typing import NamedTuple

from masthead.store import passwords
from masthead.store.database import Connection, Store
from masthead.store.session_rows import SessionRows

_ROWS = SessionRows[str]("reader_sessions", "subscriber_id", "login_mark")


class ReaderSession(NamedTuple):
    """Who is signed in: a subscriber of an account."""

    account_id: int
    subscriber_id: int


def mark_of(connection: Connection, account_id: int, subscriber_id: int) -> str | None:
    """Return the mark of what a subscriber signs in with; None for a deleted or unknown one.

    It is a keyed hash, so the counters tell nothing about a password. It stays the same when a
    login check replaces a loaded digest by a better one of the same password.
    """
    row = connection.row_as(
        tuple[str | None, str | None, str | None, str | None, str | None],
        """
        SELECT email, renewal_code, password_md5, password_hash, password_hash_loaded
        FROM subscribers
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND delete_date IS NULL
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
    )
    if row is None:
        return None
    # A missing value is no empty one, and no value contains a line end before its length.
    *others, digest, loaded = row
    if digest is not None and loaded is not None and passwords.follows(digest, loaded):
        digest = loaded
    parts = [f"{len(each)}\n{each}" if each is not None else "none" for each in (*others, digest)]
    return connection.secret.fingerprint("reader session", account_id, subscriber_id, *parts)


def begin(store: Store, account_id: int, subscriber_id: int, mark: str) -> str:
    """Begin a session; return the browser's cookie.

    Read ``mark`` (:func:`mark_of`) in the snapshot in which the login was checked: then a password
    that changes meanwhile ends the session.
    """
    return _ROWS.begin(store, account_id, subscriber_id, mark)


def find(store: Store, cookie: str) -> ReaderSession | None:
    """Return who is signed in, or None if the session does not exist or has ended."""

    def signed_in(account_id: int, subscriber_id: int, mark: str) -> ReaderSession | None:
        with store.reader() as connection:
            connection.set_tenant(account_id)
            connection.set_reader(subscriber_id)
            is_same = mark_of(connection, account_id, subscriber_id) == mark
        return ReaderSession(account_id, subscriber_id) if is_same else None

    return _ROWS.find(store, cookie, signed_in)


end = _ROWS.end
end_all = _ROWS.end_all
