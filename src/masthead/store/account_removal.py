"""Removing an account: all its data, its credentials and what servers have counted of it.

Of it remain the entries of the audit log and, in ``removed_accounts``, its number with its newest
stamp. So an account that gets the number again begins an epoch, and clients of the former one get
410 and not the changes of other data (rules, "An account is removed").
"""

from collections.abc import Iterator
from contextlib import contextmanager

from masthead.contract.records import TABLES
from masthead.store import accounts, audit, commits, loads
from masthead.store.database import Connection, Store

__all__ = ["COUNTERS", "OF_AN_ACCOUNT", "STAGED", "remove_account"]

OF_AN_ACCOUNT = (
    *(table.name for table in reversed(TABLES)),
    "subscription_kinds",
    "erasures",
    "deletions",
    "natural_keys",
    "loads",
    "commits",
    "epochs",
    "api_keys",
    "operators",
)
"""The tables with rows of an account, without ``accounts``, in the order in which they are emptied:
a row goes before those that it refers to."""

COUNTERS = (
    "login_failures",
    "login_successes",
    "key_uses",
    "operator_sessions",
    "request_counts",
)
"""The tables of what servers count, which an embedded database has in another file."""

STAGED = (*(table.name for table in TABLES), "erasures", "problems", "keys", "natural_keys")
"""The staging tables of PostgreSQL, by their own names."""


def remove_account(
    store: Store, account_id: int, *, by: audit.Actor | None = None
) -> dict[str, int]:
    """Remove an account with everything of it, in one transaction; wait for a load that runs.

    Returns how many rows each table of data has lost, without those that had none. The file of an
    embedded database is then rewritten, so that it has no trace of them. Raises NotFound if there
    is no such account.
    """
    removed = {}
    with _without_loads(store, account_id) as connection:
        connection.lock_account(account_id)
        connection.lock_stamps(account_id)
        connection.lock_accounts()
        store.check_schema(connection)
        accounts.settings_of(connection, account_id)
        newest = commits.position_of(connection, account_id).newest_stamp
        for name in OF_AN_ACCOUNT:
            removed[name] = _empty(connection, account_id, name)
        if connection.dialect == "postgresql":
            for name in (*COUNTERS, *(f"staged_{each}" for each in STAGED), "account_locks"):
                _empty(connection, account_id, name)
        _empty(connection, account_id, "accounts")
        connection.change(
            """
            INSERT INTO removed_accounts (account_id, newest_stamp)
            VALUES (:account_id, :newest_stamp)
            ON CONFLICT (account_id) DO UPDATE SET newest_stamp = excluded.newest_stamp
            """,
            account_id=account_id,
            newest_stamp=newest,
        )
        found = {table.name: removed[table.name] for table in TABLES if removed[table.name]}
        rows = ", ".join(f"{count} of {name}" for name, count in found.items())
        audit.record(connection, by, f"removed with {rows or 'no data'}", account_id=account_id)
    if store.dialect == "sqlite":
        with store.counters() as counters:
            for name in COUNTERS:
                _empty(counters, account_id, name)
        store.vacuum_after_erase()
    return found


@contextmanager
def _without_loads(store: Store, account_id: int) -> Iterator[Connection]:
    """Yield a connection in a transaction, beside which no load of the account runs.

    The lock of loads comes first, as in a load. On PostgreSQL it is a row that is deleted in this
    transaction, so no other session can hold it.
    """
    with store.writer() as connection:
        accounts.settings_of(connection, account_id)
        if store.waiting and store.is_loading(account_id):
            store.waiting.say(loads.running(store, account_id))
        if connection.dialect == "sqlite":
            with store.load_lock(account_id, waits=True), connection.transaction():
                yield connection
        else:
            with connection.transaction():
                connection.rows(
                    """
                    SELECT 1 FROM account_locks
                    WHERE account_id = :account_id AND kind = 'load' FOR UPDATE
                    """,
                    account_id=account_id,
                )
                yield connection


def _empty(connection: Connection, account_id: int, name: str) -> int:
    return connection.change(
        f"DELETE FROM {name} WHERE account_id = :account_id", account_id=account_id
    )
