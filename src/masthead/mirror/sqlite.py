"""A copy in a SQLite file, read by others while it is being written (WAL)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import monotonic, sleep

import apsw

from masthead.contract import kinds
from masthead.contract.kinds import Kind
from masthead.errors import StoreUnavailable
from masthead.mirror.database import (
    IN_USE,
    STATE_TABLE,
    WAIT_S,
    State,
    check_columns,
    not_kept,
)
from masthead.mirror.tables import TABLES, Row, Table, not_null, number_as_text
from masthead.private import make_file

__all__ = ["SqliteCopy"]

WAL_BYTES_KEPT = 64 * 1024 * 1024
"""The write-ahead log of a first load is as long as the copy; afterwards it need not be."""

_POLL_S = 0.05


class SqliteCopy:
    """The copy in a file (``mirror.database`` says what its methods do)."""

    def __init__(self, path: Path) -> None:
        if not path.absolute().parent.is_dir():
            raise StoreUnavailable(
                f"the copy {path} cannot be opened: there is no folder {path.absolute().parent}"
            )
        make_file(path)
        try:
            self._connection = apsw.Connection(str(path.absolute()))
        except apsw.Error as error:
            raise StoreUnavailable(f"the copy {path} cannot be opened: {error}") from error
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        with _explaining():
            self._connection.set_busy_timeout(WAIT_S * 1000)
            check_columns(self._columns())
            _use_wal(self._connection)
            self._connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
        with self.writing():
            check_columns(self._columns())
            self._connection.execute(_SCHEMA)

    def _columns(self) -> dict[str, list[str]]:
        """The columns of each table that is there and has the name of one of a copy."""
        names = (STATE_TABLE, *(table.name for table in TABLES))
        found = self._connection.execute(
            "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
            f"WHERE m.name IN ({', '.join('?' * len(names))}) ORDER BY m.name, c.cid",
            names,
        )
        return {name: [row[1] for row in rows] for name, rows in groupby(found, itemgetter(0))}

    def writing(self) -> AbstractContextManager[None]:
        """Write in one transaction, which waits for another for a while."""
        return self._transaction("BEGIN IMMEDIATE")

    def reading(self) -> AbstractContextManager[None]:
        """Read in one transaction."""
        return self._transaction("BEGIN")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with _explaining():
            self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def state(self) -> State | None:
        """Return the row of the table ``mirror``."""
        columns = ", ".join(State._fields)
        for row in self._connection.execute(f"SELECT {columns} FROM {STATE_TABLE}"):
            return State(*row)
        return None

    def keep_state(self, state: State) -> None:
        """Write the row of the table ``mirror``."""
        columns = ", ".join(State._fields)
        self._connection.execute(
            f"REPLACE INTO {STATE_TABLE} (id, {columns}) VALUES (1, ?, ?, ?, ?)", state
        )

    def clear(self) -> None:
        """Remove all rows of all tables."""
        for table in TABLES:
            self.remove_all(table)

    def put(
        self,
        table: Table,
        keys: Sequence[int] | None,
        rows: Iterable[Row],
        *,
        within: tuple[int, ...] = (),
    ) -> None:
        """Delete and insert."""
        if keys is not None:
            columns = table.columns[: len(within) + 1]
            found_by = " AND ".join(f"{column.name} = ?" for column in columns)
            sql = f"DELETE FROM {table.name} WHERE {found_by}"
            self._connection.executemany(sql, ((*within, key) for key in keys))
        found = list(rows)
        places = ", ".join("?" * len(table.columns))
        try:
            self._connection.executemany(f"INSERT INTO {table.name} VALUES ({places})", found)
        except (OverflowError, UnicodeEncodeError):
            raise not_kept(table, found) from None

    def remove_all(self, table: Table) -> None:
        """Remove all rows of a table."""
        self._connection.execute(f"DELETE FROM {table.name}")

    def make_indexes(self) -> None:
        """Make the indexes that are missing."""
        for table in TABLES:
            for column in table.indexed:
                self._connection.execute(
                    f"CREATE INDEX IF NOT EXISTS {table.name}_by_{column} "
                    f"ON {table.name} ({column})"
                )

    def rows(
        self, table: Table, owners: Sequence[int] | None, order: Sequence[str] = ()
    ) -> Iterator[Row]:
        """Yield rows as they are kept, but for numbers, which are doubles here."""
        columns = ", ".join(f'"{field.name}"' for field in table.columns)
        by = ", ".join(f'"{name}"' for name in (table.owner, *order))
        sql = f"SELECT {columns} FROM {table.name}"
        numbers = [n for n, f in enumerate(table.columns) if isinstance(f.kind, kinds.Number)]
        if owners is not None:
            sql += f" WHERE {table.owner} IN ({', '.join('?' * len(owners))})"
        for row in self._connection.cursor().execute(f"{sql} ORDER BY {by}", owners or ()):
            if numbers:
                values = list(row)
                for number in numbers:
                    if values[number] is not None:
                        values[number] = number_as_text(values[number])
                yield tuple(values)
            else:
                yield row

    def owners(self, table: Table) -> Iterator[int]:
        """Yield the owners."""
        sql = f"SELECT DISTINCT {table.owner} FROM {table.name} ORDER BY 1"
        for (owner,) in self._connection.cursor().execute(sql):
            yield owner

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _column_type(kind: Kind) -> str:
    if isinstance(kind, kinds.Number):
        return "REAL"
    return kind.column


def _created(table: Table) -> str:
    columns = [f'"{f.name}" {_column_type(f.kind)}{not_null(f)}' for f in table.columns]
    key = ", ".join(field.name for field in table.columns[: table.key])
    return (
        f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(columns)}, PRIMARY KEY ({key})) "
        "STRICT, WITHOUT ROWID;"
    )


_STATE = f"""
    CREATE TABLE IF NOT EXISTS {STATE_TABLE} (id INTEGER PRIMARY KEY, base_url TEXT,
        account_id INTEGER, changed_since TEXT, lacking TEXT) STRICT;
"""
_SCHEMA = "\n".join([*map(_created, TABLES), _STATE])


def _use_wal(connection: apsw.Connection) -> None:
    """Keep a write-ahead log; where two change to it at once, one is refused and tries again."""
    ends_at = monotonic() + WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if monotonic() > ends_at:
                raise
            sleep(_POLL_S)
        else:
            return


@contextmanager
def _explaining() -> Iterator[None]:
    try:
        yield
    except apsw.BusyError:
        raise StoreUnavailable(IN_USE) from None
    except apsw.Error as error:
        raise StoreUnavailable(f"the copy cannot be used: {error}") from error
