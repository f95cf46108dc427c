"""The database interface that queries use: the same methods on SQLite and PostgreSQL.

The queries are in the other modules of this package and use the same SQL for both databases. A few
queries differ; ``Connection.dialect`` selects them.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from masthead.databases import connection as databases
from masthead.databases.connection import Dialect, Queries
from masthead.databases.postgresql.greenlets import Greenlets
from masthead.databases.queries import Row, Value
from masthead.store.secret import Secret
from masthead.store.waiting_writers import Waiting

__all__ = [
    "Clock",
    "Connection",
    "Dialect",
    "Greenlets",
    "Later",
    "Migration",
    "Queries",
    "Row",
    "Store",
    "Value",
    "system_clock",
]

Clock = Callable[[], int]
"""A function that returns microseconds since 1970 in UTC."""

Later = Callable[[Callable[[], None]], object]
"""A function that schedules a call of another one, such as an event loop's ``call_soon``."""


def system_clock() -> int:
    """Return the time of this machine in microseconds since 1970."""
    return time.time_ns() // 1_000


class Migration(NamedTuple):
    """A migration: its number, name and SQL."""

    number: int
    name: str
    sql: str

    @property
    def title(self) -> str:
        """The number and the name for display."""
        return f"{self.number:04} {self.name}"

    @property
    def checksum(self) -> str:
        """The SHA-256 of the SQL in hexadecimal digits, independent of line ends."""
        return hashlib.sha256("\n".join(self.sql.splitlines()).encode()).hexdigest()


class Connection(databases.Connection, Protocol):
    """A connection to the database; only one thread may use it at a time.

    Its methods raise StoreUnavailable if the database is unavailable.
    """

    secret: Secret
    reader_id: int | None
    """The reader to whom :meth:`set_reader` has limited the connection."""

    def set_tenant(self, account_id: int, *, is_master: bool = False) -> None:
        """Limit this connection to the account's data; a master also sees all accounts.

        On PostgreSQL, queries of a server's connection raise an error before it has a tenant.
        """

    def set_reader(self, subscriber_id: int | None) -> None:
        """Limit this connection to a reader's records, for the readers' pages.

        With None, nobody is signed in yet: the check of a login may look for whose it is.

        On PostgreSQL, the role of the readers' pages sees no other reader's rows, and queries of
        readers' rows raise an error before it has a reader. Other logins, and SQLite, have only
        the conditions of each query.
        """

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; PostgreSQL plans the statement for these values.

        Planning takes longer than most look-ups.
        """

    def change_many(self, sql: str, many: Sequence[Mapping[str, Value]], /) -> None:
        """Run a writing statement once for each of ``many`` values, within a transaction."""

    def analyze(self, table: str, /) -> None:
        """Update the planner's statistics of ``table``, on PostgreSQL, outside a transaction."""

    def now(self) -> int:
        """Return the database server's time in microseconds since 1970, for stamps."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read in one transaction, like ``read_snapshot``, but without a time limit.

        The snapshot is taken when the block starts.
        """

    def lock_account(self, account_id: int, /) -> None:
        """Exclude other writers of the account's data until the transaction ends."""

    def lock_stamps(self, account_id: int, /) -> None:
        """Exclude others from stamping the account's commits until the transaction ends.

        Later statements see everything that earlier holders of the lock have written.
        """

    def add_locks(self, account_id: int, /) -> None:
        """Add what :meth:`lock_account` and :meth:`lock_stamps` lock, for a new account."""

    def lock_accounts(self) -> None:
        """Exclude others from adding or changing accounts until the transaction ends.

        Hold it only for milliseconds: if you also need an account's lock, take that lock first.
        """


