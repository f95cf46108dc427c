"""Connections to a PostgreSQL database: tenants, locks, and settings of transactions.

The account whose rows a query may see is a setting of its transaction (``SET LOCAL
masthead.account_id``), never of a session. So it works behind a pooler that gives each transaction
another session of the server, and on each node of a distributed database. Policies show a server's
login only that account's rows. In a transaction without an account, they raise an error.

Readers never wait for writers. An account's writers lock a row and so wait for each other.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache

from masthead.databases.connection import DatabaseLocked
from masthead.databases.postgresql import connection as postgresql
from masthead.databases.postgresql.connection import (
    UNLIMITED,
    beginning,
    inserting,
    known,
    refusing_values,
)
from masthead.databases.postgresql.session import (
    Forgotten,
    Found,
    Session,
    Statement,
    statement_of,
)
from masthead.databases.queries import Row, Value
from masthead.errors import StoreUnavailable
from masthead.store.database import Clock
from masthead.store.secret import Secret
from masthead.store.waiting_writers import Waiting, Writer

STATEMENT_MS_MAX = 1_500
"""The server cancels readers' statements after this time. The streams of a snapshot have no such
limit, but they wait no longer than this for a lock."""

BEHIND_US_MAX = 30 * 1_000_000
"""The change feed and credentials are not read from a replica that is further behind."""

READ = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
_PROPAGATED = {"citus.propagate_set_commands": "local"}
"""On a distributed database, each node also gets the transaction's SET LOCAL settings. Elsewhere
this has no effect."""

SHORT = {
    **_PROPAGATED,
    "statement_timeout": str(STATEMENT_MS_MAX),
    "lock_timeout": str(STATEMENT_MS_MAX),
    "jit": "off",
}
COUNT = {**SHORT, "synchronous_commit": "off"}
"""Commits wait for no disk and no standby. A crash loses the counts of the last moments."""

WRITE = {**_PROPAGATED, **UNLIMITED, "work_mem": "64MB", "jit": "off"}
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

They last as long as their reader, so they use no parallel workers, which are scarce."""


_READER = "masthead.subscriber_id"
"""The setting of a transaction for whose reader it runs (``rights_of_readers.sql``)."""

_NOBODY = 0
"""The reader of a transaction before a sign-in."""

_MANY = 200
"""The number of statements that are sent before the results of the first are read."""

_COMMIT = Statement(b"COMMIT")
_LOCK = "SELECT 1 FROM account_locks WHERE account_id = :account_id AND kind = :kind FOR UPDATE"
_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT"
_BEAT = f"{_NOW}, (SELECT beat_at FROM heartbeat)"


@cache
def _setting(version: int, settings: tuple[tuple[str, str], ...]) -> Statement:
    """Return one query that makes all settings of a transaction, which is the cheapest way."""
    made = (f"set_config('{name}', '{value}', TRUE)" for name, value in known(version, settings))
    return Statement(f"SELECT {', '.join(made)}".encode())


def _writing(account_id: int) -> str:
    """Return the start of the application name of sessions that write to the account."""
    return f"masthead {account_id} "


