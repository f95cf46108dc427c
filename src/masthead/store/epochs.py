"""Epochs: periods of an account's change feed without a break in its history.

A restored backup or a promoted replica may lack changes that clients have seen. It therefore starts
a new epoch, and the feed refuses times before the epoch.

On PostgreSQL this happens automatically. A database's ``history`` consists of the server's
identifier, the database and the server's timeline; PostgreSQL changes it in each of these cases.
The account's epoch stores the history, which is compared before each load and each response of the
feed. On a distributed database, the history is that of the account's node.
"""

from collections.abc import Mapping
from math import inf
from time import monotonic
from types import MappingProxyType
from typing import NamedTuple

from masthead.databases.postgresql.greenlets import at_most
from masthead.errors import StoreUnavailable
from masthead.store import audit, commits
from masthead.store.database import Connection, Store

_SECOND_US = 1_000_000
_ANSWER_S_MAX = 1.0
"""If reads use a replica, a primary that does not respond for this time counts as unavailable."""

_HISTORY = """
    SELECT history(), e.history FROM epochs AS e WHERE e.account_id = :account_id
    """


def start_epochs(
    store: Store,
    *,
    known: Mapping[int, int] = MappingProxyType({}),
    after_us: int = 0,
    by: audit.Actor | None = None,
) -> int:
    """Start a new epoch in all accounts, in one transaction; return the number of accounts.

    ``known`` has stamps, by account, that clients know and the database may lack
    (:func:`stamps_of`); ``after_us`` is such a stamp for all accounts.
    """
    with store.writer() as connection, connection.transaction():
        found = connection.column_as(int, "SELECT account_id FROM accounts ORDER BY account_id")
        # First: each may wait long for a load, and servers wait while stamps are locked.
        for account_id in found:
            connection.lock_account(account_id)
        for account_id in found:
            start_epoch(connection, account_id, max(after_us, known.get(account_id, 0)))
        for account_id in known.keys() - set(found):
            _keep_stamp(connection, account_id, known[account_id])
        accounts = "account" if len(found) == 1 else "accounts"
        audit.record(connection, by, f"a new epoch began in {len(found)} {accounts}")
    return len(found)


def stamps_of(connection: Connection) -> dict[int, int]:
    """Return the newest stamp of each account, including removed accounts."""
    rows = connection.rows_as(
        tuple[int, int],
        """
        SELECT account_id, max(stamp) FROM (
            SELECT account_id, max(visible_at) AS stamp FROM commits
            WHERE visible_at IS NOT NULL GROUP BY account_id
            UNION ALL SELECT account_id, newest_stamp FROM removed_accounts) AS found
        GROUP BY account_id
        """,
    )
    return dict(rows)


def _keep_stamp(connection: Connection, account_id: int, stamp: int) -> None:
    """Keep the newest stamp of a missing account for a later account with its number."""
    connection.change(
        """
        INSERT INTO removed_accounts (account_id, newest_stamp) VALUES (:account_id, :stamp)
        ON CONFLICT (account_id) DO UPDATE SET newest_stamp = excluded.newest_stamp
        WHERE removed_accounts.newest_stamp < excluded.newest_stamp
        """,
        account_id=account_id,
        stamp=stamp,
    )


