"""An account that keeps its books, filled row by row, and what its tables then hold.

Rows are written as they are, so that a test can begin with any state of the books.
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from masthead.books.account import Books
from masthead.contract.records import TABLES_BY_NAME
from masthead.store import accounts, open_store
from masthead.store.audit import Actor
from masthead.store.books.derived_values import refresh
from masthead.store.books.operation import operation
from masthead.store.staging import DERIVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Store as OpenStore
    from masthead.store.database import Value
    from tests.servers import Store

    Stored = dict[str, tuple[list[str], list[tuple[Any, ...]]]]
    """The columns and the rows of each table that has any."""

ACTOR = Actor("ada", "issue close")
_numbers = itertools.count()
_LAST_EMPTIED = ("issues", "list_downloads", "publications")
"""The tables that others refer to against the order of the contract."""

_EMPTIED = (
    *reversed([each for each in TABLES_BY_NAME if each not in {"books", *_LAST_EMPTIED}]),
    *("deletions", "subscription_kinds"),
    *_LAST_EMPTIED,
)
"""All tables but that of the books, in the order in which they can be emptied."""

_FILLED = " UNION ALL ".join(
    f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table} WHERE account_id = :account_id)"
    for table in _EMPTIED
)
"""Asks which of these tables have rows of the account."""

_COLUMNS = {
    "sqlite": "SELECT name FROM pragma_table_info(:table) ORDER BY cid",
    "postgresql": """
        SELECT column_name::TEXT FROM information_schema.columns
        WHERE table_schema = current_schema AND table_name = :table AND is_generated = 'NEVER'
        ORDER BY ordinal_position
    """,
}
"""Asks for the columns of a table that are written."""

_WITH_COMMIT = {"addresses", "subscriptions", "orders", "purchases", "list_downloads"}


def moment(day: str) -> int:
    """Return noon (UTC) of a day in microseconds."""
    return int(datetime.fromisoformat(f"{day} 12:00").replace(tzinfo=UTC).timestamp()) * 1_000_000


class Desk:
    """The account and its day; ``store`` is the open database."""

    actor = ACTOR

    def __init__(self, url: str, account_id: int = 1) -> None:
        """Add the account, whose books are open since 2026-01-01."""
        self.account_id = account_id
        self.now = moment("2026-01-01")
        self.url = url
        self._made: dict[Callable[[Desk], None], tuple[int, Stored]] = {}
        self._open(url)
        accounts.add_account(self.store, {"account_id": account_id})
        self.put("books", books_id=1, opened_on="2026-01-01", opened_at="2026-01-01 12:00:00")

    @property
    def books(self) -> Books:
        """The account's books, in which ``actor`` works."""
        return Books(self.store, self.account_id, self.actor)

    def _clock(self) -> int:
        self.now += 1
        return self.now

    def _open(self, url: str) -> None:
        self.store: OpenStore = open_store(url, clock=self._clock)
        self._stack = ExitStack()
        self._stack.callback(self.store.close)
        self.connection = self._stack.enter_context(self.store.writer())
        """The desk's own, since connecting each time takes longer than what is read or written."""

    def leave(self) -> None:
        """Close the database."""
        self._stack.close()

    def to(self, day: str) -> None:
        """Let it be noon of a day."""
        self.now = moment(day)

    def put(self, table: str, **row: Value) -> None:
        """Write a row as it is."""
        self.put_many(table, [row])

    def put_many(self, table: str, rows: list[dict[str, Value]]) -> None:
        """Write rows with the same columns as they are, in one transaction.

        The columns that are derived from others are added.
        """
        if not rows:
            return
        derived = DERIVED.get(table, {})
        rows = [
            {n: make(row[of]) for n, (of, make) in derived.items() if of in row} | row
            for row in rows
        ]
        same = {"account_id": self.account_id}
        if table in _WITH_COMMIT or table == "subscribers":
            same["commit_id"] = 0
        if table == "subscribers":
            same["custom_fields_commit_id"] = 0
        with self.connection.transaction():
            self.connection.lock_account(self.account_id)
            self.connection.insert_many(
                table, list(rows[0]), [tuple(row.values()) for row in rows], **same
            )

    def empty(self) -> None:
        """Delete all rows but those of the account and the books.

        One query tells which tables have any: most have none, and to delete nothing from each of
        them took longer than many a test.
        """
        database = self.connection
        with database.transaction():
            database.lock_account(self.account_id)
            filled = {table for (table,) in database.rows(_FILLED, account_id=self.account_id)}
            for table in _EMPTIED:
                if table in filled:
                    self._delete(database, table)

    def fill(self, fill: Callable[[Desk], None]) -> None:
        """Let the account hold what the function makes of it.

        The function runs once. Later, the same rows are written again, which takes a tenth of the
        time if they are the work of operations.
        """
        if fill not in self._made:
            fill(self)
            self._made[fill] = self.now, self._stored()
            return
        self.now, stored = self._made[fill]
        self.empty()
        with self.connection.transaction():
            self.connection.lock_account(self.account_id)
            for table, (columns, rows) in stored.items():
                self.connection.insert_many(table, columns, rows, account_id=self.account_id)

    def _stored(self) -> Stored:
        """Return all rows of the account as they are, in the order in which they can be written."""
        filled = {table for (table,) in self.rows(_FILLED)}
        stored: Stored = {}
        for table in reversed(_EMPTIED):
            if table in filled:
                found = self.connection.rows(_COLUMNS[self.connection.dialect], table=table)
                columns = [name for (name,) in found if name != "account_id"]
                names = ", ".join(f'"{name}"' for name in columns)
                rows = self.rows(f"SELECT {names} FROM {table} WHERE account_id = :account_id")
                stored[table] = columns, rows
        return stored

    def _delete(self, database: Any, table: str) -> None:
        database.change(f"DELETE FROM {table} WHERE account_id = :id", id=self.account_id)

    def refresh(self) -> None:
        """Derive all stored values of all subscriptions again."""
        with operation(self.store, self.account_id, None) as running:
            refresh(
                running, "SELECT subscription_id FROM subscriptions WHERE account_id = :account_id"
            )

    def rows(self, sql: str, **values: Value) -> list[tuple[Any, ...]]:
        """Return the rows of a query, which may use ``:account_id``."""
        return self.connection.rows(sql, account_id=self.account_id, **values)

    def table(self, name: str) -> list[dict[str, Any]]:
        """Return the records of a table by their key."""
        table = TABLES_BY_NAME[name]
        names = [column.name for column in table.columns]
        columns = ", ".join(f'"{each}"' for each in names)
        rows = self.rows(
            f"SELECT {columns} FROM {name} WHERE account_id = :account_id "
            f"ORDER BY {', '.join(table.key)}"
        )
        return [dict(zip(names, row, strict=True)) for row in rows]

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        """Return the records of all tables."""
        return {name: self.table(name) for name in TABLES_BY_NAME}

    def subscription(self, subscription_id: int) -> dict[str, Any]:
        """Return a subscription."""
        (found,) = (
            row for row in self.table("subscriptions") if row["subscription_id"] == subscription_id
        )
        return found


@contextmanager
def at_desk(store: Store) -> Iterator[Desk]:
    """An account of a new database, which is dropped in the end."""
    url = store.new_database(f"desk-{next(_numbers)}")
    desk = Desk(url)
    try:
        yield desk
    finally:
        desk.leave()
        store.drop_database(url)
