"""A database of PostgreSQL: roles, tenants, locks and replicas.

Connections that serve requests use the role ``masthead_server``, which owns no table: policies show
it only the rows of the tenant, which is a variable of the session (``masthead.account_id``).
Connections that load data or change accounts use the user of the URL, who owns the tables.

Readers never wait for writers. Writers of one account wait for each other by advisory locks of
their transactions.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache

from masthead.databases import postgresql
from masthead.databases.connection import Dialect, Row, Value
from masthead.databases.postgresql import Session, check_url, connect, explaining, translated
from masthead.databases.postgresql_pool import Pool
from masthead.errors import StoreUnavailable
from masthead.store import migrations
from masthead.store.database import Clock, Later, system_clock
from masthead.store.secret import Secret

__all__ = ["PostgresStore", "PostgresStoreConnection"]

STATEMENT_MS_MAX = 1_500
"""The server cancels statements of readers after this time. The streams of a snapshot have no such
limit, but wait no longer for a lock."""

CONNECTIONS_MAX = 30
COUNTERS_CONNECTIONS_MAX = 4
BEHIND_US_MAX = 30 * 1_000_000
"""The change feed is not read from a replica that is further behind."""

_READER = f"""
    SET ROLE masthead_server;
    SET default_transaction_read_only = on;
    SET masthead.account_id = '';
    SET statement_timeout = {STATEMENT_MS_MAX};
    SET lock_timeout = {STATEMENT_MS_MAX};
    SET jit = off;
"""
_COUNTERS = f"{_READER} SET default_transaction_read_only = off; SET synchronous_commit = off;"
"""A commit waits for no disk and no standby. A crash loses the last moments of a count."""

_WRITER = """
    SET temp_buffers = '64MB';
    SET work_mem = '64MB';
    SET jit = off;
"""
_LOCK_TIMEOUT = "SET lock_timeout = '5s';"
_IN_INDEX_ORDER = """
    SET LOCAL statement_timeout = 0;
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_bitmapscan = off;
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_sort = off;
    SET LOCAL max_parallel_workers_per_gather = 0;
"""
"""Streams follow an index, so that their first row comes at once and nothing is sorted on disk.

