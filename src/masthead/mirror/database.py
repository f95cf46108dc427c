"""The database of the copy: its tables, rows and state, in SQLite, PostgreSQL, DuckDB or Parquet.

Others can read the copy while it is being written (SQLite is in WAL mode), except in DuckDB.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from masthead.contract import kinds
from masthead.contract.shapes import Field
from masthead.databases.connection import Connection, DatabaseLocked, DatabaseUnavailable
from masthead.databases.sqlite import SqliteConnection
from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.mirror import amounts
from masthead.mirror.aside import Aside
from masthead.mirror.dialects import DIALECTS
from masthead.mirror.holding import not_held
from masthead.mirror.parquet import ParquetFiles
from masthead.mirror.schema import STATE_TABLE, columns_of, expected, script
from masthead.mirror.tables import (
    CHANGED_AT,
    SET_ASIDE,
    TABLES,
    UNEARNED,
    Row,
    Table,
    number_as_text,
)
from masthead.mirror.versions import OF_ERASED, Versions, check_history, history_of

Tell = Callable[[str, int], None]
"""A function that is called with the kind of records in progress, and the number so far."""


class State(NamedTuple):
    """The source and the progress of a copy.

    ``base_url`` and ``account_id`` (None: unknown) identify the source. ``changed_since`` is the
    time for the next request. ``lacking`` says what the source lacked at the first pass; None: it
    had everything.
    """

    base_url: str
    account_id: int | None
    changed_since: str
    lacking: str | None
    entities: str


class Copy:
    """A copy. Its state and rows are read and written in a block of ``writing`` or ``reading``.

    The block raises StoreUnavailable if the database cannot be used. ``files`` are the files of a
    copy in Parquet.
    """

    def __init__(self, connection: Connection, files: ParquetFiles | None = None) -> None:
        self._connection = connection
        self._dialect = DIALECTS[connection.dialect]
        self._files = files
        self._changed: set[str] = set()
        """The tables that the transaction has changed."""
        self._tables: set[str] = set()
        """The tables that the copy has, those of its history among them."""
        self._versions = Versions(connection)
        self.aside = Aside(connection)
        """The records that are set aside, in the block of ``writing`` or ``reading``."""

    def load_files(self, *, always: bool) -> None:
        """Fill the database of a copy in Parquet from the files, if they differ or ``always``."""
        if self._files:
            with self._explaining(), self._connection.transaction():
                self._files.load(self._connection, always=always)

    def prepare(self, *, history: bool, unearned: bool) -> None:
        """Create the tables that are missing.

        Raises BadUsage if other tables have their names, or as :func:`check_history` does.
        """
        with self._explaining():
            found = self._check_columns()
            if history and STATE_TABLE in found and (state := self.state()):
                check_history(state.entities.split(","))
            if isinstance(self._connection, SqliteConnection):
                self._connection.switch_to_wal()
                self._connection.limit_wal()
        history = history or history_of(TABLES[0]) in found
        unearned = unearned or UNEARNED.name in found
        needed = expected(self._dialect, history=history, unearned=unearned).keys()
        with self.writing():
            # Checked again, since another process may have created tables meanwhile.
            if not needed <= self._check_columns():
                self._connection.script(script(self._dialect, history=history, unearned=unearned))
            if self._dialect.has_amounts:
                for name, column in self._connection.rows(amounts.NARROW_HISTORIES):
                    self._make_wide(name, column)

    def has_begun(self) -> bool:
        """Return whether the copy has a state. Raises BadUsage as :meth:`prepare` does."""
        with self.reading():
            return STATE_TABLE in self._check_columns() and self.state() is not None

    def _check_columns(self) -> set[str]:
        """Return the tables that exist. Raises BadUsage if one of them has other columns."""
        right = expected(self._dialect, history=True, unearned=True)
        names = ", ".join(f"'{name}'" for name in right)
        found = self._connection.rows(self._dialect.columns.format(names=names))
        tables = {name: [row[1] for row in rows] for name, rows in groupby(found, itemgetter(0))}
        for name, columns in tables.items():
            if columns != right[name]:
                raise BadUsage(
                    f"this database has a table {name} that is none of a copy, or of one that "
                    "another version of Masthead keeps: name a new database"
                )
        return set(tables)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Commit what the block writes, or roll it back if the block raises.

        Waits up to ten seconds for another process that writes to the copy.
        """
        with self._explaining(), self._connection.transaction():
            if self._dialect.lock:
                self._connection.script(self._dialect.lock)
            if self._files:
                self._files.load(self._connection)
            self._tables = self._check_columns()
            self._changed.clear()
            self._versions.begin(self._changed_at())
            self.aside.begin()
            yield
            self._changed |= self._versions.settle(self._tables)
            if self.aside.settle(self._versions.now):
                self._changed.add(SET_ASIDE.name)
            if self._changed - {STATE_TABLE} and self._connection.change(
                f"UPDATE {STATE_TABLE} SET {CHANGED_AT} = :now", now=self._versions.now
            ):
                self._changed.add(STATE_TABLE)
            if self._files:
                self._files.write(self._connection, self._changed)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read in one snapshot during the block."""
        with self._explaining(), self._connection.read_snapshot():
            self.aside.begin()
            yield

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except DatabaseLocked:
            raise StoreUnavailable(
                "the copy is in use: another process writes to it, perhaps another mirror"
            ) from None
        except (DatabaseUnavailable, self._connection.driver_error) as error:
            # Only the first line, since the further lines can quote a row.
            first_line = str(error).partition("\n")[0]
            reason = error.reason if isinstance(error, DatabaseUnavailable) else first_line
            raise StoreUnavailable(f"the copy cannot be used: {reason}") from error

    def state(self) -> State | None:
        """Return the state, or None if the copy has not been started."""
        return self._connection.row_as(
            State, f"SELECT {', '.join(State._fields)} FROM {STATE_TABLE}"
        )

    def _changed_at(self) -> str | None:
        """Return the time of the newest pass that wrote rows, or None."""
        if STATE_TABLE not in self._tables:
            return None
        return self._connection.value_as(str, f"SELECT {CHANGED_AT} FROM {STATE_TABLE}")

    def has(self, table: Table) -> bool:
        """Return whether the copy has a table. Only in a block of ``writing``."""
        return table.name in self._tables

    def keep_state(self, state: State) -> None:
        """Write the state."""
        values = [(*state, self._changed_at() or self._versions.now)]
        self._connection.change(f"DELETE FROM {STATE_TABLE}")
        self._connection.insert_many(STATE_TABLE, (*State._fields, CHANGED_AT), values, id=1)
        self._changed.add(STATE_TABLE)

    def clear(self) -> None:
        """Remove all rows of all tables."""
        tables = [table for table in (*TABLES, UNEARNED) if self.has(table)]
        self._versions.take_all(tables)
        for table in tables:
            self.remove_all(table)
        self.aside.forget_all()

    def held(self, table: Table, rows: Sequence[Row], request: str) -> list[Row]:
        """Return the rows that the database can hold, and set aside the others."""
        odd = set()
        for row, field, _ in self.not_held(table, rows):
            odd.add(row)
            record_id = "/".join(map(str, row[: table.key]))
            value = row[table.columns.index(field)]
            self.aside.add(table, record_id, field.name, value, request)
        return [row for row in rows if row not in odd] if odd else list(rows)

    def not_held(self, table: Table, rows: Sequence[Row]) -> list[tuple[Row, Field, str]]:
        """Return the rows that the database cannot hold, each with the field and the reason."""
        return not_held(table, rows, self._dialect)

    def put(
        self,
        table: Table,
        keys: Sequence[int] | None,
        rows: Iterable[Row],
        *,
        within: tuple[int, ...] = (),
    ) -> None:
        """Insert rows after deleting the rows with the same keys (None: the table has none).

        A key is a value of the first column, the owner. With ``within``, the start of the primary
        key that all rows share, it is a value of the column after these. Raises MastheadError if
        the database cannot hold a value.
        """
        found = list(rows)
        try:
            if keys is not None:
                self.remove(table, keys, within=within)
            kept = found
            if self._dialect.has_amounts:
                kept = [amounts.with_decimals(table.columns, row) for row in found]
                self._widen(table, amounts.too_wide(table.columns, found))
            if kept:
                now = self._versions.now
                kept = [(*row, now) for row in kept]
                self._connection.insert_many(table.name, columns_of(table, self._dialect), kept)
                self._changed.add(table.name)
        except ValueError:
            raise self._not_kept(table, found) from None

    def _widen(self, table: Table, columns: Iterable[str]) -> None:
        """Make columns of amounts wide, in the table and in its history."""
        for column in columns:
            for name in {table.name, history_of(table)} & self._tables:
                if self._connection.value_as(
                    int, amounts.IS_NARROW, table_name=name, column_name=column
                ):
                    self._make_wide(name, column)

    def _make_wide(self, name: str, column: str) -> None:
        self._connection.script(f'ALTER TABLE {name} ALTER "{column}" TYPE {amounts.WIDE}')
        self._changed.add(name)

    def remove(self, table: Table, keys: Sequence[int], *, within: tuple[int, ...] = ()) -> int:
        """Remove the rows with these keys, as in :meth:`put`; return their number."""
        where, values = self._among(table, keys, within)
        return self._delete(table, where, **values)

    def restore(self, table: Table, keys: Sequence[int], *, within: tuple[int, ...] = ()) -> None:
        """Insert again the rows with these keys, as in :meth:`put`, that this pass has removed.

        Rows whose key the table has are left as they are.
        """
        where, values = self._among(table, keys, within)
        if keys and self._versions.restore(table, where, **values):
            self._changed.add(table.name)

    def _among(
        self, table: Table, keys: Sequence[int], within: tuple[int, ...]
    ) -> tuple[str, dict[str, int | str]]:
        """Return the condition for rows with these keys, and the values in it."""
        *shared, last = (column.name for column in table.columns[: len(within) + 1])
        conditions = [f"{name} = :{name}" for name in shared]
        conditions.append(self._dialect.is_among.format(column=last))
        values: dict[str, int | str] = dict(zip(shared, within, strict=True))
        values["keys"] = self._dialect.keys(keys)
        return f"WHERE {' AND '.join(conditions)}", values

    def remove_all(self, table: Table) -> None:
        """Remove all rows of a table."""
        self._delete(table)

    def _delete(self, table: Table, where: str = "", **values: int | str) -> int:
        self._versions.take(table, where, **values)
        removed = self._connection.change(f"DELETE FROM {table.name} {where}", **values)
        if removed:
            self._changed.add(table.name)
        return removed

    def erased_owners(self, table: Table, owners: Sequence[int]) -> list[int]:
        """Return the owners, among these, of rows of erased persons."""
        where, values = self._among(table, owners, ())
        return self._connection.column_as(
            int,
            f"SELECT DISTINCT {table.owner} FROM {table.name} {where} AND {OF_ERASED}",
            **values,
        )

    def has_new_erased(self) -> bool:
        """Return whether this pass wrote an erased subscriber."""
        return bool(
            self._connection.row(
                f"SELECT 1 FROM subscribers WHERE {OF_ERASED} AND {CHANGED_AT} = :now LIMIT 1",
                now=self._versions.now,
            )
        )

    def make_indexes(self) -> None:
        """Create the missing indexes. This is cheaper after the rows have been inserted."""
        if not self._dialect.has_indexes:
            return
        for table in TABLES:
            for column in table.indexed:
                self._connection.script(
                    f"CREATE INDEX IF NOT EXISTS {table.name}_by_{column} "
                    f"ON {table.name} ({column})"
                )

    def rows(
        self, table: Table, owners: Sequence[int] | None, order: Sequence[str] = ()
    ) -> Iterator[Row]:
        """Yield the rows of the owners (None: of all), by owner and then by ``order``.

        The values are as inserted, in the form that ``masthead.contract.encoding`` takes.
        """
        columns = ", ".join(map(self._dialect.wire_text, table.columns))
        where, values = "TRUE", {}
        if owners is not None:
            where = self._dialect.is_among.format(column=table.owner)
            values["keys"] = self._dialect.keys(owners)
        by = ", ".join(f'"{name}"' for name in (table.owner, *order))
        numbers = [n for n, f in enumerate(table.columns) if isinstance(f.kind, kinds.Number)]
        for row in self._connection.stream(
            f"SELECT {columns} FROM {table.name} WHERE {where} ORDER BY {by}", **values
        ):
            if numbers:
                changed = list(row)
                for n in numbers:
                    if changed[n] is not None:
                        changed[n] = number_as_text(float(changed[n]))
                yield tuple(changed)
            else:
                yield row

    def is_empty(self, table: Table) -> bool:
        """Return whether a table has no row."""
        return self._connection.row(f"SELECT 1 FROM {table.name} LIMIT 1") is None

    def owners(self, table: Table) -> Iterator[int]:
        """Yield the owners that have rows in a table, each once, in ascending order."""
        for (owner,) in self._connection.stream(
            f"SELECT DISTINCT {table.owner} FROM {table.name} ORDER BY 1"
        ):
            yield owner

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _not_kept(self, table: Table, rows: Sequence[Row]) -> MastheadError:
        """Return the exception for rows with a value that the database cannot hold."""
        for row, field, reason in self.not_held(table, rows):
            key = "/".join(map(str, row[: table.key]))
            return MastheadError(
                f"{table.name} {key}: the copy cannot hold the {field.name}: {reason}"
            )
        return MastheadError(f"{table.name}: the copy's database cannot hold a value")
