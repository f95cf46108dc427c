"""Database functions for the emulator only: does a record exist, and snapshots of a file.

:func:`go_back` works while servers use the file; ``backups`` has the restore for operators.
"""

from collections.abc import Sequence
from pathlib import Path

from masthead.contract.records import Table
from masthead.databases import sqlite
from masthead.store.account_removal import COUNTERS
from masthead.store.database import Connection
from masthead.store.sqlite import SqliteStore


def is_there(connection: Connection, account_id: int, table: Table, key: Sequence[int]) -> bool:
    """Return whether the account has a record with this key, including deleted subscribers."""
    values = {f"key_{n}": value for n, value in enumerate(key)}
    same = " AND ".join(f"{name} = :key_{n}" for n, name in enumerate(table.key))
    found = connection.row(
        f"SELECT 1 FROM {table.name} WHERE account_id = :account_id AND {same}",
        account_id=account_id,
        **values,
    )
    return found is not None


def keep(store: SqliteStore, path: Path) -> None:
    """Copy the database to the file ``path``, for :func:`go_back`.

    Raises DatabaseUnavailable if either file cannot be read or written.
    """
    sqlite.create_file(path)
    sqlite.copy_file(store.path, path, lambda _done, _all: None)


def go_back(store: SqliteStore, path: Path) -> None:
    """Bring the database back to what :func:`keep` copied, and empty the counters.

    Servers that have it open continue: they see one transaction. Raises DatabaseUnavailable if
    either file cannot be read or written.
    """
    sqlite.overwrite_file(path, store.path)
    with store.counters() as counters:
        for name in COUNTERS:
            counters.change(f"DELETE FROM {name}")
