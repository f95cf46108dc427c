"""Remove an account: all its data, its credentials and its counters.

The audit log keeps its entries, and ``removed_accounts`` keeps the account's number and newest
stamp. A new account with that number therefore begins an epoch. Clients of the removed account get
410 instead of the changes of other data (rules, "An account is removed").
"""

from collections.abc import Iterator
from contextlib import contextmanager

from masthead.contract.records import TABLES
from masthead.store import accounts, audit, commits, loads
from masthead.store.database import Connection, Store

OF_AN_ACCOUNT = (
    *(table.name for table in reversed(TABLES)),
    "subscription_kinds",
    "erasures",
    "deletions",
    "natural_keys",
    "loads",
    "commits",
    "epochs",
    "credentials",
    "partners",
    "entitlement_keys",
    "operators",
    "saved_forms",
)
"""The tables with an account's rows, except ``accounts``, in the order in which they are emptied:
rows go before the rows that they refer to."""

COUNTERS = (
    "login_failures",
    "login_successes",
    "credential_uses",
    "operator_sessions",
    "reader_sessions",
    "sign_in_links",
    "entitlement_codes",
    "request_counts",
)
"""The tables of counters that servers write. An embedded database has them in another file."""

STAGED = (*(table.name for table in TABLES), "erasures", "problems", "keys", "natural_keys")
"""The staging tables of PostgreSQL, without their prefix ``staged_``."""


def remove_account(
    store: Store, account_id: int, *, by: audit.Actor | None = None
) -> dict[str, int]:
    """Remove an account and all its data in one transaction, after any running load ends.

    Returns the number of deleted rows by table, without tables that had none. The file of an
    embedded database is then rewritten to remove all traces of these rows. Raises NotFound if the
    account does not exist.
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
    """Yield a connection in a transaction that excludes loads of the account.

    The load lock is taken first, as in a load. On PostgreSQL, the lock is a row that this
    transaction deletes, so this session must hold it.
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
