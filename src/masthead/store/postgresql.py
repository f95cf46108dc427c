"""A PostgreSQL database: its connections, replicas and migrations.

Servers log in as a role that may only read, stamp commits and count (``rights_postgresql.sql``).
Commands log in as the owner of the tables, to whom no policy applies.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from math import inf

from masthead.databases.connection import DatabaseLocked, Dialect
from masthead.databases.postgresql.connection import READ_COMMITTED, check_url, connect, explaining
from masthead.databases.postgresql.greenlets import current
from masthead.databases.postgresql.loop_pool import LoopPool
from masthead.databases.postgresql.pool import Pool
from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.store import migrations
from masthead.store.database import Clock, Connection, Later, Migration, system_clock
from masthead.store.postgresql_connection import (
    BEHIND_US_MAX,
    COUNT,
    READ,
    SHORT,
    WRITE,
    PostgresStoreConnection,
)
from masthead.store.secret import Secret
from masthead.store.waiting_writers import Waiting

CONNECTIONS_MAX = 14
LOOP_CONNECTIONS_MAX = 16
COUNTERS_CONNECTIONS_MAX = 4
"""A process's connections: for long responses and commands, for the event loop, and to the
counters. The event loop has as many more connections to the counters."""

READERS_SILENCE_S_MAX = 10.0
COUNTERS_SILENCE_S_MAX = 1.0
"""How long a server may be silent when a thread reads, and when a thread counts or asks the primary
for its history."""

LOCK_TIMEOUT = "5s"
"""How long writers that do not wait for loads wait for a lock."""

LOAD_LOCK_TIMEOUT = "1s"
"""How long a load waits for the account's other load. A check for a running load also holds the
lock for a moment."""

LOOK_LOCK_TIMEOUT = "200ms"
"""How long to wait for a load's lock before the load counts as running. The server needs a moment
to notice that a process was killed, and other checks hold the lock for a moment."""

_MIGRATION_LOCK_TIMEOUT = "500ms"
"""How long a migration waits for a lock. All later requests wait behind it."""

_MIGRATION_LOCKS_S_MAX = 60
_RETRY_S = 0.2

_NAME = """
    SELECT current_database()::TEXT, octet_length(current_database()::TEXT) <= :bytes_max
    """
_NAME_BYTES_MAX = 63 - len("_readers")
"""PostgreSQL truncates longer role names, so two databases could share a role."""


def _apply(database: PostgresStoreConnection, migration: Migration) -> None:
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

    ``read_url`` names a replica for :meth:`reader`. ``clock`` replaces the server's clock.
    """

    dialect: Dialect = "postgresql"
    waiting: Waiting | None = None
    waits_for_writers = True
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
        self._fault = ""
        self._schema = 0
        self._readers = Pool(read_url or url, CONNECTIONS_MAX, silence_s_max=READERS_SILENCE_S_MAX)
        self._counters = Pool(url, COUNTERS_CONNECTIONS_MAX, silence_s_max=COUNTERS_SILENCE_S_MAX)
        self._loop_readers = LoopPool(read_url or url, LOOP_CONNECTIONS_MAX)
        self._loop_counters = LoopPool(url, COUNTERS_CONNECTIONS_MAX)

    def open(self) -> None:
        """Raise MastheadError unless the schema is this version's; only ``migrate`` changes it."""
        with self.writer() as database:
            migrations.check_schema(database)
            migrations.check_secret(database)
        self._remember()

    def exists(self) -> bool:
        """Return True: connecting to a missing database raises an error."""
        return True

    def open_to_serve(self) -> list[Migration]:
        """Open the database like any other process; return []."""
        self.open()
        return []

    def migrate(self) -> list[Migration]:
        """Create the tables or bring the schema up to date; return the applied migrations.

        If several processes migrate at once, one does it and the others wait.
        """
        done = []
        with self._migrating(), self.writer() as database:
            database.lift_limits()
            for migration in migrations.missing(database):
                _apply(database, migration)
                done.append(migration)
            migrations.check_secret(database)
            with database.transaction():
                database.script(migrations.rights())
        self._remember()
        return done

    def _remember(self) -> None:
        """Note the schema that was opened."""
        self._schema = migrations.migrations(self.dialect)[-1].number

    @contextmanager
    def _migrating(self) -> Iterator[None]:
        """Exclude other processes that migrate.

        Raises BadUsage if a pooler is in between, or the database's name is too long.

        No process waits for the lock inside a statement or holds it inside a transaction: a
        concurrent index build would wait for the end of either.
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
                    f"the name of the database, {name}, is too long for its roles, whose names end "
                    f"with _server and _readers: it may have {_NAME_BYTES_MAX} bytes"
                )
            guard.lift_limits()
            while guard.rows("SELECT pg_try_advisory_lock(0, 0)") == [(False,)]:
                time.sleep(_RETRY_S)
            yield

    def check_server_role(self) -> None:
        """Raise BadUsage if the login may see all accounts, since partners' requests must not.

        Also raises it if PostgreSQL refuses the login's queries instead of filtering their rows.
        """
        for url in dict.fromkeys((self._url, self._read_url or self._url)):
            self._check_role(url, "server", "a server", "accounts")

    def check_readers_role(self) -> None:
        """Raise BadUsage unless the login sees one reader only, as the role of readers' pages."""
        self._check_role(self._url, "readers", "the readers' pages", "readers")

    def _check_role(self, url: str, ending: str, who: str, walls: str) -> None:
        with self._alone(url, begin=READ, settings=SHORT) as database:
            ((is_active, is_refused, has_walls, user, role),) = database.rows(
                """
                SELECT row_security_active('subscribers'),
                    current_setting('row_security') = 'off',
                    :ending <> 'readers' OR EXISTS (
                        SELECT 1 FROM pg_policies AS p
                        WHERE p.tablename = 'subscribers' AND p.policyname = 'own_reader'
                            AND current_user = ANY (p.roles)),
                    current_user::TEXT, current_database() || '_' || :ending
                """,
                ending=ending,
            )
        if not (is_active and has_walls):
            raise BadUsage(
                f"{who} must not log in as {user}, for whom the walls between {walls} do not "
                f"hold: use the role {role} of this database"
            )
        if is_refused:
            raise BadUsage(
                f"row_security is off for {user}, so that PostgreSQL refuses all queries of "
                f"{who}: switch it on for this role and this database"
            )

    def open_loop_reader(self, _call_soon: Later) -> None:
        """Return None: queries wait in greenlets."""
        return

    @contextmanager
    def reader(self) -> Iterator[PostgresStoreConnection]:
        """Yield a connection of a pool; in a greenlet, of the event loop's pool."""
        if self._fault:
            raise StoreUnavailable(self._fault)
        with self._reader() as database:
            yield database

    @contextmanager
    def _reader(self) -> Iterator[PostgresStoreConnection]:
        with (self._loop_readers if current() else self._readers).session() as session:
            is_replica = self._read_url is not None
            database = PostgresStoreConnection(
                session,
                self._stamp_clock,
                self.secret,
                begin=READ,
                settings=SHORT,
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
        """Return whether the reader is fresh; it stays so until its changes are 30 seconds old."""
        asked_at = time.monotonic()
        if asked_at < self._fresh_until:
            return True
        assert isinstance(reader, PostgresStoreConnection)
        left_us = BEHIND_US_MAX - reader.lag()[0]
        self._fresh_until = asked_at + left_us / 1_000_000
        return left_us >= 0

    def replica_lag(self) -> float | None:
        """Return how many seconds the replica is behind; None if there is no replica."""
        if not self.reads_replica:
            return None
        with self.reader() as connection:
            return max(0, connection.lag()[0]) / 1_000_000

    @contextmanager
    def counters(self) -> Iterator[PostgresStoreConnection]:
        """Yield a writable connection to the primary."""
        with (self._loop_counters if current() else self._counters).session() as session:
            yield PostgresStoreConnection(
                session, self._stamp_clock, self.secret, begin=READ_COMMITTED, settings=COUNT
            )

    @contextmanager
    def writer(self, *, waits: bool = True) -> Iterator[PostgresStoreConnection]:
        """Yield a new connection with the URL's user."""
        waits = waits and self.waits_for_writers
        settings = WRITE if waits else {**WRITE, "lock_timeout": LOCK_TIMEOUT}
        with self._alone(self._url, begin=READ_COMMITTED, settings=settings) as database:
            database.waiting = self.waiting if waits else None
            yield database

    @contextmanager
    def _alone(
        self, url: str, *, begin: str, settings: Mapping[str, str]
    ) -> Iterator[PostgresStoreConnection]:
        """Yield a new connection outside the pools."""
        # It keeps no prepared statements: a load runs each statement once.
        session = connect(url)
        database = PostgresStoreConnection(
            session, self._stamp_clock, self.secret, begin=begin, settings=settings
        )
        with explaining(), closing(database):
            yield database

    @contextmanager
    def load_lock(self, account_id: int, *, waits: bool) -> Iterator[None]:
        """Lock a row during the block, in a transaction of a separate session."""
        settings = WRITE if waits else {**WRITE, "lock_timeout": LOAD_LOCK_TIMEOUT}
        with (
            self._alone(self._url, begin=READ_COMMITTED, settings=settings) as connection,
            connection.load_lock(account_id),
        ):
            yield

    def is_loading(self, account_id: int) -> bool:
        """Return whether the row is locked for longer than a moment."""
        settings = {**WRITE, "lock_timeout": LOOK_LOCK_TIMEOUT}
        try:
            with (
                self._alone(self._url, begin=READ_COMMITTED, settings=settings) as connection,
                connection.load_lock(account_id),
            ):
                return False
        except DatabaseLocked:
            return True

    def vacuum_after_erase(self) -> None:
        """Do nothing: the server's own vacuum removes the old values of rows."""

    def check(self) -> None:
        """Raise StoreUnavailable if the schema is newer than when the database was opened.

        For a replica, it checks the schema that the replica has received.
        """
        if self._schema:
            with self._reader() as database:
                self.check_schema(database)

    def check_schema(self, connection: Connection) -> None:
        """Raise StoreUnavailable if the schema is newer than when the database was opened."""
        self._fault = migrations.newer_than(connection, self._schema)
        if self._fault:
            raise StoreUnavailable(self._fault)

    def write_heartbeat(self) -> None:
        """Write the time for the replica's readers."""
        if self._read_url:
            with self.writer(waits=False) as database:
                database.change("UPDATE heartbeat SET beat_at = :now", now=database.now())

    def close(self) -> None:
        """Close the pools."""
        for pool in (self._readers, self._counters, self._loop_readers, self._loop_counters):
            pool.close()
