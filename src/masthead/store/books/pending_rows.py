"""The rows that an operation has not written yet: whole rows, and many with one statement.

An order brings a few rows to each of eight tables. Written one by one, they take most of the time
of an import on PostgreSQL, where each statement is a round trip.
"""

from masthead.contract.records import TABLES_BY_NAME
from masthead.store.database import Connection, Value

Record = dict[str, Value]


class Pending:
    """Rows to insert into one account, and changes of its existing rows."""

    def __init__(self, connection: Connection, account_id: int) -> None:
        self._connection = connection
        self._account_id = account_id
        self._rows: dict[str, list[Record]] = {}
        self._changes: dict[str, list[Record]] = {}

    def add(self, table: str, row: Record) -> None:
        """Queue a row to insert; it may be changed until :meth:`write`."""
        self._rows.setdefault(table, []).append(row)

    def change(self, sql: str, values: Record) -> None:
        """Queue a change to run after all inserts; ``sql`` may use ``:account_id``."""
        self._changes.setdefault(sql, []).append(values)

    def write(self) -> None:
        """Write everything; rows that others refer to come first."""
        rows, self._rows = self._rows, {}
        for table in sorted(rows, key=[*TABLES_BY_NAME].index):
            alike: dict[tuple[str, ...], list[Record]] = {}
            for row in rows[table]:
                alike.setdefault(tuple(row), []).append(row)
            for columns, those in alike.items():
                self._connection.insert_many(
                    table,
                    columns,
                    [tuple(row.values()) for row in those],
                    account_id=self._account_id,
                )
        changes, self._changes = self._changes, {}
        for sql, many in changes.items():
            self._connection.change_many(
                sql, [{"account_id": self._account_id, **values} for values in many]
            )
