"""Sessions with PostgreSQL: psycopg's connections, and statements that are sent in one message.

:meth:`Session.exchange` uses libpq through ``psycopg.pq``, past psycopg's cursors: with them, a
transaction of four statements costs three times as much (decisions, "PostgreSQL on the event
loop"). psycopg still decodes the values of rows.
"""

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from re import Match
from re import compile as pattern
from select import POLLIN, POLLOUT, poll
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.abc import Transformer as Decoder
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import Int8Dumper

from masthead.databases.queries import Row, Value

Result = TypeVar("Result")

_CONNECT_S_MAX = 3
_SIGNALS_S = 0.1
"""Seconds between psycopg's checks for a signal while it waits."""

_PREPARED_MAX = 300
_FORGOTTEN = frozenset({"26000", "0A000"})
"""The server has forgotten a prepared statement, or the columns of its result have changed."""

_PARAMETER = pattern(r"(?<![:\w]):(\w+)")
_Key = tuple[bytes, tuple[int, ...]]
"""The SQL of a prepared statement, and the types of its parameters."""

_BIGINT, _UNKNOWN = 20, 0
_pack = struct.Struct("!q").pack


def _adapters() -> AdaptersMap:
    """Send every int as a bigint, so that a statement is prepared once, whatever its numbers."""
    found = AdaptersMap(psycopg.adapters)
    found.register_dumper(int, Int8Dumper)
    return found


PARAMETERS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,
    "context": _adapters(),
    "application_name": "masthead",
    "client_encoding": "UTF8",
    "connect_timeout": _CONNECT_S_MAX,
    # These detect a server that is gone without closing the connection, after ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""How every session is opened."""


class Statement(NamedTuple):
    """SQL with the parameters ``$1``, ``$2`` and so on, and their values as libpq takes them.

    ``stays`` is whether it stays prepared, in a session that keeps statements.
    """

    sql: bytes
    values: Sequence[bytes | None] = ()
    formats: Sequence[int] = ()
    types: tuple[int, ...] = ()
    stays: bool = True


class Forgotten(psycopg.OperationalError):
    """The server has forgotten the session's prepared statements, or changed their columns."""


class Found(NamedTuple):
    """The rows of a statement, and the number of rows that it changed."""

    rows: list[Row]
    changed: int