def start_epoch(connection: Connection, account_id: int, known_us: int = 0) -> None:
    """Start an epoch in the caller's transaction, which has locked the account.

    The epoch starts at a whole second, so that times of clients that drop fractions are inside it
    (architecture, "The change feed"). It starts after every time that clients have: the newest
    stamp, or ``known_us``, plus a microsecond.
    """
    commits.stamp_waiting(connection, account_id)
    newest = max(known_us, commits.position_of(connection, account_id).newest_stamp)
    epoch_at = -(-max(connection.now(), newest + 2) // _SECOND_US) * _SECOND_US
    commit_id = commits.begin_commit(connection, account_id)
    commits.stamp(connection, account_id, commit_id, epoch_at)
    connection.change(
        "UPDATE epochs SET epoch_at = :epoch_at WHERE account_id = :account_id",
        epoch_at=epoch_at,
        account_id=account_id,
    )


def note_history(connection: Connection, account_id: int) -> None:
    """Add the epoch of a new account, in the transaction that adds the account."""
    connection.change("INSERT INTO epochs (account_id) VALUES (:account_id)", account_id=account_id)
    if connection.dialect == "postgresql":
        _keep(connection, account_id, connection.rows(_HISTORY, account_id=account_id)[0][0])


def _keep(connection: Connection, account_id: int, history: str) -> None:
    connection.change(
        "UPDATE epochs SET history = :history WHERE account_id = :account_id",
        history=history,
        account_id=account_id,
    )


class History(NamedTuple):
    """The history of an account's data, and that of its epoch. If they differ, an epoch is due.

    Both are None if there is nothing to compare.
    """

    current: str | None
    known: str | None


_NOTHING = History(None, None)


def follow_history(store: Store, account_id: int, *, waits: bool = False) -> str | None:
    """Start a new epoch if the history of the account's data has changed.

    Returns the history, which the account's epoch now has, or None on SQLite. Raises
    StoreUnavailable if the database is unavailable or a load delays the epoch. With ``waits``, it
    does not use the pool, whose sessions must open within a second.
    """
    if store.dialect == "sqlite":
        return None
    with store.writer() if waits else store.counters() as connection:
        found = _ask(connection, account_id)
    return _follow(store, account_id, found)


def _ask(connection: Connection, account_id: int) -> History:
    connection.set_tenant(account_id)
    found = connection.row_as(History, _HISTORY, account_id=account_id)
    if found is None:
        return _NOTHING
    if found.current is None:
        raise StoreUnavailable("the database is a replica: its primary is needed here")
    return found


def _follow(store: Store, account_id: int, found: History) -> str | None:
    if found.current != found.known:
        with store.writer(waits=False) as connection, connection.transaction():
            connection.lock_account(account_id)
            found = _ask(connection, account_id)
            if found.current != found.known:
                if not _has_moved(connection, str(found.known), str(found.current)):
                    start_epoch(connection, account_id)
                _keep(connection, account_id, str(found.current))
    return found.current


def _has_moved(connection: Connection, known: str, history: str) -> bool:
    """Return whether the account moved from another node of a distributed database."""
    before, node = (text.rpartition("/")[0] for text in (known, history))
    return before != node and bool(
        connection.rows("SELECT 1 FROM nodes WHERE node = :node", node=node)
    )


def history_of(store: Store, account_id: int) -> History:
    """Return the account's histories, for a response of the change feed.

    If a store reads from a replica and its primary is unavailable, there is nothing to compare.
    Without a replica, raises StoreUnavailable if the database is unavailable.
    """
    is_away = store.reads_replica and monotonic() - store.following_since > _ANSWER_S_MAX
    if store.dialect == "sqlite" or is_away:
        return _NOTHING
    if not store.reads_replica:
        with store.counters() as connection:
            return _ask(connection, account_id)
    silent = StoreUnavailable(f"the primary is silent for {_ANSWER_S_MAX:g} seconds")
    try:
        with at_most(_ANSWER_S_MAX, silent), store.counters() as connection:
            return _ask(connection, account_id)
    except StoreUnavailable:
        # Others do not wait for the primary until `follow_all` has reached it.
        store.following_since = -inf
        return _NOTHING


def current_history(store: Store, account_id: int) -> str | None:
    """Return the history that :func:`history_of` finds; start a new epoch first if it is due.

    Raises what :func:`history_of` raises, and StoreUnavailable if a load delays the epoch.
    """
    return _follow(store, account_id, history_of(store, account_id))


def follow_all(store: Store) -> None:
    """Start a new epoch in all accounts whose data's history has changed.

    Raises StoreUnavailable if the database is unavailable; a later call does the rest.
    """
    if store.dialect == "sqlite":
        return
    store.following_since = min(store.following_since, monotonic())
    try:
        changed = _changed(store)
        store.following_since = inf
    except StoreUnavailable:
        # On a distributed database, an unavailable node must not stop the others.
        changed = commits.accounts_of(store)
    failure = None
    for account_id in changed:
        try:
            follow_history(store, account_id)
        except StoreUnavailable as error:
            failure = error
    if failure:
        raise failure


def _changed(store: Store) -> list[int]:
    """Return the accounts whose history has changed or may have changed."""
    changed = []
    with store.counters() as connection:
        found = connection.rows_as(
            tuple[str | None, int], "SELECT history, account_id FROM histories()"
        )
    for known, one in found:
        if follow_history(store, one) != known:
            with store.counters() as connection:
                changed += connection.column_as(
                    int, "SELECT account_id FROM accounts_with_history(:known)", known=known
                )
    return changed
