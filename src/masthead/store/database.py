"""What the queries use of a database: the same methods on SQLite and on PostgreSQL.

The queries are in the modules beside this one, with the same SQL for both databases. The few that
differ are chosen by ``Connection.dialect``.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from masthead.databases import connection as databases
from masthead.databases.connection import Dialect, Row, Value
from masthead.databases.postgresql.greenlets import Greenlets
from masthead.store.secret import Secret
from masthead.store.waiting_writers import Waiting

__all__ = [
    "Clock",
    "Connection",
    "Dialect",
    "Greenlets",
    "Later",
    "Migration",
    "Row",
    "Store",
    "Value",
    "system_clock",
]

Clock = Callable[[], int]
"""Returns microseconds since 1970 in UTC."""

Later = Callable[[Callable[[], None]], object]
"""Has a function called later; an event loop's ``call_soon`` is one."""


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
        """The number and the name, as they are shown."""
        return f"{self.number:04} {self.name}"

    @property
    def checksum(self) -> str:
        """The SHA-256 of the SQL, whatever its line ends are, in hexadecimal digits."""
        return hashlib.sha256("\n".join(self.sql.splitlines()).encode()).hexdigest()


class Connection(databases.Connection, Protocol):
    """A connection to the database, to be used by one thread at a time.

    Its methods raise StoreUnavailable if the database cannot be used now.
    """

    secret: Secret

    def set_tenant(self, account_id: int, *, is_master: bool = False) -> None:
        """Show this connection only the account's data from now on, and to a master all accounts.

        On PostgreSQL, a server's connection raises an error before it has a tenant.
        """

    def rows_planned(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows; PostgreSQL plans the statement for these values.

        To plan takes longer than most look-ups.
        """

    def change_many(self, sql: str, many: Sequence[Mapping[str, Value]], /) -> None:
        """Run a statement that writes for each of ``many`` values, within a transaction."""

    def analyze(self, table: str, /) -> None:
        """Update the planner's statistics of ``table``, on PostgreSQL, outside a transaction."""

    def now(self) -> int:
        """Return the time for stamps, in microseconds since 1970: the database server's."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read in one transaction, like ``read_snapshot``, but without a limit of time.

        The snapshot is taken when the block starts.
        """

    def lock_account(self, account_id: int, /) -> None:
        """Exclude other writers of the account's data until the transaction ends."""

    def lock_stamps(self, account_id: int, /) -> None:
        """Exclude others from stamping the account's commits until the transaction ends.

        Later statements see what all earlier ones have written.
        """

    def add_locks(self, account_id: int, /) -> None:
        """Add what :meth:`lock_account` and :meth:`lock_stamps` lock, for a new account."""

    def lock_accounts(self) -> None:
        """Exclude others from adding or changing accounts until the transaction ends.

        It is held for milliseconds: who needs an account's lock too takes that one first.
        """


class Store(Protocol):
    """A database: where it is, and how to get connections to it.

    ``clock`` is the time of this machine, unless a caller gave another one. Stamps use
    :meth:`Connection.now`.
    """

    dialect: Dialect
    clock: Clock
    secret: Secret
    reads_replica: bool
    """Whether :meth:`reader` reads from a replica."""

    waiting: Waiting | None
    """How a writer that waits says so, and how others call it; None: it says nothing."""

    following_since: float
    """The time (``time.monotonic``) since which the primary has not answered what its history is;
    infinite if it has (``store.epochs``)."""

    def exists(self) -> bool:
        """Return whether there is a database; False only for a file."""

    def open(self) -> None:
        """Open the database. A file is created if there is none; no schema is changed.

        Raises MastheadError if the database has another schema than this version's, or the secret
        key is not its own; StoreUnavailable if it cannot be opened.
        """

    def open_to_serve(self) -> list[Migration]:
        """Open the database for a server, which also brings a file up to date.

        Returns the migrations that were applied. Raises what :meth:`open` does.
        """

    def migrate(self) -> list[Migration]:
        """Create the tables if there are none, and bring the schema up to date.

        Returns the migrations that were applied. Raises MastheadError if a newer version of
        Masthead made the database or the secret key is not its own, StoreUnavailable if it cannot
        be opened.
        """

    def check_server_role(self) -> None:
        """Raise BadUsage if the database's user is one that a server must not log in as."""

    def open_loop_reader(self, call_soon: Later) -> Connection | None:
        """Return a connection for an event loop whose queries never wait, or None.

        Everything that is read in one iteration of the loop is read in one snapshot. ``call_soon``
        is the loop's; it ends the snapshot before the loop handles new requests. If it is None,
        :meth:`reader` and :meth:`counters` wait without blocking the loop when they are used in one
        of its :class:`Greenlets`.
        """

    def reader(self) -> AbstractContextManager[Connection]:
        """Yield a connection that can only read, to be used by one thread."""

    def fresh(self, reader: Connection) -> AbstractContextManager[Connection]:
        """Yield ``reader`` or, if it reads a replica that is far behind, one to the primary.

        Raises StoreUnavailable if the primary cannot be used then.
        """

    def replica_lag(self) -> float | None:
        """Return how many seconds the replica is behind; None if there is none."""

    def writer(self, *, waits: bool = True) -> AbstractContextManager[Connection]:
        """Yield a connection that can write and sees all accounts.

        One that ``waits`` waits for locks without a limit, since loads can be large. Another
        raises StoreUnavailable after five seconds.
        """

    def counters(self) -> AbstractContextManager[Connection]:
        """Yield a connection to what servers count, which no load ever locks.

        Raises StoreUnavailable if it cannot be used.
        """

    def load_lock(self, account_id: int, *, waits: bool) -> AbstractContextManager[None]:
        """Exclude other loads of the account during the block, and no other writer.

        The lock ends with the process, however that ends. Raises DatabaseLocked if another load
        has it for longer than a second, unless this one ``waits``.
        """

    def is_loading(self, account_id: int) -> bool:
        """Return whether a load has the account's :meth:`load_lock`.

        That of a process that was killed is free, if need be after a moment.
        """

    def vacuum_after_erase(self) -> None:
        """Remove the old values of changed rows from the database's files.

        Does nothing on PostgreSQL, whose own vacuum does it. Raises StoreUnavailable if others
        have used the files all the time; what was written is kept.
        """

    def check(self) -> None:
        """Raise StoreUnavailable if the database is not the one that was opened.

        It is another one if a file is not at its path any more, or a newer version has changed the
        schema. :meth:`reader` raises it too from then on, until a later check finds no fault.
        """

    def check_schema(self, connection: Connection) -> None:
        """Do what :meth:`check` does about the schema, by means of a connection."""

    def write_heartbeat(self) -> None:
        """Write the time from which readers of a replica know how far behind it is."""

    def close(self) -> None:
        """Close all connections that are not in use."""