class _Prepared:
    """A statement that the server knows by a name, and the decoder of its rows."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.decoder: Decoder = Transformer()
        self.has_loaders = False

    def rows(self, results: list[PGresult]) -> list[Row]:
        """Return the rows. The columns are always the same, so their loaders are found once."""
        found: list[Row] = []
        for result in results:
            is_new = not self.has_loaders
            self.decoder.set_pgresult(result, set_loaders=is_new, format=Format.BINARY)
            self.has_loaders = True
            found += self.decoder.load_rows(0, result.ntuples, tuple)
        self.decoder.set_pgresult(None, set_loaders=False)
        return found


class Session(psycopg.Connection[Row]):
    """psycopg's connection, with a limit for the time that the server may be silent.

    If it is silent for ``silence_s_max`` seconds during a statement (None: no limit), the
    connection is closed and OperationalError is raised. The server's own timeouts do not help when
    the server is frozen, and TCP timeouts do not help while its system still runs.
    """

    silence_s_max: float | None = None
    _statements: dict[_Key, _Prepared] | None = None
    _names = 0

    def keep_statements(self) -> None:
        """Let statements stay prepared, unless a pooler is between this session and the server.

        Behind a pooler, the next transaction may run in another session of the server.
        """
        if not self.is_pooled():
            self._statements = {}

    def is_pooled(self) -> bool:
        """Return whether a pooler is between this session and the server.

        The process id shows it: a pooler sends an id of its own when a session starts.
        """
        row = self.execute("SELECT pg_backend_pid()").fetchone()
        return row != (self.pgconn.backend_pid,)

    def wait(
        self, gen: PQGen[Result], interval: float = _SIGNALS_S, timeout: float | None = None
    ) -> Result:
        """Wait for the server (psycopg calls this method in each statement)."""
        if timeout is not None or self.silence_s_max is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence_s_max)
        except psycopg.OperationalError as error:
            if error.sqlstate or self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            # The server did not send this error, so its next message is unknown.
            self.pgconn.finish()
            raise self._silent() from error

    def _silent(self) -> psycopg.OperationalError:
        return psycopg.OperationalError(
            f"the connection is lost, or silent for {self.silence_s_max:g} seconds"
        )

    def wait_for(self, *, writing: bool) -> None:
        """Wait until libpq can read or, if ``writing``, write.

        Raises OperationalError if the server is silent for too long.
        """
        waiting = poll()
        waiting.register(self.pgconn.socket, POLLIN | POLLOUT if writing else POLLIN)
        if not waiting.poll(self.silence_s_max and self.silence_s_max * 1_000):
            raise self._silent()

    def exchange(self, statements: Sequence[Statement], wanted: int = 0) -> Found:
        """Send the statements in one message; return the result of the one at index ``wanted``.

        It is like :meth:`exchange_all` otherwise.
        """
        return self.exchange_all(statements, slice(wanted, wanted + 1))[0]

    def exchange_all(self, statements: Sequence[Statement], wanted: slice) -> list[Found]:
        """Send the statements in one message; return the results of those at indexes ``wanted``.

        Raises psycopg.Error if a statement fails; later ones do not run, and a transaction that
        they have begun stays open. After Forgotten, end the transaction and send them again. Any
        other error closes the session.
        """
        added: list[_Key] = []
        try:
            # In the order of the results: None where a statement is only prepared.
            sent = self._send(statements, added)
            results = self._receive()
        except BaseException:
            self.pgconn.finish()
            raise
        failed = [each[-1] for each in results if each[-1].status == ExecStatus.FATAL_ERROR]
        if failed:
            error = errors.error_from_result(failed[0])
            if self._statements is not None:
                for key in added:
                    self._statements.pop(key, None)
                if error.sqlstate in _FORGOTTEN:
                    self._statements.clear()
                    raise Forgotten(str(error)) from error
            raise error
        found = [(known, parts) for known, parts in zip(sent, results, strict=True) if known]
        return [
            Found(known.rows(parts), parts[-1].command_tuples or 0)
            for known, parts in found[wanted]
        ]

    def _send(self, statements: Sequence[Statement], added: list[_Key]) -> list[_Prepared | None]:
        pg = self.pgconn
        pg.enter_pipeline_mode()
        sent: list[_Prepared | None] = []
        for statement in statements:
            sql, values, formats, types, stays = statement
            count = len(added)
            known = self._known(statement, added) if stays else None
            if len(added) > count:
                sent.append(None)
            if known:
                pg.send_query_prepared(known.name, values, formats, Format.BINARY)
            else:
                known = _Prepared(b"")
                pg.send_query_params(sql, values, types, formats, Format.BINARY)
            sent.append(known)
        pg.pipeline_sync()
        while pg.flush():
            self.wait_for(writing=True)
            pg.consume_input()
        return sent

    def _known(self, statement: Statement, added: list[_Key]) -> _Prepared | None:
        """Return the prepared statement, and send it if it is new; None if there are too many."""
        if self._statements is None:
            return None
        key = statement.sql, statement.types
        found = self._statements.get(key)
        if found is None and len(self._statements) < _PREPARED_MAX:
            self._names += 1
            found = self._statements[key] = _Prepared(b"masthead_%d" % self._names)
            added.append(key)
            self.pgconn.send_prepare(found.name, statement.sql, statement.types)
        return found

    def _receive(self) -> list[list[PGresult]]:
        """Return the results of each statement; after a stream, libpq can give rows in parts."""
        pg = self.pgconn
        results: list[list[PGresult]] = [[]]
        while True:
            while pg.is_busy():
                self.wait_for(writing=False)
                pg.consume_input()
            result = pg.get_result()
            if result is None:
                results.append([])
            elif result.status == ExecStatus.PIPELINE_SYNC:
                break
            else:
                results[-1].append(result)
        pg.exit_pipeline_mode()
        return results[:-1]


def statement_of(sql: str, values: Mapping[str, Value], *, stays: bool = True) -> Statement:
    """Return the statement; each int is a bigint, and the server infers the type of text.

    Raises psycopg.DataError for a value that PostgreSQL cannot hold.
    """
    numbered, names = _numbered(sql)
    if not names:
        return Statement(numbered, stays=stays)
    encoded: list[bytes | None] = []
    formats: list[int] = []
    types: list[int] = []
    try:
        for name in names:
            value = values[name]
            if isinstance(value, int):
                encoded.append(_pack(value))
                formats.append(Format.BINARY)
                types.append(_BIGINT)
            else:
                encoded.append(None if value is None else _text(value))
                formats.append(Format.TEXT)
                types.append(_UNKNOWN)
    except (struct.error, UnicodeEncodeError) as error:
        raise psycopg.DataError(str(error)) from error
    return Statement(numbered, encoded, formats, tuple(types), stays)


def _text(value: str) -> bytes:
    if "\0" in value:
        raise psycopg.DataError("text cannot contain NUL")  # libpq would cut it off there
    return value.encode()


@lru_cache(maxsize=10_000)
def _numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """Return ``sql`` with ``$1`` and so on for ``:name``, and the names in that order."""
    names: dict[str, int] = {}

    def number(found: Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    return _PARAMETER.sub(number, sql).encode(), tuple(names)


@lru_cache(maxsize=10_000)
def translated(sql: str) -> bytes:
    """Return ``sql`` with psycopg's parameters: ``%(name)s`` for ``:name``."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).encode()
