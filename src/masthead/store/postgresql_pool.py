"""Connections to PostgreSQL: how they are made, kept and lent, and what their errors mean."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from select import POLLIN, poll
from typing import TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool

from masthead.errors import StoreUnavailable
from masthead.store.database import Row

__all__ = ["UNAVAILABLE", "Connection", "Pool", "connect", "explained", "line"]

Result = TypeVar("Result")

WAIT_FOR_CONNECTION_S_MAX = 1.0
SILENCE_S_MAX = 10.0
"""So long may a server say nothing to a reader whom it owes an answer."""

_INTERVAL_S = 0.1
"""So often psycopg looks for a signal while it waits."""

_CONNECT_S_MAX = 3
_RECONNECT_S_MAX = 1.0
_CLOSE_S_MAX = 1.0


class Connection(psycopg.Connection[Row]):
    """A connection that knows whose rows its session may see: an account's, or None, nobody's.

    Where the server says nothing for ``silence_s_max`` seconds (None: it may take its time), the
    connection is closed, and whoever waits gets an OperationalError. The limits of the server
    itself do not help where the server is frozen, and those of TCP not where its system is not.
    """

    speaks_for: int | None = None
    silence_s_max: float | None = None

    def wait(
        self, gen: PQGen[Result], interval: float = _INTERVAL_S, timeout: float | None = None
    ) -> Result:
        """Wait for what the server says (psycopg's own method, which each statement calls)."""
        if timeout is not None or self.silence_s_max is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence_s_max)
        except psycopg.OperationalError as error:
            if error.sqlstate or self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            # It is no word of the server's, and nobody can tell any more what comes next.
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the connection is lost, or silent for {self.silence_s_max:g} seconds"
            ) from error


UNAVAILABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # On a replica that has not heard of the tables yet.
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.UndefinedFunction,
    # On a replica that is asked to write.
    errors.ReadOnlySqlTransaction,
)
"""Errors of the database, as against those of a query, which are ours to mend."""


def _adapters() -> AdaptersMap:
    """Let every int be a bigint, so that a statement is prepared once, whatever its numbers."""
    found = AdaptersMap(psycopg.adapters)
    found.register_dumper(int, Int8Dumper)
    return found


_ADAPTERS = _adapters()


_CONNECTION = {
    "autocommit": True,
    "prepare_threshold": 0,
    "context": _ADAPTERS,
    "application_name": "masthead",
    "connect_timeout": _CONNECT_S_MAX,
    # A server that is gone without a word is noticed after ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


class Pool:
    """Connections that are kept, each begun with a script; opened when the first one is needed."""

    def __init__(self, url: str, begin: str, connections_max: int) -> None:
        self._url = url
        self._begin = begin
        self._connections_max = connections_max
        self._pool: ConnectionPool[Connection] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection; raise StoreUnavailable where there is none in time."""
        try:
            with self._opened().connection(WAIT_FOR_CONNECTION_S_MAX) as connection:
                yield connection
        except UNAVAILABLE as error:
            raise explained(error) from error

    def close(self) -> None:
        """Close the connections that nobody has."""
        with self._lock:
            if self._pool:
                self._pool.close(_CLOSE_S_MAX)
                self._pool = None

    def _opened(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._url,
                    connection_class=Connection,
                    kwargs=_CONNECTION,
                    min_size=0,
                    max_size=self._connections_max,
                    configure=self._configure,
                    check=self._check_alive,
                    reconnect_timeout=_RECONNECT_S_MAX,
                    open=True,
                )
            return self._pool

    def _configure(self, connection: Connection) -> None:
        connection.silence_s_max = SILENCE_S_MAX
        connection.execute(self._begin.encode(), prepare=False)

    def _check_alive(self, connection: Connection) -> None:
        """Let no request have a connection that has ended; where one has, replace all idle ones.

        Nothing is sent: that the server has ended a connection can be read from it.
        """
        try:
            while _is_readable(connection):
                connection.pgconn.consume_input()
        except psycopg.OperationalError:
            connection.close()
            if self._pool:
                self._pool.drain()
            raise


def connect(url: str) -> Connection:
    """Return a new connection; raise psycopg's OperationalError where there is none in time."""
    return Connection.connect(url, **_CONNECTION)  # type: ignore[arg-type]


def _is_readable(connection: Connection) -> bool:
    waiting = poll()
    waiting.register(connection.fileno(), POLLIN)
    return bool(waiting.poll(0))


def explained(error: psycopg.Error) -> StoreUnavailable:
    """Return what one of :data:`UNAVAILABLE` means to whoever asked."""
    return StoreUnavailable(f"the database does not answer: {line(error)}")


def line(error: psycopg.Error) -> str:
    """Return the error's message on one line."""
    return " ".join(str(error).split())
