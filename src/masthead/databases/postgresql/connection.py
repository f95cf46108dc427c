"""PostgreSQL: statements, transactions and the errors of its driver, psycopg."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from masthead.databases.connection import (
    DatabaseLocked,
    DatabaseUnavailable,
    Dialect,
    OpenStreams,
    RowsAndStreams,
)
from masthead.databases.postgresql.session import (
    PARAMETERS,
    Found,
    Session,
    Statement,
    statement_of,
    translated,
)
from masthead.databases.queries import Bound, Row, Value
from masthead.errors import BadUsage, MastheadError

READ_COMMITTED = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
REPEATABLE_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""How transactions begin. A server may have other defaults (``default_transaction_…``)."""

UNLIMITED: Mapping[str, str] = {
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "transaction_timeout": "0",
}
"""The settings of a transaction without timeouts, whatever the server's settings are."""

_SINCE = {"transaction_timeout": 170_000}
"""The first server version that has a setting."""

_STREAM_ROWS = 1_000

_UNAVAILABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # From a replica that does not have the tables yet.
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.UndefinedFunction,
    # From a distributed database with a node that is down.
    errors.InternalError_,
    # From a write on a replica.
    errors.ReadOnlySqlTransaction,
)
"""Errors of the database. All others are errors in our statements, which are bugs."""


class PostgresConnection(RowsAndStreams):
    """A connection to a server (``databases.connection`` describes its methods)."""

    dialect: Dialect = "postgresql"
    driver_error: type[Exception] = psycopg.Error

    def __init__(self, session: Session) -> None:
        self._connection = session
        self.streams = OpenStreams()

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Run a statement and return all rows. It stays prepared if the session keeps any."""
        return self._run(statement_of(sql, values)).rows

    def rows_of_each(self, statements: Sequence[Bound], /) -> list[list[Row]]:
        """Send the statements in one message; return the rows of each."""
        if not statements:
            return []
        found = self._run_all([statement_of(sql, values) for sql, values in statements])
        return [each.rows for each in found]

    def _stream(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
        with explaining(), self._connection.cursor(binary=True) as cursor:
            yield from cursor.stream(translated(sql), values, size=_STREAM_ROWS)

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a statement that writes; return how many rows it changed."""
        return self._run(statement_of(sql, values)).changed

    def insert_many(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        /,
        **same: int,
    ) -> None:
        """Insert the rows by COPY."""
        names = ", ".join(f'"{name}"' for name in (*same, *columns))
        first = tuple(same.values())
        sql = f"COPY {table} ({names}) FROM STDIN".encode()
        with (
            refusing_values(),
            explaining(),
            self._connection.cursor() as cursor,
            cursor.copy(sql) as copy,
        ):
            for row in rows:
                copy.write_row((*first, *row))

    def script(self, sql: str, /) -> None:
        """Run several statements."""
        with self._translating():
            self._connection.execute(sql.encode())

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read in one transaction."""
        with self._reading({}):
            yield

    @contextmanager
    def _reading(self, settings: Mapping[str, str]) -> Iterator[None]:
        self._begin(REPEATABLE_READ, settings)
        try:
            yield
        finally:
            self.streams.close()
            # The rows are right, even if the transaction cannot be ended. COMMIT, since psycopg
            # forgets all prepared statements at a ROLLBACK.
            with suppress(DatabaseUnavailable):
                self._end("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction, concurrently with those of other connections."""
        with self._writing(UNLIMITED):
            yield

    @contextmanager
    def _writing(self, settings: Mapping[str, str]) -> Iterator[None]:
        self._begin(READ_COMMITTED, settings)
        try:
            yield
            self.script("COMMIT")
        finally:
            self._end("ROLLBACK")

    def _begin(self, how: str, settings: Mapping[str, str]) -> None:
        version = self._connection.info.server_version
        self.script("; ".join([how, *beginning(version, settings)]))

    def close(self) -> None:
        """Close the connection and its streams."""
        self.streams.close()
        self._connection.close()

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Turn psycopg's errors of the database into DatabaseUnavailable or DatabaseLocked.

        One of them is a replica's refusal to begin a transaction that writes. Raises MastheadError
        if the user lacks the privilege for a statement.
        """
        try:
            with explaining():
                yield
        except errors.InsufficientPrivilege as error:
            raise MastheadError(f"the database's user may not do this: {_line(error)}") from error
        except errors.FeatureNotSupported as error:
            if self._is_in_transaction():
                raise
            raise DatabaseUnavailable("the database cannot be written to", _line(error)) from error

    def _is_in_transaction(self) -> bool:
        return self._connection.pgconn.transaction_status != TransactionStatus.IDLE

    def _end(self, how: str) -> None:
        if not self._connection.closed and self._is_in_transaction():
            self.script(how)

    def _run(self, statement: Statement) -> Found:
        return self._run_all([statement])[0]

    def _run_all(self, statements: list[Statement]) -> list[Found]:
        with self._translating():
            return self._connection.exchange_all(statements, slice(None))


def inserting(
    table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]], same: Mapping[str, int]
) -> tuple[str, list[dict[str, Value]]]:
    """Return an INSERT of one row, and its parameters for each of the rows.

    The columns in ``same`` have the same value in each row.
    """
    names = [f"v{number}" for number in range(len(columns))]
    quoted = ", ".join(f'"{name}"' for name in (*same, *columns))
    sql = f"INSERT INTO {table} ({quoted}) VALUES (:{', :'.join((*same, *names))})"
    return sql, [{**same, **dict(zip(names, row, strict=True))} for row in rows]


@contextmanager
def refusing_values() -> Iterator[None]:
    """Turn psycopg's error for a value that PostgreSQL cannot hold into ValueError."""
    try:
        yield
    except (psycopg.DataError, OverflowError) as error:
        raise ValueError(str(error)) from error


