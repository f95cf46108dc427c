"""PostgreSQL: sessions, statements, transactions and the errors of its driver, psycopg."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from re import compile as pattern
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper

from masthead.databases.connection import (
    DatabaseLocked,
    DatabaseUnavailable,
    Dialect,
    OpenStreams,
    Row,
    Value,
)
from masthead.errors import BadUsage, MastheadError

__all__ = [
    "PARAMETERS",
    "READ_COMMITTED",
    "REPEATABLE_READ",
    "UNLIMITED",
    "PostgresConnection",
    "Session",
    "beginning",
    "check_url",
    "connect",
    "explaining",
    "known",
    "translated",
]

Result = TypeVar("Result")

READ_COMMITTED = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
REPEATABLE_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""How transactions begin. A server's defaults may be others (``default_transaction_…``)."""

UNLIMITED: Mapping[str, str] = {
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "transaction_timeout": "0",
}
"""The settings of a transaction that may take as long as it needs, whatever the server's are."""

_SINCE = {"transaction_timeout": 170_000}
"""The server versions in which settings are new."""

_CONNECT_S_MAX = 3
_SIGNALS_S = 0.1
"""How often psycopg looks for a signal while it waits."""

_STREAM_ROWS = 1_000
_PARAMETER = pattern(r"(?<![:\w]):(\w+)")


def _adapters() -> AdaptersMap:
    """Send every int as a bigint, so that a statement is prepared once, whatever its numbers."""
    found = AdaptersMap(psycopg.adapters)
    found.register_dumper(int, Int8Dumper)
    return found


PARAMETERS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "context": _adapters(),
    "application_name": "masthead",
    "client_encoding": "UTF8",
    "connect_timeout": _CONNECT_S_MAX,
    # A server that is gone without closing the connection is noticed after ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""How every session is opened."""


class Session(psycopg.Connection[Row]):
    """psycopg's connection, with a limit for the time that the server may be silent.

    If it is silent for ``silence_s_max`` seconds during a statement (None: no limit), the
    connection is closed and OperationalError is raised. The server's own timeouts do not help when
    the server is frozen, and those of TCP do not when its system still runs.
    """

    silence_s_max: float | None = None

    def find_pooler(self) -> None:
        """Prepare no statements from now on if a pooler is between this session and the server.

        Behind a pooler, the next transaction may run in another session of the server.
        """
        if self.is_pooled():
            self.prepare_threshold = None

    def is_pooled(self) -> bool:
        """Return whether a pooler is between this session and the server.

        It shows in the number of the server's process: when a session starts, a pooler sends one of
        its own.
        """
        row = self.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
        return row != (self.pgconn.backend_pid,)

    def wait(
        self, gen: PQGen[Result], interval: float = _SIGNALS_S, timeout: float | None = None
    ) -> Result:
        """Wait for the server (psycopg calls this method in each statement)."""
        if timeout is not None or self.silence_s_max is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence_s_max)
        except psycopg.OperationalError as error:
            if error.sqlstate or self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            # The server did not send this error, so what it sends next is not known any more.
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the connection is lost, or silent for {self.silence_s_max:g} seconds"
            ) from error


_UNAVAILABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # From a replica that does not have the tables yet.
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.UndefinedFunction,
    # From a replica that is asked to write.
    errors.ReadOnlySqlTransaction,
)
"""Errors of the database. All others are errors in a statement, which are bugs of ours."""


class PostgresConnection:
    """A connection to a server (``databases.connection`` describes its methods)."""

    dialect: Dialect = "postgresql"
    driver_error: type[Exception] = psycopg.Error

    def __init__(self, session: Session) -> None:
        self._connection = session
        # Binary results, since numbers that come as text take longer to read.
        self._cursor = session.cursor(binary=True)
        self.streams = OpenStreams()

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Run a statement, which stays prepared (``prepare_threshold``), and return all rows."""
        return self._run(translated(sql), values)

    def row(self, sql: str, /, **values: Value) -> Row | None:
        """Return the first row, or None."""
        found = self.rows(sql, **values)
        return found[0] if found else None

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one, while the server sends them."""
        return self.streams.add(self._stream(translated(sql), values))

    def _stream(self, sql: bytes, values: dict[str, Value]) -> Generator[Row, None, None]:
        with explaining(), self._connection.cursor(binary=True) as cursor:
            yield from cursor.stream(sql, values, size=_STREAM_ROWS)

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a statement that writes; return how many rows it changed."""
        self.rows(sql, **values)
        return self._cursor.rowcount

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
        try:
            with explaining(), self._cursor.copy(sql) as copy:
                for row in rows:
                    copy.write_row((*first, *row))
        except (psycopg.DataError, OverflowError) as error:
            raise ValueError(str(error)) from error

    def script(self, sql: str, /) -> None:
        """Run several statements."""
        self._run(sql.encode(), None)

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
            # The rows are right, even if the database cannot be told that the transaction ends.
            # COMMIT, since psycopg forgets all prepared statements at a ROLLBACK.
            with suppress(DatabaseUnavailable):
                self._end("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction, beside those of other connections."""
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
        """Raise DatabaseUnavailable or DatabaseLocked for psycopg's errors of the database.

        A replica refuses to begin a transaction that writes. Raises MastheadError if the user has
        no right to do what was asked.
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

    def _run(
        self, sql: bytes, values: dict[str, Value] | None, *, prepare: bool | None = None
    ) -> list[Row]:
        """Run a statement; or, without values, a script, which does not stay prepared."""
        with self._translating():
            if values is None:
                self._connection.execute(sql, prepare=False)
                return []
            cursor = self._cursor.execute(sql, values, prepare=prepare)
            return [] if cursor.rownumber is None else cursor.fetchall()


def beginning(version: int, settings: Mapping[str, str]) -> list[str]:
    """Return the statements that make ``settings`` for a transaction; not those it does not know.

    ``version`` is the server's, as a number such as 160004.
    """
    return [
        f"SET LOCAL {name} = '{value}'" for name, value in known(version, tuple(settings.items()))
    ]


def known(version: int, settings: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the settings that a server of this version has."""
    return [setting for setting in settings if version >= _SINCE.get(setting[0], 0)]


@lru_cache(maxsize=10_000)
def translated(sql: str) -> bytes:
    """Return ``sql`` with psycopg's parameters: ``%(name)s`` for ``:name``."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).encode()


def check_url(url: str) -> None:
    """Raise BadUsage if psycopg cannot parse the URL."""
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # The driver's message can quote the password.
        raise BadUsage(
            "the URL of the database cannot be read: it is postgresql://user:password@host/name, "
            "in which other characters than letters, digits and -._~ are written as %20 and so on"
        ) from None


def connect(url: str) -> Session:
    """Return a new session. Raises DatabaseUnavailable if the server accepts none in time."""
    try:
        return Session.connect(url, **PARAMETERS)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable("the database cannot be opened", _line(error)) from error


@contextmanager
def explaining() -> Iterator[None]:
    """Raise DatabaseUnavailable or DatabaseLocked for psycopg's errors of the database."""
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