They last as long as their reader, so they use no parallel workers, of which there are few."""

_ACCOUNT_LOCK, _STAMPS_LOCK = 1, 2
"""The first keys of the advisory locks; the second one is the account."""

_UNKNOWN = -1
_SET_TENANT = b"SELECT set_config('masthead.account_id', %(account)s, FALSE)"
_ACCOUNTS = """
    SELECT found.*, set_config('masthead.account_id', coalesce(found.account_id::TEXT, ''), FALSE)
    FROM (VALUES (1)) AS one LEFT JOIN ({sql}) AS found ON TRUE
    """


class _TenantSession(Session):
    """A session, and the account whose rows it sees now; None: of no account."""

    tenant: int | None = None


@cache
def _setting_tenant(sql: str) -> bytes:
    return translated(_ACCOUNTS.format(sql=sql))


class PostgresStoreConnection(postgresql.PostgresConnection):
    """A connection to the server (``store.database`` describes its methods)."""

    def __init__(
        self,
        session: _TenantSession,
        clock: Clock | None,
        secret: Secret,
        *,
        is_replica: bool = False,
    ) -> None:
        super().__init__(session)
        self.secret = secret
        self._session = session
        self._clock = clock
        self._is_replica = is_replica
        self._account_id: int | None = None

    def set_tenant(self, account_id: int) -> None:
        """Show only the account's rows from now on, also in the rest of this transaction."""
        self._account_id = account_id
        if self._is_in_transaction():
            self.script(self._local_tenant())

    def accounts(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; the last account found is the tenant, without another statement.

        If none is found, there is no tenant.
        """
        self._session.tenant = _UNKNOWN
        found = self._run(_setting_tenant(sql), values)
        self._session.tenant = found[-1][0]
        return [row[:-1] for row in found if row[0] is not None]

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; a statement stays prepared."""
        self._use_tenant()
        return self._run(translated(sql), values)

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; the statement does not stay prepared, so it is planned each time."""
        self._use_tenant()
        return self._run(translated(sql), values, prepare=False)

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one, while the server sends them."""
        self._use_tenant()
        return super().stream(sql, **values)

    def analyze(self, table: str, /) -> None:
        """Collect the planner's statistics of the table."""
        self.script(f"ANALYZE {table}")

    def now(self) -> int:
        """Return the server's time; of a replica, the time up to which it has the changes.

        Raises StoreUnavailable if a replica is more than 30 seconds behind.
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
        self._use_tenant()
        with self._reading():
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read in one transaction, whose statements have no limit of time."""
        with self._reading(self._local_tenant() + _IN_INDEX_ORDER):
            yield

    def lock_account(self, account_id: int, /) -> None:
        """Wait for the account's other writer, if there is one."""
        self._lock(_ACCOUNT_LOCK, account_id)

    def lock_stamps(self, account_id: int, /) -> None:
        """Wait for another process that stamps, which takes milliseconds."""
        self._lock(_STAMPS_LOCK, account_id)

    def _lock(self, key: int, account_id: int) -> None:
        self.rows(
            f"""
            SELECT pg_advisory_xact_lock({key}, hashint8(:account_id)),
                set_config('masthead.account_id', :account, TRUE)
            """,
            account_id=account_id,
            account=str(account_id),
        )

    def lock_accounts(self) -> None:
        """Lock the table against writers; others can read accounts, and load their data."""
        self.script("LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE")

    def _use_tenant(self) -> None:
        """Set the session's tenant to that of this connection, unless it is so already."""
        if self._session.tenant != self._account_id and not self._is_in_transaction():
            self._session.tenant = _UNKNOWN
            account = "" if self._account_id is None else str(self._account_id)
            self._run(_SET_TENANT, {"account": account})
            self._session.tenant = self._account_id

    def _local_tenant(self) -> str:
        if self._account_id is None:
            return ""
        return f"SET LOCAL masthead.account_id = '{self._account_id}';"


class PostgresStore:
    """A database on a server (``store.database`` describes its methods).

    ``read_url`` names a replica for :meth:`reader`. ``clock`` replaces the server's.
    """

    dialect: Dialect = "postgresql"

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
        self._readers = Pool(read_url or url, _TenantSession, _READER, CONNECTIONS_MAX)
        self._counters = Pool(url, _TenantSession, _COUNTERS, COUNTERS_CONNECTIONS_MAX)

    def migrate(self) -> None:
        """Create the tables if there are none, and bring the schema up to date.

        If several processes do so at once, one migrates and the others wait.
        """
        with self.writer() as database:
            if migrations.missing(database):
                with database.transaction():
                    database.script("SELECT pg_advisory_xact_lock(0, 0)")
                    migrations.apply_missing(database)
            migrations.check_secret(database)

    def open_loop_reader(self, _call_soon: Later) -> None:
        """Return None: a query may take long, and must not block an event loop."""
        return

    @contextmanager
    def reader(self) -> Iterator[PostgresStoreConnection]:
        """Yield a connection of the pool, with the role ``masthead_server``."""
        with self._readers.session() as session:
            is_replica = self._read_url is not None
            database = PostgresStoreConnection(
                session, self._stamp_clock, self.secret, is_replica=is_replica
            )
            try:
                yield database
            finally:
                database.streams.close()

    @contextmanager
    def counters(self) -> Iterator[PostgresStoreConnection]:
        """Yield a connection to the primary, with the role ``masthead_server``, that can write."""
        with self._counters.session() as session:
            yield PostgresStoreConnection(session, self._stamp_clock, self.secret)

    @contextmanager
    def writer(self, *, waits: bool = True) -> Iterator[PostgresStoreConnection]:
        """Yield a new connection, as the user of the URL."""
        session = connect(self._url, _TenantSession)
        session.prepare_threshold = None  # a load runs each of its statements once
        database = PostgresStoreConnection(session, self._stamp_clock, self.secret)
        with explaining(), closing(database):
            database.script(_WRITER if waits else _WRITER + _LOCK_TIMEOUT)
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
        self._readers.close()
        self._counters.close()