def beginning(version: int, settings: Mapping[str, str]) -> list[str]:
    """Return the statements that set ``settings`` in a transaction, if the server knows them.

    ``version`` is the server's, as a number such as 160004.
    """
    return [
        f"SET LOCAL {name} = '{value}'" for name, value in known(version, tuple(settings.items()))
    ]


def known(version: int, settings: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the settings that a server of this version has."""
    return [setting for setting in settings if version >= _SINCE.get(setting[0], 0)]


def check_url(url: str) -> None:
    """Raise BadUsage if psycopg cannot parse the URL, or would take a part of a password for more.

    That is so if an ``@`` or ``/`` in the password is not escaped: the message of the driver would
    quote what follows it as the name of a host, or what precedes it as a port.
    """
    whole = url.partition("://")[2]
    user, _, server = whole.partition("@")
    if "/" in user:
        server = whole
    # The driver's message can quote the password.
    with suppress(psycopg.ProgrammingError, UnicodeError):
        if "@" not in server.partition("?")[0]:
            for host in str(conninfo_to_dict(url).get("host", "")).split(","):
                if not host.startswith("/"):
                    host.encode("idna")  # as the driver looks it up
            return
    raise BadUsage(
        "the URL of the database cannot be read: it is postgresql://user:password@host/name, "
        "in which other characters than letters, digits and -._~ are written as %20 and so on"
    )


def connect(url: str) -> Session:
    """Return a new session. Raises DatabaseUnavailable if the server accepts none in time."""
    try:
        return Session.connect(url, **PARAMETERS)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable("the database cannot be opened", _line(error)) from error


@contextmanager
def explaining() -> Iterator[None]:
    """Turn psycopg's errors of the database into DatabaseUnavailable or DatabaseLocked."""
    try:
        yield
    except _UNAVAILABLE as error:
        raise _unavailable(error) from error


def _unavailable(error: psycopg.Error) -> DatabaseUnavailable:
    is_locked = isinstance(error, errors.LockNotAvailable)
    found = DatabaseLocked if is_locked else DatabaseUnavailable
    return found("the database does not answer", _line(error))


def _line(error: psycopg.Error) -> str:
    """Return the message on one line, without the server's details, which can quote a row."""
    return " ".join((error.diag.message_primary or str(error)).split())
