"""A real Citus cluster for the tests: a coordinator and two workers, stopped or killed at will.

The programs are those that ``.ci/citus`` builds. The coordinator has a copy of each reference table
and no shards, as Citus makes it. What is created on the coordinator is propagated to the workers;
each node can be asked about all data.
"""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from tests.postgres import Build, Cluster

if TYPE_CHECKING:
    from typing import LiteralString

# Where .ci/citus puts the programs; the stamp is the last file that it writes.
BUILD = Path(__file__).parents[2] / ".venv" / "citus"
STAMP = BUILD / "stamp"

HOST = "127.0.0.1"
WORKERS = 2

SETTINGS = {
    # Programs of the wheel have no TLS.
    "citus.node_conninfo": "sslmode=disable",
    # Sessions between nodes are kept for the next transaction, as many as one has use for. To make
    # them again, with all that each reads of the catalog, was a seventh of the work.
    "citus.max_cached_conns_per_worker": "8",
    # A table is created shard by shard: these are quick, and still two on each worker.
    "citus.shard_count": "4",
    # Each session of the tests can have one on every other node.
    "max_connections": "300",
    "max_prepared_transactions": "200",
    "shared_preload_libraries": "citus",
    "wal_level": "logical",
}


class CitusNode(Cluster):
    """A node: a PostgreSQL server with Citus, which knows of no other node by itself."""

    def __init__(self) -> None:
        """Make and start it, in memory if there is room (``tests.postgres.Cluster``)."""
        super().__init__(build=Build(BUILD / "bin", BUILD / "lib", SETTINGS))

    def create(self, name: str) -> None:
        """Create a database that has Citus and nothing else."""
        super().create(name)
        self.ask(name, "CREATE EXTENSION citus")

    def _make(self) -> None:
        # Not a copy: each node has a system identifier of its own.
        self._initialize()

    def kill(self) -> None:
        """End at once, as in a crash. After ``start`` it has all that was committed."""
        self._end(signal.SIGQUIT)

    def ask(self, name: str, query: LiteralString, *values: object) -> Any:
        """Return the first value that the query finds in a database of this node, or None."""
        with closing(psycopg.connect(self.url(name), autocommit=True)) as connection:
            found = connection.execute(query, values)
            row = found.fetchone() if found.description else None
        return row[0] if row else None


class CitusCluster:
    """A coordinator and its workers, running from when they are made until ``close``."""

    def __init__(self) -> None:
        """Make and start all nodes."""
        self.workers: list[CitusNode] = []
        self._names: set[str] = set()
        with ExitStack() as nodes:
            self.coordinator = nodes.enter_context(closing(CitusNode()))
            for _ in range(WORKERS):
                self.workers.append(nodes.enter_context(closing(CitusNode())))
            self._running = nodes.pop_all()

    @property
    def nodes(self) -> list[CitusNode]:
        """The coordinator, then the workers."""
        return [self.coordinator, *self.workers]

    def url(self, name: str, node: CitusNode | None = None) -> str:
        """Return the URL of a database on that node (None: on the coordinator)."""
        return (node or self.coordinator).url(name)

    def create(self, name: str) -> str:
        """Create an empty database of all nodes; return its URL on the coordinator."""
        self._names.add(name)
        with ThreadPoolExecutor() as each:
            list(each.map(lambda node: node.create(name), self.nodes))
        self.coordinator.ask(
            name, "SELECT citus_set_coordinator_host(%s, %s)", HOST, self.coordinator.port
        )
        for worker in self.workers:
            self._register(worker, name)
        return self.url(name)

    def drop(self, name: str) -> None:
        """Drop a database on all nodes; sessions in it end."""
        self._names.discard(name)
        for node in self.nodes:
            node.drop(name)

    def add_worker(self) -> CitusNode:
        """Start another worker, and register it in every database; it gets no shard by that."""
        worker = self._running.enter_context(closing(CitusNode()))
        self.workers.append(worker)
        for name in sorted(self._names):
            worker.create(name)
            self._register(worker, name)
        return worker

    def node_of(self, name: str, table: str, account_id: int) -> CitusNode:
        """Return the node that has the account's rows of a distributed table."""
        port = self.coordinator.ask(
            name,
            """
            SELECT n.nodeport FROM pg_dist_placement AS p JOIN pg_dist_node AS n USING (groupid)
            WHERE p.shardid = get_shard_id_for_distribution_column(%s::TEXT::REGCLASS, %s::BIGINT)
            """,
            table,
            account_id,
        )
        (found,) = (node for node in self.nodes if node.port == port)
        return found

    def close(self) -> None:
        """Stop all nodes at once, as in a crash, and remove every file."""
        self._running.close()

    def _register(self, worker: CitusNode, name: str) -> None:
        self.coordinator.ask(name, "SELECT citus_add_node(%s, %s)", HOST, worker.port)