class Store(Protocol):
    """A database: where it is, and how to get connections to it.

    ``clock`` is this machine's clock unless the caller gave another one. Stamps use
    :meth:`Connection.now`.
    """

    dialect: Dialect
    clock: Clock
    secret: Secret
    reads_replica: bool
    """Whether :meth:`reader` reads from a replica."""

    waiting: Waiting | None
    """How a waiting writer reports that it waits, and its name for others; None: no report."""

    waits_for_writers: bool
    """Whether :meth:`writer` may wait for other writers without a limit, as commands do."""

    following_since: float
    """The time (``time.monotonic``) since which the primary has not returned its history; infinite
    if it has (``store.epochs``)."""

    def exists(self) -> bool:
        """Return whether the database exists; only a file can be missing."""

    def open(self) -> None:
        """Open the database. A missing file is created; an existing schema is not changed.

        Raises MastheadError if the schema is not this version's or the secret key is not the
        database's; StoreUnavailable if it cannot be opened.
        """

    def open_to_serve(self) -> list[Migration]:
        """Open the database for a server; this also migrates a file.

        Returns the migrations that were applied. Raises what :meth:`open` raises.
        """

    def migrate(self) -> list[Migration]:
        """Create missing tables and migrate the schema to this version.

        Returns the migrations that were applied. Raises MastheadError if a newer version of
        Masthead made the database or the secret key is not the database's, StoreUnavailable if it
        cannot be opened.
        """

    def check_server_role(self) -> None:
        """Raise BadUsage if a server must not log in as the database's user."""

    def check_readers_role(self) -> None:
        """Raise BadUsage if the readers' pages must not log in as the database's user."""

    def open_loop_reader(self, call_soon: Later) -> Connection | None:
        """Return a connection for an event loop whose queries never wait, or None.

        All reads in one iteration of the loop use one snapshot. The loop's ``call_soon`` ends the
        snapshot before the loop handles new requests. If this returns None, :meth:`reader` and
        :meth:`counters` wait without blocking the loop when they are used in one of its
        :class:`Greenlets`.
        """

    def reader(self) -> AbstractContextManager[Connection]:
        """Yield a read-only connection for one thread."""

    def fresh(self, reader: Connection) -> AbstractContextManager[Connection]:
        """Yield ``reader``, or a connection to the primary if its replica is far behind.

        Raises StoreUnavailable if the primary is needed but unavailable.
        """

    def replica_lag(self) -> float | None:
        """Return how many seconds the replica is behind; None if there is no replica."""

    def writer(self, *, waits: bool = True) -> AbstractContextManager[Connection]:
        """Yield a connection that can write and sees all accounts.

        With ``waits``, it waits for locks without a limit, since loads can be large, if the store
        ``waits_for_writers``. Otherwise it raises StoreBusy after five seconds.
        """

    def counters(self) -> AbstractContextManager[Connection]:
        """Yield a connection to the counters, which no load locks.

        Raises StoreUnavailable if the counters are unavailable.
        """

    def load_lock(self, account_id: int, *, waits: bool) -> AbstractContextManager[None]:
        """Exclude other loads of the account during the block, but no other writers.

        The lock ends with the process, even if it is killed. Without ``waits``, raises
        DatabaseLocked if another load has the lock for longer than a second.
        """

    def is_loading(self, account_id: int) -> bool:
        """Return whether a load has the account's :meth:`load_lock`.

        The lock of a killed process becomes free, though it may take a moment.
        """

    def vacuum_after_erase(self) -> None:
        """Remove the old values of changed rows from the database's files.

        Does nothing on PostgreSQL, whose own vacuum does it. Raises StoreUnavailable if others use
        the files all the time; changes that were written are kept.
        """

    def check(self) -> None:
        """Raise StoreUnavailable if the database is not the one that was opened.

        The database differs if the file is no longer at its path, or if a newer version has changed
        the schema. :meth:`reader` then raises it too, until a later check finds no fault.
        """

    def check_schema(self, connection: Connection) -> None:
        """Check the schema like :meth:`check`, using the given connection."""

    def write_heartbeat(self) -> None:
        """Write the time that tells readers of a replica how far behind it is."""

    def close(self) -> None:
        """Close all idle connections."""
