"""The rows of sessions: those of the console's operators, and those of readers.

A session is a random token; only its SHA-256 is stored, in the counters, so that a load delays no
sign-in. A session has a mark of its person, and is valid only while that is the same. When it ends
by its times, ``session_tokens`` says.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from masthead.store.database import Store
from masthead.store.session_tokens import (
    NOTED_EVERY_US,
    SESSION_US,
    cookie_of,
    digest,
    has_ended,
    key_of,
    new_token,
)

Mark = TypeVar("Mark", int, str)
Person = TypeVar("Person")


class SessionRows(Generic[Mark]):
    """The sessions of a table, by the names of its columns of a person's id and of the mark."""

    def __init__(self, table: str, person: str, mark: str) -> None:
        self._table = table
        self._person = person
        self._mark = mark

    def begin(self, store: Store, account_id: int, person_id: int, mark: Mark) -> str:
        """Begin a session; return the browser's cookie. Sessions that are over are deleted."""
        token, now = new_token(), store.clock()
        with store.counters() as counters:
            counters.set_tenant(account_id)
            counters.set_reader(None)
            counters.rows(
                f"DELETE FROM {self._table} WHERE account_id = :account_id AND begun_at < :before",
                account_id=account_id,
                before=now - SESSION_US,
            )
            counters.rows(
                f"""
                INSERT INTO {self._table}
                    (account_id, token_hash, {self._person}, {self._mark}, begun_at, used_at)
                VALUES (:account_id, :token_hash, :person_id, :mark, :now, :now)
                """,
                account_id=account_id,
                token_hash=digest(token),
                person_id=person_id,
                mark=mark,
                now=now,
            )
        return cookie_of(account_id, token)

    def find(
        self, store: Store, cookie: str, of_mark: Callable[[int, int, Mark], Person | None]
    ) -> Person | None:
        """Return whose session it is, or None if it does not exist or has ended.

        ``of_mark`` returns the person with an account, an id and a mark; None if the mark is
        another one by now. The use of the session is noted at most once a minute.
        """
        key = key_of(cookie)
        if key is None:
            return None
        now = store.clock()
        with store.counters() as counters:
            counters.set_tenant(key.account_id)
            counters.set_reader(None)
            found = counters.row_as(
                tuple[int, Mark, int, int],
                f"""
                SELECT {self._person}, {self._mark}, begun_at, used_at FROM {self._table}
                WHERE account_id = :account_id AND token_hash = :token_hash
                """,
                **key._asdict(),
            )
            if not found:
                return None
            person_id, mark, begun_at, used_at = found
            if has_ended(begun_at, used_at, now):
                return None
            person = of_mark(key.account_id, person_id, mark)
            if person is not None and now - used_at >= NOTED_EVERY_US:
                counters.rows(
                    f"""
                    UPDATE {self._table} SET used_at = :now
                    WHERE account_id = :account_id AND token_hash = :token_hash
                    """,
                    **key._asdict(),
                    now=now,
                )
        return person

    def end(self, store: Store, cookie: str) -> None:
        """End a session; do nothing if the cookie is not a session's."""
        key = key_of(cookie)
        if key is not None:
            self._delete(store, key.account_id, "token_hash", key.token_hash)

    def end_all(self, store: Store, account_id: int, person_id: int) -> None:
        """Delete the sessions of a person, which another mark has ended already."""
        self._delete(store, account_id, self._person, person_id)

    def _delete(self, store: Store, account_id: int, column: str, value: int | str) -> None:
        with store.counters() as counters:
            counters.set_tenant(account_id)
            counters.set_reader(None)
            counters.rows(
                f"DELETE FROM {self._table} WHERE account_id = :account_id AND {column} = :value",
                account_id=account_id,
                value=value,
            )
