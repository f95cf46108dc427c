"""A pool of sessions with PostgreSQL."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from select import POLLIN, poll

import psycopg
from psycopg_pool import ConnectionPool

from masthead.databases.postgresql.connection import explaining
from masthead.databases.postgresql.session import PARAMETERS, Session

WAIT_FOR_CONNECTION_S_MAX = 1.0
_RECONNECT_S_MAX = 1.0
_CLOSE_S_MAX = 1.0


class Pool:
    """Sessions that are kept open. The pool is opened when the first session is needed.

    The server may be silent for ``silence_s_max`` seconds during a statement.
    """

    def __init__(self, url: str, sessions_max: int, *, silence_s_max: float) -> None:
        self._url = url
        self._sessions_max = sessions_max
        self._silence_s_max = silence_s_max
        self._pool: ConnectionPool[Session] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield a session. Raises DatabaseUnavailable if none is free in time."""
        with explaining(), self._opened().connection(WAIT_FOR_CONNECTION_S_MAX) as session:
            yield session

    def close(self) -> None:
        """Close the sessions that are not in use."""
        with self._lock:
            if self._pool:
                self._pool.close(_CLOSE_S_MAX)
                self._pool = None

    def _opened(self) -> ConnectionPool[Session]:
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._url,
                    connection_class=Session,
                    kwargs=PARAMETERS,
                    min_size=0,
                    max_size=self._sessions_max,
                    configure=self._configure,
                    check=self._check_alive,
                    reconnect_timeout=_RECONNECT_S_MAX,
                    open=True,
                )
            return self._pool

    def _configure(self, session: Session) -> None:
        session.silence_s_max = self._silence_s_max
        session.keep_statements()

    def _check_alive(self, session: Session) -> None:
        """Raise OperationalError if the server has ended the session; then drop all idle ones.

        Sends nothing: the end of a session can be read from its socket.
        """
        try:
            while _is_readable(session):
                session.pgconn.consume_input()
        except psycopg.OperationalError:
            session.close()
            if self._pool:
                self._pool.drain()
            raise


def _is_readable(session: Session) -> bool:
    waiting = poll()
    waiting.register(session.fileno(), POLLIN)
    return bool(waiting.poll(0))
