"""A database of PostgreSQL: tenants, locks, replicas, and the settings of transactions.

The account whose rows a query may see is a setting of its transaction (``SET LOCAL
masthead.account_id``), never of a session. So it holds behind a pooler that gives each transaction
another session of the server, and on each node of a distributed database. Policies show a server's
login only that account's rows; in a transaction without an account, they raise an error.

Servers log in as a role that may only read, stamp commits and count (``rights_postgresql.sql``).
Commands log in as the owner of the tables, for whom no policy holds.

Readers never wait for writers. Writers of an account wait for each other by a row that they lock.
"""

# Long because the store and its connections share the settings of transactions.

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cache
from math import inf

from masthead.databases import postgresql
from masthead.databases.connection import DatabaseLocked, Dialect, Row, Value
from masthead.databases.postgresql import (
    READ_COMMITTED,
    UNLIMITED,
    beginning,
    check_url,
    connect,
    explaining,
    known,
)
from masthead.databases.postgresql_loop import LoopPool
from masthead.databases.postgresql_pool import Pool
from masthead.databases.postgresql_session import (
    Forgotten,
    Found,
    Session,
    Statement,
    statement_of,
    translated,
)
from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.greenlets import current
from masthead.store import migrations
from masthead.store.database import Clock, Connection, Later, system_clock
from masthead.store.secret import Secret

__all__ = ["PostgresStore", "PostgresStoreConnection"]

STATEMENT_MS_MAX = 1_500
"""The server cancels statements of readers after this time. The streams of a snapshot have no such
limit, but wait no longer for a lock."""

CONNECTIONS_MAX = 14
LOOP_CONNECTIONS_MAX = 16
COUNTERS_CONNECTIONS_MAX = 4
"""Connections of a process: for long responses and commands, for the event loop, and to what
servers count, which are as many again in the event loop."""

COUNTERS_SILENCE_S_MAX = 1.0
"""How long the primary may be silent when a thread counts, or asks for its history."""

BEHIND_US_MAX = 30 * 1_000_000
"""Neither the change feed nor credentials are read from a replica that is further behind."""

LOCK_TIMEOUT = "5s"
"""How long writers wait that do not wait for loads."""

_MIGRATION_LOCK_TIMEOUT = "500ms"
"""How long a migration waits for a lock, since all later requests wait behind it."""

_MIGRATION_LOCKS_S_MAX = 60
_RETRY_S = 0.2

_READ = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
_PROPAGATED = {"citus.propagate_set_commands": "local"}
"""On a distributed database, each node gets the settings of the transaction too, if they are made
by SET LOCAL. Elsewhere it means nothing."""

_SHORT = {
    **_PROPAGATED,
    "statement_timeout": str(STATEMENT_MS_MAX),
    "lock_timeout": str(STATEMENT_MS_MAX),
    "jit": "off",
}
_COUNT = {**_SHORT, "synchronous_commit": "off"}
"""A commit waits for no disk and no standby. A crash loses the last moments of a count."""

_WRITE = {**_PROPAGATED, **UNLIMITED, "work_mem": "64MB", "jit": "off"}
_MIGRATE = {**UNLIMITED, "idle_session_timeout": "0", "default_transaction_read_only": "off"}
_IN_INDEX_ORDER = {
    **_PROPAGATED,
    **UNLIMITED,
    "lock_timeout": str(STATEMENT_MS_MAX),
    "jit": "off",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_sort": "off",
    "max_parallel_workers_per_gather": "0",
}
"""Streams follow an index, so that their first row comes at once and nothing is sorted on disk.

They last as long as their reader, so they use no parallel workers, of which there are few."""


_NAME = """
    SELECT current_database()::TEXT, octet_length(current_database()::TEXT) <= :bytes_max
    """
_NAME_BYTES_MAX = 63 - len("_server")
"""PostgreSQL would cut a longer name of the role off, so that two databases could share one."""

_COMMIT = Statement(b"COMMIT")
_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT"
_BEAT = f"{_NOW}, (SELECT beat_at FROM heartbeat)"


@cache
def _setting(version: int, settings: tuple[tuple[str, str], ...]) -> Statement:
    """Return a query that makes the settings of a transaction: one statement is the cheapest."""
    made = (f"set_config('{name}', '{value}', TRUE)" for name, value in known(version, settings))
    return Statement(f"SELECT {', '.join(made)}".encode())


