"""A copy in a PostgreSQL database, read by others while it is being written."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors

from masthead.contract import kinds
from masthead.contract.kinds import Kind
from masthead.errors import BadUsage, StoreUnavailable
from masthead.mirror.database import (
    IN_USE,
    STATE_TABLE,
    WAIT_S,
    State,
    check_columns,
    not_kept,
)
from masthead.mirror.tables import TABLES, Row, Table, not_null, number_as_text

__all__ = ["PostgresCopy"]

_STREAM_ROWS = 1_000
_LOCK = f"""
    SET LOCAL lock_timeout = '{WAIT_S}s';
    SELECT pg_advisory_xact_lock(hashtext(concat('masthead mirror ', current_schema())))
"""
_KEEPALIVES: dict[str, Any] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""Within a minute either side notices that the other has lost its power, and ends."""

_COLUMNS = b"""
    SELECT c.relname, array_agg(a.attname::TEXT ORDER BY a.attnum)
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relname = ANY(%s) AND pg_table_is_visible(c.oid)
    AND a.attnum > 0 AND NOT a.attisdropped GROUP BY c.relname
"""


class PostgresCopy:
    """The copy in a database (``mirror.database`` says what its methods do)."""

    def __init__(self, url: str) -> None:
        try:
            self._connection = psycopg.connect(
                url, autocommit=True, client_encoding="UTF8", **_KEEPALIVES
            )
        except psycopg.ProgrammingError:
            # Which part it is could be the password.
            raise BadUsage("the URL of the copy reads postgresql://user@host/name") from None
        except psycopg.OperationalError as error:
            raise StoreUnavailable(f"the copy cannot be opened: {_line(error)}") from error
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        with _explaining():
            for name, value in _KEEPALIVES.items():
                self._run(f"SET tcp_{name} = {value}")
        with self.writing():
            names = [STATE_TABLE, *(table.name for table in TABLES)]
            columns: dict[str, list[str]] = dict(
                self._connection.execute(_COLUMNS, [names]).fetchall()
            )
            check_columns(columns)
            if len(columns) < len(names):
                self._run(_SCHEMA)

    def writing(self) -> AbstractContextManager[None]:
        """Write in one transaction, which waits for another for a while."""
        return self._transaction(_LOCK)

    def reading(self) -> AbstractContextManager[None]:
        """Read in one transaction."""
        return self._transaction("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with _explaining(), self._connection.transaction():
            self._run(begin)
            yield

    def state(self) -> State | None:
        """Return the row of the table ``mirror``."""
        columns = ", ".join(State._fields)
        row = self._connection.execute(f"SELECT {columns} FROM {STATE_TABLE}".encode()).fetchone()
        return State(*row) if row else None

    def keep_state(self, state: State) -> None:
        """Write the row of the table ``mirror``."""
        columns = ", ".join(State._fields)
        self._run(f"DELETE FROM {STATE_TABLE}")
        self._connection.execute(
            f"INSERT INTO {STATE_TABLE} (id, {columns}) VALUES (1, %s, %s, %s, %s)".encode(), state
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
        """Delete, and insert by COPY."""
        if keys is not None:
            *shared, last = table.columns[: len(within) + 1]
            found_by = " AND ".join([*(f"{c.name} = %s" for c in shared), f"{last.name} = ANY(%s)"])
            self._connection.execute(
                f"DELETE FROM {table.name} WHERE {found_by}".encode(), [*within, list(keys)]
            )
        found = list(rows)
        try:
            with self._connection.cursor().copy(f"COPY {table.name} FROM STDIN".encode()) as copy:
                for row in found:
                    copy.write_row(row)
        except (psycopg.DataError, UnicodeEncodeError):
            raise not_kept(table, found) from None

    def remove_all(self, table: Table) -> None:
        """Remove all rows of a table."""
        self._run(f"DELETE FROM {table.name}")

    def make_indexes(self) -> None:
        """Make the indexes that are missing."""
        for table in TABLES:
            for column in table.indexed:
                self._run(
                    f"CREATE INDEX IF NOT EXISTS {table.name}_by_{column} "
                    f"ON {table.name} ({column})"
                )

    def rows(
        self, table: Table, owners: Sequence[int] | None, order: Sequence[str] = ()
    ) -> Iterator[Row]:
        """Yield rows, their dates and numbers as text."""
        columns = ", ".join(_text_of(f.kind).format(f'"{f.name}"') for f in table.columns)
        by = ", ".join(f'"{name}"' for name in (table.owner, *order))
        sql = f"SELECT {columns} FROM {table.name}"
        numbers = [n for n, f in enumerate(table.columns) if isinstance(f.kind, kinds.Number)]
        if owners is not None:
            sql += f" WHERE {table.owner} = ANY(%s)"
        values = [] if owners is None else [list(owners)]
        with self._connection.cursor() as cursor:
            found = cursor.stream(f"{sql} ORDER BY {by}".encode(), values, size=_STREAM_ROWS)
            for row in found:
                if numbers:
                    changed = list(row)
                    for number in numbers:
                        if changed[number] is not None:
                            changed[number] = number_as_text(float(changed[number]))
                    yield tuple(changed)
                else:
                    yield row

    def owners(self, table: Table) -> Iterator[int]:
        """Yield the owners."""
        query = f"SELECT DISTINCT {table.owner} FROM {table.name} ORDER BY 1"
        with self._connection.cursor() as cursor:
            for (owner,) in cursor.stream(query.encode(), size=_STREAM_ROWS):
                yield owner

    def close(self) -> None:
        """Close the connection."""
        with suppress(psycopg.Error):
            self._connection.close()

    def _run(self, statement: str) -> None:
        self._connection.execute(statement.encode())


def _column_type(kind: Kind) -> str:
    match kind:
        case kinds.Bool() | kinds.Flag() | kinds.Bit():
            return "BOOLEAN"
        case kinds.Integer():
            return "BIGINT"
        case kinds.Number() | kinds.DecimalText():
            return "NUMERIC"
        case kinds.Date():
            return "DATE"
        case kinds.DateTime():
            return "TIMESTAMP"
        case _:
            return "TEXT"


def _text_of(kind: Kind) -> str:
    match _column_type(kind):
        case "BOOLEAN":
            return "{}::INT"
        case "TIMESTAMP":
            return "to_char({}, 'YYYY-MM-DD HH24:MI:SS')"
        case "DATE":
            return "to_char({}, 'YYYY-MM-DD')"
        case "NUMERIC":
            return "{}::TEXT"
        case _:
            return "{}"


def _created(table: Table) -> str:
    columns = [f'"{f.name}" {_column_type(f.kind)}{not_null(f)}' for f in table.columns]
    key = ", ".join(field.name for field in table.columns[: table.key])
    return f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(columns)}, PRIMARY KEY ({key}));"


_STATE = f"""
    CREATE TABLE IF NOT EXISTS {STATE_TABLE} (id INT PRIMARY KEY, base_url TEXT, account_id BIGINT,
        changed_since TEXT, lacking TEXT);
"""
_SCHEMA = "\n".join([*map(_created, TABLES), _STATE])


@contextmanager
def _explaining() -> Iterator[None]:
    try:
        yield
    except errors.LockNotAvailable:
        raise StoreUnavailable(IN_USE) from None
    except psycopg.Error as error:
        raise StoreUnavailable(f"the copy cannot be used: {_line(error)}") from error


def _line(error: psycopg.Error) -> str:
    """Say what went wrong, without the lines behind it, which may quote a record."""
    said = error.diag.message_primary or next(iter(str(error).splitlines()), "")
    return said or type(error).__name__
