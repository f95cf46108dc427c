"""PostgreSQL: connections, transactions, tenants and errors, through psycopg.

What serves requests speaks as the role ``masthead_server``, which owns no table: policies show it
only the rows of the account that its connection speaks for at the moment. What loads data and keeps
accounts speaks as the user of the URL, who owns the tables.

Readers never wait for writers. Writers of one account wait for each other by an advisory lock of
their transactions, which begins with 1 for data and with 2 for stamps.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from re import compile as pattern

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.store import migrations
from masthead.store.database import (
    Clock,
    Dialect,
    Later,
    Row,
    Streams,
    Value,
    system_clock,
)
from masthead.store.postgresql_pool import (
    UNAVAILABLE,
    Connection,
    Pool,
    connect,
    explained,
    line,
)
from masthead.store.secret import Secret

__all__ = ["PostgresConnection", "PostgresStore"]

STATEMENT_MS_MAX = 1_500
"""A server's statement that takes longer is given up; the streams of a snapshot are not bound, but
wait no longer for a lock."""

CONNECTIONS_MAX = 30
COUNTERS_CONNECTIONS_MAX = 4
BEHIND_US_MAX = 30 * 1_000_000
"""A replica that is further behind does not answer the change feed."""

_STREAM_ROWS = 1_000
_PARAMETER = pattern(r"(?<![:\w]):(\w+)")

_READER = f"""
    SET ROLE masthead_server;
    SET default_transaction_read_only = on;
    SET masthead.account_id = '';
    SET statement_timeout = {STATEMENT_MS_MAX};
    SET lock_timeout = {STATEMENT_MS_MAX};
    SET jit = off;
"""
_COUNTERS = f"{_READER} SET default_transaction_read_only = off; SET synchronous_commit = off;"
"""Nobody waits for a disk, or for a standby: what a crash takes are the last moments of a count."""

_WRITER = """
    SET temp_buffers = '64MB';
    SET work_mem = '64MB';
    SET jit = off;
"""
_IMPATIENT = "SET lock_timeout = '5s';"
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
_IN_ORDER = """
    SET LOCAL statement_timeout = 0;
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_bitmapscan = off;
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_sort = off;
    SET LOCAL max_parallel_workers_per_gather = 0;
"""
"""Streams come in the order of an index: the first row at once, and nothing is sorted on disk.

They take as long as their reader, so they hold no parallel workers, of which there are few."""


_UNKNOWN = -1
_SPEAK = b"SELECT set_config('masthead.account_id', %(account)s, FALSE)"
_SPEAKING = """
    SELECT found.*, set_config('masthead.account_id', coalesce(found.account_id::TEXT, ''), FALSE)
    FROM (VALUES (1)) AS one LEFT JOIN ({sql}) AS found ON TRUE
    """


@cache
def _speaking(sql: str) -> bytes:
    return _translated(_SPEAKING.format(sql=sql))


@cache
def _translated(sql: str) -> bytes:
    """Return ``sql`` with the parameters as psycopg has them: ``%(name)s`` for ``:name``."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).encode()