class PostgresStoreConnection(postgresql.PostgresConnection):
    """A connection to the server (``store.database`` describes its methods).

    Each statement outside a transaction runs in its own transaction, which begins with ``begin``
    and ``settings`` and is sent in one message.
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
        self.waiting: Waiting | None = None
        self._clock = clock
        self._begin_statement = Statement(begin.encode())
        self._settings = settings
        self._settings_statement = _setting(session.info.server_version, tuple(settings.items()))
        self._is_replica = is_replica
        self._tenant: Mapping[str, str] = {}
        self.reader_id: int | None = None

    def set_tenant(self, account_id: int, *, is_master: bool = False) -> None:
        """Show only the account's rows from now on, including the rest of this transaction."""
        self._tenant = {"masthead.account_id": str(account_id)}
        if self.reader_id is not None:
            self._tenant = {**self._tenant, _READER: str(self.reader_id)}
        if is_master:
            self._tenant = {**self._tenant, "masthead.is_master": "on"}
        if self._is_in_transaction():
            # Both settings: earlier ones would last until the transaction's end.
            self.script("; ".join(beginning(0, {"masthead.is_master": "off", **self._tenant})))

    def set_reader(self, subscriber_id: int | None) -> None:
        """Show the role of the readers' pages only the reader's rows from now on."""
        self.reader_id = subscriber_id
        setting = {_READER: str(subscriber_id or _NOBODY)}
        self._tenant = {**self._tenant, **setting}
        if self._is_in_transaction():
            self.script("; ".join(beginning(0, setting)))

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; the statement is not kept prepared, so it is planned each time."""
        return self._run(statement_of(sql, values, stays=False)).rows

    def change_many(self, sql: str, many: Sequence[Mapping[str, Value]], /) -> None:
        """Run a writing statement once for each of the values, some hundreds in one message."""
        assert self._is_in_transaction()
        for first in range(0, len(many), _MANY):
            part = many[first : first + _MANY]
            with self._translating():
                self._connection.exchange([statement_of(sql, values) for values in part])

    def _run_all(self, statements: list[Statement]) -> list[Found]:
        if self._is_in_transaction():
            return super()._run_all(statements)
        before = [self._begin_statement, self._settings_statement]
        before += [
            Statement(setting.encode(), stays=False) for setting in beginning(0, self._tenant)
        ]
        wanted = slice(len(before), -1)
        with self._translating():
            try:
                return self._exchange([*before, *statements, _COMMIT], wanted)
            except Forgotten:
                return self._exchange([*before, *statements, _COMMIT], wanted)

    def _exchange(self, statements: list[Statement], wanted: slice) -> list[Found]:
        try:
            return self._connection.exchange_all(statements, wanted)
        finally:
            self._end("ROLLBACK")

    def is_pooled(self) -> bool:
        """Return whether a pooler is between this connection and the server."""
        return self._connection.is_pooled()

    def lift_limits(self) -> None:
        """Lift the server's limits for scripts outside a transaction. Do not use with a pooler."""
        version = self._connection.info.server_version
        settings = known(version, tuple(_MIGRATE.items()))
        self.script("; ".join(f"SET {name} = '{value}'" for name, value in settings))

    def stream(self, sql: str, /, **values: Value) -> Iterator[Row]:
        """Yield the rows one by one while the server sends them."""
        if self._is_in_transaction():
            return super().stream(sql, **values)
        return self.streams.add(self._stream_alone(sql, values))

    def _stream_alone(self, sql: str, values: dict[str, Value]) -> Generator[Row, None, None]:
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
        """Insert the rows with COPY; for a reader with INSERT, since policies exclude COPY."""
        with nullcontext() if self._is_in_transaction() else self.transaction():
            if self.reader_id is None:
                super().insert_many(table, columns, rows, **same)
                return
            sql, many = inserting(table, columns, rows, same)
            with refusing_values():
                self.change_many(sql, many)

    def analyze(self, table: str, /) -> None:
        """Collect the planner's statistics of the table, in a separate transaction.

        A longer transaction would block others from collecting them. If the statistics cannot be
        collected, such as while a node of a distributed database is down, the older ones are used.
        """
        assert not self._is_in_transaction()
        with suppress(StoreUnavailable), self.transaction():
            self.script(f"ANALYZE {table}")

    def now(self) -> int:
        """Return the server's time in microseconds, or the time up to which a replica has changes.

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
        """Return a replica's lag and the time up to which it has changes, in microseconds."""
        ((now, beat_at),) = self.rows_as(tuple[int, int], _BEAT)
        if self._clock:
            now = self._clock()
        return now - beat_at, beat_at

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read in one transaction, whose statements have no time limit."""
        with self._reading(_IN_INDEX_ORDER):
            yield

    @contextmanager
    def _reading(self, settings: Mapping[str, str]) -> Iterator[None]:
        with super()._reading({**(settings or self._settings), **self._tenant}):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction; those of other connections may run at the same time."""
        with self._writing({**self._settings, **self._tenant}):
            yield

    def lock_account(self, account_id: int, /) -> None:
        """Lock the account; while another writer has it, wait and report this after a while."""
        if self.waiting is None or not self._lock_saying(account_id, self.waiting):
            self._lock(account_id, "data")

    def _lock_saying(self, account_id: int, waiting: Waiting) -> bool:
        """Lock the account; if that takes too long, report who has the lock and return False.

        Others know this writer by its application name, which is set for its transaction.
        """
        self.set_tenant(account_id)
        which: dict[str, Value] = {"account_id": account_id, "kind": "data"}
        name = statement_of(
            "SELECT set_config('application_name', :name, TRUE)",
            {"name": f"{_writing(account_id)}{waiting.user_name}: {waiting.command}"},
        )
        with self._translating():
            found = self._connection.exchange([statement_of(f"{_LOCK} SKIP LOCKED", which), name])
        if found.rows:
            return True
        timeout = max(1, int(waiting.silent_s * 1_000))
        self.script(f"SAVEPOINT waiting; SET LOCAL lock_timeout = '{timeout}ms'")
        try:
            self.rows(_LOCK, **which)
        except DatabaseLocked:
            self.script("ROLLBACK TO SAVEPOINT waiting; RELEASE SAVEPOINT waiting")
            waiting.say(self._writer_of(account_id))
            return False
        limit = self._settings["lock_timeout"]
        self.script(f"SET LOCAL lock_timeout = '{limit}'; RELEASE SAVEPOINT waiting")
        return True

    def _writer_of(self, account_id: int) -> Writer | None:
        """Return who has locked the account, by the application names of sessions not waiting."""
        prefix = _writing(account_id)
        row = self.row(
            """
            SELECT application_name::TEXT, (extract(epoch FROM xact_start) * 1000000)::BIGINT
            FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND starts_with(application_name, :prefix)
                AND wait_event_type IS DISTINCT FROM 'Lock'
            ORDER BY xact_start LIMIT 1
            """,
            prefix=prefix,
        )
        if row is None:
            return None
        user_name, _, command = row[0].removeprefix(prefix).partition(": ")
        return Writer(user_name, command, row[1])

    def lock_stamps(self, account_id: int, /) -> None:
        """Lock the account's stamps; other processes hold this lock for milliseconds."""
        self._lock(account_id, "stamps")

    @contextmanager
    def load_lock(self, account_id: int, /) -> Iterator[None]:
        """Hold the account's load lock during the block (``Store.load_lock``).

        It writes nothing. If the session breaks, the block continues; another load then waits for
        the lock of the account's data.
        """
        self.set_tenant(account_id)
        self._begin(postgresql.READ_COMMITTED, {**self._settings, **self._tenant})
        try:
            self._lock(account_id, "load")
            yield
        finally:
            with suppress(StoreUnavailable):
                self._end("ROLLBACK")

    def _lock(self, account_id: int, kind: str) -> None:
        self.set_tenant(account_id)
        self.rows(_LOCK, account_id=account_id, kind=kind)

    def add_locks(self, account_id: int, /) -> None:
        """Add the rows that the account's writers lock."""
        for kind in ("data", "stamps", "load"):
            self.rows(
                "INSERT INTO account_locks (account_id, kind) VALUES (:account_id, :kind)",
                account_id=account_id,
                kind=kind,
            )

    def lock_accounts(self) -> None:
        """Lock out others who add or change accounts. Loads do not take this lock."""
        self.rows("SELECT 1 FROM secret_key FOR UPDATE")
