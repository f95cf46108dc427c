"""The embedded database: a file, its secret key, and a second file for the counters."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from math import inf
from pathlib import Path
from zlib import crc32

from masthead.databases import sqlite
from masthead.databases.connection import DatabaseLocked, DatabaseUnavailable, Dialect
from masthead.databases.queries import Row, Value
from masthead.errors import StoreUnavailable
from masthead.store import migrations
from masthead.store.database import Clock, Connection, Later, Migration, system_clock
from masthead.store.secret import Secret
from masthead.store.waiting_writers import Waiting, Writer, read_note, remove_note, write_note

TRACES_WAIT_S = 5.0
"""How long to wait for other writers and readers before a file is rewritten."""

COUNTERS_TIMEOUT_S = 0.5
"""How long to wait for the counters. A write takes microseconds, and an event loop may wait."""

LOAD_TIMEOUT_S = 1.0
"""How long a load waits for the account's other load. A check for a running load also holds the
lock for a moment."""


class SqliteStoreConnection(sqlite.SqliteConnection):
    """A connection to the file (``store.database`` describes its methods)."""

    def __init__(
        self, path: Path, clock: Clock, secret: Secret, *, read_only: bool = False
    ) -> None:
        super().__init__(path, read_only=read_only)
        self.now = clock
        self.secret = secret
        self.reader_id: int | None = None

    def set_tenant(self, account_id: int, *, is_master: bool = False) -> None:
        """Do nothing: each query names the account, and SQLite has no policies."""

    def set_reader(self, subscriber_id: int | None) -> None:
        """Do nothing: each query names the reader."""

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows."""
        return self.rows(sql, **values)

    def change_many(self, sql: str, many: Sequence[Mapping[str, Value]], /) -> None:
        """Run a writing statement once for each of the values."""
        for values in many:
            self.rows(sql, **values)

    def analyze(self, table: str, /) -> None:
        """Do nothing: the migrations contain the statistics that the planner needs."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read in one transaction."""
        with self.read_snapshot():
            self.rows("SELECT 1 FROM commits LIMIT 1")
            yield

    def lock_account(self, account_id: int, /) -> None:
        """Do nothing: the transaction excludes every other writer."""

    def lock_stamps(self, account_id: int, /) -> None:
        """Do nothing: the transaction excludes every other writer."""

    def add_locks(self, account_id: int, /) -> None:
        """Do nothing: a transaction locks the file."""

    def lock_accounts(self) -> None:
        """Do nothing: the transaction excludes every other writer."""

    def remove_traces(self) -> None:
        """Rewrite the file and empty its log (``SqliteStore.vacuum_after_erase``)."""
        try:
            self.rewrite(TRACES_WAIT_S)
        except DatabaseUnavailable as error:
            raise StoreUnavailable(
                "all is done and kept, but the files of the database still hold traces of what was "
                f"replaced, since they could not be rewritten ({error.reason}). The next erasure "
                "rewrites them, also one of the same subscriber",
                code="traces_left",
            ) from error


class _Writer(SqliteStoreConnection):
    """A connection that waits for other writers, and notes its user and command in a file."""

    def __init__(self, store: "SqliteStore") -> None:
        super().__init__(store.path, store.clock, store.secret)
        self._waiting = store.waiting
        self._note = store.path.with_name(f"{store.path.name}-writer")
        self._since = 0.0
        self.wait_without_limit(self._wait)

    def _wait(self, is_first: bool) -> None:
        waiting = self._waiting
        if waiting is None or waiting.has_said:
            return
        if is_first:
            self._since = waiting.clock()
        if waiting.clock() - self._since >= waiting.silent_s:
            waiting.say(read_note(self._note))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write in one transaction; others can read meanwhile who is writing."""
        note = None
        try:
            with super().transaction():
                if self._waiting:
                    writer = Writer(self._waiting.user_name, self._waiting.command, self.now())
                    note = write_note(self._note, writer)
                yield
        finally:
            # After the end, so that others can also read it during a long COMMIT.
            if note is not None:
                remove_note(self._note, note)


class _LoopReader(SqliteStoreConnection):
    """The connection of an event loop, which reads in one transaction per iteration.

    Locking and unlocking the file for each query would cost more than most queries. All requests of
    an iteration arrived before it started, so the snapshot is not older than the requests.
    """

    def __init__(self, store: "SqliteStore", call_soon: Later) -> None:
        super().__init__(store.path, store.clock, store.secret, read_only=True)
        self._store = store
        self._call_soon = call_soon
        super().rows("PRAGMA mmap_size = 268435456")
        # The first read takes the file's shared lock, by which `masthead restore` detects a server.
        super().rows("SELECT 1 FROM sqlite_schema LIMIT 1")

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows."""
        if not self._connection.in_transaction:
            if self._store.fault:
                raise StoreUnavailable(self._store.fault)
            super().rows("BEGIN")
            self._call_soon(self._end_transaction)
        return super().rows(sql, **values)

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Do nothing: an iteration of the loop reads in one snapshot."""
        yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Take a new snapshot, which can be newer than the iteration's former snapshot."""
        self._end_transaction()
        yield

    def _end_transaction(self) -> None:
        if self._connection.in_transaction:
            super().rows("ROLLBACK")


