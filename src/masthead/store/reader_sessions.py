"""The sessions of readers who are signed in to the readers' pages.

A session is a random token; only its SHA-256 is stored, in the counters, so that a load delays no
sign-in. It ends at sign-out, half an hour after its last request, twelve hours after it began, and
when what its reader signs in with changes: a session keeps a mark of the email, the digests of the
password and the renewal code, and is valid only while they are the same. So a new password, another
renewal code, erasure, merging and deletion end it at once (decisions, "Sessions of readers").
"""

from typing import NamedTuple

from masthead.store import passwords
from masthead.store.database import Connection, Store
from masthead.store.session_tokens import (
    NOTED_EVERY_US,
    SESSION_US,
    cookie_of,
    digest,
    has_ended,
    key_of,
    new_token,
)


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
    that changes meanwhile ends the session. Sessions that are over are deleted.
    """
    token, now = new_token(), store.clock()
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        counters.rows(
            "DELETE FROM reader_sessions WHERE account_id = :account_id AND begun_at < :before",
            account_id=account_id,
            before=now - SESSION_US,
        )
        counters.rows(
            """
            INSERT INTO reader_sessions
                (account_id, token_hash, subscriber_id, login_mark, begun_at, used_at)
            VALUES (:account_id, :token_hash, :subscriber_id, :mark, :now, :now)
            """,
            account_id=account_id,
            token_hash=digest(token),
            subscriber_id=subscriber_id,
            mark=mark,
            now=now,
        )
    return cookie_of(account_id, token)


def find(store: Store, cookie: str) -> ReaderSession | None:
    """Return who is signed in, or None if the session does not exist or has ended.

    It notes the session's use at most once a minute.
    """
    key = key_of(cookie)
    if key is None:
        return None
    now = store.clock()
    with store.counters() as counters:
        counters.set_tenant(key.account_id)
        counters.set_reader(None)
        found = counters.row_as(
            tuple[int, str, int, int],
            """
            SELECT subscriber_id, login_mark, begun_at, used_at FROM reader_sessions
            WHERE account_id = :account_id AND token_hash = :token_hash
            """,
            **key._asdict(),
        )
        if not found:
            return None
        subscriber_id, mark, begun_at, used_at = found
        if has_ended(begun_at, used_at, now):
            return None
        with store.reader() as connection:
            connection.set_tenant(key.account_id)
            connection.set_reader(subscriber_id)
            if mark_of(connection, key.account_id, subscriber_id) != mark:
                return None
        if now - used_at >= NOTED_EVERY_US:
            counters.rows(
                """
                UPDATE reader_sessions SET used_at = :now
                WHERE account_id = :account_id AND token_hash = :token_hash
                """,
                **key._asdict(),
                now=now,
            )
    return ReaderSession(key.account_id, subscriber_id)


def end(store: Store, cookie: str) -> None:
    """End a session; do nothing if the cookie is not a session's."""
    key = key_of(cookie)
    if key is None:
        return
    with store.counters() as counters:
        counters.set_tenant(key.account_id)
        counters.set_reader(None)
        counters.rows(
            """
            DELETE FROM reader_sessions
            WHERE account_id = :account_id AND token_hash = :token_hash
            """,
            **key._asdict(),
        )


def end_all(store: Store, account_id: int, subscriber_id: int) -> None:
    """Delete the sessions of a subscriber, which another mark has ended already."""
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        counters.rows(
            """
            DELETE FROM reader_sessions
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            """,
            account_id=account_id,
            subscriber_id=subscriber_id,
        )
