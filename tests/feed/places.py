"""Where the schedules have their database: how it begins again, is backed up and restored.

On SQLite each of its states is a file. PostgreSQL takes longer to copy a database than to run a
schedule, so there all schedules share one, whose states are kept as rows beside it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, LiteralString, Protocol

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from tests.servers import Store

_numbers = itertools.count()


class Place(Protocol):
    """The database of one schedule after the other."""

    def begin(self) -> str:
        """Return the URL of a database as every schedule begins with it."""

    def back_up(self) -> None:
        """Keep what the database has now, in place of an earlier backup."""

    def restore(self) -> str:
        """Put the backup in the place of the unused database; return the URL."""

    def end(self) -> None:
        """Remove what a schedule leaves behind."""

    def close(self) -> None:
        """Remove the database; no other schedule follows."""


def place_of(kind: Store, url: str) -> Place:
    """Return the place of schedules that begin with what the database at ``url`` has."""
    return _Files(kind, url) if kind.postgres is None else _Tables(kind, url)


class _Files:
    """A file for each state."""

    def __init__(self, kind: Store, url: str) -> None:
        self._kind = kind
        self._start = self._current = self._backup = url
        self._copies: list[str] = []

    def begin(self) -> str:
        self._current = self._copy(self._start)
        return self._current

    def back_up(self) -> None:
        self._backup = self._copy(self._current)

    def restore(self) -> str:
        self._current = self._copy(self._backup)
        return self._current

    def end(self) -> None:
        while self._copies:
            self._kind.drop_database(self._copies.pop())

    def close(self) -> None:
        self._kind.drop_database(self._start)

    def _copy(self, url: str) -> str:
        copied = self._kind.copy_database(url, f"schedule-{next(_numbers)}")
        self._copies.append(copied)
        return copied


class _Tables:
    """One database, and each state in the tables of a schema that Masthead does not know.

    A backup is made in one snapshot while loads and polls go on, as by pg_dump. Rows that a load
    has staged are of no state.
    """

    def __init__(self, kind: Store, url: str) -> None:
        self._kind = kind
        self._url = url
        self._connection = psycopg.connect(url, autocommit=True)
        self._columns: dict[str, list[str]] = dict(
            self._connection.execute(
                """
                SELECT table_name::TEXT, array_agg(column_name::TEXT)
                FROM information_schema.columns
                WHERE table_schema = 'public' AND is_generated = 'NEVER'
                    AND table_name NOT LIKE 'staged%' AND table_name NOT LIKE 'citus%'
                GROUP BY table_name
                """
            ).fetchall()
        )
        for state in ("start", "backup"):
            self._run(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(state)))
            for table in self._columns:
                self._run(
                    self._of(table, state, "CREATE TABLE {kept} AS SELECT {columns} FROM {table}")
                )

    def begin(self) -> str:
        return self._put_back("start")

    def back_up(self) -> None:
        self._for_all(
            "backup", "DELETE FROM {kept}", "INSERT INTO {kept} SELECT {columns} FROM {table}"
        )

    def restore(self) -> str:
        return self._put_back("backup")

    def end(self) -> None:
        """Do nothing: the next one begins with clearing the tables."""

    def close(self) -> None:
        self._connection.close()
        self._kind.drop_database(self._url)

    def _put_back(self, state: str) -> str:
        self._for_all(
            state,
            "DELETE FROM {table}",
            "INSERT INTO {table} ({columns}) SELECT {columns} FROM {kept}",
        )
        return self._url

    def _for_all(self, state: str, *statements: LiteralString) -> None:
        """Run the statements for all tables in one snapshot, in an order that references allow."""
        with self._connection.transaction():
            self._connection.execute(
                """
                SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
                SET LOCAL citus.propagate_set_commands = 'local';
                SET LOCAL citus.multi_shard_modify_mode = 'sequential';
                SET LOCAL session_replication_role = 'replica'
                """
            )
            for statement in statements:
                for table in self._columns:
                    self._run(self._of(table, state, statement))

    def _of(self, table: str, state: str, statement: LiteralString) -> sql.Composed:
        return sql.SQL(statement).format(
            table=sql.Identifier("public", table),
            kept=sql.Identifier(state, table),
            columns=sql.SQL(", ").join(map(sql.Identifier, self._columns[table])),
        )

    def _run(self, statement: sql.Composed) -> None:
        self._connection.execute(statement)