class PostgresStoreConnection(postgresql.PostgresConnection):
    """A connection to the server (``store.database`` describes its methods).

    Each statement outside a transaction gets one of its own, which begins with ``begin`` and
    ``settings`` and is sent in one message.
    """

    def __init__(
        self,
        session: Session,
        clock: Clock | None,
        secret: Secret,
        *,
        begin: str,
        settings: Mapping[str, str],
        is_replica: bool = False,
    ) -> None:
        super().__init__(session)
        self.secret = secret
        self._clock = clock
        self._begin_statement = Statement(begin.encode())
        self._settings = settings
        self._settings_statement = _setting(session.info.server_version, tuple(settings.items()))
        self._is_replica = is_replica
        self._tenant: Mapping[str, str] = {}

    def set_tenant(self, account_id: int, *, is_master: bool = False) -> None:
        """Show only the account's rows from now on, also in the rest of this transaction."""
        self._tenant = {"masthead.account_id": str(account_id)}
        if is_master:
            self._tenant = {**self._tenant, "masthead.is_master": "on"}
        if self._is_in_transaction():
            # Both, since what the transaction has set before holds to its end.
            self.script("; ".join(beginning(0, {"masthead.is_master": "off", **self._tenant})))

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; the statement does not stay prepared, so it is planned each time."""
        return self._run(statement_of(sql, values, stays=False)).rows

    def _run(self, statement: Statement) -> Found:
        if self._is_in_transaction():
            return super()._run(statement)
        before = [self._begin_statement, self._settings_statement]
        before += [
            Statement(setting.encode(), stays=False) for setting in beginning(0, self._tenant)
        ]
        with self._translating():
            try:
                return self._exchange([*before, statement, _COMMIT], len(before))
            except Forgotten:
                return self._exchange([*before, statement, _COMMIT], len(before))

    def _exchange(self, statements: list[Statement], wanted: int) -> Found:
        try:
            return self._connection.exchange(statements, wanted)
        finally:
            self._end("ROLLBACK")

    def is_pooled(self) -> bool:
        """Return whether a pooler is between this connection and the server."""
        return self._connection.is_pooled()

    def lift_limits(self) -> None:
        """Lift the server's limits for scripts outside a transaction. Not behind a pooler."""
        version = self._connection.info.server_version
        settings = known(version, tuple(_MIGRATE.items()))
        self.script("; ".join(f"SET {name} = '{value}'" for name, value in settings))

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one, while the server sends them."""
        if self._is_in_transaction():
            return super().stream(sql, **values)
        return self.streams.add(self._stream_alone(translated(sql), values))

    def _stream_alone(self, sql: bytes, values: dict[str, Value]) -> Generator[Row, None, None]:
        with self._reading(self._settings):
            yield from self._stream(sql, values)

    def insert_many(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        /,
        **same: int,
    ) -> None:
        """Insert the rows by COPY."""
        with nullcontext() if self._is_in_transaction() else self.transaction():
            super().insert_many(table, columns, rows, **same)

    def analyze(self, table: str, /) -> None:
        """Collect the planner's statistics of the table, in a transaction of its own.

        In a longer one it would keep others from doing so. If the statistics cannot be collected,
        such as while a node of a distributed database is away, the older ones are used.
        """
        assert not self._is_in_transaction()
        with suppress(StoreUnavailable), self.transaction():
            self.script(f"ANALYZE {table}")

    def now(self) -> int:
        """Return the server's time; of a replica, the time up to which it has the changes.

        Raises StoreUnavailable if a replica is more than 30 seconds behind.
        """
        if not self._is_replica:
            return self._clock() if self._clock else int(self.rows(_NOW)[0][0])
        lag, beat_at = self.lag()
        if lag > BEHIND_US_MAX:
            raise StoreUnavailable(
                f"the replica is {lag // 1_000_000} seconds behind: the change feed "
                "waits until it has caught up"
            )
        return beat_at

    def lag(self) -> tuple[int, int]:
        """Return how far a replica is behind, and the time up to which it has the changes."""
        ((now, beat_at),) = self.rows(_BEAT)
        if self._clock:
            now = self._clock()
        return now - beat_at, beat_at

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read in one transaction, whose statements have no limit of time."""
        with self._reading(_IN_INDEX_ORDER):
            yield

    @contextmanager
    def _reading(self, settings: Mapping[str, str]) -> Iterator[None]:
        with super()._reading({**(settings or self._settings), **self._tenant}):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction, beside those of other connections."""
        with self._writing({**self._settings, **self._tenant}):
            yield

    def lock_account(self, account_id: int, /) -> None:
        """Wait for the account's other writer, if there is one."""
        self._lock(account_id, "data")

    def lock_stamps(self, account_id: int, /) -> None:
        """Wait for another process that stamps, which takes milliseconds."""
        self._lock(account_id, "stamps")

    def _lock(self, account_id: int, kind: str) -> None:
        self.set_tenant(account_id)
        self.rows(
            """
            SELECT 1 FROM account_locks WHERE account_id = :account_id AND kind = :kind FOR UPDATE
            """,
            account_id=account_id,
            kind=kind,
        )

    def add_locks(self, account_id: int, /) -> None:
        """Add the rows that the account's writers lock."""
        for kind in ("data", "stamps"):
            self.rows(
                "INSERT INTO account_locks (account_id, kind) VALUES (:account_id, :kind)",
                account_id=account_id,
                kind=kind,
            )

    def lock_accounts(self) -> None:
        """Wait for others who add or change accounts. Loads do not take this lock."""
        self.rows("SELECT 1 FROM secret_key FOR UPDATE")


