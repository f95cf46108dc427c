"""What a database of a cluster holds, read and written node by node, past the distribution."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.citus.cluster import CitusNode

    Content = Mapping[str, bytes]
    """The rows of each table or shard of a node that has any, as COPY writes them."""

# Shards are shown and can be written to, and no trigger runs, nor one of a foreign key.
_OPTIONS = " ".join(
    f"-c {setting}"
    for setting in (
        "citus.override_table_visibility=off",
        "citus.enable_manual_changes_to_shards=on",
        "session_replication_role=replica",
        "lock_timeout=10s",
    )
)

_WITH_PAGES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::REGNAMESPACE AND relkind = 'r' AND pg_relation_size(oid) > 0
    ORDER BY relname
"""

_SCHEMA = """
    SELECT string_agg(mark, ' ') FROM (
        SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_class WHERE oid >= 16384
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_attribute
            WHERE attrelid >= 16384
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_constraint
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_policy
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_proc
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_trigger
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_namespace
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_db_role_setting
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_authid
            WHERE rolname LIKE current_database() || '\\_%%'
        UNION ALL SELECT count(*) || ':' || sum(xmin::TEXT::BIGINT) FROM pg_dist_placement
    ) AS marks (mark)
"""


class NotCleanError(Exception):
    """A database is in a state that cannot be written over."""


def schema_of(node: CitusNode, name: str) -> str:
    """Return a text that another schema, other rights or other shards would change."""
    return str(node.ask(name, _SCHEMA))


def read(node: CitusNode, name: str) -> Content:
    """Return what a database has on a node."""
    with closing(_connect(node, name)) as connection:
        return _read(connection)


def write(node: CitusNode, name: str, content: Content) -> None:
    """Let a database of the same schema have that content, and nothing else.

    Raises NotCleanError if a transaction of it waits for its second commit.
    """
    with closing(_connect(node, name)) as connection, connection.transaction():
        waiting = "SELECT 1 FROM pg_prepared_xacts WHERE database = current_database()"
        if connection.execute(waiting).fetchone():
            raise NotCleanError(name)
        found = _read(connection)
        for table in sorted({*found, *content}):
            if found.get(table) == content.get(table):
                continue
            place = sql.Identifier(table)
            connection.execute(sql.SQL("DELETE FROM {}").format(place))
            if rows := content.get(table):
                with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy:
                    copy.write(rows)


def _connect(node: CitusNode, name: str) -> psycopg.Connection:
    return psycopg.connect(node.url(name), autocommit=True, options=_OPTIONS)


def _read(connection: psycopg.Connection) -> Content:
    found = {}
    for (table,) in connection.execute(_WITH_PAGES).fetchall():
        statement = sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(table))
        with connection.cursor().copy(statement) as copy:
            found[table] = b"".join(bytes(piece) for piece in copy)
    return {table: rows for table, rows in found.items() if rows}