class SqliteStore:
    """A database in a file (``store.database`` describes its methods)."""

    dialect: Dialect = "sqlite"
    reads_replica = False
    waiting: Waiting | None = None
    waits_for_writers = True
    following_since = inf

    def __init__(
        self, path: Path, clock: Clock = system_clock, secret: Secret | None = None
    ) -> None:
        self.path = path
        self.clock = clock
        self.secret = secret or Secret(path.with_name(f"{path.name}-key"))
        self._counters_path = path.with_name(f"{path.name}-logins")
        self.fault = ""
        """What the last :meth:`check` found wrong with the file at this path."""
        self._file: tuple[int, int] | None = None
        self._schema = 0
        self._idle_readers: list[SqliteStoreConnection] = []
        self._idle_counters: list[SqliteStoreConnection] = []
        self._lock = threading.Lock()
        self._checking = threading.Lock()

    def exists(self) -> bool:
        """Return whether there is a file that is not empty."""
        return self.path.exists() and self.path.stat().st_size > 0

    def open(self) -> None:
        """Create a missing file; refuse an older schema."""
        self._create(self.path)
        with self.writer() as database:
            is_made = migrations.has_table(database, "migrations")
            if is_made:
                migrations.check_schema(database)
                migrations.check_secret(database)
        if is_made:
            self._remember()
        else:
            self.migrate()

    def open_to_serve(self) -> list[Migration]:
        """Create the file if there is none, and bring its schema up to date."""
        done = self.migrate()
        with self.counters():
            pass  # raises an error if the counters are unavailable
        return done

    def migrate(self) -> list[Migration]:
        """Create the file if there is none, and bring its schema up to date."""
        self._create(self.path)
        done = []
        with self.writer() as database:
            if migrations.missing(database):
                with database.transaction():
                    for migration in migrations.missing(database):
                        database.script(migration.sql)
                        migrations.record(database, migration)
                        done.append(migration)
            migrations.check_secret(database)
        self._remember()
        return done

    def _remember(self) -> None:
        """Note which file was opened, and its schema."""
        self._file = _identity(self.path)
        self._schema = migrations.migrations(self.dialect)[-1].number

    def check_server_role(self) -> None:
        """Do nothing: a file has no users."""

    def check_readers_role(self) -> None:
        """Do nothing: a file has no users."""

    def check(self) -> None:
        """Raise StoreUnavailable if the file, or its schema, is not the one that was opened.

        Readers then get no connection until it is that file again. Otherwise the store would read
        one file and write another (rules, "A file that is gone").
        """
        if self._file is None:
            return
        # Two checks at once could otherwise end with the result of the earlier one.
        with self._checking:
            self.fault = self._find_fault()
        if self.fault:
            raise StoreUnavailable(self.fault)

    def _find_fault(self) -> str:
        found = _identity(self.path)
        if found == self._file:
            # A pooled connection would read a damaged file from its cache.
            with closing(self._new_reader()) as database:
                return migrations.newer_than(database, self._schema)
        return f"the database {self.path} was " + (
            "replaced by another file while it was open: restart the server to serve that"
            if found
            else "removed, or moved, while it was open: put the same file back, or stop the "
            "server, restore a backup and start it again"
        )

    def check_schema(self, connection: Connection) -> None:
        """Raise StoreUnavailable if the schema is newer than when the file was opened."""
        if fault := migrations.newer_than(connection, self._schema):
            self.fault = fault
            raise StoreUnavailable(fault)

    def open_loop_reader(self, call_soon: Later) -> SqliteStoreConnection:
        """Return a connection that maps the file into memory.

        This makes look-ups faster, but not long streams.
        """
        return _LoopReader(self, call_soon)

    @contextmanager
    def reader(self) -> Iterator[SqliteStoreConnection]:
        """Yield a connection, which stays open for the next caller."""
        if self.fault:
            raise StoreUnavailable(self.fault)
        with self._pooled(self._idle_readers, self._new_reader) as database:
            yield database

    @contextmanager
    def counters(self) -> Iterator[SqliteStoreConnection]:
        """Yield a connection to ``masthead.db-logins``, which is created if it does not exist."""
        with self._pooled(self._idle_counters, self._new_counters) as database:
            yield database

    @contextmanager
    def _pooled(
        self, idle: list[SqliteStoreConnection], new: Callable[[], SqliteStoreConnection]
    ) -> Iterator[SqliteStoreConnection]:
        with self._lock:
            database = idle.pop() if idle else None
        database = database or new()
        try:
            yield database
            database.streams.close()
        except BaseException:
            database.close()
            raise
        with self._lock:
            idle.append(database)

    def _new_reader(self) -> SqliteStoreConnection:
        return self._connect(self.path, read_only=True)

    def _new_counters(self) -> SqliteStoreConnection:
        self._create(self._counters_path)
        database = self._connect(self._counters_path)
        database.set_lock_timeout(COUNTERS_TIMEOUT_S)
        # A power failure may lose the counts of the last moments.
        database.script("PRAGMA synchronous = NORMAL")
        try:
            self._prepare_counters(database)
        except BaseException:
            database.close()
            raise
        return database

    def _prepare_counters(self, database: SqliteStoreConnection) -> None:
        """Create the tables and note which SQL file made them; refuse tables of other SQL files."""
        sql = migrations.read_sql("counters.sql")
        made_by = crc32("\n".join(sql.splitlines()).encode()) & 0x7FFFFFFF
        if database.rows("PRAGMA user_version") == [(made_by,)]:
            return
        with database.transaction():
            if not migrations.has_table(database, "login_failures"):
                database.script(sql)
                database.script(f"PRAGMA user_version = {made_by}")
                return
        if database.rows("PRAGMA user_version") != [(made_by,)]:
            raise StoreUnavailable(
                f"the tables of {self._counters_path} were made by another version of Masthead: "
                "remove this file when no server runs; then all sessions of the console end"
            )

    def fresh(self, reader: Connection) -> AbstractContextManager[Connection]:
        """Yield ``reader``: a file has no replica."""
        return nullcontext(reader)

    def replica_lag(self) -> None:
        """Return None: a file has no replica."""

    @contextmanager
    def writer(self, *, waits: bool = True) -> Iterator[SqliteStoreConnection]:
        """Yield a new connection, for one or a few transactions."""
        waits = waits and self.waits_for_writers
        with closing(_Writer(self) if waits else self._connect(self.path)) as database:
            database.script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
            database.limit_wal()
            yield database

    @contextmanager
    def load_lock(self, account_id: int, *, waits: bool) -> Iterator[None]:
        """Hold a SQLite lock on an empty file, such as ``masthead.db-load-7``, which stays."""
        path = self._load_path(account_id)
        sqlite.create_file(path)
        with closing(sqlite.SqliteConnection(path)) as connection:
            if waits:
                connection.wait_without_limit(lambda _is_first: None)
            else:
                connection.set_lock_timeout(LOAD_TIMEOUT_S)
            with connection.transaction():
                yield

    def is_loading(self, account_id: int) -> bool:
        """Return whether the account's file is locked."""
        path = self._load_path(account_id)
        if not path.exists():
            return False
        with closing(sqlite.SqliteConnection(path)) as connection:
            connection.set_lock_timeout(0)
            try:
                with connection.transaction():
                    return False
            except DatabaseLocked:
                return True

    def _load_path(self, account_id: int) -> Path:
        return self.path.with_name(f"{self.path.name}-load-{account_id}")

    def vacuum_after_erase(self) -> None:
        """Rewrite the file and empty its log.

        Writers wait meanwhile; readers do not. Raises StoreUnavailable if other writers or readers
        leave no time for it.
        """
        with self.writer() as database:
            database.remove_traces()

    def write_heartbeat(self) -> None:
        """Do nothing: a file has no replicas."""

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            for idle in (self._idle_readers, self._idle_counters):
                while idle:
                    idle.pop().close()

    def _create(self, path: Path) -> None:
        """Create a file in WAL mode, or switch an existing file to WAL mode."""
        sqlite.create_file(path)
        with closing(sqlite.SqliteConnection(path)) as connection:
            connection.switch_to_wal()

    def _connect(self, path: Path, *, read_only: bool = False) -> SqliteStoreConnection:
        return SqliteStoreConnection(path, self.clock, self.secret, read_only=read_only)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, or None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