def _apply(database: PostgresStoreConnection, migration: migrations.Migration) -> None:
    if "CONCURRENTLY" in migration.sql:
        for statement in migration.sql.split(";\n"):
            database.script(statement)
        with database.transaction():
            migrations.record(database, migration)
        return
    end = time.monotonic() + _MIGRATION_LOCKS_S_MAX
    while True:
        try:
            with database.transaction():
                database.script(f"SET LOCAL lock_timeout = '{_MIGRATION_LOCK_TIMEOUT}'")
                database.script(migration.sql)
                migrations.record(database, migration)
        except DatabaseLocked as error:
            if time.monotonic() > end:
                raise MastheadError(
                    f"migration {migration.title} could not lock the tables that it changes for "
                    f"{_MIGRATION_LOCKS_S_MAX} seconds; nothing was changed: run it again when no "
                    "load and no backup runs"
                ) from error
            time.sleep(_RETRY_S)
        else:
            return


class PostgresStore:
    """A database on a server (``store.database`` describes its methods).

    ``read_url`` names a replica for :meth:`reader`. ``clock`` replaces the server's.
    """

    dialect: Dialect = "postgresql"
    following_since = inf

    def __init__(
        self, url: str, clock: Clock | None = None, *, read_url: str | None = None
    ) -> None:
        for each in (url, read_url or url):
            check_url(each)
        self.clock: Clock = clock or system_clock
        self.secret = Secret(None)
        self._stamp_clock = clock
        self._url = url
        self._read_url = read_url
        self.reads_replica = read_url is not None
        self._fresh_until = -inf
        self._readers = Pool(read_url or url, CONNECTIONS_MAX)
        self._counters = Pool(url, COUNTERS_CONNECTIONS_MAX, silence_s_max=COUNTERS_SILENCE_S_MAX)
        self._loop_readers = LoopPool(read_url or url, LOOP_CONNECTIONS_MAX)
        self._loop_counters = LoopPool(url, COUNTERS_CONNECTIONS_MAX)

    def open(self) -> None:
        """Raise MastheadError unless the schema is this version's: only ``migrate`` changes it."""
        with self.writer() as database:
            if migrations.missing(database):
                has_some = migrations.has_table(database, "migrations")
                state = "is not up to date" if has_some else "has no tables yet"
                raise MastheadError(
                    f"the database {state}: run `masthead database migrate` as the user who owns it"
                )
            migrations.check_secret(database)

    def migrate(self) -> list[str]:
        """Create the tables, or bring the schema up to date; return the migrations' names.

        If several processes do so at once, one migrates and the others wait.
        """
        done = []
        with self._migrating(), self.writer() as database:
            database.lift_limits()
            for migration in migrations.missing(database):
                _apply(database, migration)
                done.append(migration.title)
            migrations.check_secret(database)
            with database.transaction():
                database.script(migrations.read_sql("rights_postgresql.sql"))
        return done

    @contextmanager
    def _migrating(self) -> Iterator[None]:
        """Exclude other processes that migrate.

        Raises BadUsage if a pooler is in between, or the database's name is too long.

        Nobody waits for the lock inside a statement, and nobody has it inside a transaction: an
        index that is built concurrently would wait for the end of either.
        """
        with self.writer() as guard:
            if guard.is_pooled():
                raise BadUsage(
                    "migrations need a connection of their own: give the URL of the database's "
                    "server, not that of a pooler"
                )
            ((name, is_short),) = guard.rows(_NAME, bytes_max=_NAME_BYTES_MAX)
            if not is_short:
                raise BadUsage(
                    f"the name of the database, {name}, is too long for its role of servers, whose "
                    f"name ends with _server: it may have {_NAME_BYTES_MAX} bytes"
                )
            guard.lift_limits()
            while guard.rows("SELECT pg_try_advisory_lock(0, 0)") == [(False,)]:
                time.sleep(_RETRY_S)
            yield

    def check_server_role(self) -> None:
        """Raise BadUsage if a login may see all accounts: partners' requests must not."""
        for url in dict.fromkeys((self._url, self._read_url or self._url)):
            with self._alone(url, begin=_READ, settings=_SHORT) as database:
                ((is_active, user, role),) = database.rows(
                    """
                    SELECT row_security_active('subscribers'), current_user::TEXT,
                        current_database() || '_server'
                    """
                )
            if not is_active:
                raise BadUsage(
                    f"a server must not log in as {user}, for whom the walls between accounts do "
                    f"not hold: use the role {role} of this database"
                )

    def open_loop_reader(self, _call_soon: Later) -> None:
        """Return None: queries wait, in greenlets."""
        return

    @contextmanager
    def reader(self) -> Iterator[PostgresStoreConnection]:
        """Yield a connection of a pool: in a greenlet, of the event loop's."""
        with (self._loop_readers if current() else self._readers).session() as session:
            is_replica = self._read_url is not None
            database = PostgresStoreConnection(
                session,
                self._stamp_clock,
                self.secret,
                begin=_READ,
                settings=_SHORT,
                is_replica=is_replica,
            )
            try:
                yield database
            finally:
                database.streams.close()

    @contextmanager
    def fresh(self, reader: Connection) -> Iterator[Connection]:
        """Yield ``reader`` if it is at most 30 seconds behind, else a connection to the primary."""
        if not self.reads_replica or self._is_fresh(reader):
            yield reader
            return
        with self.counters() as connection:
            yield connection

    def _is_fresh(self, reader: Connection) -> bool:
        """Return whether it is. It stays so until the changes it has are 30 seconds old."""
        asked_at = time.monotonic()
        if asked_at < self._fresh_until:
            return True
        assert isinstance(reader, PostgresStoreConnection)
        left_us = BEHIND_US_MAX - reader.lag()[0]
        self._fresh_until = asked_at + left_us / 1_000_000
        return left_us >= 0

    def replica_lag(self) -> float | None:
        """Return how many seconds the replica is behind; None if there is none."""
        if not self.reads_replica:
            return None
        with self.reader() as connection:
            return max(0, connection.lag()[0]) / 1_000_000

    @contextmanager
    def counters(self) -> Iterator[PostgresStoreConnection]:
        """Yield a connection to the primary that can write."""
        with (self._loop_counters if current() else self._counters).session() as session:
            yield PostgresStoreConnection(
                session, self._stamp_clock, self.secret, begin=READ_COMMITTED, settings=_COUNT
            )

    @contextmanager
    def writer(self, *, waits: bool = True) -> Iterator[PostgresStoreConnection]:
        """Yield a new connection, as the user of the URL."""
        settings = _WRITE if waits else {**_WRITE, "lock_timeout": LOCK_TIMEOUT}
        with self._alone(self._url, begin=READ_COMMITTED, settings=settings) as database:
            yield database

    @contextmanager
    def _alone(
        self, url: str, *, begin: str, settings: Mapping[str, str]
    ) -> Iterator[PostgresStoreConnection]:
        """Yield a new connection, which is of no pool."""
        # It keeps no statements prepared: a load runs each of them once.
        session = connect(url)
        database = PostgresStoreConnection(
            session, self._stamp_clock, self.secret, begin=begin, settings=settings
        )
        with explaining(), closing(database):
            yield database

    def vacuum_after_erase(self) -> None:
        """Do nothing: the server's own vacuum removes the old values of rows."""

    def check(self) -> None:
        """Do nothing: a broken connection fails by itself."""

    def write_heartbeat(self) -> None:
        """Write the time where the replica's readers find it."""
        if self._read_url:
            with self.writer(waits=False) as database:
                database.change("UPDATE heartbeat SET beat_at = :now", now=database.now())

    def close(self) -> None:
        """Close the pools."""
        for pool in (self._readers, self._counters, self._loop_readers, self._loop_counters):
            pool.close()
