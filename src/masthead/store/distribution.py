"""Distribute a PostgreSQL database over several machines with Citus.

Tables are distributed by ``account_id``, so all rows of an account are on one node. Tables that are
needed before the account is known are the same on each node (reference tables).
"""

from collections import Counter
from typing import NamedTuple

from masthead.errors import BadUsage
from masthead.store import migrations
from masthead.store.database import Connection, Store

REFERENCE_TABLES = (
    "migrations",
    "accounts",
    "partners",
    "credentials",
    "secret_key",
    "heartbeat",
    "nodes",
)
_FIRST = "account_locks"
"""The other tables are distributed like this one, which puts an account's rows on one node."""

_TABLES = """
    SELECT c.relname::TEXT FROM pg_class AS c
    WHERE c.relkind = 'r' AND NOT EXISTS (
        SELECT 1 FROM pg_dist_partition AS p WHERE p.logicalrelid = c.oid)
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'accounts'::REGCLASS)
    ORDER BY c.relname
    """
_FOREIGN_KEYS = """
    SELECT c.relname::TEXT, t.relname::TEXT, k.conname::TEXT, pg_get_constraintdef(k.oid)
    FROM pg_constraint AS k
    JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_class AS t ON t.oid = k.confrelid
    WHERE k.contype = 'f'
    AND k.connamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'accounts'::REGCLASS)
    ORDER BY c.relname, k.conname
    """
_NODES_OF_SHARDS = f"""
    SELECT n.nodename, n.nodeport::BIGINT, n.isactive, s.shardid
    FROM pg_dist_node AS n
    LEFT JOIN pg_dist_placement AS p ON p.groupid = n.groupid
    LEFT JOIN pg_dist_shard AS s
        ON s.shardid = p.shardid AND s.logicalrelid = to_regclass('{_FIRST}')
    WHERE n.noderole = 'primary' ORDER BY n.nodename, n.nodeport
    """
_ADD_NODES = """
    INSERT INTO nodes (node) SELECT result FROM run_command_on_all_nodes($$
        SELECT c.system_identifier || '/' || d.oid FROM pg_control_system() AS c, pg_database AS d
        WHERE d.datname = current_database() $$)
    ON CONFLICT DO NOTHING
    """


class Node(NamedTuple):
    """A node: its address, whether it is active, and its numbers of shards and accounts."""

    host: str
    port: int
    is_active: bool
    shards: int
    accounts: int


class Distribution(NamedTuple):
    """The nodes of a distributed database, and the tables that are not distributed yet."""

    nodes: list[Node]
    not_distributed: list[str]


def distribution_of(connection: Connection) -> Distribution | None:
    """Return how a database is distributed; None if it does not use Citus."""
    if not _has_citus(connection):
        return None
    waiting = connection.column_as(str, _TABLES)
    accounts: Counter[int] = Counter()
    if _FIRST not in waiting:
        accounts.update(
            dict(
                connection.rows_as(
                    tuple[int, int],
                    f"""
                    SELECT get_shard_id_for_distribution_column('{_FIRST}', a.account_id), count(*)
                    FROM accounts AS a GROUP BY 1
                    """,
                )
            )
        )
    nodes: dict[tuple[str, int], Node] = {}
    for host, port, is_active, shard in connection.rows_as(
        tuple[str, int, bool, int | None], _NODES_OF_SHARDS
    ):
        node = nodes.get((host, port), Node(host, port, is_active, 0, 0))
        if shard is not None:
            node = node._replace(shards=node.shards + 1, accounts=node.accounts + accounts[shard])
        nodes[host, port] = node
    return Distribution(list(nodes.values()), waiting)


def _has_citus(connection: Connection) -> bool:
    return connection.dialect == "postgresql" and bool(
        connection.rows("SELECT 1 FROM pg_extension WHERE extname = 'citus'")
    )


def distribute(store: Store, *, dry_run: bool = False) -> list[str]:
    """Distribute the tables that are not distributed yet, with their data; return the statements.

    This runs in one transaction. It also records new nodes, so that moving an account to one of
    them starts no epoch (``store.epochs``). With ``dry_run``, nothing changes. Raises BadUsage if
    the database has no Citus, is not the coordinator's or is not migrated.
    """
    with store.writer() as connection:
        _check(connection)
        statements = _statements(connection)
        if not dry_run:
            with connection.transaction():
                for statement in statements:
                    connection.script(statement)
            with connection.transaction():
                connection.script(migrations.rights())
    return statements


def _check(connection: Connection) -> None:
    if connection.dialect == "sqlite":
        raise BadUsage("a file cannot be distributed: move the data to PostgreSQL first")
    if not _has_citus(connection):
        raise BadUsage(
            "this database has no Citus: run CREATE EXTENSION citus in it on each machine, and add "
            "the machines by citus_add_node"
        )
    if connection.rows("SELECT citus_is_coordinator()") != [(True,)]:
        raise BadUsage("this is a worker: give the URL of the coordinator")
    if migrations.missing(connection):
        raise BadUsage("the database is not up to date: migrate it first", code="outdated_schema")


def _statements(connection: Connection) -> list[str]:
    waiting = connection.column_as(str, _TABLES)
    if not waiting:
        return [_ADD_NODES]
    # A table cannot be distributed while a foreign key links it to one that is not.
    keys = [
        (table, name, definition)
        for table, target, name, definition in connection.rows_as(
            tuple[str, str, str, str], _FOREIGN_KEYS
        )
        if table in waiting or target in waiting
    ]
    first = [_FIRST] if _FIRST in waiting else []
    others = [name for name in waiting if name not in {*REFERENCE_TABLES, _FIRST}]
    return [
        "SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
        _ADD_NODES,
        *(f"ALTER TABLE {table} DROP CONSTRAINT {name}" for table, name, _ in keys),
        *(
            f"SELECT create_reference_table('{name}')"
            for name in REFERENCE_TABLES
            if name in waiting
        ),
        *(
            f"SELECT create_distributed_table('{name}', 'account_id', colocate_with => '{other}')"
            for name, other in [
                *((name, "none") for name in first),
                *((name, _FIRST) for name in others),
            ]
        ),
        *(f"ALTER TABLE {table} ADD CONSTRAINT {name} {what}" for table, name, what in keys),
    ]
