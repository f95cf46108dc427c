"""Commits and their stamps: when each change became visible.

A writer's transaction adds a commit without a stamp and gives its id to the rows that it changes.
A second transaction then stamps the commit with the clock's time, or with the account's newest
stamp plus a microsecond if that is later. So stamps increase in the order in which commits become
visible, even if the clock is set back. A change that a poll did not see gets a later stamp than the
time that the poll returned.

Stamps are microseconds since 1970 in UTC. ``masthead.api.operations.change_feed`` checks the times
in requests.
"""

from typing import NamedTuple

from masthead.errors import AccountGone, StoreUnavailable
from masthead.store.database import Connection, Dialect, Store

IDLE_US = 3_600 * 1_000_000
"""A server adds an empty commit to an account whose newest stamp is older than this, so that the
times of its clients stay in the change feed's window."""


_TO_STAMP: dict[Dialect, str] = {
    "sqlite": """
        SELECT account_id, FALSE FROM commits WHERE visible_at IS NULL
        UNION
        SELECT account_id, TRUE FROM accounts WHERE :idle_before > (
            SELECT max(visible_at) FROM commits WHERE commits.account_id = accounts.account_id)
        """,
    "postgresql": "SELECT account_id, is_idle FROM accounts_to_stamp(:idle_before)",
}
"""The accounts that have commits without a stamp, and the idle accounts."""


class Position(NamedTuple):
    """The state of an account's change feed, as seen from a given time.

    ``epoch_at`` is the start of the epoch, or None; ``store.epochs`` describes ``history``.
    ``is_stamp_awaited`` tells whether a visible commit has no stamp yet. Rows that changed since
    the time have the commit ``first_commit`` or a later one; it is None if nothing changed.
    """

    newest_stamp: int
    epoch_at: int | None
    history: str | None
    is_stamp_awaited: bool
    first_commit: int | None


def begin_commit(connection: Connection, account_id: int) -> int:
    """Add a commit without a stamp in the caller's transaction; return its id.

    The caller must have locked the account.
    """
    ((commit_id,),) = connection.rows(
        """
        INSERT INTO commits (account_id, commit_id)
        SELECT :account_id, coalesce(max(commit_id), 0) + 1
        FROM commits WHERE account_id = :account_id
        RETURNING commit_id
        """,
        account_id=account_id,
    )
    return int(commit_id)


def drop_commit(connection: Connection, account_id: int, commit_id: int) -> None:
    """Delete a commit that changed nothing, in the transaction that added it."""
    connection.change(
        "DELETE FROM commits WHERE account_id = :account_id AND commit_id = :commit_id",
        account_id=account_id,
        commit_id=commit_id,
    )


def stamp_commits(store: Store, account_id: int, *, waits: bool = True) -> None:
    """Stamp the visible commits of the account that have no stamp, by ascending id.

    Raises StoreUnavailable if ``waits`` is not set and another process is writing.
    """
    with store.writer(waits=waits) as connection, connection.transaction():
        stamp_waiting(connection, account_id)


def stamp_waiting(connection: Connection, account_id: int) -> None:
    """Stamp the account's visible commits in the caller's transaction (:func:`stamp_commits`)."""
    connection.lock_stamps(account_id)
    waiting = connection.column_as(
        int,
        """
        SELECT commit_id FROM commits
        WHERE account_id = :account_id AND visible_at IS NULL ORDER BY commit_id
        """,
        account_id=account_id,
    )
    for commit_id in waiting:
        newest = position_of(connection, account_id).newest_stamp
        stamp(connection, account_id, commit_id, max(connection.now(), newest + 1))


def stamp(connection: Connection, account_id: int, commit_id: int, visible_at: int) -> None:
    """Stamp one commit. The caller must have locked the account's stamps."""
    connection.change(
        """
        UPDATE commits SET visible_at = :visible_at
        WHERE account_id = :account_id AND commit_id = :commit_id
        """,
        visible_at=visible_at,
        account_id=account_id,
        commit_id=commit_id,
    )


def stamp_all(store: Store) -> None:
    """Stamp commits that killed loads left unstamped, and keep idle accounts in the feed's window.

    Raises StoreUnavailable if another process is writing; a later call does the rest.
    """
    # Not with a reader: a replica may lack the newest stamps.
    with store.writer(waits=False) as connection:
        idle_before = connection.now() - IDLE_US
        try:
            found = connection.rows_as(
                tuple[int, bool], _TO_STAMP[connection.dialect], idle_before=idle_before
            )
        except StoreUnavailable:
            # On a distributed database, an unavailable node must not stop the others.
            found = _to_stamp_one_by_one(store, idle_before)
    waiting = {account_id for account_id, is_idle in found if not is_idle}
    # An account whose commit is stamped now is no longer idle.
    idle = {account_id for account_id, _ in found} - waiting
    failure = None
    # Idle accounts come last: an empty commit waits for a load of its account, a stamp does not.
    for account_id in (*sorted(waiting), *sorted(idle)):
        try:
            if account_id in idle:
                with store.writer(waits=False) as connection, connection.transaction():
                    connection.lock_account(account_id)
                    position_of(connection, account_id)
                    begin_commit(connection, account_id)
            stamp_commits(store, account_id, waits=False)
        except AccountGone:
            pass
        except StoreUnavailable as error:
            failure = error
    if failure:
        raise failure


def _to_stamp_one_by_one(store: Store, idle_before: int) -> list[tuple[int, bool]]:
    """Return the accounts to stamp whose data can be read; raise StoreUnavailable if none can."""
    found: list[tuple[int, bool]] = []
    failure = None
    account_ids = accounts_of(store)
    for account_id in account_ids:
        with store.counters() as connection:
            connection.set_tenant(account_id)
            try:
                position = position_of(connection, account_id)
            except StoreUnavailable as error:
                failure = error
                continue
            except AccountGone:
                continue
        if position.is_stamp_awaited or position.newest_stamp < idle_before:
            found.append((account_id, not position.is_stamp_awaited))
    if failure and not found:
        raise failure
    return found


def accounts_of(store: Store) -> list[int]:
    """Return the ids of all accounts, on PostgreSQL."""
    with store.counters() as connection:
        connection.set_tenant(0, is_master=True)
        return connection.column_as(int, "SELECT account_id FROM accounts ORDER BY account_id")


def position_of(connection: Connection, account_id: int, since_us: int = 0) -> Position:
    """Return the state of the account's change feed, with its first commit since ``since_us``.

    The first commit has no stamp, or a stamp of that time or later. Stamps increase with the ids,
    so the commit with the first such stamp has the lowest id. Raises AccountGone if the account
    does not exist.
    """
    found = connection.row_as(
        tuple[int | None, int | None, str | None, int | None, int | None],
        """
        SELECT (SELECT max(visible_at) FROM commits WHERE account_id = :account_id),
            epoch_at, history,
            (SELECT min(commit_id) FROM commits
                WHERE account_id = :account_id AND visible_at IS NULL),
            (SELECT commit_id FROM commits
                WHERE account_id = :account_id AND visible_at >= :since
                ORDER BY visible_at LIMIT 1)
        FROM epochs WHERE account_id = :account_id
        """,
        account_id=account_id,
        since=since_us,
    )
    if not found:
        raise AccountGone(f"there is no account {account_id}: it was removed")
    newest_stamp, epoch_at, history, first_without, first_since = found
    news = [each for each in (first_without, first_since) if each is not None]
    return Position(
        newest_stamp or 0, epoch_at, history, first_without is not None, min(news, default=None)
    )