class PostgresConnection:
    """A connection to the server (``store.database`` says what its methods do)."""

    dialect: Dialect = "postgresql"

    def __init__(
        self,
        connection: Connection,
        clock: Clock | None,
        secret: Secret,
        *,
        is_replica: bool = False,
    ) -> None:
        self.secret = secret
        self._connection = connection
        # Numbers that come as text take longer to read.
        self._cursor = connection.cursor(binary=True)
        self._clock = clock
        self._is_replica = is_replica
        self._account_id: int | None = None
        self.streams = Streams()

    def set_tenant(self, account_id: int) -> None:
        """Let all from now on be the account's, and the rest of this transaction."""
        self._account_id = account_id
        if self._is_in_transaction():
            self.script(self._tenant())

    def accounts(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; the connection speaks for the last account found, without asking again.

        Where there is none, it speaks for nobody.
        """
        self._connection.speaks_for = _UNKNOWN
        found = self._run(_speaking(sql), values)
        self._connection.speaks_for = found[-1][0]
        return [row[:-1] for row in found if row[0] is not None]

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; a statement stays prepared."""
        self._enter()
        return self._run(_translated(sql), values)

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; the statement is not kept prepared, so its plan is for these values."""
        self._enter()
        return self._run(_translated(sql), values, prepare=False)

    def row(self, sql: str, /, **values: Value) -> Row | None:
        """Return the first row, or None."""
        found = self.rows(sql, **values)
        return found[0] if found else None

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one, while the server sends them."""
        self._enter()
        return self.streams.opened(self._stream(sql, values))

    def _stream(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
        try:
            with self._connection.cursor(binary=True) as cursor:
                yield from cursor.stream(_translated(sql), values, size=_STREAM_ROWS)
        except UNAVAILABLE as error:
            raise explained(error) from error

    def change(self, sql: str, /, **values: Value) -> int:
        """Write, and return how many rows that changed."""
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
            with self._cursor.copy(sql) as copy:
                for row in rows:
                    copy.write_row((*first, *row))
        except UNAVAILABLE as error:
            raise explained(error) from error

    def script(self, sql: str, /) -> None:
        """Run several statements."""
        self._run(sql.encode(), None)

    def analyze(self, table: str, /) -> None:
        """Collect the planner's statistics of the table."""
        self.script(f"ANALYZE {table}")

    def now(self) -> int:
        """Return the server's time, of a replica the time up to which it has followed.

        Raises StoreUnavailable where a replica is more than 30 seconds behind.
        """
        if self._clock:
            now = self._clock()
        else:
            sql = b"SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT"
            ((now,),) = self._run(sql, {})
        if not self._is_replica:
            return int(now)
        ((beat_at,),) = self._run(b"SELECT beat_at FROM heartbeat", {})
        if now - beat_at > BEHIND_US_MAX:
            raise StoreUnavailable(
                f"the replica is {(now - beat_at) // 1_000_000} seconds behind: the change feed "
                "waits until it has caught up"
            )
        return int(beat_at)

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read in one transaction."""
        self._enter()
        with self._reading(_BEGIN):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read in one transaction, whose statements may take their time."""
        with self._reading(_BEGIN + self._tenant() + _IN_ORDER):
            yield

    @contextmanager
    def _reading(self, begin: str) -> Iterator[None]:
        self.script(begin)
        try:
            yield
        finally:
            self.streams.close()
            # What has been read is right, whether or not the database is there to be told the end.
            # It is no rollback, behind which the driver forgets all prepared statements.
            with suppress(StoreUnavailable):
                self._end("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction, beside those of other accounts."""
        self.script("BEGIN")
        try:
            yield
            self.script("COMMIT")
        finally:
            self._end("ROLLBACK")

    def lock_account(self, account_id: int, /) -> None:
        """Wait for the account's other writer, if there is one."""
        self._lock(1, account_id)

    def lock_stamps(self, account_id: int, /) -> None:
        """Wait for whoever stamps, which takes milliseconds."""
        self._lock(2, account_id)

    def _lock(self, kind: int, account_id: int) -> None:
        self.rows(
            f"""
            SELECT pg_advisory_xact_lock({kind}, hashint8(:account_id)),
                set_config('masthead.account_id', :account, TRUE)
            """,
            account_id=account_id,
            account=str(account_id),
        )

    def lock_accounts(self) -> None:
        """Let others read accounts, and load their data."""
        self.script("LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE")

    def close(self) -> None:
        """Give the connection back to the system."""
        self.streams.close()
        self._connection.close()

    def _enter(self) -> None:
        """Let the connection speak for nobody but the account, whoever had it before."""
        if self._connection.speaks_for != self._account_id and not self._is_in_transaction():
            self._connection.speaks_for = _UNKNOWN
            account = "" if self._account_id is None else str(self._account_id)
            self._run(_SPEAK, {"account": account})
            self._connection.speaks_for = self._account_id

    def _tenant(self) -> str:
        if self._account_id is None:
            return ""
        return f"SET LOCAL masthead.account_id = '{self._account_id}';"

    def _is_in_transaction(self) -> bool:
        return self._connection.pgconn.transaction_status != TransactionStatus.IDLE

    def _end(self, how: str) -> None:
        if not self._connection.closed and self._is_in_transaction():
            self.script(how)

    def _run(
        self, sql: bytes, values: dict[str, Value] | None, *, prepare: bool = True
    ) -> list[Row]:
        """Run a statement, or without values a script that is not kept prepared."""
        try:
            if values is None:
                self._connection.execute(sql, prepare=False)
                return []
            cursor = self._cursor.execute(sql, values, prepare=prepare)
            return [] if cursor.rownumber is None else cursor.fetchall()
        except UNAVAILABLE as error:
            raise explained(error) from error
        except errors.InsufficientPrivilege as error:
            raise MastheadError(f"the database's user may not do this: {line(error)}") from error


class PostgresStore:
    """A database on a server (``store.database`` says what its methods do).

    ``read_url`` names a replica for all that :meth:`reader` lends. ``clock`` takes the place of the
    server's.
    """

    dialect: Dialect = "postgresql"

    def __init__(
        self, url: str, clock: Clock | None = None, *, read_url: str | None = None
    ) -> None:
        for each in (url, read_url or url):
            _check(each)
        self.clock: Clock = clock or system_clock
        self.secret = Secret(None)
        self._stamp_clock = clock
        self._url = url
        self._read_url = read_url
        self._readers = Pool(read_url or url, _READER, CONNECTIONS_MAX)
        self._counters = Pool(url, _COUNTERS, COUNTERS_CONNECTIONS_MAX)

    def migrate(self) -> None:
        """Create the tables where there are none, and bring the schema up to date.

        Where several begin at once, one does it and the others wait.
        """
        with self.writer() as database:
            if migrations.missing(database):
                with database.transaction():
                    database.script("SELECT pg_advisory_xact_lock(0, 0)")
                    migrations.apply_missing(database)
            migrations.check_secret(database)

    def open_loop_reader(self, _at_end_of_turn: Later) -> None:
        """Return None: an answer of the server may take long, and must not stop an event loop."""
        return

    @contextmanager
    def reader(self) -> Iterator[PostgresConnection]:
        """Lend a connection of the pool, as ``masthead_server``."""
        with self._readers.connection() as connection:
            is_replica = self._read_url is not None
            database = PostgresConnection(
                connection, self._stamp_clock, self.secret, is_replica=is_replica
            )
            try:
                yield database
            finally:
                database.streams.close()

    @contextmanager
    def counters(self) -> Iterator[PostgresConnection]:
        """Lend a connection to the primary, as ``masthead_server``, for functions that write."""
        with self._counters.connection() as connection:
            yield PostgresConnection(connection, self._stamp_clock, self.secret)

    @contextmanager
    def writer(self, *, patient: bool = True) -> Iterator[PostgresConnection]:
        """Lend a new connection, as the user of the URL."""
        try:
            connection = connect(self._url)
        except psycopg.OperationalError as error:
            raise StoreUnavailable(f"the database cannot be opened: {line(error)}") from error
        database = PostgresConnection(connection, self._stamp_clock, self.secret)
        try:
            with closing(database):
                connection.execute(_WRITER if patient else _WRITER + _IMPATIENT, prepare=False)
                yield database
        except UNAVAILABLE as error:
            raise explained(error) from error

    def vacuum_after_erase(self) -> None:
        """Do nothing: replaced rows are taken away by the server's vacuum, as it is set up."""

    def check(self) -> None:
        """Do nothing: a connection to a server that is gone fails by itself."""

    def write_heartbeat(self) -> None:
        """Write the time where the replica's readers find it."""
        if self._read_url:
            with self.writer(patient=False) as database:
                database.change("UPDATE heartbeat SET beat_at = :now", now=database.now())

    def close(self) -> None:
        """Close the pools."""
        self._readers.close()
        self._counters.close()


def _check(url: str) -> None:
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Which part it is could be the password.
        raise BadUsage(
            "the URL of the database cannot be read: it is postgresql://user:password@host/name, "
            "in which other characters than letters, digits and -._~ are written as %20 and so on"
        ) from None
